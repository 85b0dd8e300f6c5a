"""What becomes of one message of a fact topic: counted, told to people, or buried with its bytes."""

import base64
from collections.abc import Iterable
from datetime import datetime
from typing import Final, Protocol

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


class Past(Protocol):
    """Reads what a partition got before."""

    def before(self, record: Record, since: datetime, offset: int | None) -> Iterable[Record]:
        """Return what the record's partition got before it, from `offset` on, or where that is None from `since`."""
        ...


class FactTaking:
    """Works messages off, from any thread. On return all that a message calls for is done, and durable.

    Of two workers that had a partition one after the other, the second knows from the log what the first told of: its
    own first message stands where the other's place was committed. So people are told again only of what came between
    that place and what the other did before it was gone.
    """

    def __init__(self, log: EventLog, floor: FloorNow, notifier: Notifier | None, past: Past) -> None:
        self._log = log
        self._floor = floor
        self._notifier = notifier
        self._past = past
        self._recalled: set[int] = set()

    def shared(self) -> None:
        """Note that partitions were shared anew: another worker may have told of what they got meanwhile."""
        self._recalled.clear()

    def take(self, record: Record) -> None:
        """Work a message off. Idempotent. Raises `OUTAGES`, after which the same message is to be tried again."""
        fact = self._fact(record)
        if fact is not None:
            self._floor.take(fact, record)
            if self._notifier is not None and fact.fact == "alert":
                self._recall(self._notifier, record)
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

    def _recall(self, notifier: Notifier, record: Record) -> None:
        """Remember what other workers told of before `record`, the first of its partition since that was shared."""
        if record.partition in self._recalled:
            return
        since = record.appended_at - notifier.keep
        notifier.recall(self._past.before(record, since, notifier.taken_to(record.partition)))
        self._recalled.add(record.partition)

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
