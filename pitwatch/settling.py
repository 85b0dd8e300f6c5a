"""One finished round and its bets, from a line of JSON to what every bet is due; nothing here prints or reads files."""

from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from typing import Annotated, Final, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, ValidationError
from pydantic_core import from_json, to_json

from processors.reconstruct.owners import SIDE_OF
from processors.reconstruct.rulebook import Rulebook, rulebook
from processors.rules.hands import RoundView, view
from processors.rules.limits import stake_limits
from processors.rules.settlement import Due, due, net
from processors.rules.tableau import judge
from schemas.cards import Hand, parse_card
from schemas.configuration import BetName, TableConfiguration, UnknownPreset, preset
from schemas.errors import PitwatchError
from schemas.fields import Day, Stake, StrictModel

MAX_BETS: Final = 1000
DEFAULT_PRESET: Final = "macau"
UNKNOWN_SUITS: Final = "decided by suits that were not given"
UNKNOWN_SIDE: Final = "decided by the hand of a main bet that was not given"
"""Why a bet has no result."""

_UNDATED: Final = "2000-01-03"
"""Any day will do for offers that have no dates."""


def _parsed(card: object) -> object:
    return parse_card(card) if isinstance(card, str) else card


def _a_hand(cards: tuple[str, ...]) -> tuple[str, ...]:
    if not 2 <= len(cards) <= 3:
        raise ValueError(f"a hand is two or three cards, not {len(cards)}")
    return cards


Cards = Annotated[tuple[Annotated[str, BeforeValidator(_parsed)], ...], AfterValidator(_a_hand)]


class InvalidRound(PitwatchError, ValueError):
    """Raised for a line that can't be settled. `field` says which part of it, empty for the line as a whole."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}" if field else problem)
        self.field = field


class BetLine(StrictModel):
    """A bet to settle; the stake in minor units."""

    bet: BetName
    stake: Stake


class RoundLine(StrictModel):
    """A round to settle: the cards in dealing order, and the bets on it.

    `configuration` is a preset's name, an object with `preset` and what differs from it, or a whole configuration.
    `day` is the gaming day, for configurations whose offers have dates.
    """

    player_cards: Cards
    banker_cards: Cards
    bets: Annotated[tuple[BetLine, ...], Field(max_length=MAX_BETS)]
    configuration: JsonValue = DEFAULT_PRESET
    day: Day | None = None


class Settled(NamedTuple):
    """A bet, its stake in minor units, and what it is due: None where that hangs on what the line doesn't say."""

    bet: str
    stake: int
    owed: Due | None


def settle_line(raw: bytes) -> dict[str, object]:
    """Return what the round in a line of JSON means for its bets. Raises `InvalidRound`."""
    try:
        line = RoundLine.model_validate_json(raw.strip(), strict=True)
    except ValidationError as error:
        raise _explained(error) from None
    rules = _rules(to_json(line.configuration, inf_nan_mode="constants"), line.day)
    dealt = view(line.player_cards, line.banker_cards)
    main = {side for bet in line.bets if (side := SIDE_OF.get(bet.bet)) is not None}
    bets = [Settled(bet.bet, bet.stake, _owed(bet, dealt, rules, main)) for bet in line.bets]
    return {
        "player_cards": line.player_cards,
        "banker_cards": line.banker_cards,
        "configuration": rules.configuration.configuration_id,
        "verdicts": verdicts(dealt),
        "bets": [_bet(bet, rules) for bet in bets],
        "totals": totals(bets),
    }


def _owed(bet: BetLine, dealt: RoundView, rules: Rulebook, main: set[Hand]) -> Due | None:
    """Return what a bet is due; a lucky six that goes with the main bet needs one on a single hand."""
    side = None
    if bet.bet in rules.sides:
        side = rules.sides[bet.bet] or (next(iter(main)) if len(main) == 1 else None)
        if side is None:
            return None
    return due(bet.bet, bet.stake, dealt, rules.settlement, side)


