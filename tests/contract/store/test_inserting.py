"""What every store must do with rows (`processors.store.port`). Written against the port alone."""

import json
from decimal import Decimal

import msgspec
import pytest

from processors.store.port import VIEWS, RowsRefused, Store
from schemas.facts import FACT_KEYS, FACT_KINDS
from schemas.wire import encode
from tests.contract.store.asking import kept, put, seen
from tests.contract.store.stored_facts import SECOND, fact


class TestInsert:
    @pytest.mark.parametrize("kind", FACT_KINDS)
    def test_every_field_comes_back_as_it_was(self, store: Store, table_id: str, kind: str) -> None:
        one = fact(kind, table_id)
        put(store, one)
        assert kept(store, kind, table_id) == [one]

    @pytest.mark.parametrize("kind", FACT_KINDS)
    def test_readers_see_every_field(self, store: Store, table_id: str, kind: str) -> None:
        put(store, fact(kind, table_id))
        (row,) = seen(store, kind, table_id)
        fields = FACT_KINDS[kind].model_fields.keys() - {"fact", "retracted", "evidence"}
        assert fields <= row.keys()

    @pytest.mark.parametrize("kind", FACT_KINDS)
    def test_inserting_again_changes_nothing(self, store: Store, table_id: str, kind: str) -> None:
        one = fact(kind, table_id)
        for _ in range(2):
            put(store, one, one)
        assert kept(store, kind, table_id) == [one]
        assert len(seen(store, kind, table_id)) == 1

    @pytest.mark.parametrize(("kind", "field"), [(kind, field) for kind in FACT_KINDS for field in FACT_KEYS[kind]])
    def test_facts_that_differ_in_a_field_of_their_key_are_two(
        self, store: Store, table_id: str, kind: str, field: str
    ) -> None:
        one = fact(kind, table_id)
        value = getattr(one, field)
        changed = f"{value}x" if isinstance(value, str) else value + (1 if isinstance(value, int) else 3600 * SECOND)
        other = fact(kind, **{"table_id": table_id, field: changed})
        put(store, one, other)
        where = f"startsWith(table_id, '{table_id}')"
        (found,) = store.rows(f"SELECT count() AS rows FROM {VIEWS[kind]} WHERE {where}", dict)
        assert found == {"rows": 2}

    def test_no_rows_are_no_trouble(self, store: Store) -> None:
        store.insert("round", [])

    def test_unknown_fields_are_skipped(self, store: Store, table_id: str) -> None:
        row = json.loads(encode(fact("alert", table_id)))
        row["new"] = {"a": [1, None]}
        row["evidence"]["newer"] = [{"b": 2}]
        store.insert("alert", [json.dumps(row).encode()])
        assert kept(store, "alert", table_id) == [fact("alert", table_id)]

    def test_field_that_the_writer_did_not_know_is_at_its_default(self, store: Store, table_id: str) -> None:
        row = json.loads(encode(fact("round", table_id)))
        del row["void_reason"], row["burned_cards"], row["closed_at"]
        store.insert("round", [json.dumps(row).encode()])
        (found,) = kept(store, "round", table_id)
        assert found == fact("round", table_id, void_reason="", burned_cards=0, closed_at=None)

    def test_absent_values_stay_absent(self, store: Store, table_id: str) -> None:
        nothing = fact("round", table_id, outcome=None, called_outcome=None, closed_at=None, betting_closed_at=None)
        put(store, nothing)
        assert kept(store, "round", table_id) == [nothing]

    @pytest.mark.parametrize(
        "text", ["", "'", '"', "\\", "\\n\n\t\r", "\x00\x1f", "莊閒和", "😀", "\u2028", '":12345678901234567890123']
    )
    def test_texts_come_back_whole(self, store: Store, table_id: str, text: str) -> None:
        put(store, fact("round", table_id, void_reason=text))
        assert seen(store, "round", table_id, "void_reason") == [{"void_reason": text}]


class TestMoney:
    @pytest.mark.parametrize(
        ("minor", "shown"),
        [
            (0, "0.00"), (1, "0.01"), (-1, "-0.01"), (99, "0.99"), (-100, "-1.00"),
            (10**15, "10000000000000.00"), (10**15 + 1, "10000000000000.01"), (-(10**15) - 1, "-10000000000000.01"),
            (10**17 - 1, "999999999999999.99"),
            (10**18 - 1, "9999999999999999.99"), (1 - 10**18, "-9999999999999999.99"),
        ],
    )  # fmt: skip
    def test_amounts_are_exact(self, store: Store, table_id: str, minor: int, shown: str) -> None:
        put(store, fact("round", table_id, house_win=minor))
        assert seen(store, "round", table_id, "house_win") == [{"house_win": Decimal(shown)}]
        assert kept(store, "round", table_id)[0] == fact("round", table_id, house_win=minor)

    def test_optional_amounts_are_exact(self, store: Store, table_id: str) -> None:
        evidence = msgspec.structs.replace(fact("alert", table_id).evidence, due=-(10**17) - 1, paid=None)  # type: ignore[attr-defined]  # an alert's
        put(store, fact("alert", table_id, evidence=evidence))
        assert seen(store, "alert", table_id, "due, paid") == [{"due": Decimal("-1000000000000000.01"), "paid": None}]

    def test_sums_of_the_largest_amounts_are_exact(self, store: Store, table_id: str) -> None:
        put(store, *(fact("round", table_id, round=number, handle=10**17 - 1) for number in range(1, 201)))
        (row,) = seen(store, "round", table_id, "sum(handle) AS handle, any(currency) AS currency")
        assert row == {"handle": Decimal(200 * (10**17 - 1)) / 100, "currency": "HKD"}

    @pytest.mark.parametrize(
        "number", [2**62 + 1, 2**63, 2**64, 2**64 + 5, 10**30, -(2**62) - 1, -(2**63) - 1, -(2**64)]
    )
    def test_integer_that_would_wrap_is_refused(self, store: Store, table_id: str, number: int) -> None:
        good = fact("round", table_id, round=1)
        with pytest.raises(RowsRefused) as refused:
            put(store, good, fact("round", table_id, round=2, house_win=number))
        assert list(refused.value.indexes) == [1]
        assert all(row["round"] == 1 for row in seen(store, "round", table_id))

    @pytest.mark.parametrize("number", [2**62, -(2**62)])
    def test_largest_integers_are_kept(self, store: Store, table_id: str, number: int) -> None:
        put(store, fact("commission", table_id, balance=number))
        (found,) = kept(store, "commission", table_id)
        assert found == fact("commission", table_id, balance=number)

    @pytest.mark.parametrize("text", ["1.5", "1e3", "[1]", "{}", '"x"'])
    def test_amount_that_is_no_integer_is_refused(self, store: Store, table_id: str, text: str) -> None:
        row = encode(fact("commission", table_id, amount=77)).replace(b'"amount":77', f'"amount":{text}'.encode())
        with pytest.raises(RowsRefused):
            store.insert("commission", [row])
        assert seen(store, "commission", table_id) == []

    @pytest.mark.parametrize("row", [b"", b"garbage", b"{", b"[]", b'{"table_id":"x"', b'{"opened_at":"yesterday"}'])
    def test_row_that_is_none_is_refused(self, store: Store, row: bytes) -> None:
        with pytest.raises(RowsRefused, match="rounds"):
            store.insert("round", [row])
