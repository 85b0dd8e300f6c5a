"""The event log that the settings name: which one it is makes no difference to whoever appends to it."""

from collections.abc import Iterator
from contextlib import contextmanager

from processors.data_directory import open_log
from processors.logs.lock import lock_data_directory, told_unusable
from processors.settings import Settings
from schemas.log import EventLog


@contextmanager
def event_log(settings: Settings) -> Iterator[EventLog]:
    """Open the log for the length of a ``with`` block: Kafka's where a cluster is named, else the data directory's.

    The data directory is made where it isn't there, for Kafka too: it takes what a process remembers of the log. With
    the log in it, it is locked against every other process that writes. Raises `DataDirectoryUnusable`,
    `LogUnavailable`.
    """
    if settings.kafka.is_set:
        from processors.logs.kafka_opening import open_kafka_log  # noqa: PLC0415 - not installed on a single machine

        with told_unusable(settings.data_directory):
            settings.data_directory.mkdir(parents=True, exist_ok=True)
        with open_kafka_log(settings.kafka) as log:
            yield log
    else:
        with lock_data_directory(settings.data_directory), open_log(settings.data_directory) as log:
            yield log
