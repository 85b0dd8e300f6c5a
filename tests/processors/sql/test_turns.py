"""Turns: as many at a time as there are, and never all of them to one user."""

import asyncio

import pytest

from processors.sql import turns as turns_module
from processors.sql.refusals import Refused
from processors.sql.turns import Turns


class Query:
    """A query that has its turn until it is told to end."""

    def __init__(self, turns: Turns, user: str) -> None:
        self.running = asyncio.Event()
        self._end = asyncio.Event()
        self.task = asyncio.create_task(self._run(turns, user))

    async def _run(self, turns: Turns, user: str) -> None:
        async with turns.take(user):
            self.running.set()
            await self._end.wait()

    async def end(self) -> None:
        self._end.set()
        await self.task


async def settle() -> None:
    """Let every task go as far as it can."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_more_than_there_are_wait_for_one_to_end() -> None:
    async def story() -> None:
        turns = Turns(2)
        one, two, three = (Query(turns, name) for name in "abc")
        await settle()
        assert [query.running.is_set() for query in (one, two, three)] == [True, True, False]
        await one.end()
        await settle()
        assert three.running.is_set()
        await asyncio.gather(two.end(), three.end())

    asyncio.run(story())


def test_one_user_leaves_a_turn_to_the_others() -> None:
    async def story() -> None:
        turns = Turns(3)
        greedy = [Query(turns, "a") for _ in range(5)]
        await settle()
        assert sum(query.running.is_set() for query in greedy) == 2
        other = Query(turns, "b")
        await settle()
        assert other.running.is_set()
        await asyncio.gather(other.end(), *(query.end() for query in greedy))

    asyncio.run(story())


def test_single_turn_is_anybodys() -> None:
    async def story() -> None:
        query = Query(Turns(1), "a")
        await settle()
        assert query.running.is_set()
        await query.end()

    asyncio.run(story())


def test_wait_has_an_end_and_costs_nobody_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        turns = Turns(2)
        running = [Query(turns, "a"), Query(turns, "b")]
        await settle()
        with pytest.raises(Refused, match="no turn came"):
            async with turns.take("c"):
                raise AssertionError
        await asyncio.gather(*(query.end() for query in running))
        again = [Query(turns, "c"), Query(turns, "a")]
        await settle()
        assert all(query.running.is_set() for query in again)
        await asyncio.gather(*(query.end() for query in again))

    monkeypatch.setattr(turns_module, "WAIT_SECONDS", 0.01)
    asyncio.run(story())


def test_who_gives_up_waiting_costs_nobody_a_turn() -> None:
    async def story() -> None:
        turns = Turns(1)
        running, waiting = Query(turns, "a"), Query(turns, "b")
        await settle()
        waiting.task.cancel()
        await settle()
        await running.end()
        third = Query(turns, "b")
        await settle()
        assert third.running.is_set()
        await third.end()

    asyncio.run(story())


def test_too_many_do_not_even_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        turns = Turns(1)
        running, waiting = Query(turns, "a"), Query(turns, "b")
        await settle()
        with pytest.raises(Refused, match="wait for their turn already"):
            async with turns.take("c"):
                raise AssertionError
        await asyncio.gather(running.end(), waiting.end())

    monkeypatch.setattr(turns_module, "MAX_WAITING", 1)
    asyncio.run(story())


def test_query_that_fails_gives_its_turn_back() -> None:
    async def story() -> None:
        turns = Turns(1)
        with pytest.raises(ZeroDivisionError):
            async with turns.take("a"):
                raise ZeroDivisionError
        query = Query(turns, "a")
        await settle()
        assert query.running.is_set()
        await query.end()

    asyncio.run(story())
