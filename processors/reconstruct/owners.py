"""Whose a bet is, as far as it is known, and which hand a patron's bets are on."""

from collections.abc import Iterable
from typing import Final, get_args

from processors.reconstruct.state import BetState, RoundState
from schemas.cards import Hand
from schemas.catalogue import CATALOGUE, MAIN_BETS

HANDS: Final[tuple[Hand, ...]] = get_args(Hand)
MAIN_BETS_ON: Final = {side: frozenset(name for name in MAIN_BETS if CATALOGUE[name].side == side) for side in HANDS}
"""The main bets on each hand."""

SIDE_OF: Final[dict[str, Hand]] = {name: side for side, names in MAIN_BETS_ON.items() for name in names}
"""The hand that each main bet is on."""

COMPANIONS: Final = frozenset(name for name, bet in CATALOGUE.items() if bet.companion)
"""The bets that are only taken together with a main bet."""


def by_owner(play: RoundState) -> dict[str, list[BetState]]:
    """Return the bets by whose they are, as far as it is known. A seat has one patron, whom another bet may name."""
    bets = play.bets.values()
    seats = {bet.seat: bet.patron_id for bet in bets if bet.posture == "seated" and bet.patron_id}
    owners: dict[str, list[BetState]] = {}
    for bet in bets:
        owner = bet.patron_id or (seats.get(bet.seat) if bet.posture == "seated" else "") or bet.owner
        if owner:
            owners.setdefault(owner, []).append(bet)
    return owners


def main_stakes(bets: Iterable[BetState]) -> dict[Hand, int]:
    """Return what lies on each hand to win."""
    stakes: dict[Hand, int] = {"player": 0, "banker": 0}
    for bet in bets:
        if bet.bet in MAIN_BETS:
            stakes[SIDE_OF[bet.bet]] += bet.stake
    return stakes


def side_beside(play: RoundState, companion: BetState) -> Hand | None:
    """Return the one hand that the owner of a companion bet has a main bet on; None where that can't be told."""
    for bets in by_owner(play).values():
        if any(bet is companion for bet in bets):
            sides = [side for side, stake in main_stakes(bets).items() if stake]
            return sides[0] if len(sides) == 1 else None
    return None
