"""The bet catalogue as data: what each bet is called, what makes it pay, and where its odds come from.

A bet's pay rules are tried in order and the first that fits decides; where none fits the stake is lost.
Which bets a table offers, from when and at which odds, is the table's configuration: it names bets of
this catalogue and may override their odds, one for each rule that pays.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from schemas.cards import Hand
from schemas.errors import PitwatchError
from schemas.money import MAX_ODDS

Outcome = Literal["player", "banker", "tie"]
"""What the cards say when the round ends (arts. 11 and 12)."""

PUSH: Final = Fraction(0)
"""The odds of a stake that goes back to its owner."""


class UnknownBet(PitwatchError, KeyError):
    """Raised for a bet that the catalogue doesn't have."""

    def __init__(self, bet: str) -> None:
        super().__init__(f"{bet[:40]!r} is no bet of the catalogue: use one of {', '.join(CATALOGUE)}")

    def __str__(self) -> str:
        return str(self.args[0])


class InvalidOdds(PitwatchError, ValueError):
    """Raised for odds that don't fit the rules of their bet."""


class When(NamedTuple):
    """What a round must show for a pay rule to apply; a field left None may be anything.

    Totals are points, counts are cards, `margin` is the winner's total less the loser's.
    """

    outcome: Outcome | None = None
    player_total: int | None = None
    banker_total: int | None = None
    player_count: int | None = None
    banker_count: int | None = None
    cards: int | None = None
    margin: int | None = None
    player_natural: bool | None = None
    banker_natural: bool | None = None
    player_pair: bool | None = None
    banker_pair: bool | None = None
    player_perfect_pair: bool | None = None
    banker_perfect_pair: bool | None = None
    pairs_alike: bool | None = None

    def mirrored(self) -> "When":
        """Return the same condition with the two hands changed over."""
        swap: dict[Outcome | None, Outcome | None] = {"player": "banker", "banker": "player"}
        return self._replace(
            outcome=swap.get(self.outcome, self.outcome),
            player_total=self.banker_total, banker_total=self.player_total,
            player_count=self.banker_count, banker_count=self.player_count,
            player_natural=self.banker_natural, banker_natural=self.player_natural,
            player_pair=self.banker_pair, banker_pair=self.player_pair,
            player_perfect_pair=self.banker_perfect_pair, banker_perfect_pair=self.player_perfect_pair,
        )  # fmt: skip


SUIT_CONDITIONS: Final = frozenset({"player_perfect_pair", "banker_perfect_pair"})
PAIR_CONDITIONS: Final = SUIT_CONDITIONS | {"player_pair", "banker_pair", "pairs_alike"}


@dataclass(frozen=True, slots=True)
class Pay:
    """One pay rule: `odds` to one where the round fits any condition of `when`; `item` names it in a report."""

    item: str
    odds: Fraction
    when: tuple[When, ...]


@dataclass(frozen=True, slots=True)
class BetDefinition:
    """A bet: its names, the hand it is on (`side`), and its pay rules in order.

    `main` bets stand on a hand to win (art. 13(1)–(2)); `commission` marks the one that art. 18 is taken of;
    `companion` bets are only taken with a main bet on one side.
    """

    name: str
    en: str
    zh: str
    side: Hand | None
    pays: tuple[Pay, ...]
    source: str
    lose_item: str
    main: bool = False
    commission: bool = False
    companion: bool = False

    @property
    def conditions(self) -> frozenset[str]:
        """The fields of `When` that any rule of this bet looks at."""
        return frozenset(
            name for pay in self.pays for when in pay.when for name in when._fields if getattr(when, name) is not None
        )

    def mirrored(self) -> "BetDefinition":
        """Return the same bet on the other hand, as a table may offer the lucky six."""
        other: dict[Hand | None, Hand] = {"player": "banker", "banker": "player"}
        pays = tuple(replace(pay, when=tuple(when.mirrored() for when in pay.when)) for pay in self.pays)
        return replace(self, side=other.get(self.side), pays=pays)

    @property
    def needs_suits(self) -> bool:
        """Whether the bet can't be decided from ranks alone."""
        return not SUIT_CONDITIONS.isdisjoint(self.conditions)

    @property
    def odds(self) -> tuple[Fraction, ...]:
        """The odds to one of each rule that pays, in order: the shape an override must have."""
        return tuple(pay.odds for pay in self.pays if pay.odds != PUSH)

    @property
    def paying_rules(self) -> int:
        """How many odds an override of this bet has."""
        return len(self.odds)


def _pay(item: str, odds: str | int | Fraction, *when: When) -> Pay:
    return Pay(item, Fraction(odds), when)


