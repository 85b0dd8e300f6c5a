"""The Faust app: round-level streams, their timers, and the rules by which Faust is used.

Measured on the pinned version, Faust commits what failed wherever it commits by itself: after `take`, and after an
exception in a plain loop. So nothing is acknowledged before it is done. Work is repeated in place while the log or the
send queue is away; any other exception ends the worker, and the message comes again. One agent reads each topic, alone
(more at once commit past one that is still at work); more workers share the partitions.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, TypeVar, cast

import faust
import structlog
from faust.types import EventT, StreamT, TransportT
from mode.supervisors import CrashingSupervisor
from yarl import URL

from processors.logs.kafka_clients import MESSAGE_BYTES
from processors.loops import FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS
from processors.metrics import STREAM_RETRIES
from processors.settings import Settings
from processors.streams import broker_access
from processors.streams.consuming import CommittedTransport
from processors.streams.fact_taking import OUTAGES, STREAMS
from processors.streams.hosted import GROUP, Hosted, now
from processors.streams.watchdog import Share
from schemas.log import EventLog, LogUnavailable, Record

SHOW_SECONDS: Final = 10.0
"""How often Prometheus' view of the windows is renewed."""

BEAT_SECONDS: Final = 0.5

COMMIT_SECONDS: Final = 1.0
"""How often Faust commits places; after a crash what came since is read again."""

Partitions = set[Any]
"""Faust's topic partitions: tuples of a topic and a number."""

T = TypeVar("T")

_logger: Final = structlog.get_logger(__name__)


class FloorApp(faust.App):
    """The app of one worker. What it works with is put in `hosted` before it starts."""

    def __init__(self, settings: Settings) -> None:
        self.floor_settings = settings
        self._hosted: Hosted | None = None
        super().__init__(GROUP, **_options(settings))

    @property
    def hosted(self) -> Hosted:
        """What the worker hosts beside the streams."""
        assert self._hosted is not None, "the app was started without what it works with"
        return self._hosted

    @hosted.setter
    def hosted(self, hosted: Hosted) -> None:
        self._hosted = hosted

    async def on_first_start(self) -> None:
        """Wait for Kafka and its topics, as every worker does; Faust itself would give up."""
        await until_done(self, "start", partial(need_topics, self.hosted.log))
        await super().on_first_start()

    def _new_transport(self) -> TransportT:
        return CommittedTransport(self.conf.broker_consumer, self)


def _options(settings: Settings) -> dict[str, Any]:
    properties = settings.kafka.plain_properties()
    broker_access.check(properties)
    return {
        "broker": [URL(f"kafka://{address}") for address in settings.kafka.bootstrap.split(",")],
        "broker_credentials": broker_access.credentials(properties),
        "broker_client_id": "pitwatch-worker",
        "broker_commit_interval": COMMIT_SECONDS,
        **broker_access.timings(properties),
        "consumer_auto_offset_reset": "earliest",
        "consumer_max_fetch_size": MESSAGE_BYTES,
        # Topics are made by `pitwatch topics create`, with our settings, and by nobody else.
        "topic_allow_declare": False,
        "topic_disable_leader": True,
        # `exactly_once` crashes and repeats on rebalances; our work is idempotent instead.
        "processing_guarantee": "at_least_once",
        # Else an agent goes on behind the message that it failed on.
        "agent_supervisor": CrashingSupervisor,
        "datadir": settings.data_directory / "faust",
        "web_enabled": False,
        "autodiscover": False,
        "worker_redirect_stdouts": False,
        "Worker": "processors.streams.floor_worker.FloorWorker",
    }


def need_topics(log: EventLog) -> None:
    """Raise `LogUnavailable` unless the topics of the streams are there."""
    for topic in STREAMS:
        if not log.partitions(topic):
            raise LogUnavailable(f"there is no topic {topic} yet: run pitwatch topics create")


def make_app(settings: Settings) -> FloorApp:
    """Return the app with its streams and timers. Raises `NotForFaust`; no broker is asked yet."""
    app = FloorApp(settings)
    for topic in STREAMS:
        _follow(app, topic)
    _share_partitions(app)
    app.timer(BEAT_SECONDS, name="beat")(partial(_beat, app))
    app.timer(SHOW_SECONDS, name="show")(partial(_show, app))
    app.timer(settings.timers.interval.total_seconds(), name="silences")(partial(_watch_tables, app))
    return app


