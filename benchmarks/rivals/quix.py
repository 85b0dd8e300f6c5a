"""The job on Quix Streams: a data frame over the topic, its facts expanded into another."""

import tempfile

from quixstreams import Application

from benchmarks.rivals.job import OUTPUT, Job, arguments


def main() -> None:
    """Run the data frame until the wanted events are through."""
    wanted = arguments()
    job = Job(wanted.topic)

    def look_for_the_end(*_place: object) -> None:
        if job.events >= wanted.events:
            app.stop()

    app = Application(
        broker_address=wanted.bootstrap,
        consumer_group="rival-quix",
        auto_offset_reset="earliest",
        auto_create_topics=False,
        loglevel="WARNING",
        state_dir=tempfile.mkdtemp(prefix="pitwatch-bench-"),
        on_message_processed=look_for_the_end,
    )
    source = app.topic(wanted.topic, value_deserializer="bytes", key_deserializer="str")
    output = app.topic(OUTPUT, value_serializer="bytes", key_serializer="str")
    offsets = iter(range(wanted.events))

    def fold(value: bytes, key: str, timestamp: int, _headers: object) -> list[bytes]:
        return job.facts_of(key, value, next(offsets), timestamp)

    frame = app.dataframe(source).apply(fold, expand=True, metadata=True).to_topic(output)
    app.run(frame)
    job.report()


if __name__ == "__main__":
    main()
