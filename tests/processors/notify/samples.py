"""Alerts, clocks and routes for the notifier's tests."""

from datetime import UTC, datetime, timedelta

from pydantic import SecretStr

from processors.notify.routing import NotificationSettings, Route
from schemas.alerts import ALERTS
from schemas.facts import AlertFact, Evidence

NOON = datetime(2026, 3, 1, 4, 0, tzinfo=UTC)
"""Noon in Macau."""


class ManualClock:
    """Stands still until it is moved."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **duration: float) -> None:
        """Move on by a `timedelta`'s arguments."""
        self.now += timedelta(**duration)


def alert(number: int = 1, code: str = "overpaid", /, **changes: object) -> AlertFact:
    """An alert about round `number` of shoe 3 at table B07."""
    fields: dict[str, object] = {
        "alert_id": f"B07:3:{number}:{code}",
        "table_id": "B07",
        "pit": "PIT-1",
        "occurred_at": NOON + timedelta(seconds=1),
        "code": code,
        "severity": ALERTS[code].severity,
        "article": ALERTS[code].article,
        "shoe": 3,
        "round": number,
        "seat": 5,
        "dealer_id": "D17",
        "patron_id": "VIP-4711",
        "text_zh": "莊 多派：應派 1,000，實派 2,000",
        "text_en": "Banker overpaid: due 1,000, paid 2,000",
        "currency": "HKD",
        "evidence": Evidence(
            due=100_000, paid=200_050, player_cards=("9H", "4D"), banker_cards=("KS", "7C", "10D"), bet="banker"
        ),
    }
    return AlertFact.model_validate(fields | changes)


def route(name: str = "bosses", /, *urls: str, **changes: object) -> Route:
    """A route that takes everything, to one URL called after it unless others are given."""
    addresses = tuple(SecretStr(url) for url in urls or (f"test://{name}",))
    return Route.model_validate(
        {"name": name, "urls": addresses, "minimum_severity": "info", "languages": "en"} | changes
    )


def settings(*routes: Route, **changes: object) -> NotificationSettings:
    """Notification settings with these routes."""
    return NotificationSettings.model_validate({"routes": routes or (route(),)} | changes)
