"""Every store from its opening to its end."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from processors.store.port import Store, StoreUnavailable
from schemas.wire import encode
from tests.contract.store.asking import put, seen
from tests.contract.store.conftest import OpenStore
from tests.contract.store.stored_facts import fact


class TestLife:
    def test_migrating_again_changes_nothing(self, store: Store, table_id: str) -> None:
        put(store, fact("round", table_id))
        identity = store.identity
        assert store.migrate() == []
        assert store.identity == identity
        assert len(seen(store, "round", table_id)) == 1

    def test_another_store_on_the_database_sees_the_same(
        self, open_store: OpenStore, store: Store, table_id: str
    ) -> None:
        put(store, fact("round", table_id))
        other = open_store()
        assert other.identity == store.identity
        assert seen(other, "round", table_id) == seen(store, "round", table_id)
        other.close()

    def test_closed_store_says_so(self, open_store: OpenStore) -> None:
        other = open_store()
        other.close()
        other.close()
        with pytest.raises(StoreUnavailable, match="closed"):
            other.query("SELECT 1")
        with pytest.raises(StoreUnavailable, match="closed"):
            other.insert("round", [encode(fact("round", "T-1"))])

    def test_many_threads_read_while_one_writes(self, store: Store, table_id: str) -> None:
        """A reader sees a batch whole or not at all, and never an old revision beside a new one."""

        def look(_: int) -> set[tuple[int, int]]:
            (row,) = seen(store, "round", table_id, "count() AS rows, uniqExact(revision) AS revisions")
            return {(row["rows"], row["revisions"])}

        with ThreadPoolExecutor(8) as pool:
            looks = pool.map(look, range(60))
            for revision in range(10):
                put(store, *(fact("round", table_id, round=number, revision=revision) for number in range(1, 21)))
            found = set().union(*looks)
        assert found <= {(0, 0), (20, 1)}
