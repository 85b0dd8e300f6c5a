"""Facts of a made-up floor, with everything a test doesn't care about filled in."""

from datetime import UTC, datetime, timedelta
from typing import Any

from producers.simulator import Label
from schemas.alerts import ALERTS
from schemas.facts import AlertFact, DeadLetterFact, Evidence, RoadFact, RoundFact, ShoeFact

NOON = datetime(2025, 6, 1, 4, 0, tzinfo=UTC)
"""Twelve o'clock in Macau."""


def round_fact(table_id: str = "BAC-101", shoe: int = 1, round: int = 1, **fields: Any) -> RoundFact:  # noqa: ANN401
    given: dict[str, Any] = {
        "table_id": table_id,
        "shoe": shoe,
        "round": round,
        "kind": "live",
        "status": "settled",
        "pit": "PIT-1",
        "currency": "HKD",
        "dealer_id": "D-7",
        "occurred_at": NOON + timedelta(minutes=round),
        "opened_at": NOON + timedelta(minutes=round),
    }
    return RoundFact(**given | fields)


def shoe_fact(table_id: str = "BAC-101", shoe: int = 1, **fields: Any) -> ShoeFact:  # noqa: ANN401
    given: dict[str, Any] = {
        "table_id": table_id,
        "shoe": shoe,
        "status": "in_play",
        "decks": 8,
        "shuffling": "shoe",
        "pit": "PIT-1",
        "loaded_at": NOON,
        "occurred_at": NOON,
        "cards_behind_cut": 16,
    }
    return ShoeFact(**given | fields)


def road_fact(mark: str, index: int, table_id: str = "BAC-101", shoe: int = 1, **fields: Any) -> RoadFact:  # noqa: ANN401
    given: dict[str, Any] = {
        "table_id": table_id,
        "shoe": shoe,
        "road": "bead_plate",
        "index": index,
        "column": index // 6,
        "row": index % 6,
        "mark": mark,
        "round": index + 1,
        "occurred_at": NOON,
    }
    return RoadFact(**given | fields)


def alert_fact(code: str, table_id: str = "BAC-101", shoe: int = 1, round: int = 1, **fields: Any) -> AlertFact:  # noqa: ANN401
    bet_id = fields.pop("bet_id", "")
    given: dict[str, Any] = {
        "alert_id": f"{table_id}:{shoe}:{round}:{code}:{bet_id}",
        "table_id": table_id,
        "shoe": shoe,
        "round": round,
        "code": code,
        "severity": ALERTS[code].severity,
        "article": ALERTS[code].article,
        "text_zh": f"中文 {code}",
        "text_en": f"English {code}",
        "currency": "HKD",
        "evidence": Evidence(bet_id=bet_id),
        "occurred_at": NOON,
    }
    return AlertFact(**given | fields)


def dead_letter(
    offset: int, table_id: str = "BAC-101", *, at: datetime = NOON, retracted: bool = False
) -> DeadLetterFact:
    return DeadLetterFact(
        table_id=table_id,
        reason="invalid",
        detail="no such bet",
        raw="e30=",
        occurred_at=at,
        src_offset=offset,
        retracted=retracted,
    )


def label(*codes: str, table_id: str = "BAC-101", shoe: int = 1, round: int = 1, bet_id: str = "") -> Label:
    return Label(
        table_id=table_id,
        shoe=shoe,
        round=round,
        codes=codes,
        bet_id=bet_id,
        event_id=f"{table_id}:1:{round}",
        occurred_at=NOON,
        description=f"done on purpose: {codes[0]}",
    )
