"""Tokens: random, kept as hashes, and each one table's."""

import hashlib

import pytest
from pydantic import ValidationError

from producers.gateway.auth import TableToken, TokenRegister, mint_token


def test_minted_tokens_are_long_random_and_kept_as_a_hash() -> None:
    first, second = mint_token("T01"), mint_token("T01")
    assert first.secret != second.secret
    assert len(first.secret) >= 43
    assert first.entry == TableToken(table_id="T01", sha256=hashlib.sha256(first.secret.encode()).hexdigest())
    assert first.secret not in first.entry.model_dump_json()


def test_a_table_may_have_several_tokens() -> None:
    TokenRegister([mint_token("T01").entry, mint_token("T01").entry])


def test_two_tables_may_not_share_one() -> None:
    entry = mint_token("T01").entry
    with pytest.raises(ValueError, match="tables T01 and T02 share one token"):
        TokenRegister([entry, entry.model_copy(update={"table_id": "T02"})])


@pytest.mark.parametrize("wrong", [{"sha256": "ab"}, {"sha256": "AB" * 32}, {"table_id": "T 1"}, {"secret": "x"}])
def test_misspelt_entries_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        TableToken.model_validate({"table_id": "T01", "sha256": "ab" * 32} | wrong)


def test_impossible_table_gets_no_token() -> None:
    with pytest.raises(ValidationError):
        mint_token("T 1")
