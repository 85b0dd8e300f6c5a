"""What becomes of one message of a fact topic: counted, told to people, or buried with its bytes."""

import base64
from typing import Final

import msgspec
import structlog

from processors.metrics import STREAM_DEAD_LETTERS, STREAM_FACTS, STREAM_NEWEST
from processors.notify.database import OutboxUnavailable
from processors.notify.notifier import Notifier
from processors.streams.floor_now import KINDS, FloorNow
from schemas.facts import DeadLetterFact, Fact
from schemas.log import EventLog, LogUnavailable, Record
from schemas.structs import struct_of
from schemas.topics import FACT_TOPICS
from schemas.wire import decode_fact, encode

OUTAGES: Final = (LogUnavailable, OutboxUnavailable)
"""What is waited out, and tried again in place."""

STREAMS: Final = (FACT_TOPICS["round"], FACT_TOPICS["alert"])
"""The topics that the worker's streams follow."""

KEPT_BYTES: Final = 700_000
"""The most of a message that its dead letter keeps: in base 64 it must be a message itself."""

_DeadLetter: Final = struct_of(DeadLetterFact, tag="dead_letter", tag_field="fact")

_logger: Final = structlog.get_logger(__name__)


class FactTaking:
    """Works messages off, from any thread. On return all that a message calls for is done, and durable."""

    def __init__(self, log: EventLog, floor: FloorNow, notifier: Notifier | None) -> None:
        self._log = log
        self._floor = floor
        self._notifier = notifier

    def take(self, record: Record) -> None:
        """Work a message off. Idempotent. Raises `OUTAGES`, after which the same message is to be tried again."""
        fact = self._fact(record)
        if fact is not None:
            self._floor.take(fact, record)
            if self._notifier is not None and fact.fact == "alert":
                self._notifier.accept([record])
        STREAM_FACTS.labels(record.topic).inc()
        STREAM_NEWEST.labels(record.topic).set(record.appended_at.timestamp())

    def count(self, record: Record) -> None:
        """Count a message of the past that was worked off before: nobody is told, and nothing buried, again."""
        try:
            fact = decode_fact(record.value)
        except msgspec.MsgspecError:
            return
        if fact.fact == KINDS[record.topic]:
            self._floor.take(fact, record)

    def _fact(self, record: Record) -> Fact | None:
        """Return the message's fact; one that holds none of the topic's kind becomes a dead letter."""
        try:
            fact = decode_fact(record.value)
        except msgspec.MsgspecError as error:
            self._bury(record, "invalid", str(error))
            return None
        if fact.fact != KINDS[record.topic]:
            self._bury(record, "wrong_topic", f"a fact of kind {fact.fact}")
            return None
        return fact

    def _bury(self, record: Record, reason: str, detail: str) -> None:
        """Keep the message as a dead letter, which its place in the log names: buried twice it is still one."""
        place = f"{record.topic}/{record.partition}/{record.offset}"
        _logger.error("message_is_no_fact", place=place, table_id=record.key, reason=reason, detail=detail)
        if len(record.value) > KEPT_BYTES:
            detail = f"the first {KEPT_BYTES} of {len(record.value)} bytes are kept; {detail}"
        letter = _DeadLetter(
            table_id=record.key,
            occurred_at=record.appended_at,
            src_topic=record.topic,
            src_partition=record.partition,
            src_offset=record.offset,
            reason=reason,
            detail=f"a stream of the worker: {detail}"[:500],
            raw=base64.b64encode(record.value[:KEPT_BYTES]).decode(),
        )
        self._log.append(FACT_TOPICS["dead_letter"], [(record.key, encode(letter))])
        STREAM_DEAD_LETTERS.labels(record.topic).inc()
