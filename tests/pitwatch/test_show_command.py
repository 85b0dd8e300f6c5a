"""`pitwatch show`: a table, its shoe and rounds, now and before, as JSON and drawn, and what it says is not there."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from pitwatch.commands import show as show_module
from pitwatch.commands.show import MAX_NAMES, patient_bar, read_moment, show, spans
from pitwatch.progress import Advance
from processors.logs.lock import DataDirectoryUnusable, lock_data_directory
from tests.pitwatch.table_log import Place, Sent, Table, write_log

runner = CliRunner()
app = typer.Typer()
app.command()(show)


def call(directory: Path, *arguments: str, columns: int = 400) -> Result:
    return runner.invoke(app, [*arguments, "--data", str(directory)], env={"COLUMNS": str(columns)})


def shown(directory: Path, *arguments: str) -> dict[str, Any]:
    result = call(directory, *arguments, "--json")
    assert result.exit_code == 0, result.output
    plain: dict[str, Any] = json.loads(result.stdout)
    return plain


def drawn(directory: Path, *arguments: str) -> list[str]:
    """Return the drawing's lines, runs of blanks as one."""
    result = call(directory, *arguments)
    assert result.exit_code == 0, result.output
    return [" ".join(line.split()) for line in result.stdout.splitlines()]


@pytest.fixture(scope="module")
def evening() -> Table:
    """Three rounds, and a fourth in play: one bet, and the player's first two cards and the banker's first."""
    table = Table()
    table.open()
    table.play_evening()
    table.send("round_opened", shoe=1, round=4)
    table.send(
        "bet_placed",
        shoe=1,
        round=4,
        bet_id="b5",
        bet="banker",
        stake=30_000,
        seat=3,
        posture="standing",
        area="shared",
    )
    table.send("betting_closed", shoe=1, round=4)
    table.deal(1, 4, "AS 2C", "7C")
    return table


