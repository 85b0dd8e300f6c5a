"""Evenings at a table as hypothesis imagines them: mostly by the book, often not, and written to a log."""

from collections.abc import Callable, Container, Iterable, Sequence
from datetime import datetime, timedelta
from typing import ClassVar, cast

import msgspec
from hypothesis import strategies as st

from processors.reconstruct.emissions import STAMPS
from processors.reconstruct.fold import FoldSettings, TableFold
from schemas.cards import CARDS
from schemas.configuration import Commission, preset
from schemas.facts import Fact
from schemas.log import Record
from schemas.wire import decode_event
from tests.processors.reconstruct.scene import HKD, MACAU, Scene, standing, with_changes

CONFIGURATIONS = (
    MACAU,
    preset("sjm"),
    preset("commission_free"),
    with_changes(MACAU, configuration_id="marked", commission=Commission(collection="marked"), decks=6),
    with_changes(MACAU, configuration_id="continuous", shuffling="continuous", demonstrations=1),
)
MAINS = ("player", "banker", "banker_commission_free")
BETS = (*MAINS, "tie", "player_pair", "lucky_six", "dragon_seven")
STAKES = (100 * HKD, 300 * HKD, 1_000 * HKD, 1_050 * HKD, 250_000 * HKD)

hands = st.lists(st.sampled_from(CARDS[:26]), min_size=2, max_size=3).map(" ".join)
chances = st.integers(0, 9)


class Teller:
    """Tells a story: `draw` decides everything that happens. Without `house`, nothing but the controller writes."""

    def __init__(self, draw: st.DrawFn, scene: Scene, *, house: bool, clock: bool) -> None:
        self.draw = draw
        self.scene = scene
        self.house = house
        self.clock = clock

    def one_in_ten(self) -> bool:
        return self.draw(chances) == 9

    def begin(self) -> None:
        scene = self.scene
        scene.names_configuration = self.draw(st.booleans())
        scene.open(self.draw(st.sampled_from(CONFIGURATIONS)))
        scene.load()

    def chapter(self) -> None:
        """Let one thing happen, most often a round."""
        kind = self.draw(st.sampled_from(("round",) * 8 + ("correction",) * 4 + tuple(self.BETWEEN)))
        if kind == "round":
            self.round()
        else:
            self.BETWEEN[kind](self)

    def round(self) -> None:
        scene, draw = self.scene, self.draw
        live = not self.one_in_ten()
        scene.begin("live" if live else "demonstration")
        if scene.state.round and scene.state.round.bets:
            self._answer_tie(next(iter(scene.state.round.bets)))
        for _ in range(draw(st.integers(0, 3)) if live else 0):
            self._bet()
        self._interlude()
        scene.no_more_bets()
        if self.one_in_ten():
            self._bet()
        self._cards()
        if self.one_in_ten():
            scene.void()
            if not self.one_in_ten():
                scene.close()
        else:
            scene.call(draw(st.sampled_from(("player", "banker", "tie"))) if self.one_in_ten() else None)
            self._interlude()
            when = draw(chances)
            if when < 8:
                self._settle()
            if when != 7:
                scene.close()
            if when >= 7:
                # Paid after the round was closed (8, 9), or after the table went on without closing it (7).
                self._interlude()
                self._pay_late()

    def _bet(self) -> None:
        draw = self.draw
        standing = self.one_in_ten()
        self.scene.bet(
            draw(st.sampled_from(BETS)),
            draw(st.sampled_from(STAKES)),
            draw(st.integers(1, 4)),
            posture="standing" if standing else "seated",
            area="shared" if standing else "reserved",
        )

    def _answer_tie(self, bet_id: str) -> None:
        answer = self.draw(chances)
        if answer == 9:
            self.scene.withdraw(bet_id)
        elif answer > 6:
            self.scene.change(bet_id, self.draw(st.sampled_from(STAKES)), self.draw(st.sampled_from((None, *MAINS))))

    def _cards(self) -> None:
        scene, draw = self.scene, self.draw
        scene.deal(draw(hands), draw(hands))
        if self.one_in_ten():
            card = draw(st.sampled_from(CARDS[:26]))
            correct = draw(st.sampled_from((scene.misread, scene.misdeal)))
            correct(draw(st.sampled_from(("player", "banker"))), draw(st.integers(1, 2)), card)

    def _settle(self) -> None:
        scene, draw = self.scene, self.draw
        bets = list(scene.in_hand.bets) if scene.in_hand else []
        wrong = {bet_id: draw(st.sampled_from((0, 100 * HKD))) for bet_id in bets if self.one_in_ten()}
        how = draw(st.sampled_from(("collected", "paid", "charged")))
        scene.settle(**{how: wrong})

    def _pay_late(self) -> None:
        """Settle the round that ended last, sometimes while the next one is on."""
        scene, number, hands = self.scene, self.scene.number, self.scene.hands
        if self.draw(st.booleans()):
            scene.begin()
        next_number, scene.number = scene.number, number
        next_hands, scene.hands = scene.hands, hands
        self._settle()
        scene.number, scene.hands = next_number, next_hands

    def _interlude(self) -> None:
        """Let something happen in the middle of a round."""
        if not self.one_in_ten():
            return
        scene, draw = self.scene, self.draw
        kind = draw(st.sampled_from(("restart", "restart unknown", "burn", "white card", "clock", "silence")))
        if kind == "restart" or (kind == "restart unknown" and not self.clock):
            scene.restart()
        elif kind == "restart unknown":
            scene.restart(says_what_it_follows=False)
            scene.send("heartbeat")
            scene.pass_gap_limit()
        elif kind == "burn":
            scene.burn(draw(st.sampled_from((None, "KS"))))
        elif kind == "white card":
            scene.white_card()
        elif kind == "clock":
            off = draw(st.sampled_from((-300, 300))) if self.clock else -300
            scene.send("heartbeat", occurred_at=scene.now + timedelta(seconds=off))
        else:
            scene.wait(200)

    def _correct(self) -> None:
        """Let a supervisor take back or change an event of the table's, or a correction."""
        scene, draw = self.scene, self.draw
        corrections = [record for record in scene.records if b'"type":"correction"' in record.value]
        again = draw(st.booleans())
        record = draw(st.sampled_from(corrections if corrections and again else scene.records))
        event = decode_event(record.value)
        changes: dict[str, object] = {}
        if self.draw(st.booleans()):
            changes = next(
                (
                    {name: value}
                    for name, value in (("amount", 7), ("stake", 500 * HKD), ("card", "5S"), ("outcome", "tie"))
                    if hasattr(event, name)
                ),
                {},
            )
        scene.correct(event.event_id, by_house=self.house and draw(st.booleans()), **changes)

    def _new_shoe(self) -> None:
        if self.draw(st.booleans()):
            self.scene.take_shoe_away()
        self.scene.load(cut=self.draw(st.sampled_from((14, 3, None))))

    def _skip(self) -> None:
        self.scene.number += self.draw(st.integers(1, 2))

    BETWEEN: ClassVar[dict[str, Callable[["Teller"], object]]] = {
        "new shoe": _new_shoe,
        "correction": _correct,
        "skipped rounds": _skip,
        "interlude": lambda self: self._interlude(),
        "configuration": lambda self: self.scene.publish(self.draw(st.sampled_from(CONFIGURATIONS))),
        "count": lambda self: self.scene.send("float_counted", amount=self.draw(st.integers(0, 10**8))),
        "chips": lambda self: self.scene.send("fill", amount=1_000 * HKD, slip="F-1"),
        "dealer": lambda self: self.scene.send("dealer_in", dealer_id=f"D-{self.draw(st.integers(1, 3))}"),
        "patron": lambda self: self.scene.send("patron_left", seat=self.draw(st.integers(1, 4)), patron_id="P-1"),
        "commission": lambda self: self.scene.send("commission_settled", seat=self.draw(st.integers(1, 4)), amount=500),
        "hour": lambda self: self.scene.wait(self.draw(st.sampled_from((60, 3_600, 9 * 3_600)))),
        "table": lambda self: self.scene.send(self.draw(st.sampled_from(("table_opened", "table_closed")))),
    }


