"""What the simulated dealer pays, by hand and against Pitwatch's own settlement."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.rules.hands import view
from processors.rules.settlement import due as pitwatch_due
from producers.simulator.dealing import Hands, showing
from producers.simulator.layouts import LAYOUTS
from producers.simulator.settlement import Due, Terms
from schemas.cards import CARDS, parse_cards
from schemas.catalogue import CATALOGUE
from schemas.configuration import Commission, RoundingPolicy, TableConfiguration, exact, preset
from schemas.terms import CommissionTerms, PayoutTerms, SettlementTerms

cards = st.sampled_from(CARDS)
hand = st.lists(cards, min_size=2, max_size=3).map(tuple)
configurations = st.sampled_from([layout.make("PIT-1", ()) for layout in LAYOUTS])


def due(configuration: TableConfiguration, bet: str, stake: int, player: str, banker: str) -> Due:
    return Terms(configuration).due(bet, stake, showing(Hands(parse_cards(player), parse_cards(banker))))


@pytest.mark.parametrize(
    ("bet", "player", "banker", "expected"),
    [
        ("player", "KS 9S", "KD 2D 3D", Due("win", 10_000, 0, 10_000)),
        ("banker", "KS 2S 2H", "KD 7D", Due("win", 10_000, 500, 9_500)),
        ("banker", "KS 7S", "KD 7D", Due("push")),
        ("player", "KS 2S 2H", "KD 7D", Due("lose")),
        ("tie", "KS 7S", "KD 7D", Due("win", 80_000, 0, 80_000)),
        ("player_pair", "JS JD", "KD 7D", Due("win", 110_000, 0, 110_000)),
        ("player_pair", "JS QD", "KD 7D", Due("lose")),
        ("banker_commission_free", "KS 2S 2H", "KD 6D", Due("win", 5_000, 0, 5_000)),
        ("banker_ez", "KS 2S 2H", "KD 2D 5D", Due("push")),
        ("lucky_six", "KS 2S 2H", "KD 2D 4D", Due("win", 200_000, 0, 200_000)),
        ("tiger_pair", "JS JD", "JH JC", Due("win", 1_000_000, 0, 1_000_000)),
    ],
)
def test_pays_by_hand(bet: str, player: str, banker: str, expected: Due) -> None:
    """Arts. 13, 17 and 18, and the bets that came later."""
    assert due(preset("macau"), bet, 10_000, player, banker) == expected


def test_marked_commission_is_paid_gross() -> None:
    marked = preset("macau").model_copy(update={"commission": Commission(collection="marked")})
    assert due(marked, "banker", 10_000, "KS 2S 2H", "KD 7D") == Due("win", 10_000, 500, 10_000)


@pytest.mark.parametrize(("rounding", "expected"), [("down", 100), ("nearest", 200), ("up", 200)])
def test_half_pay_is_rounded_by_the_tables_policy(rounding: str, expected: int) -> None:
    policy = RoundingPolicy.model_validate({"unit": 100, "rounding": rounding})
    odd = preset("commission_free").model_copy(update={"payout_rounding": policy})
    assert due(odd, "banker_commission_free", 300, "KS 2S 2H", "KD 6D").payout == expected


def terms_of(configuration: TableConfiguration) -> SettlementTerms:
    commission = configuration.commission
    return SettlementTerms(
        commission=CommissionTerms(exact(commission.rate), commission.unit, commission.rounding, commission.minimum),
        payout=PayoutTerms(configuration.payout_rounding.unit, configuration.payout_rounding.rounding),
        odds={
            offer.bet: tuple(exact(odds) for odds in offer.odds)
            for offer in configuration.bets
            if offer.odds is not None
        },
    )


@given(configurations, st.sampled_from(sorted(CATALOGUE)), st.integers(1, 10**9), hand, hand)
def test_both_implementations_settle_alike(
    configuration: TableConfiguration, bet: str, stake: int, player: tuple[str, ...], banker: tuple[str, ...]
) -> None:
    ours = Terms(configuration).due(bet, stake, showing(Hands(player, banker)))
    theirs = pitwatch_due(bet, stake, view(player, banker), terms_of(configuration))
    assert theirs is not None
    assert ours[:3] == (theirs.result, theirs.winnings, theirs.commission)


def test_every_layouts_approvals_were_asked_for_in_time() -> None:
    """Art. 19: three working days ahead of the day the option begins, and that day is past."""
    from processors.rules.procedure import latest_application
    from producers.simulator.layouts import approvals

    start = date(2025, 3, 1)
    for layout in LAYOUTS:
        for approval in approvals(layout.options, start):
            assert approval.applied_on <= latest_application(approval.effective_on)
            assert approval.effective_on < start
