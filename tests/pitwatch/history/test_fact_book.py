"""The fact book: which facts a scope keeps, and which records count as refused."""

from collections.abc import Callable
from typing import Final, cast

import pytest

from pitwatch.history.fact_book import MAX_ALERTS, FactBook, Refusals, Scope
from schemas.facts import AlertFact, BetFact, DeadLetterFact, Fact, RoadFact, RoundFact, ShoeFact, TableHourFact
from schemas.log import Record
from schemas.wire import FACT_STRUCTS
from tests.pitwatch.table_log import NOON

FILLING: Final[dict[str, dict[str, object]]] = {
    "alert": {
        "code": "late_bet", "severity": "critical", "article": "13", "text_zh": "", "text_en": "", "evidence": None,
        "currency": "HKD",
    },
    "round": {"kind": "live", "status": "settled", "opened_at": NOON, "currency": "HKD"},
    "bet": {
        "bet": "tie", "seat": 1, "area": "shared", "posture": "seated", "currency": "HKD", "placed_at": NOON,
        "stake": 1, "result": "lose",
    },
    "road": {"road": "big_road", "column": 0, "row": 0, "mark": "B"},
    "shoe": {"status": "loaded", "decks": 8, "shuffling": "shoe", "loaded_at": NOON},
    "table_hour": {"hour": NOON, "currency": "HKD"},
    "dead_letter": {"reason": "invalid", "detail": "", "raw": ""},
}  # fmt: skip


def fact(kind: str, **fields: object) -> Fact:
    make = cast(Callable[..., Fact], FACT_STRUCTS[kind])
    return make(table_id="T1", occurred_at=NOON, **(FILLING[kind] | fields))


SHOE_1 = [
    fact("shoe", shoe=1),
    fact("round", shoe=1, round=1),
    fact("bet", shoe=1, round=1, bet_id="b1"),
    fact("road", shoe=1, index=0, round=1),
    fact("alert", shoe=1, round=1, alert_id="a1"),
    fact("dead_letter", shoe=1, round=1, src_offset=1),
    fact("round", shoe=1, round=2),
    fact("alert", shoe=1, round=2, alert_id="a2"),
    fact("table_hour"),
]
SHOE_2 = [fact("shoe", shoe=2), fact("round", shoe=2, round=1), fact("road", shoe=2, index=0, round=1)]


@pytest.mark.parametrize(
    ("scope", "kept"),
    [
        (Scope(), {ShoeFact: 2, RoundFact: 1, RoadFact: 1, AlertFact: 2, TableHourFact: 1}),
        (Scope(1), {ShoeFact: 2, RoundFact: 2, RoadFact: 1, AlertFact: 2, DeadLetterFact: 1}),
        (Scope(1, 1), {ShoeFact: 2, RoundFact: 2, BetFact: 1, AlertFact: 1, DeadLetterFact: 1}),
        (Scope(2, 1), {ShoeFact: 2, RoundFact: 1}),
    ],
)
def test_a_scope_keeps_what_it_is_about(scope: Scope, kept: dict[type[Fact], int]) -> None:
    book = FactBook(scope)
    book.keep([*SHOE_1, *SHOE_2])
    for model in (ShoeFact, RoundFact, BetFact, RoadFact, AlertFact, TableHourFact, DeadLetterFact):
        assert len(book.of(model)) == kept.get(model, 0), model


def test_a_later_fact_takes_the_place_of_an_earlier_one_and_retracted_ones_are_gone() -> None:
    book = FactBook(Scope(1))
    book.keep(
        [fact("round", shoe=1, round=1), fact("round", shoe=1, round=2), fact("round", shoe=1, round=1, alerts=1)]
    )
    assert [(one.round, one.alerts) for one in book.of(RoundFact)] == [(2, 0), (1, 1)]
    book.keep([fact("round", shoe=1, round=2, retracted=True), fact("round", shoe=1, round=3, retracted=True)])
    assert [one.round for one in book.of(RoundFact)] == [1]


def test_a_whole_table_keeps_its_newest_alerts_only() -> None:
    alerts = [fact("alert", shoe=1, round=1, alert_id=f"a{number}") for number in range(MAX_ALERTS + 2)]
    table, shoe = FactBook(Scope()), FactBook(Scope(1))
    table.keep([fact("shoe", shoe=1), *alerts])
    shoe.keep(alerts)
    assert [alert.alert_id for alert in table.of(AlertFact)] == [f"a{number}" for number in range(2, MAX_ALERTS + 2)]
    assert len(shoe.of(AlertFact)) == MAX_ALERTS + 2


def test_a_record_is_refused_while_its_dead_letter_stands() -> None:
    refused = Refusals()
    record = Record("table-events", 0, 5, "T1", b"", NOON)
    refused.note(fact("shoe", shoe=1, src_offset=5))
    assert record not in refused
    refused.note(fact("dead_letter", src_offset=5))
    assert record in refused
    assert record._replace(offset=6) not in refused
    refused.note(fact("dead_letter", src_offset=5, retracted=True))
    assert record not in refused
