"""A table while an event is applied: its state, the rules in force, and where facts go."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final, Literal, NamedTuple

from processors.reconstruct.rulebook import Hour, Rulebook, hour_of, rulebook
from processors.reconstruct.state import FinishedRound, RoundState, TableState
from processors.rules.findings import Finding
from schemas.alerts import ALERTS, RESTS_ON_CONFIGURATION
from schemas.chinese import in_chinese
from schemas.configuration import PRESETS, GamingDay, TableConfiguration
from schemas.english import in_english
from schemas.events import Event
from schemas.facts import AlertFact, Evidence, Fact
from schemas.money import to_decimal
from schemas.structs import struct_of

FactKey = tuple[str | int, ...]
Emit = Callable[[FactKey, Fact], None]

AlertRow = struct_of(AlertFact, tag="alert", tag_field="fact")
EvidenceRow = struct_of(Evidence)

# Without any configuration the regulation itself settles the bets (arts. 17 and 18).
UNCONFIGURED: Final[TableConfiguration] = PRESETS["macau"]

NOTHING_MORE: Final = EvidenceRow()
"""Evidence of the event and the cards alone."""


UNSEEN: Final = "?"
"""In evidence: the kind of a bet that nobody saw. A text names it by its identity."""

Standing = Literal["raised", "corrected", "withdrawn"]
"""What an alert is emitted as: raised, put right by the table itself, or never to have been raised."""


class Who(NamedTuple):
    """Whose bet or place an alert is about."""

    seat: int | None = None
    patron_id: str = ""


NOBODY: Final = Who()


class Table:
    """The fold's hands: a step reads and changes `state`, looks rules up in `rules`, and emits facts."""

    __slots__ = ("_days", "_hour", "emit", "rules", "state")

    def __init__(self, state: TableState, emit: Emit) -> None:
        self.emit = emit
        self.restore(state)

    def restore(self, state: TableState) -> None:
        """Take `state` as the table's, with the rules that were in force then."""
        self.state = state
        configuration = UNCONFIGURED if state.configuration is None else state.configuration
        self._days: GamingDay = configuration.gaming_day
        self._hour: Hour | None = None
        self.rules: Rulebook = rulebook(configuration, state.rules_day, judged=state.configuration is not None)

    def configure(self, configuration: TableConfiguration, at: datetime) -> None:
        """Put `configuration` in force."""
        state = self.state
        state.configuration = configuration
        self._days, self._hour = configuration.gaming_day, None
        state.rules_day = self.hour_of(at).gaming_day
        self.rules = rulebook(configuration, state.rules_day, judged=True)

    @contextmanager
    def turned_back(self, finished: FinishedRound) -> Iterator[None]:
        """Be what the table was when its last round ended, for the length of a block; its tray and ledger stay."""
        state, rules, days, hour = self.state, self.rules, self._days, self._hour
        now = state.round, state.dealer_id, state.named, state.is_doubtful
        state.round, state.dealer_id = finished.play, finished.dealer_id
        state.named, state.is_doubtful = finished.named, finished.is_doubtful
        self.rules = self._rules_of(finished)
        try:
            yield
        finally:
            state.round, state.dealer_id, state.named, state.is_doubtful = now
            self.rules, self._days, self._hour = rules, days, hour

    def _rules_of(self, finished: FinishedRound) -> Rulebook:
        """Return the rules that the last round was dealt under, which are the ones in force, as a rule."""
        configuration, day = finished.configuration, finished.play.gaming_day
        if configuration == self.state.configuration and day == self.state.rules_day:
            return self.rules
        return rulebook(configuration or UNCONFIGURED, day, judged=configuration is not None)

    def hour_of(self, moment: datetime) -> Hour:
        """Return the hour of `moment`, with its gaming day and shift."""
        # Asked again and again about the same hour.
        hour = self._hour
        if hour is None or not hour.begins <= moment < hour.ends:
            hour = self._hour = hour_of(moment, self._days)
        return hour

    def day_of(self, moment: datetime) -> tuple[str, str]:
        """Return the gaming day and shift at `moment`."""
        hour = self.hour_of(moment)
        return hour.gaming_day, hour.shift

    def follow_day(self, day: str) -> None:
        """Make the rules of gaming day `day` the ones in force: offers and permissions begin and end with a day."""
        if day != self.state.rules_day:
            self.state.rules_day = day
            self.rules = rulebook(self.rules.configuration, day, judged=self.rules.judged)

    def money(self, minor: int) -> str:
        """Return an amount as people read it, without its currency."""
        return f"{to_decimal(minor, self.rules.configuration.currency):,.2f}".removesuffix(".00")

    def alert_id(self, code: str, about: str = "", *, of_round: bool = True) -> str:
        """Return the identity of an alert about the round in play, or about the shoe where it is of no round."""
        state, play = self.state, self.state.round if of_round else None
        shoe, number = (play.shoe, play.number) if play else (state.shoe.number if state.shoe else 0, 0)
        return f"{state.table_id}:{shoe}:{number}:{code}" + (f":{about}" if about else "")

    def alert(
        self,
        event: Event,
        what: str | Finding,
        about: str = "",
        evidence: Evidence = NOTHING_MORE,
        *,
        who: Who = NOBODY,
        status: Standing = "raised",
        of_round: bool = True,
    ) -> None:
        """Emit an alert about the round in play, or about the shoe where it is of no round.

        `what` is its code, or what a rule found, which knows the line broken more closely than the catalogue. `about`
        tells two of a kind apart there. Once raised, an alert may be emitted again with another status.
        """
        code = what if isinstance(what, str) else what.kind
        play = self.state.round if of_round else None
        if self.state.is_doubtful and code in RESTS_ON_CONFIGURATION:
            if play is not None:
                play.withheld += 1
            return
        row = self.alert_row(event, what, about, evidence, who=who, status=status, of_round=of_round)
        if play is not None:
            _count(play, row.alert_id, status)
        self.emit(("alert", row.alert_id), row)

    def alert_row(
        self,
        event: Event,
        what: str | Finding,
        about: str = "",
        evidence: Evidence = NOTHING_MORE,
        *,
        who: Who = NOBODY,
        status: Standing = "raised",
        of_round: bool = True,
    ) -> AlertFact:
        """Return the alert that `alert` emits, which says what it takes."""
        code, article = (what, "") if isinstance(what, str) else (what.kind, what.article)
        state, play = self.state, self.state.round if of_round else None
        day, shift = (play.gaming_day, play.shift) if play else self.day_of(event.occurred_at)
        kind = ALERTS[code]
        words = {name: getattr(evidence, name) for name in ("expected", "actual", "bet", "card")}
        if words["bet"] == UNSEEN:
            words["bet"] = f"Bet {evidence.bet_id}"
        return AlertRow(
            table_id=state.table_id,
            retracted=status == "withdrawn",
            occurred_at=event.occurred_at,
            gaming_day=day,
            shift=shift,
            pit=self.rules.configuration.pit,
            alert_id=self.alert_id(code, about, of_round=of_round),
            code=code,
            severity=kind.severity,
            article=article or kind.article,
            status="corrected" if status == "corrected" else "raised",
            shoe=play.shoe if play else state.shoe.number if state.shoe else 0,
            round=play.number if play else 0,
            seat=who.seat,
            dealer_id=state.dealer_id,
            patron_id=who.patron_id,
            currency=self.rules.configuration.currency,
            text_zh=kind.zh.format(**{name: in_chinese(word) for name, word in words.items()}),
            text_en=kind.en.format(**{name: in_english(word) for name, word in words.items()}),
            evidence=EvidenceRow(
                event_ids=evidence.event_ids or (event.event_id,),
                bet_id=evidence.bet_id,
                bet=evidence.bet,
                card=evidence.card,
                expected=evidence.expected,
                actual=evidence.actual,
                due=evidence.due,
                paid=evidence.paid,
                player_cards=tuple(play.player) if play else (),
                banker_cards=tuple(play.banker) if play else (),
            ),
        )

    def report(self, event: Event, finding: Finding | None, about: str = "") -> None:
        """Raise an alert of what a rule found, if it did."""
        if finding is not None:
            evidence = EvidenceRow(expected=str(finding.expected), actual=str(finding.actual))
            self.alert(event, finding, about, evidence)

    def unapproved(self, event: Event, option: str) -> None:
        """Raise an alert where an option of art. 19 is used without a valid permission, once a shoe."""
        shoe = self.state.shoe
        is_known = self.rules.judged and not self.state.is_doubtful
        if shoe and is_known and option not in self.rules.approved and option not in shoe.unapproved:
            shoe.unapproved.append(option)
            self.alert(event, "option_without_approval", option, EvidenceRow(actual=option))

    def play(self) -> RoundState:
        """Return the round in play; there must be one."""
        assert self.state.round is not None
        return self.state.round