@pytest.fixture(scope="module")
def data(evening: Table, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data directory, locked by the process that owns it, with the evening in its log."""
    directory = tmp_path_factory.mktemp("data")
    with lock_data_directory(directory):
        log = evening.write(directory)
        yield directory
        log.close()


def of(table: Table, kind: str, **fields: object) -> Sent:
    """Return the only event of that kind with those fields."""
    (found,) = [sent for sent in table.sent if sent.event["type"] == kind and fields.items() <= sent.event.items()]
    return found


# -- the table -------------------------------------------------------------------------------------------------------


def test_the_table_is_told_as_its_events_leave_it(data: Path, evening: Table) -> None:
    table = shown(data, "T1")
    assert (table["table_id"], table["moment"], table["currency"]) == ("T1", None, "HKD")
    assert (table["open"], table["dealer_id"], table["pit"], table["seats"]) == (True, "D-1", "PIT-1", {"1": "P-1"})
    assert table["configuration"]["configuration_id"] == "macau"
    assert table["last_event"]["event_id"] == evening.sent[-1].id
    assert table["last_event"]["age_seconds"] > 0
    assert table["waits_for_events_before"] is None
    # 1,000,000.00 + 1,000.00 lost by b1 - 500.00 won by b2 - 480.00 on the tie - the 300.00 that b3 got.
    assert table["float_expected"] == 100_000_000 + 100_000 - 50_000 - 48_000 - 30_000
    assert table["commission_owed"] == {}


def test_the_shoe_in_play_counts_the_cards_that_are_out(data: Path) -> None:
    """Eight burned unseen, then 4 + 4 + 6 cards, and 3 of the round in play."""
    shoe = shown(data, "T1")["shoe"]
    assert (shoe["shoe"], shoe["status"], shoe["burned"], shoe["cards_behind_cut"]) == (1, "in_play", 8, 14)
    assert (shoe["cards_out"], shoe["cards_left"]) == (25, 416 - 25)
    assert (shoe["rounds"], shoe["player_wins"], shoe["ties"], shoe["banker_wins"]) == (3, 2, 1, 0)


def test_the_round_in_play_shows_its_stakes_and_cards(data: Path) -> None:
    play = shown(data, "T1")["round_in_play"]
    assert (play["shoe"], play["number"], play["player"], play["banker"]) == (1, 4, ["AS", "2C"], ["7C"])
    assert play["bets"]["b5"]["stake"] == 30_000
    assert "b3" not in play["bets"]


def test_the_roads_hours_and_alerts_are_the_shoes_the_hours_and_the_newest(data: Path) -> None:
    table = shown(data, "T1")
    assert table["roads"]["big_road"] == [[0, 0, "P", 1], [0, 1, "P", 0]]
    assert table["roads"]["bead_plate"] == [[0, 0, "P"], [0, 1, "T"], [0, 2, "P"]]
    (hour,) = table["hours"]
    assert (hour["hour"], hour["rounds"], hour["bets"]) == ("2026-01-15T12:00:00Z", 3, 5)
    # Decided stakes: 1,000 + 500, then 60 on the tie, then b3's 600. Won by the house: 1,000 - 500 - 480 - 600.
    assert (hour["handle"], hour["house_win"]) == (
        100_000 + 50_000 + 6_000 + 60_000,
        100_000 - 50_000 - 48_000 - 60_000,
    )
    assert [(alert["code"], alert["round"]) for alert in table["alerts"]] == [("underpaid", 3)]


def test_the_table_is_drawn_in_both_languages(data: Path) -> None:
    lines = drawn(data, "T1")
    for line in (
        "檯 Table T1",
        "狀態 State 開 open",
        "荷官 Dealer D-1",
        "座位 Seats 1: P-1",
        "檯面籌碼 Float (HKD) 999,720.00 應有 expected",
        "進行中 In play: 局 round 4",
        "閒 player A♠ (1) 2♣ (2) 3 —",
        "3 — 莊 Banker 300.00 0.00 0.00 企 standing",
        "○P/· · · · · · · · · · · · · · · · · · ·",
        "2026-01-15 20:00:00 UTC+8 3 2,160.00 -580.00 0.00 1",
        "閒 少派：應派 600，實派 300",
        "Player underpaid: due 600, paid 300",
    ):
        assert line in lines, line
    assert any(
        line.startswith("牌靴 Shoe 1 · 使用中 in play · 8 副 decks · 餘 391 張 cards left, 出 25 out") for line in lines
    )


def test_stakes_that_a_tie_left_standing_are_shown_until_the_next_round(data: Path, evening: Table) -> None:
    tied = of(evening, "round_closed", round=2)
    table = shown(data, "T1", "--at", tied.moment.isoformat())
    assert table["round_in_play"] is None
    assert [(bet["bet_id"], bet["stake"]) for bet in table["standing_stakes"]] == [("b3", 60_000)]
    assert "和局後留注 Stakes standing after a tie" in drawn(data, "T1", "--at", tied.moment.isoformat())


def test_a_table_without_configuration_or_money_is_shown_too(tmp_path: Path) -> None:
    table = Table()
    table.send("heartbeat")
    table.write(tmp_path).close()
    found = shown(tmp_path, "T1")
    assert (found["open"], found["float_expected"], found["shoe"], found["round_in_play"]) == (False, None, None, None)
    lines = drawn(tmp_path, "T1")
    assert "設定 Configuration — 未公布 none published" in lines
    assert "檯面籌碼 Float (HKD) — 應有 expected" in lines
    assert "無 none" in lines


def test_commission_owed_and_in_doubt_after_a_gap_is_shown(tmp_path: Path) -> None:
    table = Table()
    table.open(commission={"collection": "marked"})
    place: Place = {"shoe": 1, "round": 1}
    table.send("round_opened", **place)
    table.send("bet_placed", **place, bet_id="b1", bet="banker", stake=100_000, seat=4)
    table.send("betting_closed", **place)
    table.deal(1, 1, "2S KS 2D", "9D QD")
    table.send("result_called", **place, outcome="banker")
    table.send("payout_made", **place, bet_id="b1", amount=100_000)
    table.send("commission_charged", **place, bet_id="b1", amount=5_000)
    table.send("round_closed", **place)
    lost = table.send("commission_settled", seat=4, amount=5_000)
    for _ in range(10):
        table.send("heartbeat")
    write_log(tmp_path, table.messages(without=lost)).close()
    found = shown(tmp_path, "T1")
    assert found["commission_owed"] == {"4": 5_000}
    assert found["commission_in_doubt"] == {"4": 5_000}
    assert "欠佣 Commission owed (HKD) 座 seat 4: 50.00 ?" in drawn(tmp_path, "T1")


def test_a_table_that_waits_for_missing_events_says_so(tmp_path: Path) -> None:
    table = Table()
    table.open()
    lost = table.send("heartbeat")
    last = table.send("dealer_out", dealer_id="D-1")
    write_log(tmp_path, table.messages(without=lost)).close()
    found = shown(tmp_path, "T1")
    assert found["waits_for_events_before"] == [1, last.event["seq"]]
    assert found["dealer_id"] == "D-1"
    assert f"缺 Missing 等待遺失事件 waits for events missing before 1:{last.event['seq']}" in drawn(tmp_path, "T1")


# -- a shoe ----------------------------------------------------------------------------------------------------------


def test_a_shoe_is_told_with_its_rounds_roads_and_alerts(data: Path) -> None:
    found = shown(data, "T1", "1")
    assert (found["shoe"]["decks"], found["shoe"]["cut_by"], found["shoe"]["burned"]) == (8, "patron", 8)
    assert found["shoe"]["seen"]["KD"] == 2
    rounds = found["rounds"]
    assert [(one["round"], one["outcome"], one["player_total"], one["banker_total"]) for one in rounds] == [
        (1, "player", 7, 6), (2, "tie", 9, 9), (3, "player", 9, 8),
    ]  # fmt: skip
    assert [(one["stakes"], one["handle"], one["house_win"]) for one in rounds] == [
        (150_000, 150_000, 50_000), (66_000, 6_000, -48_000), (60_000, 60_000, -60_000),
    ]  # fmt: skip
    assert found["roads"]["leading_ties"] == 0
    assert found["roads"]["ask"]["banker"] == {"big_eye_boy": None, "small_road": None, "cockroach_pig": None}
    assert [alert["code"] for alert in found["alerts"]] == ["underpaid"]
    assert found["refused"] == []


def test_a_shoe_is_drawn_with_its_procedure_composition_and_roads(data: Path, evening: Table) -> None:
    lines = drawn(data, "T1", "1")
    opened = of(evening, "round_opened", round=2).moment + timedelta(hours=8)
    for line in (
        "牌靴 Shoe 1 · 使用中 in play",
        "資料 Telemetry 齊全 complete",
        "割牌 Cut, art. 2(1) patron · 14 張 behind",
        "銷牌 Burned, art. 2(1) 8",
        # One king of spades and two of diamonds; of 32 kings 29 were not seen.
        "♦ 0 0 1 0 1 0 0 0 1 0 0 1 2",
        "未見 unseen 31 29 30 31 30 31 31 32 30 32 32 31 29",
        f"2 {opened:%H:%M:%S} 已結算 settled 9♠ K♠ = 9 9♦ Q♦ = 9 和 tie 660.00 -480.00 0",
        "珠盤路 Bead plate",
        "曱甴路 Cockroach pig",
    ):
        assert line in lines, line
    assert any("600.00 -600.00 ⚠ 1" in line for line in lines)


def test_a_closed_shoe_says_when_and_why_and_a_new_one_leaves_it_as_it_was(tmp_path: Path) -> None:
    table = Table()
    table.open()
    table.play_evening()
    table.send("cut_card_reached", shoe=1, round=3)
    closed = table.send("shoe_closed", shoe=1, reason="cut_card")
    table.load(2)
    table.send("round_opened", shoe=2, round=1)
    table.write(tmp_path).close()
    first, second = shown(tmp_path, "T1", "1"), shown(tmp_path, "T1", "2")
    assert (first["shoe"]["status"], first["shoe"]["close_reason"], first["shoe"]["cut_card_round"]) == (
        "closed",
        "cut_card",
        3,
    )
    assert datetime.fromisoformat(first["shoe"]["closed_at"]) == closed.moment
    assert len(first["rounds"]) == 3
    # What is known of a shoe just loaded stands in the state before any fact says it.
    assert (second["shoe"]["burned"], second["shoe"]["cut_by"], second["rounds"]) == (8, "patron", [])
    assert shown(tmp_path, "T1")["roads"]["bead_plate"] == []
    assert "there are: 1–3" in call(tmp_path, "T1", "1", "9").stderr
    local = closed.moment + timedelta(hours=8)
    assert f"收牌 Closed {local:%Y-%m-%d %H:%M:%S} UTC+8 cut_card" in drawn(tmp_path, "T1", "1")


def test_a_continuous_shuffler_has_no_cards_left_to_count(tmp_path: Path) -> None:
    table = Table()
    table.send("shoe_loaded", shoe=1, decks=8, shuffling="continuous")
    table.write(tmp_path).close()
    assert shown(tmp_path, "T1", "1")["shoe"]["cards_left"] is None
    assert not any(line.startswith("未見 unseen") for line in drawn(tmp_path, "T1", "1"))
    assert any("連續洗牌 continuous shuffler" in line for line in drawn(tmp_path, "T1"))


# -- a round ---------------------------------------------------------------------------------------------------------


def test_a_round_names_the_sub_item_behind_every_third_card(data: Path) -> None:
    found = shown(data, "T1", "1", "3")
    assert found["status"] == "settled"
    player, banker = found["hands"]["player"], found["hands"]["banker"]
    assert player["cards"] == [{"card": "2H", "points": 2}, {"card": "3H", "points": 3}, {"card": "4H", "points": 4}]
    assert player["third_card"] == {"item": "9(1)", "due": True, "drew": True, "wrong": False}
    assert banker["total"] == 8
    assert banker["third_card"] == {"item": "9(3)(2)", "due": True, "drew": True, "wrong": False}


def test_a_round_tells_every_bet_with_what_was_due_and_paid(data: Path) -> None:
    found = shown(data, "T1", "1", "3")
    (bet,) = found["bets"]
    assert (bet["bet_id"], bet["carried"], bet["result"]) == ("b3", True, "win")
    assert (bet["stake"], bet["due"], bet["paid"], bet["net"]) == (60_000, 60_000, 30_000, 60_000)
    (alert,) = found["alerts"]
    assert alert["text_zh"] == "閒 少派：應派 600，實派 300"
    assert alert["text_en"] == "Player underpaid: due 600, paid 300"


def test_the_evidence_lists_the_rounds_events_and_what_an_alert_rests_on(data: Path, evening: Table) -> None:
    """b3 was put down in round 2: the alert of round 3 rests on that event too."""
    evidence = shown(data, "T1", "1", "3")["evidence"]
    own = [sent for sent in evening.sent if sent.event.get("round") == 3]
    placed = of(evening, "bet_placed", bet_id="b3")
    assert [line["event_id"] for line in evidence] == [placed.id, *(sent.id for sent in own)]
    assert [line["offset"] for line in evidence] == [evening.sent.index(sent) for sent in (placed, *own)]
    paid = next(line for line in evidence if line["type"] == "payout_made")
    assert (paid["event"]["amount"], paid["partition"], paid["corrected_by"], paid["refused"]) == (30_000, 0, [], None)
    assert datetime.fromisoformat(paid["appended_at"]) - datetime.fromisoformat(paid["occurred_at"]) == timedelta(
        milliseconds=40
    )


def test_a_round_is_drawn_with_its_cards_bets_alerts_and_evidence(data: Path) -> None:
    lines = drawn(data, "T1", "1", "3")
    for line in (
        "狀態 Status 已結算 settled",
        "結果 Outcome, art. 11 閒 player",
        "閒 player 2♥ (2) 3♥ (3) 4♥ (4) 9 9(1): 應增牌 to draw",
        "莊 banker 3♦ (3) K♦ (0) 5♦ (5) 8 9(3)(2): 應增牌 to draw",
        "1 P-1 閒 Player (留注 carried) 贏 win 600.00 600.00 ✗ 300.00 (600.00) 0.00 0.00 600.00",
        "Player underpaid: due 600, paid 300",
    ):
        assert line in lines, line
    assert any("payout_made bet_id=b3 amount=30000" in line for line in lines)


def test_bets_that_were_moved_by_the_rules_carry_no_mark(data: Path) -> None:
    lines = drawn(data, "T1", "1", "1")
    assert "1 P-1 莊 Banker 輸 lose 1,000.00 0.00 0.00 1,000.00 0.00 -1,000.00" in lines
    assert "閒 player 5♥ (5) 2♠ (2) 7 9(2): 不增牌 to stand" in lines
    assert "莊 banker 6♥ (6) K♦ (0) 6 9(4)(4): 不增牌 to stand" in lines


def test_the_round_in_play_may_be_asked_for(data: Path) -> None:
    found = shown(data, "T1", "1", "4")
    assert (found["status"], found["fact"]) == ("in_play", None)
    assert [(bet["bet_id"], bet["stake"]) for bet in found["bets"]] == [("b5", 30_000)]
    assert found["hands"]["player"]["third_card"] is None
    assert len(found["evidence"]) == 6
    assert "狀態 Status 進行中 in play" in drawn(data, "T1", "1", "4")


def test_a_card_that_is_due_and_a_card_that_was_wrong_are_told_apart(tmp_path: Path) -> None:
    table = Table()
    table.open()
    table.send("round_opened", shoe=1, round=1)
    table.deal(1, 1, "2H 3H", "6D KD")
    due = table.now
    table.send("card_drawn", shoe=1, round=1, hand="banker", position=3, card="2D")
    table.send("round_closed", shoe=1, round=1)
    table.write(tmp_path).close()
    hands = shown(tmp_path, "T1", "1", "1", "--at", due.isoformat())["hands"]
    assert hands["player"]["third_card"] == {"item": "9(1)", "due": True, "drew": None, "wrong": False}
    assert hands["banker"]["third_card"] is None
    assert "閒 player 2♥ (2) 3♥ (3) 5 9(1): 應增牌 to draw, 未派 not dealt yet" in drawn(
        tmp_path, "T1", "1", "1", "--at", due.isoformat()
    )
    lines = drawn(tmp_path, "T1", "1", "1")
    assert "閒 player 2♥ (2) 3♥ (3) 5 ✗ 9(1): 應增牌 to draw, 卻未增牌 but stood" in lines
    assert "莊 banker 6♦ (6) K♦ (0) 2♦ (2) 8 ✗ 9(4)(4): 不增牌 to stand, 卻增牌 but drew" in lines


def test_a_wrong_call_a_void_and_a_burned_card_are_part_of_their_round(tmp_path: Path) -> None:
    table = Table()
    table.open()
    burned = table.send("card_burned", shoe=1, reason="before_round", card="7D")
    table.send("round_opened", shoe=1, round=1)
    table.deal(1, 1, "5H 2S", "6H KD")
    table.send("result_called", shoe=1, round=1, outcome="banker")
    table.send("round_voided", shoe=1, round=1, reason="cards [/b] mixed up", authorised_by="PM-7")
    table.send("round_closed", shoe=1, round=1)
    table.send("round_opened", shoe=1, round=2, kind="live")
    table.deal(1, 2, "JH JS", "6H 6D 2D")
    table.send("result_called", shoe=1, round=2, outcome="player")
    table.send("round_closed", shoe=1, round=2)
    table.write(tmp_path).close()
    found = shown(tmp_path, "T1", "1", "1")
    assert found["evidence"][0]["event_id"] == burned.id
    assert found["fact"]["void_reason"] == "cards [/b] mixed up"
    assert "作廢原因 Void because cards [/b] mixed up" in drawn(tmp_path, "T1", "1", "1")
    lines = drawn(tmp_path, "T1", "1", "2")
    assert "宣布 Called ✗ 閒 player" in lines
    assert "例牌 Natural · 對子 Pairs 無 no · 閒對 player, 莊對 banker" in lines


def test_corrections_stand_beside_the_events_they_are_about(tmp_path: Path) -> None:
    """What people wrote is printed as it is, but for what a terminal would obey."""
    table = Table()
    table.open()
    short = table.play_evening()
    closed = table.sent[-1]
    reason = "[/bold] keyed\nin \x1b[2J"
    correction = table.decide(
        "correction", target_event_id=short.id, action="replace", changes={"amount": 60_000}, authorised_by="PM-7",
        reason=reason,
    )  # fmt: skip
    table.write(tmp_path).close()
    evidence = shown(tmp_path, "T1", "1", "3")["evidence"]
    paid = next(line for line in evidence if line["event_id"] == short.id)
    assert (paid["event"]["amount"], paid["corrected_by"]) == (30_000, [correction.id])
    assert (evidence[-1]["event_id"], evidence[-1]["event"]["reason"]) == (correction.id, reason)
    lines = drawn(tmp_path, "T1", "1", "3", "--at", closed.moment.isoformat())
    assert "1 P-1 閒 Player (留注 carried) 贏 win 600.00 600.00 600.00 0.00 0.00 600.00" in lines
    assert f"更正 replace by {correction.id}: [/bold] keyed in ?[2J (PM-7)" in lines
    assert "\x1b[2J" not in call(tmp_path, "T1").stdout


def test_messages_refused_in_a_round_stand_beside_it(tmp_path: Path) -> None:
    table = Table()
    table.open()
    table.send("round_opened", shoe=1, round=1)
    refused = table.send("bet_withdrawn", shoe=1, round=1, bet_id="b9")
    garbage = b'{"type": "bet_placed", "event_id": "T1:1:99", "shoe": 1, "round": 1}'
    write_log(tmp_path, [*table.messages(), ("T1", garbage)]).close()
    found = shown(tmp_path, "T1", "1", "1")
    assert [letter["event_id"] for letter in found["refused"]] == [refused.id, "T1:1:99"]
    assert [line["refused"] for line in found["evidence"]] == [None, "no_such_bet"]
    lines = drawn(tmp_path, "T1", "1", "1")
    assert any("✗ 不採用 refused: no_such_bet" in line for line in lines)
    assert any(f"offset {len(table.sent)} T1:1:99 invalid: " in line for line in lines)


@pytest.mark.parametrize("columns", [80, 120])
def test_no_line_is_wider_than_the_terminal_and_amounts_stay_whole(data: Path, columns: int) -> None:
    lines: list[str] = []
    for arguments in (["T1"], ["T1", "1"], ["T1", "1", "1"]):
        lines = call(data, *arguments, columns=columns).stdout.splitlines()
        assert max(map(cell_len, lines)) <= columns
    assert any(" 1,000.00 " in line and " -1,000.00" in line for line in lines)


# -- the past --------------------------------------------------------------------------------------------------------


def test_at_takes_local_time_and_any_zone(data: Path, evening: Table) -> None:
    closed = of(evening, "round_closed", round=1).moment
    local = closed + timedelta(hours=8)
    found = [
        shown(data, "T1", "1", "--at", text)
        for text in (
            closed.isoformat(),
            f"{closed:%Y-%m-%dT%H:%M:%SZ}",
            f"{local:%Y-%m-%d %H:%M:%S}",
            f"{local:%Y-%m-%dT%H:%M:%S+08:00}",
        )
    ]
    assert [len(one["rounds"]) for one in found] == [1, 1, 1, 1]
    assert found[1:] == found[:1] * 3
    assert datetime.fromisoformat(found[0]["moment"]) == closed
    earlier = shown(data, "T1", "1", "--at", (closed - timedelta(microseconds=1)).isoformat())
    assert earlier["rounds"] == []


def test_local_time_is_the_tables_own(tmp_path: Path) -> None:
    table = Table()
    table.open(gaming_day={"utc_offset_hours": 9})
    write_log(tmp_path, [("T1", b'{"type":"configuration_published"}'), *table.messages()]).close()
    found = shown(tmp_path, "T1", "--at", "2026-01-15 21:00:02")
    assert found["last_event"]["event_id"] == "T1:1:2"
    assert found["moment"] == "2026-01-15T12:00:02Z"
    assert found["last_event"]["age_seconds"] == 0
    assert "截至 As of 2026-01-15 21:00:02 UTC+9" in drawn(tmp_path, "T1", "--at", "2026-01-15 21:00:02")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-15 20:30", datetime(2026, 1, 15, 20, 30)),  # noqa: DTZ001  the table's own time
        ("2026-01-15T20:30:15.5", datetime(2026, 1, 15, 20, 30, 15, 500_000)),  # noqa: DTZ001
        (" 2026-01-15T00:00:00Z ", datetime(2026, 1, 15, tzinfo=UTC)),
        ("2026-01-15T23:00:00-01:00", datetime(2026, 1, 16, tzinfo=UTC)),
    ],
)
def test_moments_are_read_with_or_without_a_zone(text: str, moment: datetime) -> None:
    assert read_moment(text) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-01-15",
        "20:30",
        "2026-13-01 00:00",
        "1999-12-31 23:59",
        "0001-01-01 00:00",
        "9999-12-31T23:59-12:00",
    ],
)
def test_what_is_no_moment_is_refused(data: Path, text: str) -> None:
    result = call(data, "T1", "--at", text)
    assert result.exit_code == 2
    assert "is no moment of 2000 to 2099" in result.stderr


# -- what is not there -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["T9"], "Invalid value for TABLE: there is no table 'T9'; there are: T1"),
        (["T1", "7"], "Invalid value for SHOE: table T1 has no shoe 7; there are: 1"),
        (["T1", "7", "1"], "Invalid value for SHOE: table T1 has no shoe 7; there are: 1"),
        (["T1", "1", "9"], "Invalid value for ROUND: shoe 1 of table T1 has no round 9; there are: 1–4"),
        (
            ["T1", "1", "3", "--at", "2026-01-15T12:00:20Z"],
            "Invalid value for ROUND: shoe 1 of table T1 has no round 3 at 2026-01-15T12:00:20+00:00; there are: 1",
        ),
        (
            ["T1", "1", "--at", "2026-01-15T12:00:03Z"],
            "Invalid value for SHOE: table T1 has no shoe 1 at 2026-01-15T12:00:03+00:00; there are none",
        ),
        (
            ["T1", "--at", "2026-01-15 20:00"],
            "Invalid value for --at: nothing had been heard of table T1 by 2026-01-15 20:00",
        ),
        (["T1", "0"], "Invalid value for"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_said_with_what_is(data: Path, arguments: list[str], problem: str) -> None:
    result = call(data, *arguments)
    assert result.exit_code == 2
    assert problem in result.stderr
    assert result.stdout == ""


def test_many_tables_are_not_all_named(tmp_path: Path) -> None:
    tables = [Table(f"T{number:02}") for number in range(MAX_NAMES + 3)]
    write_log(tmp_path, [(table.table_id, table.send("heartbeat")) for table in tables]).close()
    result = call(tmp_path, "T99")
    assert "there are: T00, T01, " in result.stderr
    assert "T19 and 3 more" in result.stderr


def test_an_empty_log_has_no_tables(tmp_path: Path) -> None:
    write_log(tmp_path, []).close()
    assert "there is no table 'T1'; there are none" in call(tmp_path, "T1").stderr


def test_a_missing_log_is_named(tmp_path: Path) -> None:
    result = call(tmp_path / "elsewhere", "T1")
    assert isinstance(result.exception, DataDirectoryUnusable)
    assert f"there is no data in {tmp_path / 'elsewhere'}: " in str(result.exception)


@pytest.mark.parametrize(
    ("numbers", "text"), [([], ""), ([5], "5"), ([3, 1, 2], "1–3"), ([9, 1, 2, 4, 6, 5], "1–2, 4–6, 9")]
)
def test_numbers_are_told_as_spans(numbers: list[int], text: str) -> None:
    assert ", ".join(spans(numbers)) == text


# -- waiting ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What bars were shown, with what they counted."""
    calls: list[tuple[object, ...]] = []

    @contextmanager
    def counting_bar(doing: str, total: int, unit: str) -> Iterator[Advance]:
        calls.append((doing, total, unit))
        yield lambda done: calls.append((done,))
        calls.append(("closed",))

    monkeypatch.setattr(show_module, "counting_bar", counting_bar)
    return calls


def clock(*seconds: float) -> Callable[[], float]:
    times = iter(seconds)
    return lambda: next(times)


def test_a_bar_is_shown_to_who_has_to_wait(bars: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show_module, "monotonic", clock(10.0, 11.9, 12.1))
    with patient_bar("reading", 30) as advance:
        advance(10)
        assert bars == []
        advance(20)
        advance(30)
    assert bars == [("reading", 30, "records"), (20,), (30,), ("closed",)]


@pytest.mark.parametrize(
    ("arguments", "passes"), [([], 1), (["2026-01-15T12:00:30Z"], 2), (["2026-01-15 20:00:30"], 3)]
)
def test_every_pass_over_the_log_counts(
    data: Path,
    bars: list[tuple[object, ...]],
    monkeypatch: pytest.MonkeyPatch,
    evening: Table,
    arguments: list[str],
    passes: int,
) -> None:
    monkeypatch.setattr(show_module, "PATIENCE_SECONDS", -1.0)
    call(data, "T1", *(f"--at={moment}" for moment in arguments))
    records = len(evening.sent)
    counted = [(number * records,) for number in range(1, passes + 1)]
    assert bars == [("reading T1", passes * records, "records"), *counted, ("closed",)]


def test_nothing_is_said_on_standard_error_when_all_is_quick(data: Path) -> None:
    assert call(data, "T1").stderr == ""
