"""From alerts in the log to messages in the queue: each record is decided once, in one transaction with its batch."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import cast

import msgspec

from processors.notify.database import Database
from processors.notify.message import Standing, render, render_summary
from processors.notify.notices import Held, Notices, Waiting, is_news
from processors.notify.outbox import Outbox, Target
from processors.notify.port import Message
from processors.notify.routing import NotificationSettings, Route, concerns
from schemas.facts import AlertFact
from schemas.log import Record
from schemas.revisions import replay_begun
from schemas.wire import decode_fact


class Intake:
    """Decides which route hears of an alert, and how. Methods raise `OutboxUnavailable`; nothing is half done then."""

    def __init__(self, database: Database, settings: NotificationSettings) -> None:
        self._database = database
        self._notices = Notices(database)
        self._outbox = Outbox(database)
        self._settings = settings
        self._routes = {route.name: route for route in settings.routes}
        self._replayed_at: datetime | None = None

    def accept(self, records: Sequence[Record], now: datetime) -> None:
        """Queue what the records of the alerts topic call for. Idempotent: a record read again changes nothing."""
        with self._database.transaction():
            for record in records:
                alert = self._decode(record)
                if alert is not None:
                    self._decide(alert, record.appended_at, now)
            self._note_taken(records)

    def recall(self, records: Sequence[Record]) -> None:
        """Remember what another worker decided about the records of the alerts topic: nobody is told again.

        It told whom this one would have told. Idempotent.
        """
        with self._database.transaction():
            for record in records:
                alert = _read(record)
                if not isinstance(alert, str):
                    self._remember(alert, record.appended_at)
            self._note_taken(records)

    def taken_to(self, partition: int) -> int | None:
        """Return up to which offset of the alerts topic everything was decided or recalled; None where nothing was."""
        return self._notices.taken_to(partition)

    def _note_taken(self, records: Sequence[Record]) -> None:
        for partition, next_offset in {record.partition: record.offset + 1 for record in records}.items():
            self._notices.note_taken(partition, next_offset)

    def _remember(self, alert: AlertFact, told_at: datetime) -> None:
        taken = self._notices.take(alert, told_at)
        if taken is None:
            return
        before, standing = taken
        for route in self._settings.routes:
            # Another knows by now what has become of it.
            self._notices.let_go(route, alert)
        if not is_news(before, standing):
            return
        for route in self._settings.routes:
            if concerns(route, alert) and self._wants(route, alert, before, standing):
                self._notices.add_told_elsewhere(route, alert, standing, told_at)

    def summarise(self, now: datetime) -> int:
        """Queue the summaries that are due; return how many those are.

        Those of a flood, so long after its first alert; those of a replay, so long after the last one that it told.
        """
        summarised = 0
        # A replay may have gone on while this was not running; nobody has read yet.
        if self._replayed_at is None:
            self._replayed_at = now
        with self._database.transaction():
            for waiting in self._notices.waiting():
                route = self._routes.get(waiting.route)
                since = max(waiting.last, self._replayed_at) if waiting.replayed else waiting.first
                if route is None or now - since >= timedelta(seconds=route.summary_seconds):
                    self._queue_summary(waiting, route, now)
                    summarised += 1
        return summarised

    def forget(self, before: datetime) -> None:
        """Delete what was decided, sent or given up before then."""
        with self._database.transaction():
            self._notices.forget(before)
            self._outbox.forget(before)

    def _decode(self, record: Record) -> AlertFact | None:
        """Return the record's alert; one that holds none is noted for the status and passed over."""
        alert = _read(record)
        if not isinstance(alert, str):
            return alert
        self._database.change(
            "INSERT OR IGNORE INTO unreadable VALUES (?, ?, ?, ?)",
            *(record.topic, record.partition, record.offset, alert[:300]),
        )
        return None

    def _decide(self, alert: AlertFact, appended_at: datetime, now: datetime) -> None:
        taken = self._notices.take(alert, now)
        if taken is None:
            return
        if _is_told_again(alert) or self._notices.is_held_back(alert):
            self._decide_again(alert, *taken, now)
            return
        if not is_news(*taken):
            return
        before, standing = taken
        stale = now - appended_at > timedelta(seconds=self._settings.stale_after_seconds)
        for route in self._settings.routes:
            if concerns(route, alert) and self._wants(route, alert, before, standing):
                collapsed = stale or self._notices.flooded(route, now)
                self._notices.add(route, alert, standing, now, collapsed=collapsed)
                if not collapsed:
                    message = render(alert, standing, route.languages, self._settings.local_offset)
                    self._queue(route.name, len(route.urls), (alert.alert_id, alert.revision), message, now)

    def _decide_again(self, alert: AlertFact, before: Standing | None, standing: Standing, now: datetime) -> None:
        """Decide what people hear of an alert that a replay tells: what has become of it once all is told.

        What ended long ago is raised again on the way there, and that is no news.
        """
        self._replayed_at = now
        is_old = now - alert.occurred_at > timedelta(days=self._settings.keep_days)
        for route in self._settings.routes:
            held = self._notices.let_go(route, alert) or Held(before)
            heard = self._notices.heard(route, alert)
            # Of what is too old nobody remembers any more whether people were told.
            if not concerns(route, alert) or (is_old and heard is None):
                continue
            # What was withdrawn before anybody heard of it is as new as what never was.
            known = heard or (None if held.stood == "withdrawn" else held.stood)
            if is_news(known, standing) and self._wants(route, alert, known, standing):
                self._notices.hold_back(route, alert, standing, now, held)

    def _wants(self, route: Route, alert: AlertFact, before: Standing | None, standing: Standing) -> bool:
        """Tell whether the route wants this: what stands, always; what became of it, where it has heard of it."""
        follow_up = before is not None and standing != "raised"
        return not follow_up or (route.follow_ups and self._notices.told(route, alert))

    def _queue_summary(self, waiting: Waiting, route: Route | None, now: datetime) -> None:
        """Queue a route's summary; one for a route no longer configured is queued too, so that it is seen to fail."""
        summary_id, mentions = self._notices.collapse(waiting)
        languages, offset = route.languages if route else "both", self._settings.local_offset
        message = render_summary(mentions, languages, offset, replayed=waiting.replayed)
        self._queue(waiting.route, len(route.urls) if route else 1, (summary_id, 0), message, now)
        if route is None:
            self._outbox.retire(set(targets(self._settings.routes)), now)

    def _queue(self, route: str, urls: int, key: tuple[str, int], message: Message, now: datetime) -> None:
        for url_index in range(urls):
            self._outbox.enqueue(Target(route, url_index), *key, message, now)


def _read(record: Record) -> AlertFact | str:
    """Return the record's alert, or why it holds none."""
    try:
        fact = decode_fact(record.value)
    except msgspec.MsgspecError as error:
        return str(error)
    return cast(AlertFact, fact) if fact.fact == "alert" else f"a fact of kind {fact.fact}"


def _is_told_again(alert: AlertFact) -> bool:
    """Tell whether an alert comes of a replay: it is about what happened before that was begun."""
    begun = replay_begun(alert.revision)
    return begun is not None and alert.occurred_at < begun


def targets(routes: Sequence[Route]) -> Iterator[Target]:
    """Yield every URL of every route, by its place."""
    for route in routes:
        for url_index in range(len(route.urls)):
            yield Target(route.name, url_index)
