"""Whether a line is an event that this table may send, and what of it goes into the log.

Every line of a table that proved who it is reaches the log, rejected ones included: the fold makes dead letters of
them, with their bytes. A rejected line must never be taken for an event, neither now nor by a later version that
replays the log. So what claims to be another table's or Pitwatch's own is sealed: put behind words that are no JSON.
"""

import hashlib
from typing import Final, NamedTuple

import msgspec

from schemas.events import SYSTEM_EVENT_TYPES, Event
from schemas.ids import SYSTEM_EPOCH
from schemas.wire import MAX_EVENT_BYTES, SEAL, SEAL_END, InvalidEvent, decode_event, encode


class Verdict(NamedTuple):
    """A line as judged: what to append, and either its number and digest or why it is rejected."""

    line: int
    record: bytes
    event_id: str = ""
    epoch: int = 0
    seq: int = 0
    digest: bytes = b""
    reason: str = ""
    detail: str = ""


class _Claim(msgspec.Struct):
    table_id: object = None
    epoch: object = None


_claims: Final = msgspec.json.Decoder(_Claim)
_NO_CLAIM: Final = _Claim()


def judge(line: int, raw: bytes, table_id: str) -> Verdict:
    """Judge one line that came with the token of `table_id`."""
    if raw.startswith(SEAL):
        # Nobody else may speak in the gateway's name.
        detail = "no JSON text, but the gateway's own words"
        return Verdict(line, sealed(raw[: MAX_EVENT_BYTES + 1], "not_json"), reason="not_json", detail=detail)
    try:
        event = decode_event(raw)
    except InvalidEvent as error:
        # Cut one byte above the limit, so that the log stays bounded and the fold still sees that it was too long.
        record = raw if _harmless(raw, table_id) else sealed(raw[: MAX_EVENT_BYTES + 1], error.reason)
        return Verdict(line, record, error.event_id, reason=error.reason, detail=error.detail)
    reason, detail = _forbidden(event, table_id)
    if reason:
        return Verdict(line, sealed(raw, reason), event.event_id, reason=reason, detail=detail)
    return Verdict(line, raw, event.event_id, event.epoch, event.seq, digest_of(event))


def digest_of(event: Event) -> bytes:
    """Return 16 bytes that tell apart what two events say, whatever the blanks and the order of their fields."""
    return hashlib.blake2b(encode(event), digest_size=16).digest()


def _forbidden(event: Event, table_id: str) -> tuple[str, str]:
    """Return why a table may not send an event that is well formed; two empty strings where it may."""
    if event.table_id != table_id:
        return "wrong_table", f"the token is table {table_id}'s, the event is table {event.table_id}'s"
    if event.epoch == SYSTEM_EPOCH or event.type in SYSTEM_EVENT_TYPES:
        return "system_type", f"epoch {SYSTEM_EPOCH} and {', '.join(sorted(SYSTEM_EVENT_TYPES))} are Pitwatch's own"
    return "", ""


def _harmless(raw: bytes, table_id: str) -> bool:
    """Tell whether a rejected line could at worst become an event of the table's own."""
    if len(raw) > MAX_EVENT_BYTES:
        return False
    try:
        claim = _claims.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        claim = _NO_CLAIM
    own_epoch = claim.epoch is None or (isinstance(claim.epoch, int) and claim.epoch > SYSTEM_EPOCH)
    return claim.table_id in (None, table_id) and own_epoch


def sealed(raw: bytes, reason: str) -> bytes:
    """Return `raw` as a record that says why it was rejected and that no version reads as an event."""
    return SEAL + reason.encode() + SEAL_END + raw
