"""A bare consumer that validates each event with the contract's models: the floor under every honest worker."""

from benchmarks.rivals.consume import batches
from benchmarks.rivals.job import Job, arguments
from schemas.events import EVENT_ADAPTER


def main() -> None:
    """Validate messages."""
    wanted = arguments()
    job = Job(wanted.topic)
    for batch in batches(wanted):
        job.start()
        for message in batch:
            value = message.value()
            assert value is not None
            EVENT_ADAPTER.validate_json(value, strict=True)
        job.events += len(batch)
    job.report()


if __name__ == "__main__":
    main()
