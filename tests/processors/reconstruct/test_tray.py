"""The tray and the commission ledger: what moves chips, what counts find, and who owes (art. 18, COMAR 36.05.03.02)."""

import pytest

from schemas.configuration import Commission
from tests.processors.reconstruct.scene import (
    BANKER_WINS,
    FLOAT,
    HKD,
    MACAU,
    PLAYER_WINS,
    Scene,
    playing,
    with_changes,
)

MARKED = with_changes(MACAU, commission=Commission(collection="marked"))


def test_everything_that_moves_chips_explains_the_float() -> None:
    """COMAR 36.05.03.02: pay and collect, exchange, fills and credits, commission; the drop box is no part of it."""
    scene = playing(MARKED)
    scene.play(BANKER_WINS, ("banker", 1_000 * HKD, 1), ("player", 300 * HKD, 2))
    scene.send("buy_in", seat=3, amount=5_000 * HKD, means="cash")
    scene.send("fill", amount=20_000 * HKD, slip="F-1")
    scene.send("credit", amount=7_000 * HKD, slip="C-1")
    scene.send("commission_settled", seat=1, amount=50 * HKD)
    scene.send("drop_counted", amount=5_000 * HKD)
    counted = FLOAT + (-1_000 + 300 - 5_000 + 20_000 - 7_000 + 50) * HKD
    assert scene.state.expected_float == counted
    scene.send("float_counted", amount=counted)
    scene.send("table_closed", closing_float=counted)
    scene.wait(8 * 3600)
    scene.send("table_opened", opening_float=counted)
    assert scene.codes == []


@pytest.mark.parametrize("event", ["float_counted", "table_closed", "table_opened"])
def test_count_that_nothing_explains(event: str) -> None:
    """COMAR 36.05.03.02: told of once, for the next count begins with this one."""
    scene = playing()
    name = {"float_counted": "amount", "table_closed": "closing_float", "table_opened": "opening_float"}[event]
    scene.send(event, **{name: FLOAT - 3})
    scene.send("float_counted", amount=FLOAT - 3)
    alert = scene.alert("float_unexplained")
    assert (alert.evidence.due, alert.evidence.paid) == (FLOAT, FLOAT - 3)
    assert (alert.evidence.expected, alert.evidence.actual) == ("1,000,000", "999,999.97")


def test_uncounted_tray_is_no_reason_for_an_alert() -> None:
    scene = Scene().open(tray=None)
    scene.load()
    scene.play(PLAYER_WINS, ("player",))
    scene.send("float_counted", amount=77)
    scene.send("table_closed")
    assert (scene.codes, scene.state.expected_float) == ([], 77)


def test_deducted_commission_is_entered_and_never_owed() -> None:
    """Art. 18."""
    scene = playing()
    scene.play(BANKER_WINS, ("banker", 1_000 * HKD, 4))
    (entry,) = scene.commissions
    assert (entry.entry, entry.amount, entry.balance, entry.seat, entry.bet_id) == ("deducted", 5_000, 0, 4, "B1")
    assert (entry.entry_id, entry.shoe, entry.round) == (f"BAC-01:1:{scene.seq - 1}", 1, 1)
    scene.send("table_closed", closing_float=FLOAT - 95_000)
    assert scene.codes == []


def test_marked_commission_is_a_debt_until_it_is_settled() -> None:
    """Art. 18."""
    scene = playing(MARKED)
    scene.play(BANKER_WINS, ("banker", 1_000 * HKD, 4), ("banker", 400 * HKD, 5))
    scene.send("commission_settled", seat=4, amount=2_000, patron_id="P-4")
    assert scene.state.ledger == {4: 3_000, 5: 2_000}
    scene.send("commission_settled", seat=4, amount=3_000)
    assert [(entry.entry, entry.amount, entry.balance) for entry in scene.commissions] == [
        ("marked", 5_000, 5_000),
        ("marked", 2_000, 2_000),
        ("settled", -2_000, 3_000),
        ("settled", -3_000, 0),
    ]
    scene.send("patron_left", seat=4, patron_id="P-4")
    assert (scene.codes, scene.state.ledger) == ([], {5: 2_000})


@pytest.mark.parametrize("occasion", ["patron_left", "shoe_loaded", "table_closed"])
def test_debt_is_asked_for_when_it_falls_due(occasion: str) -> None:
    """Art. 18: when the patron leaves, the shoe ends or the table closes, and once for all of them."""
    scene = playing(MARKED)
    scene.play(BANKER_WINS, ("banker", 1_000 * HKD, 4))
    if occasion == "patron_left":
        scene.send("patron_left", seat=4, patron_id="P-4")
    elif occasion == "shoe_loaded":
        scene.load()
    else:
        scene.send("table_closed")
    alert = scene.alert("commission_unsettled")
    assert (alert.shoe, alert.round, alert.seat, alert.evidence.due) == (1, 0, 4, 5_000)
    assert alert.patron_id == ("P-4" if occasion == "patron_left" else "")
    scene.load()
    scene.send("table_closed")
    assert scene.codes == ["commission_unsettled"]


def test_debt_that_grew_is_asked_for_again() -> None:
    """Art. 18: what was paid in between is paid."""
    scene = playing(MARKED)
    scene.play(BANKER_WINS, ("banker", 1_000 * HKD, 4))
    scene.load()
    scene.send("commission_settled", seat=4, amount=4_000)
    scene.load()
    assert scene.codes == ["commission_unsettled"]
    scene.play(BANKER_WINS, ("banker", 600 * HKD, 4))
    scene.load()
    assert [alert.evidence.due for alert in scene.alerts] == [5_000, 4_000]


def test_nobody_owes_who_paid_too_much() -> None:
    """Art. 18."""
    scene = playing(MARKED)
    scene.send("commission_settled", seat=4, amount=4_000)
    scene.load()
    assert (scene.codes, scene.state.ledger) == ([], {4: -4_000})
