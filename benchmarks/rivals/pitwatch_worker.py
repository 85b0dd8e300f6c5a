"""Pitwatch's own worker: batches, snapshots, and transactions over facts, snapshots and position."""

from contextlib import closing
from typing import Final

from benchmarks.rivals.job import Job, arguments
from processors.interpreter import tuned
from processors.logs.kafka import KafkaLog
from processors.reconstruct.fold import FoldSettings
from processors.reconstructor import Reconstructor
from processors.settings import PipelineSettings

WORKER: Final = "bench"


def main() -> None:
    """Fold what the topic holds."""
    wanted = arguments()
    job = Job(wanted.topic)
    with closing(KafkaLog(wanted.bootstrap, worker_id=WORKER)) as log, tuned():
        reconstructor = Reconstructor(log, FoldSettings(), batch_events=PipelineSettings().batch_events)
        # To take a group over is what others do as they join theirs.
        reconstructor.claim()
        job.start()
        while job.events < wanted.events:
            done = reconstructor.step()
            job.events += done.events
            job.facts += done.facts
        job.report()


if __name__ == "__main__":
    main()
