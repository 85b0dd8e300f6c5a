"""The third-card tableau (art. 9) as a table, with the sub-item that each verdict rests on."""

from typing import Final, Literal, NamedTuple

from processors.rules.findings import Finding
from schemas.cards import POINTS, Hand


class Verdict(NamedTuple):
    """Whether a hand draws its third card, and the sub-item of art. 9 that says so, such as ``9(3)(2)``."""

    draw: bool
    item: str


class TableauError(NamedTuple):
    """A third card drawn or missed against `item`; `natural_ignored` where either hand held a natural."""

    hand: Hand
    item: str
    expected: Literal["draw", "stand"]
    actual: Literal["drew", "stood"]
    natural_ignored: bool

    @property
    def finding(self) -> Finding:
        """The error as a finding, which names the sub-item of art. 9 and the hand."""
        drawn = "natural_ignored" if self.natural_ignored else "third_card_drawn"
        kind = "third_card_missed" if self.actual == "stood" else drawn
        return Finding(kind, self.item, self.item, f"{self.hand} {self.actual}")


NATURALS: Final = frozenset({8, 9})
STOOD: Final = None
"""In place of the points of the player's third card: the player drew none."""

_NONE: Final = (STOOD,)
_DREW: Final = tuple(range(10))

# Art. 9(1)-(2), by the player's first two cards. Ten points are written 0, as art. 5 counts them.
_PLAYER_RULES: Final = (
    ("9(1)", True, (1, 2, 3, 4, 5, 0)),
    ("9(2)", False, (6, 7, 8, 9)),
)

# Art. 9(3)-(4): the banker's first two cards, and the points of the player's third card.
_BANKER_RULES: Final = (
    ("9(3)(1)", True, (1, 2, 0), _DREW),
    ("9(3)(2)", True, (3,), (1, 2, 3, 4, 5, 6, 7, 9, 0)),
    ("9(3)(3)", True, (4,), (2, 3, 4, 5, 6, 7)),
    ("9(3)(4)", True, (5,), (4, 5, 6, 7)),
    ("9(3)(5)", True, (6,), (6, 7)),
    ("9(3)(6)", True, (1, 2, 3, 4, 5, 0), _NONE),
    ("9(4)(1)", False, (3,), (8,)),
    ("9(4)(2)", False, (4,), (1, 8, 9, 0)),
    ("9(4)(3)", False, (5,), (1, 2, 3, 8, 9, 0)),
    ("9(4)(4)", False, (6,), (1, 2, 3, 4, 5, 8, 9, 0, STOOD)),
    ("9(4)(5)", False, (7, 8, 9), (*_DREW, STOOD)),
)

_PLAYER_STANDS: Final = Verdict(draw=False, item="9(2)")
_BANKER_STANDS: Final = Verdict(draw=False, item="9(4)(6)")

# By the points of the player's and the banker's first two cards: a natural of either stands both.
_PLAYER: Final = {
    (player, banker): _PLAYER_STANDS if banker in NATURALS else Verdict(draw, item)
    for item, draw, totals in _PLAYER_RULES
    for player in totals
    for banker in range(10)
}

# By the same, and the points of the player's third card. Where two sub-items forbid the banker's card, its own total
# is named before the player's natural.
_BANKER: Final = {
    (player, banker, third): _BANKER_STANDS if player in NATURALS and banker < 7 else Verdict(draw, item)
    for item, draw, totals, thirds in _BANKER_RULES
    for banker in totals
    for third in thirds
    for player in range(10)
}


def player_draws(player_two: int, banker_two: int) -> Verdict:
    """Return art. 9(1)–(2)'s verdict on the player, from the points of both hands' first two cards."""
    return _PLAYER[player_two, banker_two]


def banker_draws(player_two: int, banker_two: int, player_third: int | None) -> Verdict:
    """Return art. 9(3)–(4)'s verdict on the banker; `player_third` is that card's points, None where there is none."""
    return _BANKER[player_two, banker_two, player_third]


def _two(cards: tuple[str, ...]) -> int:
    return (POINTS[cards[0]] + POINTS[cards[1]]) % 10


def next_card(player: tuple[str, ...], banker: tuple[str, ...]) -> Hand | None:
    """Return the hand that the next card belongs to (arts. 7(1) and 9), or None when the round is complete.

    The cards lying there may be wrong ones; the answer is then what the rules want from here on.
    """
    dealt, opposite = len(player), len(banker)
    if dealt < 2 or opposite < 2:
        return "player" if dealt < 2 and dealt <= opposite else "banker"
    player_two, banker_two = _two(player), _two(banker)
    if dealt == 2 and _PLAYER[player_two, banker_two].draw:
        return "player"
    third = POINTS[player[2]] if dealt > 2 else STOOD
    if opposite == 2 and _BANKER[player_two, banker_two, third].draw:
        return "banker"
    return None


def judge(player: tuple[str, ...], banker: tuple[str, ...]) -> tuple[TableauError, ...]:
    """Return every third card drawn or missed against art. 9 in a round of two hands of two or three cards.

    The banker is judged by the player's cards as they lie there, right or wrong.
    """
    player_two, banker_two = _two(player), _two(banker)
    player_drew, banker_drew = len(player) > 2, len(banker) > 2
    player_due = _PLAYER[player_two, banker_two]
    banker_due = _BANKER[player_two, banker_two, POINTS[player[2]] if player_drew else STOOD]
    if player_due.draw == player_drew and banker_due.draw == banker_drew:
        return ()
    natural = player_two in NATURALS or banker_two in NATURALS
    judged: tuple[tuple[Hand, Verdict, bool], ...] = (
        ("player", player_due, player_drew),
        ("banker", banker_due, banker_drew),
    )
    return tuple(
        TableauError(
            hand, verdict.item, "draw" if verdict.draw else "stand", "drew" if drew else "stood", drew and natural
        )
        for hand, verdict, drew in judged
        if verdict.draw != drew
    )
