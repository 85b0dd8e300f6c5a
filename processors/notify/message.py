"""What a phone shows: a title that says enough on a locked screen, and a few short lines of evidence.

Patrons are left out: a messenger is no place for who they are.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final, Literal, NamedTuple

from processors.notify.port import Message, Tone
from processors.notify.routing import Languages
from schemas.alerts import SEVERITIES, Severity
from schemas.facts import AlertFact
from schemas.money import format_money

Standing = Literal["raised", "corrected", "withdrawn"]
"""Whether a deviation stands, was put right by the table itself, or was explained away by later evidence."""

MAX_CODES: Final = 8
MAX_PLACES: Final = 3
"""A summary's lines, and the rounds named in each: what a phone shows without scrolling."""

_WORDS: Final[dict[str, tuple[str, str]]] = {
    "critical": ("危急", "CRITICAL"),
    "serious": ("嚴重", "SERIOUS"),
    "warning": ("警告", "WARNING"),
    "info": ("提示", "INFO"),
    "corrected": ("已更正", "Corrected"),
    "withdrawn": ("已撤回", "Withdrawn"),
    "shoe": ("靴", "shoe"),
    "round": ("局", "round"),
    "payout due": ("應派", "due"),
    "paid": ("實派", "paid"),
    "collection due": ("應收", "due"),
    "collected": ("實收", "collected"),
    "commission due": ("應收佣金", "due"),
    "charged": ("實收佣金", "charged"),
    "expected": ("應有", "expected"),
    "counted": ("實點", "counted"),
    "payout or collection": ("派彩或收注", "paid or collected"),
    "player": ("閒", "player"),
    "banker": ("莊", "banker"),
    "dealer": ("荷官", "dealer"),
    "seat": ("座位", "seat"),
    "summary": ("警報匯總", "Alert summary"),
    "replay": ("舊局重算", "Past rounds judged anew"),
    "alert": ("宗警報", "alert"),
    "alerts": ("宗警報", "alerts"),
}

_PAYOUT: Final = ("payout due", "paid")
_COLLECTION: Final = ("collection due", "collected")
_COMMISSION: Final = ("commission due", "charged")

_AMOUNTS: Final[dict[str, tuple[str, str]]] = {
    "losing_stake_not_collected": _COLLECTION,
    "stake_wrongly_collected": _COLLECTION,
    "commission_missing": _COMMISSION,
    "commission_wrong": _COMMISSION,
    "commission_unsettled": _COMMISSION,
    "void_round_paid": ("payout due", "payout or collection"),
    "float_unexplained": ("expected", "counted"),
}
"""Alert code → what its evidence's `due` and `paid` are; for the others, a payout."""

_TONES: Final[dict[Severity, Tone]] = {"critical": "alarm", "serious": "alarm", "warning": "warning", "info": "info"}

_SUITS: Final = str.maketrans({"S": "♠", "H": "♥", "D": "♦", "C": "♣"})


class Mention(NamedTuple):
    """What a summary says of one alert."""

    standing: Standing
    severity: Severity
    code: str
    table_id: str
    shoe: int
    round: int
    occurred_at: datetime


def render(alert: AlertFact, standing: Standing, languages: Languages, local_offset: timedelta) -> Message:
    """Return the message about one alert."""
    head = [_word(alert.severity, languages), alert.table_id]
    if standing != "raised":
        head.insert(0, _word(standing, languages))
    if alert.round:
        head.append(f"{_word('shoe', languages)} {alert.shoe} {_word('round', languages)} {alert.round}")
    lines = [*_texts(alert, languages), *_evidence(alert, languages)]
    article = f"art. {alert.article}" if alert.article[:1].isdigit() else alert.article
    lines.append(_joined([alert.pit, article, f"{alert.occurred_at + local_offset:%H:%M:%S}"]))
    tone = _TONES[alert.severity] if standing == "raised" else "relief"
    return Message(_joined(head), "\n".join(lines), tone)


def render_summary(
    mentions: Sequence[Mention], languages: Languages, local_offset: timedelta, *, replayed: bool = False
) -> Message:
    """Return one message about all of `mentions` (at least one): how many, how grave, what, and where.

    `replayed`: they are about what a replay made of the past.
    """
    counts = [(severity, sum(m.severity == severity for m in mentions)) for severity in reversed(SEVERITIES)]
    title = _joined(
        [
            _word("replay" if replayed else "summary", languages),
            f"{len(mentions)} {_word('alerts' if len(mentions) > 1 else 'alert', languages)}",
        ]
    )
    graveness = _joined([f"{_word(severity, languages)} {count}" for severity, count in counts if count])
    lines = list(_lines_by_code(mentions, languages))
    if len(lines) > MAX_CODES:
        lines[MAX_CODES:] = [f"+{len(lines) - MAX_CODES}"]
    gravest = max((m.severity for m in mentions if m.standing == "raised"), key=SEVERITIES.index, default=None)
    first, last = (pick(m.occurred_at for m in mentions) + local_offset for pick in (min, max))
    body = "\n".join([graveness, *lines, f"{first:%m-%d %H:%M:%S} – {last:%m-%d %H:%M:%S}"])
    return Message(title, body, _TONES[gravest] if gravest else "relief")


def _lines_by_code(mentions: Sequence[Mention], languages: Languages) -> Iterator[str]:
    """Yield a line for each code and standing, the gravest first and then the most frequent."""

    def kind(mention: Mention) -> tuple[str, Standing]:
        return mention.code, mention.standing

    groups = [list(group) for _, group in groupby(sorted(mentions, key=kind), kind)]
    groups.sort(key=lambda group: (-SEVERITIES.index(group[0].severity), -len(group)))
    for group in groups:
        places = list(dict.fromkeys(_place(mention) for mention in group))
        more = [f"+{len(places) - MAX_PLACES}"] if len(places) > MAX_PLACES else []
        standing = "" if group[0].standing == "raised" else f" ({_word(group[0].standing, languages)})"
        yield f"{len(group)}× {group[0].code}{standing}: {', '.join(places[:MAX_PLACES] + more)}"


def _place(mention: Mention) -> str:
    return f"{mention.table_id} {mention.shoe}/{mention.round}" if mention.round else mention.table_id


def _texts(alert: AlertFact, languages: Languages) -> list[str]:
    return [alert.text_zh] * (languages != "en") + [alert.text_en] * (languages != "zh")


def _evidence(alert: AlertFact, languages: Languages) -> Iterator[str]:
    """Yield a line each for the money, the cards and the people, as far as the alert names them."""
    evidence = alert.evidence
    amounts = zip(_AMOUNTS.get(alert.code, _PAYOUT), (evidence.due, evidence.paid), strict=True)
    hands = [("player", evidence.player_cards), ("banker", evidence.banker_cards)]
    lines = (
        [(name, format_money(minor, alert.currency)) for name, minor in amounts if minor is not None],
        [(name, " ".join(cards).translate(_SUITS)) for name, cards in hands if cards],
        [("dealer", alert.dealer_id)] * bool(alert.dealer_id) + [("seat", str(alert.seat))] * (alert.seat is not None),
    )
    for line in filter(None, lines):
        yield _joined([f"{_word(name, languages)} {value}" for name, value in line])


def _word(name: str, languages: Languages) -> str:
    zh, en = _WORDS[name]
    return {"zh": zh, "en": en, "both": f"{zh} {en}"}[languages]


def _joined(parts: Sequence[str]) -> str:
    return " · ".join(filter(None, parts))
