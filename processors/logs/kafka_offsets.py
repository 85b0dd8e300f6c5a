"""Where partitions begin and end, as a consumer asks it."""

import time
from collections.abc import Sequence
from typing import Final, Literal

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition

from processors.logs.kafka_clients import Clients
from processors.logs.kafka_errors import error_of

Which = Literal["beginning", "end"]

_ASKED: Final[dict[Which, int]] = {"beginning": OFFSET_BEGINNING, "end": OFFSET_END}

# What a consumer may say for ever of a partition whose leader died, where it follows nothing of its topic: librdkafka
# 2.16 then keeps asking the dead one, or knows the topic without that partition or the partition without a leader,
# until it is told to learn all anew.
_MAYBE_STALE: Final = frozenset({
    KafkaError._UNKNOWN_PARTITION,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._TIMED_OUT,
    KafkaError._TRANSPORT,
})  # fmt: skip

# Or else the partition was just made, or its leader moves: a matter of milliseconds to seconds.
_SOON_OVER: Final = frozenset({KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE})

_PAUSE_SECONDS: Final = 0.05


def offsets(clients: Clients, consumer: Consumer, partitions: Sequence[tuple[str, int]], which: Which) -> list[int]:
    """Return the first offset of each of `partitions`, or that behind the last which the consumer would read.

    Raises `LogUnavailable`.
    """
    asked = [TopicPartition(topic, partition, _ASKED[which]) for topic, partition in partitions]
    # What is left of it is for learning anew and asking once more.
    deadline, seconds = time.monotonic() + clients.timeout_seconds, clients.timeout_seconds / 3
    learnt = False
    with clients.told(f"find the {which} of {partitions[0][0]}"):
        while isinstance(found := _ask(consumer, asked, seconds), KafkaError):
            left = deadline - time.monotonic()
            if left <= 0 or not (found.code() in _SOON_OVER or (found.code() in _MAYBE_STALE and not learnt)):
                raise KafkaException(found)
            if learnt:
                time.sleep(_PAUSE_SECONDS)
            consumer.list_topics(timeout=left)
            learnt, seconds = True, max(seconds, deadline - time.monotonic())
    known = {(one.topic, one.partition): one.offset for one in found}
    return [known[place] for place in partitions]


def _ask(consumer: Consumer, asked: list[TopicPartition], seconds: float) -> list[TopicPartition] | KafkaError:
    """Return what the consumer says, or what is wrong with it or with any of the partitions."""
    try:
        found: list[TopicPartition] = consumer.offsets_for_times(asked, seconds)
    except KafkaException as exception:
        return error_of(exception)
    return next((one.error for one in found if one.error is not None), found)
