"""A bare consumer of confluent-kafka: what can't be undercut from Python."""

from collections.abc import Iterator

from confluent_kafka import Consumer, Message, TopicPartition

from benchmarks.rivals.job import Arguments, Job, arguments

BATCH = 10_000


def batches(wanted: Arguments) -> Iterator[list[Message]]:
    """Yield the topic's messages until there were as many as wanted."""
    consumer = Consumer({"bootstrap.servers": wanted.bootstrap, "group.id": "rival-consume"})
    consumer.assign([TopicPartition(wanted.topic, 0, 0)])
    seen = 0
    while seen < wanted.events:
        batch = consumer.consume(min(BATCH, wanted.events - seen), timeout=1.0)
        if batch:
            seen += len(batch)
            yield batch
    consumer.close()


def main() -> None:
    """Count messages."""
    wanted = arguments()
    job = Job(wanted.topic)
    for batch in batches(wanted):
        job.start()
        job.events += len(batch)
    job.report()


if __name__ == "__main__":
    main()
