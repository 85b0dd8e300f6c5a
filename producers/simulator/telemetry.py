"""What happens to a table's events on the way to the log: each fault is one function from a stream to a stream.

Repeats, disorder within a limit and restarts are harmless and leave labels as they are. Lost events and a wrong clock
are labelled here, and only befall rounds in which nothing else is wrong.
"""

import heapq
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Final

import msgspec

from producers.simulator.controller import Arrival
from producers.simulator.labels import Label
from producers.simulator.settings import SimulatedTable
from schemas.ids import event_id, split_event_id
from schemas.structs import altered

_RUN_AT_MOST: Final = 3
_RESTART_WITHIN: Final = 12
_LOSABLE_BETS: Final = frozenset({"bet_placed", "bet_changed", "bet_withdrawn"})
_LOSABLE: Final = _LOSABLE_BETS | {"betting_closed", "cards_held_by", "card_drawn", "result_called"}


def distort(arrivals: Iterable[Arrival], table: SimulatedTable, seed: str) -> Iterator[Arrival]:
    """Let everything go wrong that the table's settings ask for; the same seed always does the same."""
    telemetry, rng = table.telemetry, Random(seed)
    stream = iter(arrivals)
    if telemetry.restarted:
        stream = restart(stream, rng, telemetry.restarted)
    if telemetry.lost and (losable := _losable_at(table)):
        stream = lose(stream, rng, telemetry.lost, losable)
    if telemetry.skewed:
        tolerance = timedelta(milliseconds=table.configuration.clock_tolerance_ms)
        silence = timedelta(seconds=table.configuration.silence_limit_seconds)
        stream = skew(stream, rng, telemetry.skewed, tolerance, silence)
    if telemetry.duplicated or telemetry.disordered:
        latest = timedelta(milliseconds=telemetry.disorder_ms)
        stream = delay(stream, rng, telemetry.duplicated, telemetry.disordered, latest)
    return stream


def _losable_at(table: SimulatedTable) -> frozenset[str]:
    """Return the types of event a table may lose without hiding a deviation of its own.

    A card lost from a forged shoe could be the copy that shows it, and where commission is marked nobody could tell a
    debt from before the loss from one since.
    """
    if table.deviations is None:
        return _LOSABLE
    return frozenset() if table.configuration.commission.collection == "marked" else _LOSABLE_BETS


def restart(arrivals: Iterable[Arrival], rng: Random, share: float) -> Iterator[Arrival]:
    """Restart the controller during a share of rounds: a new epoch, numbered from 1, says what it follows.

    The stream must be numbered densely in epoch 1, as `session` numbers it.
    """
    first_seqs = [1]
    countdown = -1
    for arrival in arrivals:
        if arrival.event.type == "round_opened" and countdown < 0 and rng.random() < share:
            countdown = int(rng.random() * _RESTART_WITHIN)
        if countdown == 0:
            first_seqs.append(arrival.event.seq)
        if countdown >= 0:
            countdown -= 1
        yield _renumbered(arrival, first_seqs) if len(first_seqs) > 1 else arrival


def _renumbered(arrival: Arrival, first_seqs: list[int]) -> Arrival:
    event, epoch, first = arrival.event, len(first_seqs), first_seqs[-1]
    seq = event.seq - first + 1
    changes: dict[str, object] = {
        "epoch": epoch,
        "seq": seq,
        "event_id": event_id(event.table_id, epoch, seq),
    }
    if seq == 1:
        changes["follows"] = (epoch - 1, first - first_seqs[-2])
    if event.type == "correction":
        changes["target_event_id"] = _renumbered_id(getattr(event, "target_event_id"), first_seqs)  # noqa: B009
    labels = tuple(_changed_label(label, _renumbered_id(label.event_id, first_seqs)) for label in arrival.labels)
    return arrival._replace(event=altered(event, **changes), labels=labels)


def _renumbered_id(identity: str, first_seqs: list[int]) -> str:
    table_id, _, seq = split_event_id(identity)
    epoch = bisect_right(first_seqs, seq)
    return event_id(table_id, epoch, seq - first_seqs[epoch - 1] + 1)


def lose(
    arrivals: Iterable[Arrival], rng: Random, share: float, losable: frozenset[str] = _LOSABLE
) -> Iterator[Arrival]:
    """Lose up to three events in a row, of types `losable`, in a share of rounds.

    Rounds are spared whose loss would be felt outside them: ties, after which stakes stand. A tray counted short after
    a loss has no label, for until the count nobody could tell.
    """
    float_known = True
    for chapter in _chapters(arrivals):
        runs = _runs(chapter, losable) if _plain(chapter) and rng.random() < share else []
        if runs:
            _lose_from(chapter, runs[int(rng.random() * len(runs))], rng)
            float_known = False
        for arrival in chapter:
            yield arrival if float_known else _without(arrival, "float_unexplained")
            float_known = float_known or arrival.event.type == "float_counted"


