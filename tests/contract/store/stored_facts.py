"""A fact of every kind with no field at its default, for the suites of stores and sinks."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.facts import Evidence, Fact
from schemas.structs import struct_of
from schemas.wire import FACT_STRUCTS

MOMENT = datetime(2026, 3, 31, 23, 59, 59, 123_456, tzinfo=UTC)
SECOND = timedelta(seconds=1)

EVIDENCE = struct_of(Evidence)(
    event_ids=("BAC-01:1:7", "BAC-01:1:8"),
    bet_id="b-1",
    bet="banker",
    card="10H",
    expected="28,500",
    actual="30,000",
    due=2_850_000,
    paid=3_000_000,
    player_cards=("AS", "10H"),
    banker_cards=("2C", "3D", "KH"),
)

_ENVELOPE: Mapping[str, Any] = {
    "revision": 3,
    "occurred_at": MOMENT,
    "gaming_day": "2026-03-31",
    "shift": "night",
    "pit": "PIT-7",
    "src_topic": "table-events",
    "src_partition": 2,
    "src_offset": 123_456_789_012,
}

_SUMS: Mapping[str, Any] = {"handle": 120_000, "commission_due": 1_500, "paid": 28_500, "collected": 60_000}

_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "round": {
        "shoe": 4, "round": 5, "kind": "live", "status": "settled", "opened_at": MOMENT - 40 * SECOND,
        "betting_closed_at": MOMENT - 20 * SECOND, "closed_at": MOMENT, "dealer_id": "D-1",
        "configuration_id": "macau", "currency": "HKD", "player_cards": ("AS", "10H"),
        "banker_cards": ("2C", "3D", "KH"), "player_total": 1, "banker_total": 5, "outcome": "banker",
        "called_outcome": "player", "natural": True, "player_pair": True, "banker_pair": True,
        "tableau_errors": ("player 9(3)(2)", "banker 9(4)"), "exposed_cards": 1, "burned_cards": 2, "bets": 7,
        "stakes": 130_000, "house_win": -2_345, "commission": 1_400, "alerts": 2, "void_reason": "派錯牌 'q'", **_SUMS,
    },
    "bet": {
        "shoe": 4, "round": 5, "bet_id": "b-1", "bet": "banker", "seat": 3, "area": "reserved", "posture": "seated",
        "patron_id": "P-77", "dealer_id": "D-1", "currency": "HKD", "placed_at": MOMENT - 30 * SECOND,
        "carried": True, "stake": 30_000, "result": "win", "winnings": 30_000, "due": 28_500, "commission_due": 1_500,
        "net": -28_500, "paid": 28_501, "collected": 1, "commission": 1_499,
    },
    "commission": {
        "entry_id": "BAC-01:1:7", "shoe": 4, "round": 5, "seat": 3, "patron_id": "P-77", "bet_id": "b-1",
        "entry": "settled", "amount": -1_500, "balance": 250, "currency": "HKD",
    },
    "road": {
        "shoe": 4, "road": "big_road", "index": 9, "column": 3, "row": 2, "mark": "B", "ties": 1, "player_pair": True,
        "banker_pair": True, "round": 5,
    },
    "shoe": {
        "shoe": 4, "status": "closed", "complete": False, "decks": 8, "shuffling": "shoe", "loaded_at": MOMENT,
        "closed_at": MOMENT + 3600 * SECOND, "close_reason": "cut_card", "cut_by": "patron", "cards_behind_cut": 14,
        "burned": 8, "cards_out": 300, "seen": {"AS": 3, "10H": 8}, "rounds": 60, "demonstrations": 1,
        "banker_wins": 28, "player_wins": 27, "ties": 5, "voids": 1, "cut_card_round": 59,
    },
    "table_hour": {
        "hour": MOMENT.replace(minute=0, second=0, microsecond=0), "currency": "HKD", "rounds": 70, "voids": 1,
        "cards": 340, "bets": 400, "house_win": -1, "dealing_errors": 2, "alerts": 3, **_SUMS,
    },
    "alert": {
        "alert_id": "BAC-01:4:5:overpaid:b-1", "code": "overpaid", "severity": "critical", "article": "17",
        "status": "corrected", "shoe": 4, "round": 5, "seat": 3, "dealer_id": "D-1", "patron_id": "P-77",
        "text_zh": "莊 多派：應派 28,500，實派 30,000", "text_en": "Banker overpaid: due 28,500, paid 30,000",
        "currency": "HKD",
        "evidence": EVIDENCE,
    },
    "dead_letter": {
        "reason": "invalid", "detail": "stake: must be at least 1\nand \\ more", "event_id": "BAC-01:1:7", "shoe": 4,
        "round": 5, "raw": "eyJ0eXBlIjoxfQ==",
    },
}  # fmt: skip


def fact(kind: str, table_id: str, **changes: Any) -> Fact:  # noqa: ANN401 - whatever the kind's fields are
    """Return the kind's fact at a table, with some fields changed."""
    return FACT_STRUCTS[kind](table_id=table_id, **{**_ENVELOPE, **_FIELDS[kind], **changes})
