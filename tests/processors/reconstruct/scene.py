"""A table's evening as a script: each call is something that happens there, numbered, timed and written to the log.

The story is folded as it is told, so a test can look at any moment what stands: `alerts`, `round`, `bet_of` and so on
return the newest version of facts that were not retracted.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from processors.reconstruct.fold import FoldSettings, TableFold
from processors.reconstruct.latecomers import PAUSE
from processors.reconstruct.state import RoundState, TableState
from processors.rules.hands import RoundView, view
from processors.rules.settlement import due
from schemas.cards import parse_cards
from schemas.configuration import TableConfiguration, preset
from schemas.facts import (
    FACT_KEYS,
    AlertFact,
    BetFact,
    CommissionFact,
    DeadLetterFact,
    Fact,
    RoadFact,
    RoundFact,
    ShoeFact,
    TableHourFact,
)
from schemas.ids import SYSTEM_EPOCH, event_id
from schemas.log import Record
from schemas.topics import TABLE_EVENTS
from schemas.wire import EVENT_STRUCTS, encode

HKD = 100
START = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
"""20:00 at the table."""

FLOAT = 1_000_000 * HKD
MACAU = preset("macau")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# A player's 9 with two cards against a banker's 6, and what else decides a round at once.
PLAYER_WINS = ("9S KH", "6D KC")
BANKER_WINS = ("2S 5H", "9D KC")
BANKER_SIX = ("2S 3H 10S", "6D KC")
TIE = ("9S KH", "9D KC")


def with_changes(configuration: TableConfiguration, **changes: object) -> TableConfiguration:
    """Return the configuration with other values in some of its fields, checked."""
    return TableConfiguration.model_validate(configuration.model_dump() | changes)


class Scene:
    """One table. The defaults of every method are what the regulation asks for."""

    table_id = "BAC-01"

    def __init__(self, settings: FoldSettings | None = None) -> None:
        self.settings = settings or FoldSettings()
        self.fold = TableFold(self.table_id, self.settings)
        self.records: list[Record] = []
        self.given_out: list[Fact] = []
        self.now = START
        self.epoch, self.seq = 1, 0
        self.follows: tuple[int, int] | None = (0, 0)
        self.shoe, self.number, self.bets_placed = 0, 0, 0
        self.configuration = MACAU
        self.names_configuration, self.has_published = True, False
        self.hands: dict[str, list[str]] = {"player": [], "banker": []}
        self._outbox: list[tuple[bytes, datetime]] | None = None

    # -- the log -----------------------------------------------------------------------------------------------------

    def send(self, event: str, /, **fields: object) -> str:
        """Let the table's controller send an event; return its id."""
        self.now += timedelta(seconds=1)
        self.seq += 1
        if self.seq == 1:
            fields.setdefault("follows", self.follows)
        return self._write(event, self.epoch, self.seq, fields)

    def house(self, event: str, /, **fields: object) -> str:
        """Let Pitwatch, or the house at a console, write an event of epoch 0."""
        self.now += timedelta(seconds=1)
        return self._write(event, SYSTEM_EPOCH, (self.now - EPOCH) // timedelta(microseconds=1), fields)

    def _write(self, kind: str, epoch: int, seq: int, fields: dict[str, object]) -> str:
        identity = event_id(self.table_id, epoch, seq)
        make = cast(Any, EVENT_STRUCTS[kind])
        fields.setdefault("occurred_at", self.now)
        raw = encode(make(event_id=identity, table_id=self.table_id, epoch=epoch, seq=seq, **fields))
        if self._outbox is None:
            self._record(raw)
        else:
            self._outbox.append((raw, self.now))
        return identity

    def append(self, raw: bytes, *, pause: timedelta = PAUSE) -> list[Fact]:
        """Put bytes into the log as they are after a pause, in which late ones are told; return what they brought."""
        self.now += pause
        return self._record(raw)

    def _record(self, raw: bytes) -> list[Fact]:
        record = Record(TABLE_EVENTS, 0, len(self.records), self.table_id, raw, self.now + timedelta(milliseconds=40))
        self.records.append(record)
        facts = self.fold.apply(record)
        self.given_out += facts
        check_texts(facts)
        return facts

    @contextmanager
    def lost(self) -> Iterator[list[bytes]]:
        """Number what is sent, but keep it from the log; yield the list that then holds it, to `append` later."""
        self._outbox = []
        kept: list[bytes] = []
        yield kept
        kept += [raw for raw, _ in self._outbox]
        self._outbox = None

    def wait(self, seconds: float) -> None:
        """Let time pass in which nothing happens."""
        self.now += timedelta(seconds=seconds)

    def pass_gap_limit(self) -> None:
        """Let the log hear of the table until missing events are waited for no longer."""
        for _ in range(2):
            self.wait(self.settings.gap_limit_ms / 1000)
            self.send("heartbeat")

    def restart(self, *, says_what_it_follows: bool = True) -> None:
        """Let the controller restart: its next event begins an epoch."""
        self.follows = (self.epoch, self.seq) if says_what_it_follows else None
        self.epoch, self.seq = self.epoch + 1, 0

    # -- the table ---------------------------------------------------------------------------------------------------

    def publish(self, configuration: TableConfiguration) -> str:
        self.configuration, self.has_published = configuration, True
        return self.send("configuration_published", configuration=configuration.model_dump(mode="json"))

    def open(self, configuration: TableConfiguration = MACAU, *, tray: int | None = FLOAT) -> "Scene":
        """Publish a configuration and open the table with a dealer."""
        self.publish(configuration)
        self.send("table_opened", opening_float=tray)
        self.send("dealer_in", dealer_id="D-1")
        return self

    def load(self, *, decks: int | None = None, cut: int | None = 14, burned: Sequence[str] | int | None = None) -> str:
        """Bring a shoe into play as art. 2(1) says; return the id of its loading."""
        self.shoe, self.number = self.shoe + 1, 0
        shuffling = self.configuration.shuffling
        decks = decks or self.configuration.decks
        loaded = self.send("shoe_loaded", shoe=self.shoe, decks=decks, shuffling=shuffling)
        if shuffling == "continuous":
            return loaded
        if cut is not None:
            self.send("shoe_cut", shoe=self.shoe, cut_by="patron", cards_behind=cut)
        burned = decks if burned is None else burned
        for card in [None] * burned if isinstance(burned, int) else burned:
            self.burn(card or None, reason="opening")
        return loaded

    def burn(self, card: str | None = None, reason: str = "before_round") -> str:
        return self.send("card_burned", shoe=self.shoe, reason=reason, card=card)

    def white_card(self, number: int | None = None) -> str:
        return self.send("cut_card_reached", shoe=self.shoe, round=number or self.number or 1)

    def take_shoe_away(self, reason: str = "house_choice") -> str:
        return self.send("shoe_closed", shoe=self.shoe, reason=reason)

    # -- a round -----------------------------------------------------------------------------------------------------

    def begin(self, kind: str = "live") -> str:
        """Open the next round."""
        self.number += 1
        self.hands = {"player": [], "banker": []}
        named = self.configuration.configuration_id if self.names_configuration and self.has_published else None
        return self.of_round("round_opened", kind=kind, configuration_id=named)

    def of_round(self, event: str, /, **fields: object) -> str:
        """Send an event of the round in play."""
        return self.send(event, **{"shoe": self.shoe, "round": self.number, **fields})

    def bet(self, bet: str = "banker", stake: int = 1_000 * HKD, seat: int = 1, **fields: object) -> str:
        """Put a stake down; return the bet's id."""
        self.bets_placed += 1
        identity = str(fields.pop("bet_id", f"B{self.bets_placed}"))
        fields.setdefault("patron_id", f"P-{seat}" if fields.get("posture", "seated") == "seated" else None)
        self.of_round("bet_placed", bet_id=identity, bet=bet, stake=stake, seat=seat, **fields)
        return identity

    def change(self, bet_id: str, stake: int, bet: str | None = None) -> str:
        return self.of_round("bet_changed", bet_id=bet_id, stake=stake, bet=bet)

    def withdraw(self, bet_id: str) -> str:
        return self.of_round("bet_withdrawn", bet_id=bet_id)

    def no_more_bets(self) -> str:
        return self.of_round("betting_closed")

    def draw(self, hand: str, card: str, position: int | None = None) -> str:
        """Deal one card to a hand, for the next place unless another is given."""
        cards = self.hands[hand]
        cards.append(card)
        return self.of_round("card_drawn", hand=hand, position=position or len(cards), card=card)

    def deal(self, player: str, banker: str) -> list[str]:
        """Deal two hands in the order of art. 7(1), third cards after the first four; return the events' ids."""
        hands = {"player": parse_cards(player), "banker": parse_cards(banker)}
        order = [(hand, place) for place in range(3) for hand in ("player", "banker") if place < len(hands[hand])]
        return [self.draw(hand, hands[hand][place], place + 1) for hand, place in order]

    def misread(self, hand: str, position: int, card: str | None) -> str:
        return self._correct_card("misread", hand, position, card)

    def misdeal(self, hand: str, position: int, card: str | None = None) -> str:
        return self._correct_card("misdeal", hand, position, card)

    def _correct_card(self, reason: str, hand: str, position: int, card: str | None) -> str:
        self.hands[hand][position - 1 : position] = [card] if card else []
        return self.of_round("card_corrected", hand=hand, position=position, reason=reason, card=card)

    def call(self, outcome: str | None = None) -> str:
        """Call the result: the one by the cards unless another is given."""
        return self.of_round("result_called", outcome=outcome or self._seen().outcome)

    def _seen(self) -> RoundView:
        return view(tuple(self.hands["player"]), tuple(self.hands["banker"]))

    def settle(
        self,
        *,
        collected: Mapping[str, int] | None = None,
        paid: Mapping[str, int] | None = None,
        charged: Mapping[str, int] | None = None,
    ) -> None:
        """Collect, pay and charge what is due on every bet, but for what is given otherwise; 0 is not sent."""
        play, rules = self.in_hand, self.fold.journal.table.rules
        moves: list[tuple[str, str, int]] = []
        for bet in play.bets.values() if play else ():
            owed = due(bet.bet, bet.stake, self._seen(), rules.settlement)
            assert owed is not None
            payout = owed.winnings if rules.marked else owed.winnings - owed.commission
            lost = bet.stake if owed.result == "lose" else 0
            moves.append(("stake_collected", bet.bet_id, (collected or {}).get(bet.bet_id, lost)))
            moves.append(("payout_made", bet.bet_id, (paid or {}).get(bet.bet_id, payout)))
            moves.append(("commission_charged", bet.bet_id, (charged or {}).get(bet.bet_id, owed.commission)))
        for kind, bet_id, amount in moves:
            if amount:
                self.of_round(kind, bet_id=bet_id, amount=amount)

    def void(self, reason: str = "a card fell off the table") -> str:
        return self.of_round("round_voided", reason=reason, authorised_by="PM-7")

    def close(self) -> str:
        return self.of_round("round_closed")

    def play(self, hands: tuple[str, str] = PLAYER_WINS, *bets: tuple[Any, ...]) -> None:
        """Play a whole round by the book; each of `bets` is what `bet` takes in order."""
        self.begin()
        for bet in bets:
            self.bet(*bet)
        self.no_more_bets()
        self.finish(hands)

    def finish(self, hands: tuple[str, str] = PLAYER_WINS) -> None:
        """Deal, call, settle and close the round in play."""
        self.deal(*hands)
        self.call()
        self.settle()
        self.close()

    def demonstrate(self) -> str:
        """Play a demonstration round; return the id of its opening."""
        opened = self.begin("demonstration")
        self.deal(*PLAYER_WINS)
        self.call()
        self.close()
        return opened

    def correct(self, target: str, *, by_house: bool = False, **changes: object) -> str:
        """Let a supervisor replace fields of an event, or take it back where no field is given."""
        send = self.house if by_house else self.send
        return send(
            "correction",
            target_event_id=target,
            action="replace" if changes else "retract",
            changes=changes,
            authorised_by="PM-7",
            reason="seen on the tape",
        )

    # -- what came of it ---------------------------------------------------------------------------------------------

    @property
    def state(self) -> TableState:
        return self.fold.state

    @property
    def in_hand(self) -> RoundState | None:
        """The round in play; or the one that ended last, where that is the one told of."""
        finished = self.state.finished
        if finished and (finished.play.shoe, finished.play.number) == (self.shoe, self.number):
            return finished.play
        return self.state.round

    @property
    def standing(self) -> dict[tuple[Any, ...], Fact]:
        """The newest version of every fact by kind and key; retracted ones are left out."""
        return standing(self.given_out)

    def _of(self, kind: str) -> list[Any]:
        return [fact for fact in self.standing.values() if fact.fact == kind]

    @property
    def alerts(self) -> list[AlertFact]:
        return self._of("alert")

    @property
    def codes(self) -> list[str]:
        """The codes of the alerts that stand, sorted."""
        return sorted(alert.code for alert in self.alerts)

    def alert(self, code: str) -> AlertFact:
        """Return the one alert of a code; there must be just one."""
        (found,) = (alert for alert in self.alerts if alert.code == code)
        return found

    def round(self, number: int | None = None, shoe: int | None = None) -> RoundFact:
        return cast(RoundFact, self.standing["round", self.table_id, shoe or self.shoe, number or self.number])

    def bet_of(self, bet_id: str, number: int | None = None) -> BetFact:
        return cast(BetFact, self.standing["bet", self.table_id, self.shoe, number or self.number, bet_id])

    def shoe_fact(self, shoe: int | None = None) -> ShoeFact:
        return cast(ShoeFact, self.standing["shoe", self.table_id, shoe or self.shoe])

    @property
    def rounds(self) -> list[RoundFact]:
        return self._of("round")

    @property
    def bets(self) -> list[BetFact]:
        return self._of("bet")

    @property
    def hours(self) -> list[TableHourFact]:
        return self._of("table_hour")

    @property
    def roads(self) -> list[RoadFact]:
        return self._of("road")

    @property
    def commissions(self) -> list[CommissionFact]:
        return self._of("commission")

    @property
    def dead_letters(self) -> list[DeadLetterFact]:
        return self._of("dead_letter")

    @property
    def refusals(self) -> list[str]:
        """The reasons of the dead letters that stand, in the order of the log."""
        return [letter.reason for letter in sorted(self.dead_letters, key=lambda letter: letter.src_offset)]


LETTERS_IN_CHINESE: Final = re.compile(
    r"(?<=主管更正：.{2} )BAC-.*"  # what a supervisor wrote
    r"|BAC-\d+:\d+:\d+"  # an event
    r"|(?<=[桃心塊花])[AJQK]|EZ 莊"  # a card's rank, a bet of that name
    r"|(?<=注項 )[\w.:-]+"  # a bet that nobody saw
    r"|(?<=按配置 )[\w-]+|(?<=最後發布者為 )[\w-]+"  # a configuration
)

IDENTIFIERS_IN_ENGLISH: Final = re.compile(
    r"(?<=under configuration )[\w-]+|(?<=where )[\w-]+(?= was published last)|(?<=^Bet )[\w.:-]+"
)
"""What may look like an identifier in English: a configuration's name, or a bet's identity."""


def check_texts(facts: Iterable[Fact]) -> None:
    """Hold alerts to be Chinese or English where they say so: what is not is an identifier, or somebody wrote it."""
    for fact in facts:
        text = getattr(fact, "text_zh", "")
        assert not re.search(r"[A-Za-z{}]", LETTERS_IN_CHINESE.sub("", text)), text
        text = getattr(fact, "text_en", "")
        assert not re.search(r"[a-z]_[a-z]|[{}]", IDENTIFIERS_IN_ENGLISH.sub("", text)), text


def standing(facts: Sequence[Fact]) -> dict[tuple[Any, ...], Fact]:
    """Return the newest version of every fact by kind and key, as readers see them: retracted ones are left out."""
    newest: dict[tuple[Any, ...], Fact] = {}
    for fact in facts:
        key = (fact.fact, *(getattr(fact, name) for name in FACT_KEYS[fact.fact]))
        assert key not in newest or newest[key].revision < fact.revision, f"{key} went back to revision {fact.revision}"
        newest[key] = fact
    return {key: fact for key, fact in newest.items() if not fact.retracted}


def playing(configuration: TableConfiguration = MACAU, settings: FoldSettings | None = None) -> Scene:
    """Return an open table with a new shoe."""
    scene = Scene(settings).open(configuration)
    scene.load()
    return scene


def called(hands: tuple[str, str] = PLAYER_WINS, configuration: TableConfiguration = MACAU) -> Scene:
    """Return a table whose round, with a bet of 1,000 on each hand, was called and not settled."""
    scene = playing(configuration)
    scene.begin()
    scene.bet("player", 1_000 * HKD, 1)
    scene.bet("banker", 1_000 * HKD, 2)
    scene.no_more_bets()
    scene.deal(*hands)
    scene.call()
    return scene