def _lose_from(chapter: list[Arrival], run: list[int], rng: Random) -> None:
    """Take events that follow one another out of a run's places, and label the one that shows it."""
    first = run[int(rng.random() * len(run))]
    end = min(run[-1] + 1, first + 1 + int(rng.random() * _RUN_AT_MOST))
    described = f"{end - first} lost from {chapter[first].event.event_id} on"
    chapter[end] = _labelled(chapter[end], chapter[0], ("telemetry_gap", "round_incomplete"), described)
    del chapter[first:end]


def _without(arrival: Arrival, code: str) -> Arrival:
    return arrival._replace(labels=tuple(label for label in arrival.labels if code not in label.codes))


def _runs(chapter: list[Arrival], losable: frozenset[str]) -> list[list[int]]:
    """Return the places of losable events, those in a row together.

    The first event after a restart is spared: it alone says where the numbers before it ended, so that without it
    more seems to be missing than is.
    """
    runs: list[list[int]] = []
    for place, arrival in enumerate(chapter):
        if arrival.event.type not in losable or arrival.event.follows is not None:
            continue
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


def skew(
    arrivals: Iterable[Arrival], rng: Random, share: float, tolerance: timedelta, silence: timedelta
) -> Iterator[Arrival]:
    """Stamp one event with a clock that is off by more than `tolerance`, in a share of rounds.

    Either it lies behind the event before it, or ahead of the log's own clock; the event after an early one then
    seems to go back as well. It is off by less than half of `silence`, so that no table seems silent for it.
    """
    furthest = max(2 * tolerance, min(10 * tolerance, silence / 2))
    for chapter in _chapters(arrivals):
        if _plain(chapter) and rng.random() < share:
            place = 1 + int(rng.random() * (len(chapter) - 2))
            off = 2 * tolerance + (furthest - 2 * tolerance) * rng.random()
            before, arrival = chapter[place - 1], chapter[place]
            wrong = arrival.arrives_at + off if rng.random() < 0.5 else before.event.occurred_at - off
            skewed = arrival._replace(event=altered(arrival.event, occurred_at=wrong))
            seconds = (wrong - arrival.event.occurred_at).total_seconds()
            chapter[place] = _labelled(skewed, chapter[0], ("clock_skew",), f"clock off by {seconds:+.3f} s")
        yield from chapter


def delay(
    arrivals: Iterable[Arrival], rng: Random, duplicated: float, disordered: float, latest: timedelta
) -> Iterator[Arrival]:
    """Send a share of events twice, and let a share of them, and every repeat, be late by at most `latest`."""
    waiting: list[tuple[datetime, int, Arrival]] = []
    count = 0
    for arrival in arrivals:
        late = rng.random() < disordered
        copies = [arrival._replace(arrives_at=arrival.arrives_at + latest * rng.random()) if late else arrival]
        if rng.random() < duplicated:
            repeat_at = arrival.arrives_at + latest * rng.random()
            copies.append(arrival._replace(arrives_at=max(repeat_at, copies[0].arrives_at), labels=()))
        for copy in copies:
            count += 1
            heapq.heappush(waiting, (copy.arrives_at, count, copy))
        while waiting and waiting[0][0] <= arrival.arrives_at:
            yield heapq.heappop(waiting)[2]
    while waiting:
        yield heapq.heappop(waiting)[2]


_ROUND_ENDS: Final = frozenset({"round_closed", "shoe_closed"})


def _chapters(arrivals: Iterable[Arrival]) -> Iterator[list[Arrival]]:
    """Yield the arrivals in pieces: each round from opening to closing, and whatever lies between one by one."""
    chapter: list[Arrival] = []
    for arrival in arrivals:
        chapter.append(arrival)
        if chapter[0].event.type != "round_opened" or arrival.event.type in _ROUND_ENDS:
            yield chapter
            chapter = []
    if chapter:
        yield chapter


def _plain(chapter: list[Arrival]) -> bool:
    """Tell whether the piece is a live round that was settled, was no tie, and has nothing else wrong with it."""
    opening = chapter[0].event
    if opening.type != "round_opened" or getattr(opening, "kind") != "live":  # noqa: B009
        return False
    if any(arrival.labels for arrival in chapter):
        return False
    calls = [getattr(arrival.event, "outcome", None) for arrival in chapter if arrival.event.type == "result_called"]
    return bool(calls) and calls[-1] != "tie" and all(arrival.event.type != "round_voided" for arrival in chapter)


def _labelled(arrival: Arrival, opening: Arrival, codes: tuple[str, ...], described: str) -> Arrival:
    label = Label(
        table_id=arrival.event.table_id,
        shoe=getattr(opening.event, "shoe"),  # noqa: B009
        round=getattr(opening.event, "round"),  # noqa: B009
        codes=codes,
        event_id=arrival.event.event_id,
        occurred_at=arrival.event.occurred_at,
        description=described,
    )
    return arrival._replace(labels=(*arrival.labels, label))


def _changed_label(label: Label, identity: str) -> Label:
    return msgspec.structs.replace(label, event_id=identity)
