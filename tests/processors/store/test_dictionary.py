"""docs/data-dictionary.md says what the store's schema says, and the schema says something of everything in it."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from processors.settings import StoreSettings
from processors.store.clickhouse import ClickHouseStore
from processors.store.dictionary import page
from processors.store.port import VIEWS
from schemas.facts import FACT_KEYS, FACT_KINDS, Evidence


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseStore]:
    with closing(ClickHouseStore.embedded(tmp_path_factory.mktemp("store"), StoreSettings())) as store:
        store.migrate()
        yield store


def columns(store: ClickHouseStore, table: str) -> dict[str, str]:
    """Return the types of a table's columns by their names, without those that inserts don't fill."""
    statement = (
        "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = {t:String}"
        " AND default_kind = ''"
    )
    return {row["name"]: row["type"] for row in store.rows(statement, dict, {"t": table})}


def test_page_is_current(store: ClickHouseStore, repository: Path) -> None:
    """The page is `processors.store.dictionary.page` of a new store: write it anew after a migration."""
    assert (repository / "docs" / "data-dictionary.md").read_text(encoding="utf-8") == page(store)


@pytest.mark.parametrize("what", ["tables", "columns"])
def test_everything_has_a_comment(store: ClickHouseStore, what: str) -> None:
    silent = f"SELECT * FROM system.{what} WHERE database = currentDatabase() AND comment = ''"
    assert store.rows(silent, dict) == []


def test_page_names_every_view_table_and_column(store: ClickHouseStore) -> None:
    text = page(store)
    for row in store.rows("SELECT name FROM system.tables WHERE database = currentDatabase()", dict):
        assert f"### {row['name']}\n" in text or f"| {row['name']} |" in text
    for row in store.rows("SELECT name, comment FROM system.columns WHERE database = currentDatabase()", dict):
        assert f"| {row['name']} |" in text


@pytest.mark.parametrize("kind", FACT_KINDS)
def test_table_has_a_column_for_every_field_of_its_fact(store: ClickHouseStore, kind: str) -> None:
    """A field without a column would be skipped without a word."""
    fields = FACT_KINDS[kind].model_fields
    found = columns(store, f"{VIEWS[kind]}_versions")
    assert found.keys() == fields.keys() - {"fact"}
    for name, field in fields.items():
        if name != "fact":
            assert ("Nullable" in found[name].partition("Tuple")[0]) == (
                type(None) in getattr(field.annotation, "__args__", ())
            )


def test_evidence_has_an_element_for_every_field(store: ClickHouseStore) -> None:
    definition = " ".join(columns(store, "alerts_versions")["evidence"].split())
    assert all(f" {name} " in definition.replace("(", " ") for name in Evidence.model_fields)


@pytest.mark.parametrize("kind", FACT_KINDS)
def test_table_is_ordered_by_the_key_of_its_fact(store: ClickHouseStore, kind: str) -> None:
    statement = "SELECT sorting_key FROM system.tables WHERE database = currentDatabase() AND name = {t:String}"
    (row,) = store.rows(statement, dict, {"t": f"{VIEWS[kind]}_versions"})
    assert tuple(row["sorting_key"].split(", ")) == FACT_KEYS[kind]


@pytest.mark.parametrize("view", VIEWS.values())
def test_integers_have_64_bits(store: ClickHouseStore, view: str) -> None:
    """Only for these does `rows.beyond_64_bits` refuse what would wrap."""
    types = " ".join(columns(store, f"{view}_versions").values())
    assert not any(f"Int{bits}" in types for bits in (8, 16, 32, 128, 256))


@pytest.mark.parametrize("view", VIEWS.values())
def test_amounts_are_decimals_beside_a_currency(store: ClickHouseStore, view: str) -> None:
    found = columns(store, view)
    minor = columns(store, f"{view}_versions")
    amounts = {name for name, kind in found.items() if "Decimal" in kind}
    assert all(found[name].removeprefix("Nullable(").startswith("Decimal(18, 2)") for name in amounts)
    assert {name for name, kind in minor.items() if kind == "Int64"} <= amounts
    assert "currency" in found or not amounts
