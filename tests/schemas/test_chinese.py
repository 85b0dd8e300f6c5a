"""Alerts in Chinese hold no English: every word that a rule may say has one of the floor's."""

import re
from typing import get_args

import pytest

from processors.rules.limits import Change
from processors.rules.procedure import shoe_decks
from schemas.alerts import ALERTS
from schemas.cards import CARDS
from schemas.catalogue import CATALOGUE, Outcome
from schemas.chinese import WORDS, in_chinese
from schemas.configuration import Option

LETTERS = re.compile(r"[A-Za-z]")


@pytest.mark.parametrize("code", ALERTS)
def test_text_of_an_alert_has_no_letters_but_its_fields(code: str) -> None:
    bare = ALERTS[code].zh.format(expected="1", actual="2", bet="3", card="4")
    assert not LETTERS.search(bare)
    assert re.search(r"[\u4e00-\u9fff]", bare)


@pytest.mark.parametrize(
    "word", sorted({*CATALOGUE, *get_args(Outcome), *get_args(Option), *get_args(Change), "6 to 12", "120 s", "+3.5 s"})
)
def test_words_of_rules_are_said_in_chinese(word: str) -> None:
    said = in_chinese(word).replace("EZ", "")
    assert said
    assert not LETTERS.search(said)


def test_decks_are_said_as_the_rule_says_them() -> None:
    finding = shoe_decks(5)
    assert finding is not None
    assert in_chinese(str(finding.expected)) == "6 至 12"


def test_bets_have_the_catalogues_names() -> None:
    assert {WORDS[name] for name in CATALOGUE} == {bet.zh for bet in CATALOGUE.values()}
    assert (in_chinese("banker_pair"), in_chinese("player"), in_chinese("tie")) == ("莊對子", "閒", "和")


@pytest.mark.parametrize("card", CARDS)
def test_cards_have_their_suits_names(card: str) -> None:
    assert re.fullmatch(r"(黑桃|紅心|方塊|梅花)([2-9]|10|[AJQK])", in_chinese(card))


@pytest.mark.parametrize("text", ["", "9(3)(2)", "1,250.50", "3, 4", "1:5–7", "macau", "?"])
def test_numbers_and_names_stay(text: str) -> None:
    assert in_chinese(text) == text


def test_corrections_say_what_was_done_and_leave_what_was_written() -> None:
    assert in_chinese("retract T1:1:5: seen on the tape (PM-7)") == "撤回 T1:1:5: seen on the tape (PM-7)"
    assert in_chinese("Bet B9") == "注項 B9"
    assert in_chinese("Bet s") == "注項 s"
    assert in_chinese("replace T1:1:5: x (PM-7)") == "更改 T1:1:5: x (PM-7)"
