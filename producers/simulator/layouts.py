"""The tables of a simulated floor: eight layouts, from the regulation's own table to a continuous shuffler.

They are dealt out in turn, so a floor of eight tables has one of each.
"""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple

from producers.simulator.settings import Deviations, FloorSettings, SimulatedTable, Telemetry
from schemas.configuration import (
    HKD,
    Approval,
    BetName,
    BetOffer,
    Commission,
    Option,
    RoundingPolicy,
    TableConfiguration,
)

_PAIRS: Final = ("tie", "player_pair", "banker_pair")
_SINCE_APRIL_2024: Final = date(2024, 4, 1)


class Layout(NamedTuple):
    """A kind of table. `make` gives its configuration from its pit, its approvals and nothing else."""

    name: str
    make: Callable[[str, tuple[Approval, ...]], TableConfiguration]
    options: tuple[Option, ...]
    seconds_per_round: int
    patrons: int
    standing: int
    chip: int


def approvals(options: tuple[Option, ...], start: date) -> tuple[Approval, ...]:
    """Return permissions for `options`, in force before `start` and asked for in good time (art. 19)."""
    applied_on, effective_on = start - timedelta(days=60), start - timedelta(days=30)
    return tuple(
        Approval(option=option, approval_id=f"DICJ-{number:04}", applied_on=applied_on, effective_on=effective_on)
        for number, option in enumerate(options, start=1)
    )


def _main(minimum: int, maximum: int, *bets: BetName, multiple: int | None = None) -> tuple[BetOffer, ...]:
    return tuple(
        BetOffer(
            bet=bet,
            minimum=minimum * HKD,
            maximum=maximum * HKD,
            multiple=multiple * HKD if multiple and bet != "player" else None,
        )
        for bet in bets
    )


def _side(minimum: int, maximum: int, *bets: BetName, since: date | None = None) -> tuple[BetOffer, ...]:
    return tuple(BetOffer(bet=bet, minimum=minimum * HKD, maximum=maximum * HKD, effective_from=since) for bet in bets)


def _regulation(pit: str, granted: tuple[Approval, ...]) -> TableConfiguration:
    return TableConfiguration(
        configuration_id="regulation",
        pit=pit,
        differential=200_000 * HKD,
        bets=_main(300, 300_000, "player", "banker") + _side(60, 30_000, *_PAIRS),
        approvals=granted,
    )


def _all_options(pit: str, granted: tuple[Approval, ...]) -> TableConfiguration:
    return TableConfiguration(
        configuration_id="all-options",
        pit=pit,
        burn="first_card",
        cut_card_depth=14,
        demonstrations=3,
        rounds_after_cut_card=1,
        differential=150_000 * HKD,
        bets=_main(500, 200_000, "player", "banker") + _side(100, 20_000, *_PAIRS),
        commission=Commission(unit=100, rounding="up"),
        approvals=granted,
        road_tail="stick",
    )


def _sjm(pit: str, granted: tuple[Approval, ...]) -> TableConfiguration:
    return TableConfiguration(
        configuration_id="sjm",
        pit=pit,
        differential=200_000 * HKD,
        tie_policy="add_only",
        bets=_main(300, 300_000, "player", "banker", multiple=300) + _side(60, 30_000, *_PAIRS),
        approvals=granted,
    )


def _commission_free(pit: str, granted: tuple[Approval, ...]) -> TableConfiguration:
    return TableConfiguration(
        configuration_id="commission-free",
        pit=pit,
        differential=200_000 * HKD,
        bets=_main(300, 300_000, "player", "banker_commission_free")
        + _side(60, 30_000, *_PAIRS, "lucky_six")
        + _side(60, 10_000, "small_six", "big_six", since=_SINCE_APRIL_2024),
        payout_rounding=RoundingPolicy(unit=1_000, rounding="down"),
        approvals=granted,
    )


def _continuous(pit: str, granted: tuple[Approval, ...]) -> TableConfiguration:
    return TableConfiguration(
        configuration_id="continuous",
        pit=pit,
        seats=7,
        shuffling="continuous",
        differential=60_000 * HKD,
        patron_may_hold_cards=False,
        bets=_main(200, 50_000, "player", "banker_commission_free")
        + _side(50, 5_000, "tie", "tiger", "small_tiger", "big_tiger", "tiger_tie", "tiger_pair"),
        approvals=granted,
        silence_limit_seconds=60,
    )