def verdicts(dealt: RoundView) -> dict[str, object]:
    """Return what the cards say: outcome, totals, naturals, pairs, and every error by its sub-item of art. 9.

    A perfect pair is null where the suits of a pair are unknown.
    """
    return {
        "outcome": dealt.outcome,
        "player_total": dealt.player_total,
        "banker_total": dealt.banker_total,
        "natural": dealt.player_natural or dealt.banker_natural,
        "player_natural": dealt.player_natural,
        "banker_natural": dealt.banker_natural,
        "player_pair": dealt.player_pair,
        "banker_pair": dealt.banker_pair,
        "player_perfect_pair": dealt.player_perfect_pair,
        "banker_perfect_pair": dealt.banker_perfect_pair,
        "tableau_errors": [
            {
                "code": error.finding.kind,
                "hand": error.hand,
                "item": error.item,
                "expected": error.expected,
                "actual": error.actual,
            }
            for error in judge(dealt.player_cards, dealt.banker_cards)
        ],
    }


def _bet(settled: Settled, rules: Rulebook) -> dict[str, object]:
    """Return a bet's settlement (arts. 17 and 18), and what its stake breaks of the table's limits."""
    bet, stake, owed = settled
    limits = rules.offers.get(bet)
    finding = stake_limits(stake, *limits) if limits else None
    return {
        "bet": bet,
        "stake": stake,
        "offered": limits is not None,
        "result": owed.result if owed else None,
        "item": owed.item if owed else None,
        "winnings": owed.winnings if owed else None,
        "commission": owed.commission if owed else None,
        "net": net(stake, owed) if owed else None,
        # Where the rounding is "exact" and there was a rest, the stake should not have been taken.
        "inexact": owed.inexact if owed else False,
        "reason": None if owed else UNKNOWN_SIDE if bet in rules.sides else UNKNOWN_SUITS,
        "findings": [] if finding is None else [_with_code(finding._asdict())],
    }


def _with_code(finding: dict[str, object]) -> dict[str, object]:
    return {"code": finding.pop("kind"), **finding}


def totals(bets: Iterable[Settled]) -> dict[str, int]:
    """Return the sums over a round's bets, minor units: handle counts what was won or lost, `undecided` what neither.

    Bets that push are in `stakes` alone.
    """
    sums = dict.fromkeys(("stakes", "handle", "house_win", "commission", "undecided"), 0)
    for _, stake, owed in bets:
        sums["stakes"] += stake
        if owed is None:
            sums["undecided"] += stake
        elif owed.result != "push":
            sums["handle"] += stake
            sums["house_win"] -= net(stake, owed)
            sums["commission"] += owed.commission
    return sums


@lru_cache(maxsize=64)
def _rules(configuration: bytes, day: date | None) -> Rulebook:
    """Return the rules of a configuration given as JSON. Most lines of a file have the same one."""
    found = _configuration(configuration)
    dated = [offer.bet for offer in found.bets if offer.effective_from or offer.effective_until]
    if dated and day is None:
        raise InvalidRound("day", f"the configuration offers {dated[0]} between dates, so the gaming day must be given")
    return rulebook(found, _UNDATED if day is None else day.isoformat(), judged=True)


def _configuration(raw: bytes) -> TableConfiguration:
    given: JsonValue = from_json(raw)
    try:
        if isinstance(given, str):
            return preset(given)
        if not isinstance(given, dict):
            raise InvalidRound("configuration", "give a preset's name or an object")
        whole = given
        if "preset" in given:
            changes = {name: change for name, change in given.items() if name != "preset"}
            whole = _changed(preset(str(given["preset"])).model_dump(mode="json"), changes)
        return TableConfiguration.model_validate_json(to_json(whole, inf_nan_mode="constants"), strict=True)
    except UnknownPreset as error:
        raise InvalidRound("configuration", str(error)) from None
    except ValidationError as error:
        raise _explained(error, "configuration") from None


def _changed(base: dict[str, JsonValue], changes: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return `base` with `changes`: an object changes the fields it names, anything else takes the old one's place."""
    changed = dict(base)
    for name, change in changes.items():
        old = base.get(name)
        changed[name] = old | change if isinstance(old, dict) and isinstance(change, dict) else change
    return changed


def _explained(error: ValidationError, *above: str) -> InvalidRound:
    """Return the first thing that the models found, with the field it is about."""
    found = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in (*above, *found["loc"]))
    said = found["msg"].removeprefix("Value error, ")
    if found["type"] == "extra_forbidden":
        said = "there is no such field"
    # The parser counts lines too, and it is only ever given one.
    return InvalidRound(place.removeprefix("."), said.replace(" at line 1 column ", " at column "))
