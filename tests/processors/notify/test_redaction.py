"""No part of a URL that opens anything gets into an error or a log."""

import logging

import pytest

from processors.notify.redaction import Redaction

URLS = {
    "tgram://123456789:abcdefg_hijklmnop/12315544": ["123456789", "abcdefg_hijklmnop", "12315544"],
    "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#channel": ["T1JJ3T3L2", "TIiajkdnlazkcOXrIdevi7FQ"],
    "jsons://user:p%40ssword@hooks.example.com:8443/secret-path?+X-Token=abcdefgh": [
        "user",
        "p%40ssword",
        "p@ssword",
        "secret-path",
        "abcdefgh",
    ],
    "mailtos://boss:hunter2@example.com": ["boss", "hunter2"],
}


@pytest.mark.parametrize("url", URLS)
def test_every_secret_part_is_blotted_out(url: str) -> None:
    redaction = Redaction()
    redaction.learn(url)
    for secret in (url, *URLS[url]):
        assert secret not in redaction.redact(f"failed: {secret}, {url} and http://x/{secret}/y")


def test_what_is_no_secret_stays_readable() -> None:
    redaction = Redaction()
    assert redaction.redact("nothing learnt") == "nothing learnt"
    redaction.learn("jsons://user:password@hooks.example.com:443/token")
    redaction.learn("json://localhost")
    redaction.learn("json://a/b")
    text = "hooks.example.com answered 503 on port 443, and localhost was away"
    assert redaction.redact(text) == text


@pytest.fixture
def guarded() -> logging.Logger:
    redaction = Redaction()
    redaction.learn("json://user:password@localhost/token")
    logger = logging.getLogger("tests.guarded")
    logger.setLevel(logging.DEBUG)
    logger.filters = [redaction]
    return logger


def test_warnings_are_cleaned_and_the_rest_is_dropped(
    guarded: logging.Logger, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    guarded.debug("POST http://localhost/token")
    guarded.info("sent to %s", "password")
    guarded.warning("refused by %s for %s", "localhost", "user")
    assert [record.getMessage() for record in caplog.records] == ["refused by localhost for ***"]


def test_a_traceback_is_reduced_to_its_cleaned_error(guarded: logging.Logger, caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise ValueError("no route to http://localhost/token")
    except ValueError:
        guarded.exception("crashed")
    assert caplog.records[0].exc_info is None
    assert "token" not in caplog.text
    assert "crashed: no route to http://localhost/***" in caplog.text
