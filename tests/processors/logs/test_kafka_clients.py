"""What Kafka's clients complain of, as the log's errors tell it."""

import pytest
from confluent_kafka import KafkaError

from processors.logs.kafka_clients import Clients
from processors.logs.kafka_errors import explained

REFUSED = "SASL authentication error: Authentication failed"


def complaining(*errors: KafkaError) -> Clients:
    clients = Clients("127.0.0.1:1", {}, "worker", 1)
    for error in errors:
        clients._complain(error)
    return clients


def said(clients: Clients) -> str:
    trouble = clients.trouble()
    assert trouble is not None
    return trouble.str()


def test_newest_complaint_is_told() -> None:
    clients = complaining(KafkaError(KafkaError._TRANSPORT, "reset"), KafkaError(KafkaError._AUTHENTICATION, REFUSED))
    assert said(clients) == REFUSED


def test_brokers_that_are_down_hide_no_reason() -> None:
    down = KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down")
    assert said(complaining(KafkaError(KafkaError._AUTHENTICATION, REFUSED), down, down)) == REFUSED
    assert said(complaining(down)) == "1/1 brokers are down"


@pytest.mark.parametrize(
    ("trouble", "meaning"),
    [
        (KafkaError(KafkaError._AUTHENTICATION, REFUSED), "the login failed"),
        (KafkaError(KafkaError._SSL, "certificate verify failed"), "the login failed"),
        (KafkaError(KafkaError._TRANSPORT, "Receive failed: SSL alert number 42"), "the login failed"),
        (KafkaError(KafkaError._TRANSPORT, "Connection refused"), "no broker answers"),
        (KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down"), "no broker answers"),
    ],
)
def test_login_that_failed_is_not_told_as_silence(trouble: KafkaError, meaning: str) -> None:
    error = explained("append 1 to table-events", KafkaError(KafkaError._MSG_TIMED_OUT), trouble)
    assert str(error).startswith(f"could not append 1 to table-events: {meaning} (_MSG_TIMED_OUT: ")
    assert trouble.str() in str(error)


def test_refusal_is_told_as_such_whatever_went_before() -> None:
    refused = KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)
    assert "this user may not do that" in str(explained("read", refused, KafkaError(KafkaError._SSL, "once")))
