"""Calls of librdkafka that take no time limit, or don't keep it, while a broker hangs."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from typing import Any, Final, TypeVar

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException

T = TypeVar("T")

GRACE_SECONDS: Final = 1.0
"""What a call that has a time limit of its own gets beyond it."""

CLOSE_SECONDS: Final = 5.0
"""How long is waited for brokers to hear that a worker leaves; its partitions are then free at once."""

_logger: Final = structlog.get_logger(__name__)


class Bounded:
    """Makes one call at a time, in a thread of its own, which is left behind where the call doesn't end in time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hanging: Future[Any] | None = None

    def call(self, work: Callable[[], T], seconds: float) -> T:
        """Return what `work` returns. Raises `KafkaException` of a time-out, also where an earlier call still hangs."""
        with self._lock:
            if self._hanging is not None:
                _wait(self._hanging, seconds)
                self._hanging = None
            done: Future[T] = Future()
            threading.Thread(target=_fulfil, args=(done, work), name="kafka-call", daemon=True).start()
            try:
                _wait(done, seconds)
            except KafkaException:
                self._hanging = done
                raise
        # Raises what the call raised.
        return done.result()


def close_consumers(consumers: Iterable[Consumer], seconds: float = CLOSE_SECONDS) -> None:
    """Close `consumers` side by side; leave behind those that don't end in time, for want of a broker's answer."""
    closing = []
    for consumer in consumers:
        done: Future[None] = Future()
        threading.Thread(target=_fulfil, args=(done, consumer.close), name="kafka-close", daemon=True).start()
        closing.append(done)
    _, left = wait(closing, seconds)
    if left:
        _logger.warning("kafka_not_closed", consumers=len(left), why="no broker answers")


def _fulfil(done: "Future[T]", work: Callable[[], T]) -> None:
    try:
        done.set_result(work())
    except BaseException as error:  # noqa: BLE001 - raised in the thread that asked
        done.set_exception(error)


def _wait(done: "Future[T]", seconds: float) -> None:
    try:
        done.exception(seconds)
    except TimeoutError:
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "no answer in time")) from None