# -- streams -----------------------------------------------------------------------------------------------------------


def _follow(app: FloorApp, name: str) -> None:
    """Make the agent that works a topic's messages off, one after the other."""
    # Bytes: what is no fact must not reach Faust's decoders, whose errors end an agent in silence.
    topic = app.topic(
        name, key_type=bytes, key_serializer="raw", value_type=bytes, value_serializer="raw", allow_empty=True
    )

    async def follow(stream: StreamT[bytes]) -> None:
        unacknowledged = cast(faust.Stream[bytes], stream).noack()
        async for event in unacknowledged.events():
            await until_done(app, name, partial(app.hosted.taking.take, record_of(event)))
            await unacknowledged.ack(event)

    app.agent(topic, concurrency=1, name=name)(follow)


def record_of(event: EventT[bytes]) -> Record:
    """Return a message as the log's port has it."""
    message = event.message
    appended_at = datetime.fromtimestamp(message.timestamp, UTC)
    key = (message.key or b"").decode(errors="replace")
    return Record(message.topic, message.partition, message.offset, key, message.value or b"", appended_at)


async def until_done(app: FloorApp, name: str, work: Callable[[], None]) -> None:
    """Do blocking work in a thread, again and again while what it needs is away."""
    standing = app.hosted.standing
    pause = FIRST_RETRY_SECONDS
    while True:
        try:
            await asyncio.to_thread(work)
        except OUTAGES as error:
            if standing.report(name, str(error)):
                _logger.error("stream_waits", stream=name, error=str(error))
            STREAM_RETRIES.labels(name).inc()
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_RETRY_SECONDS)
        else:
            standing.report(name, "")
            return


# -- sharing -----------------------------------------------------------------------------------------------------------


def _share_partitions(app: FloorApp) -> None:
    """Follow what becomes of the group: who has which partitions, and whose past is still to be read."""

    async def revoked(*_: object, **__: object) -> None:
        app.hosted.watchdog.sharing()
        app.hosted.taking.shared()

    async def assigned(_: object, /, *arguments: object, **__: object) -> None:
        (partitions,) = cast(tuple[Partitions], arguments)
        shares = {Share(one.topic, one.partition) for one in partitions}
        gained = app.hosted.floor.share(shares)
        app.hosted.taking.shared()
        app.hosted.watchdog.assigned(shares)
        _logger.info("following", shares=len(shares), to_be_read=len(gained))
        for share in sorted(gained):
            # Kept, and ended, by the app.
            _ = app.add_future(_read_past(app, share))

    app.on_partitions_revoked.connect(revoked)
    app.on_partitions_assigned.connect(assigned)


async def _read_past(app: FloorApp, share: Share) -> None:
    """Fill the windows with what a partition got before its place in the group; the stream may go on meanwhile."""
    hosted = app.hosted

    def read() -> None:
        for record in hosted.recent.records(*share, now() - hosted.floor.longest):
            hosted.taking.count(record)

    await until_done(app, f"past of {share.topic}/{share.partition}", read)
    hosted.floor.read(share)
    await _show(app)


# -- timers ------------------------------------------------------------------------------------------------------------


async def _beat(app: FloorApp) -> None:
    """Show that the event loop is alive; end the worker over what a thread of it died of."""
    app.hosted.watchdog.beat("event loop")
    app.hosted.standing.raise_failure()


async def _show(app: FloorApp) -> None:
    await _unless_away(app, "metrics", app.hosted.show)


async def _watch_tables(app: FloorApp) -> None:
    """Look for silent tables, at once again while there is more to read."""
    hosted = app.hosted
    behind = True
    while behind and not app.should_stop:
        hosted.watchdog.beat("silences", asks_log=True)
        behind = await _unless_away(app, "silences", lambda: hosted.silences.step(now())) or False


async def _unless_away(app: FloorApp, name: str, work: Callable[[], T]) -> T | None:
    """Do blocking work in a thread; None, and a trouble, where what it needs is away until the timer's next time."""
    standing = app.hosted.standing
    try:
        done = await asyncio.to_thread(work)
    except OUTAGES as error:
        if standing.report(name, str(error)):
            _logger.error("timer_waits", timer=name, error=str(error))
        return None
    standing.report(name, "")
    return done
