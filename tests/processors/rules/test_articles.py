"""The index of the regulation: no article is missing, and what it says holds play to it is there."""

import importlib
import re

import pytest

from processors.rules.articles import ARTICLES
from processors.rules.tableau import banker_draws, player_draws
from schemas.alerts import ALERTS


def test_all_nineteen_articles_are_there_and_what_the_house_and_the_wiki_add() -> None:
    numbers = [re.match(r"\d+", number) for number in ARTICLES]
    assert {int(number.group()) for number in numbers if number} == set(range(1, 20))
    assert [number for number in ARTICLES if not number[0].isdigit()] == [
        "SJM(1)", "SJM(2)", "wiki(1)", "wiki(2)", "wiki(3)", "wiki(4)",
    ]  # fmt: skip


@pytest.mark.parametrize("number", ARTICLES)
def test_each_article_is_held_to_by_something_there_is(number: str) -> None:
    article = ARTICLES[number]
    assert article.number == number
    assert article.en.endswith(".")
    assert re.search(r"[一-鿿]", article.zh)
    assert article.enforced_by
    for name in article.enforced_by:
        module, _, function = name.partition(":")
        assert callable(getattr(importlib.import_module(module), function, None)), name


def test_each_sub_item_of_the_tableau_belongs_to_an_article() -> None:
    items = {player_draws(player, banker).item for player in range(10) for banker in range(10)}
    items |= {
        banker_draws(player, banker, third).item
        for player in range(10)
        for banker in range(10)
        for third in (None, *range(10))
    }
    assert len(items) == 14
    assert {re.sub(r"^(9\(\d\)).*", r"\1", item) for item in items} <= set(ARTICLES)


def test_each_article_that_an_alert_names_is_there() -> None:
    articles = {number.partition("(")[0] for number in ARTICLES}
    named = {kind.article.partition("(")[0] for kind in ALERTS.values()}
    assert {name for name in named if name.isdigit() or name in ("SJM", "wiki")} <= articles
