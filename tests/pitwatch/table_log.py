"""A table for the tests of `pitwatch show`: it sends events one by one, and its log can be written in any order."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from processors.logs.sqlite import SqliteLog
from schemas.configuration import PRESETS
from schemas.ids import SYSTEM_EPOCH
from schemas.log import Record
from schemas.topics import TABLE_EVENTS

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
"""20:00 at the table."""

SENT_MICROSECONDS = timedelta(microseconds=40_000)


class Sent:
    """An event as sent, and when the log got it."""

    def __init__(self, event: dict[str, object], moment: datetime) -> None:
        self.event = event
        self.moment = moment
        self.arrives_at = moment + SENT_MICROSECONDS

    @property
    def id(self) -> str:
        """The event's identity."""
        return str(self.event["event_id"])

    @property
    def raw(self) -> bytes:
        """The event as the table sends it."""
        return json.dumps(self.event).encode()


Place = dict[str, object]
"""A shoe and a round."""

Message = tuple[str, Sent | bytes]
"""A message of a table: an event that was sent, or other bytes."""


class Table:
    """Sends an event a second, its clock in step with the log's."""

    def __init__(self, table_id: str = "T1") -> None:
        self.table_id = table_id
        self.now = NOON
        self.epoch, self.seq = 1, 0
        self.clock_off = timedelta()
        self.sent: list[Sent] = []

    def send(self, kind: str, /, **fields: object) -> Sent:
        """Send the controller's next event."""
        self.seq += 1
        return self._send(self.epoch, self.seq, kind, self.clock_off, fields)

    def decide(self, kind: str, /, **fields: object) -> Sent:
        """Write an event of Pitwatch's own."""
        micros = (self.now - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        return self._send(SYSTEM_EPOCH, micros, kind, timedelta(), fields)

    def _send(self, epoch: int, seq: int, kind: str, clock_off: timedelta, fields: dict[str, object]) -> Sent:
        self.now += timedelta(seconds=1)
        event = {
            "type": kind,
            "event_id": f"{self.table_id}:{epoch}:{seq}",
            "table_id": self.table_id,
            "epoch": epoch,
            "seq": seq,
            "occurred_at": (self.now + clock_off).isoformat(),
        }
        sent = Sent(event | fields, self.now)
        self.sent.append(sent)
        return sent

    # -- what happens at a table -----------------------------------------------------------------------------------

    def open(self, **changes: object) -> None:
        """Publish the configuration, open, and bring a shoe of eight decks into play by the book."""
        configuration = PRESETS["macau"].model_dump(mode="json") | {"configuration_id": "macau", **changes}
        self.send("configuration_published", configuration=configuration)
        self.send("table_opened", opening_float=100_000_000)
        self.send("dealer_in", dealer_id="D-1")
        self.send("patron_seated", seat=1, patron_id="P-1")
        self.load(1)

    def load(self, shoe: int) -> None:
        """Load, cut and burn (art. 2(1))."""
        self.send("shoe_loaded", shoe=shoe, decks=8)
        self.send("shoe_cut", shoe=shoe, cut_by="patron", cards_behind=14)
        for _ in range(8):
            self.send("card_burned", shoe=shoe, reason="opening")

    def deal(self, shoe: int, round: int, player: str, banker: str) -> None:
        """Deal both hands in the order of art. 7."""
        hands = {"player": player.split(), "banker": banker.split()}
        for position in (1, 2, 3):
            for hand, cards in hands.items():
                if len(cards) >= position:
                    card = cards[position - 1]
                    self.send("card_drawn", shoe=shoe, round=round, hand=hand, position=position, card=card)

    def play_evening(self) -> Sent:
        """Play three rounds of shoe 1: the player wins 7-6, a tie on 9, and the player 9-8, where b3 is paid short.

        Returns the short payment: 300 of 600.
        """
        place: Place = {"shoe": 1, "round": 1}
        self.send("round_opened", **place)
        self.send("bet_placed", **place, bet_id="b1", bet="banker", stake=100_000, seat=1, patron_id="P-1")
        self.send("bet_placed", **place, bet_id="b2", bet="player", stake=50_000, seat=2)
        self.send("betting_closed", **place)
        self.deal(1, 1, "5H 2S", "6H KD")
        self.send("result_called", **place, outcome="player")
        self.send("stake_collected", **place, bet_id="b1", amount=100_000)
        self.send("payout_made", **place, bet_id="b2", amount=50_000)
        self.send("round_closed", **place)

        place = {"shoe": 1, "round": 2}
        self.send("round_opened", **place)
        self.send("bet_placed", **place, bet_id="b3", bet="player", stake=60_000, seat=1, patron_id="P-1")
        self.send("bet_placed", **place, bet_id="b4", bet="tie", stake=6_000, seat=2)
        self.send("betting_closed", **place)
        self.deal(1, 2, "9S KS", "9D QD")
        self.send("result_called", **place, outcome="tie")
        self.send("payout_made", **place, bet_id="b4", amount=48_000)
        self.send("round_closed", **place)

        place = {"shoe": 1, "round": 3}
        self.send("round_opened", **place)
        self.send("betting_closed", **place)
        self.deal(1, 3, "2H 3H 4H", "3D KD 5D")
        self.send("result_called", **place, outcome="player")
        short = self.send("payout_made", **place, bet_id="b3", amount=30_000)
        self.send("round_closed", **place)
        return short

    # -- the log ---------------------------------------------------------------------------------------------------

    def write(self, directory: Path) -> SqliteLog:
        """Write the log. It stays open, as its owner keeps it."""
        return write_log(directory, self.messages())

    def messages(self, without: Sent | None = None) -> list[Message]:
        """Return all that was sent, but for one that got lost."""
        return [(self.table_id, sent) for sent in self.sent if sent is not without]


def write_log(directory: Path, messages: Iterable[Message]) -> SqliteLog:
    """Write messages to a log file, each at the moment when it arrives."""
    now = [NOON]
    log = SqliteLog(directory / "log.sqlite", clock=lambda: now[0])
    for table_id, raw, moment in arrivals(messages):
        now[0] = moment
        log.append(TABLE_EVENTS, [(table_id, raw)])
    return log


def arrivals(messages: Iterable[Message]) -> Iterator[tuple[str, bytes, datetime]]:
    """Yield messages with the moment when the log takes them; its clock never goes back."""
    now = NOON
    for table_id, one in messages:
        if isinstance(one, Sent):
            now = max(now, one.arrives_at)
        yield table_id, one.raw if isinstance(one, Sent) else one, now


class MemoryLog:
    """What `pitwatch show` reads of a log, without a file: for tests that make very many."""

    def __init__(self, messages: Iterable[Message], states: tuple[str, ...] = ()) -> None:
        self.records = [
            Record(TABLE_EVENTS, 0, offset, table_id, raw, moment)
            for offset, (table_id, raw, moment) in enumerate(arrivals(messages))
        ]
        self._states = states

    def partitions(self, topic: str) -> Sequence[int]:
        """Return the one partition."""
        return (0,)

    def end(self, topic: str, partition: int) -> int:
        """Return the offset of the next record."""
        return len(self.records)

    def read(self, topic: str, partition: int, offset: int, limit: int) -> list[Record]:
        """Return at most `limit` records from `offset` on."""
        return self.records[offset : offset + limit]

    def read_key(self, topic: str, key: str, offset: int, limit: int) -> list[Record]:
        """Return at most `limit` records of one table."""
        return [record for record in self.records[offset:] if record.key == key][:limit]

    def states(self, group: str) -> Iterator[tuple[str, bytes]]:
        """Yield the snapshots, which are empty here."""
        return ((key, b"") for key in self._states)
