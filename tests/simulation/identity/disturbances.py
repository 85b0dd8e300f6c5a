"""What is done to a crew while it works. Each thing is said once it was seen to have happened, or is an error."""

from collections.abc import Callable, Iterable

from processors.reconstructor import GROUP
from tests.kafka.programs import Program, wait_for
from tests.simulation.identity.crew import PARTITIONS, SINKS_PARTITIONS, Crew, owned, share

Disturb = Callable[[Crew, int], None]
"""Does something to a crew after the portion of that number was sent."""


def undisturbed(_crew: Crew, _portion: int) -> None:
    """Leave everybody in peace."""


def kill_workers(crew: Crew, _portion: int) -> None:
    """Kill a worker at random, as a lost machine does, and start it again under its name or another."""
    name = crew.rng.choice(sorted(crew.workers))
    crew.workers.pop(name).kill()
    successor = crew.add_worker(name if crew.rng.random() < 0.5 else "")
    crew.say(f"killed {name}, started {successor}")


class Breakage:
    """Lose a broker and get it back, move partitions, and have a worker and a sink stall past their sessions."""

    def __init__(self) -> None:
        self._portions: dict[int, Callable[[Crew], None]] = {
            1: self._lose_a_broker,
            2: self._start_a_worker,
            3: self._stall_the_worker,
            5: self._recover_the_broker,
            6: self._end_the_stalls,
            7: self._replace_a_worker,
            9: self._see_all_at_work,
        }
        # The first ones; all others may be killed or stopped.
        self._worker = self._sink = self._newcomer = ""
        self._workers_partitions: set[int] = set()
        self._logged = 0

    def __call__(self, crew: Crew, portion: int) -> None:
        if portion in self._portions:
            self._portions[portion](crew)

    def _lose_a_broker(self, crew: Crew) -> None:
        self._worker, self._sink = min(crew.workers), min(crew.sinks)
        wait_for(lambda: is_shared(crew))
        crew.cluster.brokers[0].kill()
        crew.sinks[self._sink].freeze()
        crew.say(f"killed a broker, stalled {self._sink}")

    def _start_a_worker(self, crew: Crew) -> None:
        self._newcomer = crew.add_worker()
        crew.say(f"started {self._newcomer}")

    def _stall_the_worker(self, crew: Crew) -> None:
        worker = crew.workers[self._worker]
        wait_for(lambda: bool(owned(worker)))
        worker.freeze()
        self._workers_partitions, self._logged = owned(worker), len(worker.logs)
        crew.say(f"stalled {self._worker}")

    def _recover_the_broker(self, crew: Crew) -> None:
        wait_for(lambda: bool(owned(crew.workers[self._newcomer])))
        crew.say(f"moved partitions to {self._newcomer}")
        crew.cluster.wait_for(len(crew.cluster.brokers) - 1)
        crew.cluster.brokers[0].start()
        name = crew.rng.choice(sorted(crew.workers)[1:])
        crew.workers.pop(name).kill()
        crew.say(f"started the broker again, killed {name}")

    def _end_the_stalls(self, crew: Crew) -> None:
        worker, sink = crew.workers[self._worker], crew.sinks[self._sink]
        for group, name in ((GROUP, self._worker), (crew.sink_group, self._sink)):
            wait_for(lambda group=group, name=name: crew.gave_up(group, name))  # type: ignore[misc]
        wait_for(lambda: len(owned_together(others(crew.workers, worker))) == PARTITIONS)
        wait_for(lambda: sum(map(share, others(crew.sinks, sink))) == SINKS_PARTITIONS)
        crew.say(f"others had all that {self._worker} and {self._sink} had")
        worker.thaw()
        sink.thaw()
        crew.say(f"let {self._worker} and {self._sink} go on")

    def _replace_a_worker(self, crew: Crew) -> None:
        wait_for(lambda: self._workers_partitions <= lost(crew.workers[self._worker], self._logged))
        crew.say(f"{self._worker} lost its partitions")
        name = max(crew.workers)
        assert crew.workers.pop(name).stop() == 0
        self._newcomer = crew.add_worker()
        crew.say(f"stopped {name}, started {self._newcomer}")

    def _see_all_at_work(self, crew: Crew) -> None:
        """What stalled takes part again, and so do those who were started last."""
        crew.cluster.wait_for(len(crew.cluster.brokers))
        wait_for(lambda: is_shared(crew))
        crew.say(f"{self._worker}, {self._sink} and {self._newcomer} have partitions again, and all brokers are there")


def is_shared(crew: Crew) -> bool:
    """Tell whether everybody has partitions, and each partition somebody."""
    crew.check()
    parts = [owned(worker) for worker in crew.workers.values()]
    shares = [share(sink) for sink in crew.sinks.values()]
    return (
        all(parts)
        and sum(map(len, parts)) == len(set().union(*parts)) == PARTITIONS
        and all(shares)
        and sum(shares) == SINKS_PARTITIONS
    )


def others(programs: dict[str, Program], one: Program) -> list[Program]:
    """Return all programs but one."""
    return [program for program in programs.values() if program is not one]


def owned_together(workers: Iterable[Program]) -> set[int]:
    """Return the partitions that any of these workers has."""
    return set[int]().union(*map(owned, workers))


def lost(worker: Program, since: int) -> set[int]:
    """Return the partitions that a worker said it lost, after so many lines of its log."""
    moves = (entry for entry in worker.logs[since:] if entry["event"] == "partitions_moved")
    return set[int]().union(*(entry["lost"] for entry in moves))