ART_17: Final = "Macau, Despacho SEF 55/2004, art. 17"
ART_18: Final = "Macau, Despacho SEF 55/2004, arts. 17–18"
LUCKY_SIX: Final = "Macau, Despacho SEF 56/2018"
SIX_2024: Final = "Macau from April 2024, macaudailytimes.com.mo/casinos-embrace-new-baccarat-side-bet.html"
SEVEN_2024: Final = "Macau from October 2024, ggrasia.com/macau-ops-eye-new-side-bet-lucky-7-for-golden-week"
TIGER: Final = "Tiger Baccarat, SkyCity Adelaide rules 2020"
EZ: Final = "EZ Baccarat; Pennsylvania 58 §627a.1"
DRAGON_BONUS: Final = "wizardofodds.com/games/baccarat/side-bets, Dragon Bonus"
EITHER_PAIR: Final = "not in Macau's regulation; gamicorp, macaujack sample_config.yml"
PERFECT_PAIR: Final = "not in Macau's regulation; macaujack sample_config.yml, github.com/zzzgit/bac-motor"
SIZES: Final = "not in Macau's regulation; gamicorp, github.com/zzzgit/bac-motor"
COMMISSION_FREE: Final = "Macau, 免佣百家樂, as in zh.wikipedia.org/wiki/百家樂"

_TIE: Final = When(outcome="tie")
_PLAYER_WINS: Final = When(outcome="player")
_BANKER_WINS: Final = When(outcome="banker")
_BANKER_SIX: Final = When(outcome="banker", banker_total=6)
_BANKER_SIX_TWO: Final = _BANKER_SIX._replace(banker_count=2)
_BANKER_SIX_THREE: Final = _BANKER_SIX._replace(banker_count=3)
_PLAYER_SEVEN: Final = When(outcome="player", player_total=7)
_SEVEN_OVER_SIX: Final = _PLAYER_SEVEN._replace(banker_total=6)
_THREE_CARD_SEVEN: Final = When(outcome="banker", banker_total=7, banker_count=3)
# Art. 12: a tie decides nothing for the two main bets, their stakes stay their owners'.
_TIE_PUSH: Final = _pay("12", PUSH, _TIE)


def _dragon_bonus(side: Hand) -> tuple[Pay, ...]:
    wins = When(outcome=side)
    natural = wins._replace(player_natural=True) if side == "player" else wins._replace(banker_natural=True)
    both = When(outcome="tie", player_natural=True, banker_natural=True)
    margins = ((9, 30), (8, 10), (7, 6), (6, 4), (5, 2), (4, 1))
    return (
        _pay("natural win", 1, natural),
        _pay("natural tie", PUSH, both),
        *(_pay(f"win by {margin}", odds, wins._replace(margin=margin)) for margin, odds in margins),
    )


def _bet(name: str, en: str, zh: str, side: Hand | None, source: str, *pays: Pay) -> BetDefinition:
    return BetDefinition(name, en, zh, side, pays, source, lose_item=en)


def _main(name: str, en: str, zh: str, side: Hand, source: str, *pays: Pay) -> BetDefinition:
    # Art. 11: the higher total wins, so a main bet is lost to the other hand.
    return BetDefinition(
        name, en, zh, side, (*pays, _TIE_PUSH), source, lose_item="11", main=True, commission=name == "banker"
    )


