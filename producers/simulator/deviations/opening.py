"""Shoes opened or ended against the procedure, options used without permission, forged shoes (arts. 1 to 3 and 19)."""

from typing import Final

from producers.simulator.plan import Finding, Opening
from producers.simulator.table import Table

_MANY_CARDS_BEHIND: Final = 30
"""Enough behind the white card for two rounds more than allowed."""


def shoe_refused(table: Table, opening: Opening) -> Finding | None:
    """Art. 1: a shoe of five decks, or of other decks than the configuration's, is brought and taken away again."""
    other = 6 if table.configuration.decks != 6 else 8
    opening.refused_decks = 5 if table.rng.random() < 0.5 else other
    return _finding(opening, "shoe_refused", "refused", f"a shoe of {opening.refused_decks} decks is brought")


def cut_depth(table: Table, opening: Opening) -> Finding | None:
    """Art. 2(1): too few cards behind the white card, though enough to end the round in play."""
    if opening.cards_behind is None:
        return None
    opening.cards_behind = 6 + int(table.rng.random() * (table.configuration.cut_card_depth - 6))
    return _finding(opening, "cut_depth", "cut", f"cut {opening.cards_behind} cards from the end")


def burn_count(table: Table, opening: Opening) -> Finding | None:
    """Art. 2(1): one card too few or too many is burned."""
    if opening.cards_behind is None:
        return None
    opening.burn_more = 1 if table.rng.random() < 0.5 else -1
    shown_by = "burned" if opening.burn_more > 0 else "first_round"
    return _finding(opening, "burn_count", shown_by, f"burned {opening.burn_more:+d} against the rule")


def shoe_not_cut(_table: Table, opening: Opening) -> Finding | None:
    """Art. 2(1): play starts without a cut."""
    if opening.cards_behind is None:
        return None
    opening.cards_behind = None
    return _finding(opening, "shoe_not_cut", "first_round", "played without a cut")


def demonstrations_exceeded(table: Table, opening: Opening) -> Finding | None:
    """Art. 2(2): one demonstration more than allowed."""
    allowed = table.configuration.demonstrations
    if not allowed or opening.cards_behind is None:
        return None
    opening.demonstrations = allowed + 1
    # The last demonstration is the only one too many, so its opening is what shows it.
    return _finding(opening, "demonstrations_exceeded", "demonstration_too_many", f"{allowed + 1} demonstrations", True)


def bet_in_demonstration(table: Table, opening: Opening) -> Finding | None:
    """Art. 2(2): a bet lies on the layout in a demonstration until the dealer sends it back."""
    if not table.configuration.demonstrations or opening.cards_behind is None or not table.seated:
        return None
    opening.demonstrations = max(1, opening.demonstrations)
    opening.intruder = next(iter(table.seated.values()))
    return _finding(opening, "bet_in_demonstration", "intrusion", "a bet in a demonstration", True)


def round_after_cut_card(_table: Table, opening: Opening) -> Finding | None:
    """Art. 3(1): one round more after the white card than allowed."""
    if opening.cards_behind is None:
        return None
    opening.cards_behind = max(opening.cards_behind, _MANY_CARDS_BEHIND)
    opening.rounds_too_many = 1
    return _finding(opening, "round_after_cut_card", "round_too_many", "a round too many after the cut card", True)


def option_without_approval(table: Table, opening: Opening) -> Finding | None:
    """Art. 19: the shoe is burned by its first card, or shuffled continuously, without permission for it."""
    now = table.configuration
    option = "continuous_shuffler" if now.shuffling == "continuous" else "burn_by_first_card"
    opening.configuration = now.model_copy(
        update={
            "configuration_id": f"{now.configuration_id}-unapproved",
            "burn": "first_card",
            "approvals": tuple(approval for approval in now.approvals if approval.option != option),
        }
    )
    shown_by = "loaded" if now.shuffling == "continuous" else "first_round"
    return _finding(opening, "option_without_approval", shown_by, f"{option} without approval")


def excess_copies(_table: Table, opening: Opening) -> Finding | None:
    """Art. 1: one card of the shoe is a copy more than its decks have."""
    if opening.cards_behind is None:
        return None
    opening.forge = True
    return _finding(opening, "excess_copies", "forged", "one copy of a card too many", True)


def _finding(opening: Opening, code: str, shown_by: str, described: str, of_round: bool = False) -> Finding:
    seat = opening.intruder.seat if opening.intruder else None
    return Finding((code,), opening.shown_by(shown_by), described, seat=seat, of_round=of_round)


OPENING_DEVIATIONS: Final = {
    "shoe_refused": shoe_refused,
    "cut_depth": cut_depth,
    "burn_count": burn_count,
    "shoe_not_cut": shoe_not_cut,
    "demonstrations_exceeded": demonstrations_exceeded,
    "bet_in_demonstration": bet_in_demonstration,
    "round_after_cut_card": round_after_cut_card,
    "option_without_approval": option_without_approval,
    "excess_copies": excess_copies,
}
