"""Makes docs/alerts.md from catalogue and guide: ``python -m processors.notify.guide_page > docs/alerts.md``."""

import sys
from collections.abc import Iterator
from typing import Final

from processors.notify.guide import GUIDE
from schemas.alerts import ALERTS, SEVERITIES

_INTRODUCTION: Final = """\
# Alerts

Every deviation that Pitwatch names: how grave it is, the article or rule it breaks, how it reads in both languages,
what it means and what to do. `{expected}`, `{actual}`, `{bet}` and `{card}` are filled in for each alert. Articles are
those of Macau's baccarat regulation (Despacho SEF 55/2004); SJM, wiki and COMAR name house rules and practice.

An alert stays as long as the evidence does. When the table puts the error right itself it is *corrected*; when later
events explain it away it is *withdrawn*. Who is told of what, and in which language, is a matter of the
[routes](settings.md#notificationsroutes). Services that have signs or sounds for it show critical and serious alerts as
failures, warnings as warnings, and what was corrected or withdrawn as a success.

<!-- Made by `python -m processors.notify.guide_page > docs/alerts.md`; change the catalogue or the guide instead. -->
"""


def guide_page() -> str:
    """Return the page: an overview, the gravest alerts first, and a section for each."""
    codes = sorted(ALERTS, key=lambda code: -SEVERITIES.index(ALERTS[code].severity))
    return "\n".join([_INTRODUCTION, *_overview(codes), *(line for code in codes for line in _section(code))])


def _overview(codes: list[str]) -> Iterator[str]:
    yield "| code | severity | article |"
    yield "|---|---|---|"
    for code in codes:
        yield f"| [`{code}`](#{code}) | {ALERTS[code].severity} | {ALERTS[code].article} |"
    yield ""


def _section(code: str) -> Iterator[str]:
    kind, guidance = ALERTS[code], GUIDE[code]
    yield f"## {code}\n"
    yield f"{kind.severity}, {'art. ' if kind.article[0].isdigit() else ''}{kind.article}\n"
    yield f"> {kind.zh}\\\n> {kind.en}\n"
    yield f"{guidance.meaning}\n"
    yield f"**What to do:** {guidance.action}\n"


if __name__ == "__main__":
    sys.stdout.write(guide_page())
