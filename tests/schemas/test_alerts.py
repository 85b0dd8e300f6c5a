"""The alert catalogue: severities, articles, and texts that a fact's own fields can fill, in both languages."""

import re
from string import Formatter
from typing import get_args

import pytest

from schemas.alerts import ALERTS, SEVERITIES, AlertKind, Severity
from schemas.facts import Evidence

PLACEHOLDERS = {"expected", "actual", "card", "bet"}

# Simplified characters that traditional writing spells otherwise, of words that alerts use or may use.
SIMPLIFIED = set("庄闲补应为张数输赢额时间钟结错误单费实际点开关闭门无号断发现资讯员与过两边视频监龙对赌处证据销称减")


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


@pytest.mark.parametrize(("code", "kind"), ALERTS.items())
def test_alert_is_complete(code: str, kind: AlertKind) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", code)
    assert kind.severity in SEVERITIES
    assert kind.article
    assert kind.zh
    assert kind.en


def test_severities_are_those_of_the_type() -> None:
    assert get_args(Severity) == SEVERITIES


@pytest.mark.parametrize("kind", ALERTS.values(), ids=ALERTS.keys())
def test_both_texts_are_filled_from_the_same_fields_of_the_evidence(kind: AlertKind) -> None:
    assert placeholders(kind.zh) == placeholders(kind.en) <= PLACEHOLDERS
    assert Evidence.model_fields.keys() >= PLACEHOLDERS
    words = dict.fromkeys(PLACEHOLDERS, "@")
    for text in (kind.zh.format(**words), kind.en.format(**words)):
        assert "{" not in text
        assert "}" not in text


@pytest.mark.parametrize("kind", ALERTS.values(), ids=ALERTS.keys())
def test_chinese_is_traditional_and_english_is_not_chinese(kind: AlertKind) -> None:
    chinese = re.sub(r"{\w+}", "", kind.zh)
    assert re.search(r"[\u4e00-\u9fff]", chinese)
    assert not set(chinese) & SIMPLIFIED
    assert not re.search(r"[a-z]", chinese)
    assert not re.search(r"[\u3000-\u9fff\uff00-\uffef]", kind.en)


@pytest.mark.parametrize("kind", ALERTS.values(), ids=ALERTS.keys())
def test_english_is_a_line_that_begins_with_a_capital_or_a_field(kind: AlertKind) -> None:
    assert re.match(r"[A-Z{]", kind.en)
    assert not kind.en.endswith(".")
    assert "\n" not in kind.en + kind.zh


def test_articles_are_of_the_regulation_or_named_otherwise() -> None:
    others = {"SJM", "wiki", "telemetry", "COMAR 36.05.03.02"}
    for kind in ALERTS.values():
        article = re.fullmatch(r"(\d+)((\(\d+\))*)", kind.article)
        assert kind.article in others or (article and 1 <= int(article[1]) <= 19), kind.article