@st.composite
def stories(draw: st.DrawFn, *, house: bool = True, clock: bool = True, at_most: int = 8) -> Scene:
    """Return a table with a story behind it.

    Without `house` nobody but the controller writes; without `clock` nothing depends on when the log heard of it.
    """
    scene = Scene()
    teller = Teller(draw, scene, house=house, clock=clock)
    teller.begin()
    for _ in range(draw(st.integers(1, at_most))):
        teller.chapter()
    return scene


def fold_all(fold: TableFold, records: Iterable[Record]) -> list[Fact]:
    """Return every fact that the records bring about."""
    return [fact for record in records for fact in fold.apply(record)]


def told(records: Iterable[Record], settings: FoldSettings = FoldSettings()) -> list[Fact]:  # noqa: B008  frozen
    """Return every fact that the records bring about in a new fold."""
    return fold_all(TableFold(Scene.table_id, settings), records)


def content(fact: Fact, besides: Container[str] = STAMPS) -> dict[str, object]:
    """Return what a fact says, but for its stamps. A dead letter came when it came: its record's times say nothing."""
    fields = msgspec.structs.asdict(cast(msgspec.Struct, fact))
    if fact.fact == "dead_letter":
        fields["occurred_at"] = None
    return {name: value for name, value in fields.items() if name not in besides}


def final(facts: Sequence[Fact]) -> list[tuple[str, dict[str, object]]]:
    """Return what stands in the end, in an order that doesn't depend on when it came."""
    return sorted(((fact.fact, content(fact)) for fact in standing(facts).values()), key=repr)


def at(record: Record, offset: int, appended_at: datetime) -> Record:
    """Return the record as it would be elsewhere in the log."""
    return record._replace(offset=offset, appended_at=appended_at)


def in_this_order(arrivals: Iterable[tuple[datetime, Record]]) -> list[Record]:
    """Return the log that has these records in order of arrival."""
    ordered = sorted(arrivals, key=lambda arrival: arrival[0])
    return [at(record, offset, moment) for offset, (moment, record) in enumerate(ordered)]