_DEFINITIONS: Final = (
    _main("player", "Player", "閒", "player", ART_17, _pay("17(1)", 1, _PLAYER_WINS)),
    _main("banker", "Banker", "莊", "banker", ART_18, _pay("17(1)", 1, _BANKER_WINS)),
    _main(
        "banker_commission_free", "Banker, commission-free", "免佣莊", "banker", COMMISSION_FREE,
        _pay("banker wins with 6", "1/2", _BANKER_SIX), _pay("17(1)", 1, _BANKER_WINS),
    ),
    _main(
        "banker_ez", "Banker, EZ", "EZ 莊", "banker", EZ,
        _pay("three-card 7", PUSH, _THREE_CARD_SEVEN), _pay("17(1)", 1, _BANKER_WINS),
    ),
    _bet("tie", "Tie", "和", None, ART_17, _pay("17(2)", 8, _TIE)),
    _bet("player_pair", "Player pair", "閒對子", "player", ART_17, _pay("17(3)", 11, When(player_pair=True))),
    _bet("banker_pair", "Banker pair", "莊對子", "banker", ART_17, _pay("17(3)", 11, When(banker_pair=True))),
    _bet(
        "either_pair", "Either pair", "任何對子", None, EITHER_PAIR,
        _pay("a pair", 5, When(player_pair=True), When(banker_pair=True)),
    ),
    _bet(
        "perfect_pair", "Perfect pair", "完美對子", None, PERFECT_PAIR,
        _pay("two perfect pairs", 200, When(player_perfect_pair=True, banker_perfect_pair=True)),
        _pay("one perfect pair", 25, When(player_perfect_pair=True), When(banker_perfect_pair=True)),
    ),
    BetDefinition(
        "lucky_six", "Lucky six", "幸運六", "banker",
        (_pay("two cards", 12, _BANKER_SIX_TWO), _pay("three cards", 20, _BANKER_SIX_THREE)),
        LUCKY_SIX, lose_item="Lucky six", companion=True,
    ),
    _bet("small_six", "Small six", "小六", "banker", SIX_2024, _pay("two cards", 22, _BANKER_SIX_TWO)),
    _bet("big_six", "Big six", "大六", "banker", SIX_2024, _pay("three cards", 50, _BANKER_SIX_THREE)),
    _bet(
        "lucky_seven", "Lucky seven", "幸運七", "player", SEVEN_2024,
        _pay("two cards", 6, _PLAYER_SEVEN._replace(player_count=2)),
        _pay("three cards", 15, _PLAYER_SEVEN._replace(player_count=3)),
    ),
    _bet(
        "super_lucky_seven", "Super lucky seven", "超級幸運七", "player", SEVEN_2024,
        _pay("two cards each", 30, _SEVEN_OVER_SIX._replace(player_count=2, banker_count=2)),
        _pay("three cards over two", 40, _SEVEN_OVER_SIX._replace(player_count=3, banker_count=2)),
        _pay("three cards each", 100, _SEVEN_OVER_SIX._replace(player_count=3, banker_count=3)),
    ),
    _bet(
        "tiger", "Tiger", "老虎", "banker", TIGER,
        _pay("two cards", 12, _BANKER_SIX_TWO), _pay("three cards", 20, _BANKER_SIX_THREE),
    ),
    _bet("small_tiger", "Small tiger", "小老虎", "banker", TIGER, _pay("two cards", 22, _BANKER_SIX_TWO)),
    _bet("big_tiger", "Big tiger", "大老虎", "banker", TIGER, _pay("three cards", 50, _BANKER_SIX_THREE)),
    _bet("tiger_tie", "Tiger tie", "老虎和", None, TIGER, _pay("tie on 6", 35, _TIE._replace(player_total=6))),
    _bet(
        "tiger_pair", "Tiger pair", "老虎對", None, TIGER,
        _pay("two pairs of one rank", 100, When(pairs_alike=True)),
        _pay("two pairs", 20, When(player_pair=True, banker_pair=True)),
        _pay("one pair", 4, When(player_pair=True), When(banker_pair=True)),
    ),
    _bet("dragon_seven", "Dragon seven", "龍七", "banker", EZ, _pay("three-card 7", 40, _THREE_CARD_SEVEN)),
    _bet(
        "panda_eight", "Panda eight", "熊貓八", "player", EZ,
        _pay("three-card 8", 25, When(outcome="player", player_total=8, player_count=3)),
    ),
    _bet("dragon_bonus_player", "Dragon bonus, player", "閒龍寶", "player", DRAGON_BONUS, *_dragon_bonus("player")),
    _bet("dragon_bonus_banker", "Dragon bonus, banker", "莊龍寶", "banker", DRAGON_BONUS, *_dragon_bonus("banker")),
    _bet("small", "Small", "小", None, SIZES, _pay("four cards", "3/2", When(cards=4))),
    _bet("big", "Big", "大", None, SIZES, _pay("five or six cards", "27/50", When(cards=5), When(cards=6))),
)  # fmt: skip

CATALOGUE: Final[Mapping[str, BetDefinition]] = MappingProxyType({bet.name: bet for bet in _DEFINITIONS})
MAIN_BETS: Final = frozenset(bet.name for bet in _DEFINITIONS if bet.main)
COMMISSION_BETS: Final = frozenset(bet.name for bet in _DEFINITIONS if bet.commission)
NEEDS_SUITS: Final = frozenset(bet.name for bet in _DEFINITIONS if bet.needs_suits)


def definition(bet: str) -> BetDefinition:
    """Return the definition of a bet. Raises `UnknownBet`."""
    found = CATALOGUE.get(bet)
    if found is None:
        raise UnknownBet(bet)
    return found


def checked_odds(bet: str, odds: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Return `odds` where they fit the bet: one above zero, and no more than `MAX_ODDS`, for each rule that pays.

    Raises `InvalidOdds` or `UnknownBet`.
    """
    usual = definition(bet).odds
    if len(odds) != len(usual) or not all(0 < value <= MAX_ODDS for value in odds):
        such = ", ".join(map(str, usual))
        raise InvalidOdds(f"{bet} needs {len(usual)} odds above zero and up to {MAX_ODDS:,}, such as {such}")
    return odds