def _marked(pit: str, granted: tuple[Approval, ...]) -> TableConfiguration:
    return TableConfiguration(
        configuration_id="marked",
        pit=pit,
        seats=14,
        decks=6,
        rounds_after_cut_card=1,
        differential=1_000_000 * HKD,
        bets=_main(3_000, 2_000_000, "player", "banker") + _side(500, 100_000, *_PAIRS),
        commission=Commission(unit=500, rounding="nearest", collection="marked"),
        approvals=granted,
    )


def _ez(pit: str, granted: tuple[Approval, ...]) -> TableConfiguration:
    return TableConfiguration(
        configuration_id="ez",
        pit=pit,
        burn="first_card",
        differential=100_000 * HKD,
        bets=_main(300, 100_000, "player", "banker_ez")
        + _side(50, 5_000, "tie", "dragon_seven", "panda_eight", "dragon_bonus_player", "dragon_bonus_banker"),
        approvals=granted,
    )


def _mini(pit: str, granted: tuple[Approval, ...]) -> TableConfiguration:
    lucky_six = BetOffer(bet="lucky_six", minimum=50 * HKD, maximum=5_000 * HKD, odds=("12", "23"))
    return TableConfiguration(
        configuration_id="mini",
        pit=pit,
        seats=7,
        decks=6,
        cut_card_depth=16,
        differential=50_000 * HKD,
        patron_may_hold_cards=False,
        bets=_main(100, 30_000, "player", "banker")
        + _side(50, 5_000, "tie", "either_pair", "perfect_pair", "lucky_seven", "super_lucky_seven", "small", "big")
        + (lucky_six,),
        commission=Commission(rate="1/20", unit=100, rounding="up", minimum=500),
        payout_rounding=RoundingPolicy(unit=500, rounding="nearest"),
        approvals=granted,
    )


LAYOUTS: Final[tuple[Layout, ...]] = (
    Layout("regulation", _regulation, ("tie_changes",), 64, 6, 3, 5_000),
    Layout(
        "all options", _all_options, ("burn_by_first_card", "demonstration_rounds", "one_more_round", "tie_changes"),
        72, 6, 3, 10_000,
    ),
    Layout("SJM", _sjm, ("tie_changes",), 60, 6, 3, 5_000),
    Layout("commission-free", _commission_free, ("tie_changes",), 56, 6, 3, 5_000),
    Layout("continuous shuffler", _continuous, ("continuous_shuffler", "tie_changes"), 20, 6, 3, 5_000),
    Layout("commission marked", _marked, ("one_more_round", "tie_changes"), 84, 8, 2, 50_000),
    Layout("EZ", _ez, ("burn_by_first_card", "tie_changes"), 52, 6, 3, 5_000),
    Layout("mini", _mini, ("tie_changes",), 21, 6, 3, 5_000),
)  # fmt: skip


def mixed_floor(
    *,
    seed: int,
    start: datetime,
    hours: float,
    tables: int,
    dirty: int = 0,
    deviations: Deviations | None = None,
    telemetry: Telemetry | None = None,
) -> FloorSettings:
    """Return a floor of `tables` tables with every layout in turn, two pits of a layout's size each.

    Deviations (those given, or all of them at their usual rate) happen at the first `dirty` tables only; `telemetry`
    goes wrong at every table. Raises pydantic's `ValidationError` for what can't be.
    """
    wrong = deviations or Deviations()
    return FloorSettings(
        seed=seed,
        start=start,
        hours=hours,
        tables=tuple(
            simulated_table(index, start.date(), wrong if index < dirty else None, telemetry or Telemetry())
            for index in range(tables)
        ),
    )


def simulated_table(index: int, day: date, deviations: Deviations | None, telemetry: Telemetry) -> SimulatedTable:
    """Return the floor's table number `index`, counted from 0, as it stands on `day`."""
    layout = LAYOUTS[index % len(LAYOUTS)]
    pit = f"PIT-{index // len(LAYOUTS) + 1}"
    return SimulatedTable(
        table_id=f"BAC-{index + 101}",
        configuration=layout.make(pit, approvals(layout.options, day)),
        seconds_per_round=layout.seconds_per_round,
        patrons=layout.patrons,
        standing=layout.standing,
        chip=layout.chip,
        deviations=deviations,
        telemetry=telemetry,
    )
