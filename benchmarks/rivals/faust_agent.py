"""The job as a Faust agent, event by event, as Faust's own guide writes them."""

import os
import sys
import tempfile
from typing import Final

import faust

from benchmarks.rivals.job import OUTPUT, Job, arguments

wanted: Final = arguments()
job: Final = Job(wanted.topic)
app: Final = faust.App(
    "rival-faust",
    broker=f"kafka://{wanted.bootstrap}",
    value_serializer="raw",
    topic_allow_declare=False,
    topic_disable_leader=True,
    consumer_auto_offset_reset="earliest",
    web_enabled=False,
    datadir=tempfile.mkdtemp(prefix="pitwatch-bench-"),
)
source = app.topic(wanted.topic, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")
output = app.topic(OUTPUT, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")


@app.agent(source, concurrency=1)
async def fold(stream: faust.StreamT[bytes]) -> None:
    """Fold each event and send its facts."""
    async for event in stream.events():
        message = event.message
        key = message.key
        for fact in job.facts_of(key.decode(), event.value, message.offset, int(message.timestamp * 1000)):
            _delivery = await output.send(key=key, value=fact)
        if job.events == wanted.events:
            await app.producer.flush()
            await app.commit({wanted.topic})
            job.report()
            # A Faust worker has no end of its own; what counts is done.
            os._exit(0)


if __name__ == "__main__":
    sys.argv = [sys.argv[0], "worker", "--loglevel", "warn", "--without-web"]
    app.main()