def _count(play: RoundState, alert_id: str, status: Standing) -> None:
    """Keep the list of the round's alerts; one that was corrected was raised all the same."""
    if status == "withdrawn":
        play.raised.remove(alert_id)
    elif alert_id not in play.raised:
        play.raised.append(alert_id)


def may_come_again(state: TableState, key: FactKey) -> bool:
    """Tell whether an event yet to come may emit a key once more that was emitted before `state`.

    Whatever remembers revisions must keep those of such keys, or they would begin anew below what was given out.
    """
    kind, name = key[0], key[1]
    shoe = state.shoe.number if state.shoe else 0
    if kind == "shoe":
        return name == shoe
    if kind == "table_hour":
        return name in state.hours
    if kind == "road":
        # A tie counts on the newest cell of the big road.
        latest = state.shoe.roads.latest if state.shoe else None
        return latest is not None and key[1:] == (shoe, "big_road", latest.index)
    rounds = [state.finished.play] if state.finished else []
    if state.round is not None:
        rounds.append(state.round)
    if kind == "alert":
        return any(str(name).startswith(f"{state.table_id}:{play.shoe}:{play.number}:") for play in rounds)
    if kind in {"round", "bet"}:
        return any(key[1:3] == (play.shoe, play.number) for play in rounds)
    return False
