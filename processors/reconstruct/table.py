"""A table while an event is applied: its state, the rules in force, and where facts go."""

from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple

from processors.reconstruct.rulebook import Rulebook, gaming_day, rulebook
from processors.reconstruct.state import RoundState, TableState
from schemas.alerts import ALERTS
from schemas.configuration import PRESETS, GamingDay, TableConfiguration
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


class Who(NamedTuple):
    """Whose bet or place an alert is about."""

    seat: int | None = None
    patron_id: str = ""


NOBODY: Final = Who()


class Unusable(Exception):
    """Raised by a step for an event that is well formed and yet makes no sense where it stands."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class Table:
    """The fold's hands: a step reads and changes `state`, looks rules up in `rules`, and emits facts."""

    __slots__ = ("_days", "emit", "rules", "state")

    def __init__(self, state: TableState, emit: Emit) -> None:
        self.state = state
        self.emit = emit
        self._days: GamingDay = UNCONFIGURED.gaming_day
        self.rules: Rulebook = rulebook(UNCONFIGURED, "2000-01-03", judged=False)
        self.restore(state)

    def restore(self, state: TableState) -> None:
        """Take `state` as the table's, with the rules that were in force then."""
        self.state = state
        configuration = UNCONFIGURED if state.configuration is None else state.configuration
        self._days = configuration.gaming_day
        day = state.round.gaming_day if state.round else self.rules.day
        self.rules = rulebook(configuration, day, judged=state.configuration is not None)

    def configure(self, configuration: TableConfiguration, at: datetime) -> None:
        """Put `configuration` in force."""
        self.state.configuration = configuration
        self._days = configuration.gaming_day
        self.rules = rulebook(configuration, self.day_of(at)[0], judged=True)

    def day_of(self, moment: datetime) -> tuple[str, str]:
        """Return the gaming day and shift at `moment`, and make that day's rules the ones in force."""
        return gaming_day(moment, self._days)

    def follow_day(self, day: str) -> None:
        """Make the rules of gaming day `day` the ones in force: offers begin and end with a day."""
        if day != self.rules.day:
            self.rules = rulebook(self.rules.configuration, day, judged=self.rules.judged)

    def money(self, minor: int) -> str:
        """Return an amount as people read it, without its currency."""
        return f"{to_decimal(minor, self.rules.configuration.currency):,.2f}".removesuffix(".00")

    def alert(
        self,
        event: Event,
        code: str,
        about: str = "",
        evidence: Evidence = NOTHING_MORE,
        *,
        who: Who = NOBODY,
        status: str = "raised",
        retracted: bool = False,
    ) -> None:
        """Emit an alert about the round in play. `about` tells two of a kind apart in one round."""
        state, play = self.state, self.state.round
        shoe, number = (play.shoe, play.number) if play else (state.shoe.number if state.shoe else 0, 0)
        day, shift = (play.gaming_day, play.shift) if play else self.day_of(event.occurred_at)
        if play and status == "raised":
            play.alerts += 1
        kind = ALERTS[code]
        alert_id = f"{state.table_id}:{shoe}:{number}:{code}" + (f":{about}" if about else "")
        words = {name: getattr(evidence, name) for name in ("expected", "actual", "bet", "card")}
        self.emit(
            ("alert", alert_id),
            AlertRow(
                table_id=state.table_id,
                retracted=retracted,
                occurred_at=event.occurred_at,
                gaming_day=day,
                shift=shift,
                pit=self.rules.configuration.pit,
                alert_id=alert_id,
                code=code,
                severity=kind.severity,
                article=kind.article,
                status=status,  # type: ignore[arg-type]  # one of the fact's two words
                shoe=shoe,
                round=number,
                seat=who.seat,
                dealer_id=state.dealer_id,
                patron_id=who.patron_id,
                text_zh=kind.zh.format(**words),
                text_en=kind.en.format(**words),
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
            ),
        )

    def unapproved(self, event: Event, option: str) -> None:
        """Raise an alert where an option of art. 19 is used without a valid permission, once a shoe."""
        shoe = self.state.shoe
        if shoe and self.rules.judged and option not in self.rules.approved and option not in shoe.unapproved:
            shoe.unapproved.append(option)
            self.alert(event, "option_without_approval", option, EvidenceRow(actual=option))

    def play(self) -> RoundState:
        """Return the round in play; there must be one."""
        assert self.state.round is not None
        return self.state.round
