"""Alerts in English hold no identifiers: every one that a rule may say has a name."""

import re
from typing import get_args

import pytest

from schemas.alerts import ALERTS
from schemas.cards import CARDS
from schemas.catalogue import CATALOGUE, Outcome
from schemas.configuration import Option
from schemas.english import WORDS, in_english


@pytest.mark.parametrize("word", sorted({*CATALOGUE, *get_args(Outcome), *get_args(Option)}))
def test_identifiers_have_names(word: str) -> None:
    assert word in WORDS
    assert re.fullmatch(r"[A-Za-z][A-Za-z,\- ]*", in_english(word))


def test_bets_have_the_catalogues_names() -> None:
    assert (in_english("banker_commission_free"), in_english("tie")) == ("Banker, commission-free", "Tie")


@pytest.mark.parametrize("card", CARDS)
def test_cards_have_their_names(card: str) -> None:
    assert re.fullmatch(r"(ace|king|queen|jack|[2-9]|10) of (spades|hearts|diamonds|clubs)", in_english(card))


@pytest.mark.parametrize("text", ["", "9(3)(2)", "1,250.50", "3, 4", "1:5–7", "macau", "?", "raise", "6 to 12"])
def test_all_else_stays(text: str) -> None:
    assert in_english(text) == text


@pytest.mark.parametrize("code", ALERTS)
def test_no_text_of_an_alert_holds_an_identifier(code: str) -> None:
    assert "_" not in ALERTS[code].en.format(expected="1", actual="2", bet="3", card="4")
