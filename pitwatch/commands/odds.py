"""`pitwatch odds`: exact odds of every bet of the catalogue, for a shoe as it stands."""

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from processors.rules.odds import BetOdds, InvalidComposition, RoundCounts, enumerate_rounds, evaluate, remaining
from schemas.cards import RANK_OF, SUIT_OF, SUITS, parse_cards
from schemas.catalogue import CATALOGUE
from schemas.errors import InvalidCard

MAX_DECKS: Final = 1000

NEEDS_SUITS: Final = "a card was removed without its suit, so nobody can tell which pairs of one suit are left"
"""Why a bet has no odds, for readers of JSON."""

_PATRONS_EDGE: Final = "bold #E24D42"
_OUTCOMES: Final = {
    "total": "六張排列 Draws of six cards",
    "banker": "莊 Banker wins",
    "player": "閒 Player wins",
    "tie": "和 Tie",
}


def odds(
    decks: Annotated[int, typer.Option(min=1, max=MAX_DECKS, help="Decks of 52 cards in the shoe.")] = 8,
    removed: Annotated[
        str,
        typer.Option(
            help="Cards that are gone, such as AS,10H,KD; a rank alone (A, 10) where the suit is unknown: bets on"
            " suited pairs then have no odds."
        ),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print exact fractions as JSON.")] = False,
) -> None:
    """Count every way a round can go, and print each bet's exact chance, house edge and standard deviation.

    Payouts are to one, at the catalogue's odds; the banker's less 5 % (art. 18).

    In JSON a payout is a whole number or a fraction ("8", "19/20"; "0" is pushed, "-1" lost).

    Probabilities and edges are always fractions "n/d" in lowest terms.
    """
    gone = read_removed(removed, decks)
    try:
        counts = enumerate_rounds(remaining(decks, gone))
    except InvalidComposition as error:
        raise typer.BadParameter(str(error), param_hint="--removed") from None
    found = {bet: evaluate(bet, counts) for bet in CATALOGUE}
    if as_json:
        typer.echo(json.dumps(as_plain(counts, found)))
        return
    console = Console()
    console.print(_summary(decks, len(gone), counts))
    console.print(_drawing(found))
    known = [odds for odds in found.values() if odds is not None]
    if len(known) < len(found):
        console.print("— 未知花色 can't be told: a card was removed without its suit", style="dim")
    if any(odds.house_edge < 0 for odds in known):
        console.print("客 客人佔優 the patron has the edge", style="dim")


def read_removed(text: str, decks: int) -> tuple[str, ...]:
    """Return the codes of the cards in `text`.

    Raises `typer.BadParameter` for what is no card, and for more copies of one than `decks` decks hold.
    """
    try:
        cards = parse_cards(text)
    except InvalidCard as error:
        raise typer.BadParameter(str(error), param_hint="--removed") from None
    for code in dict.fromkeys(code for card in cards for code in (card, RANK_OF[card])):
        held = decks if SUIT_OF[code] else decks * len(SUITS)
        # A rank counts the cards whose suits are known too.
        named = sum(code in (card, RANK_OF[card]) for card in cards)
        if named > held:
            problem = f"{code} is named {named} times; {decks} × 52 cards hold {held}"
            raise typer.BadParameter(problem, param_hint="--removed")
    return cards


def as_plain(counts: RoundCounts, found: Mapping[str, BetOdds | None]) -> dict[str, object]:
    """Return the odds as JSON takes them; a bet that hangs on unknown suits is null, and `notes` says why."""
    plain: dict[str, object] = {
        "combinations": counts.combinations,
        "bets": {bet: None if odds is None else _plain_odds(odds) for bet, odds in found.items()},
    }
    notes = {bet: NEEDS_SUITS for bet, odds in found.items() if odds is None}
    return plain | ({"notes": notes} if notes else {})


def _plain_odds(odds: BetOdds) -> dict[str, object]:
    return {
        "probabilities": {str(payout): _ratio(share) for payout, share in odds.probabilities.items()},
        "house_edge": _ratio(odds.house_edge),
        "standard_deviation": odds.standard_deviation,
    }


def _ratio(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"


def _summary(decks: int, removed: int, counts: RoundCounts) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    combinations = counts.combinations
    for name, drawn in combinations.items():
        share = Fraction(drawn, combinations["total"])
        table.add_row(_OUTCOMES[name], f"{drawn:,}", f"{100 * float(share):.4f} %")
    table.title = f"{decks} 副 decks · 已去 {removed} 張 cards removed"
    table.title_justify = "left"
    return table


def _drawing(found: Mapping[str, BetOdds | None]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("注 Bet", no_wrap=True)
    for heading in ("賠率 Pays", "贏 Wins", "優勢 Edge", "σ"):
        table.add_column(heading, justify="right", no_wrap=True)
    for bet, odds in found.items():
        name = f"{CATALOGUE[bet].zh} {CATALOGUE[bet].en}"
        table.add_row(name, *(["—"] * 4 if odds is None else _cells(odds)))
    return table


def _cells(odds: BetOdds) -> list[Text]:
    shares = odds.probabilities
    wins = sum(share for payout, share in shares.items() if payout > 0)
    paid = "/".join(f"{float(payout):g}" for payout in sorted(shares) if payout > 0)
    edge = Text(f"{100 * float(odds.house_edge):.4f} %")
    if odds.house_edge < 0:
        edge = Text(f"客 {edge}", style=_PATRONS_EDGE)
    return [Text(paid), Text(f"{100 * float(wins):.4f} %"), edge, Text(f"{odds.standard_deviation:.5f}")]
