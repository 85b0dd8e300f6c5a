"""docs/alerts.md says of every alert what it is, what it means and what to do, as the code has it now."""

from pathlib import Path

import pytest

from processors.notify.guide import GUIDE
from processors.notify.guide_page import guide_page
from schemas.alerts import ALERTS


def test_the_guide_covers_the_catalogue_and_nothing_else() -> None:
    assert GUIDE.keys() == ALERTS.keys()


def test_no_guidance_is_empty_or_twice_there() -> None:
    sentences = [sentence for guidance in GUIDE.values() for sentence in guidance]
    assert all(sentence.endswith(".") and len(sentence) > 15 for sentence in sentences)
    meanings = [guidance.meaning for guidance in GUIDE.values()]
    assert len(set(meanings)) == len(meanings)


@pytest.mark.parametrize("code", ALERTS)
def test_the_page_has_all_of_an_alert(code: str) -> None:
    page, kind, guidance = guide_page(), ALERTS[code], GUIDE[code]
    section = page.partition(f"\n## {code}\n")[2].partition("\n## ")[0]
    for part in (kind.severity, kind.article, kind.zh, kind.en, guidance.meaning, guidance.action):
        assert part in section
    assert f"](#{code})" in page


def test_the_page_is_current(repository: Path) -> None:
    written = (repository / "docs" / "alerts.md").read_text(encoding="utf-8")
    assert written == guide_page(), "run: python -m processors.notify.guide_page > docs/alerts.md"
