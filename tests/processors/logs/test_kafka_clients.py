"""What Kafka's clients complain of, as the log's errors tell it."""

from confluent_kafka import KafkaError

from processors.logs.kafka_clients import Clients

REFUSED = "SASL authentication error: Authentication failed"


def complaining(*errors: KafkaError) -> Clients:
    clients = Clients("127.0.0.1:1", {}, "worker", 1)
    for error in errors:
        clients._complain(error)
    return clients


def test_newest_complaint_is_told() -> None:
    clients = complaining(KafkaError(KafkaError._TRANSPORT, "reset"), KafkaError(KafkaError._AUTHENTICATION, REFUSED))
    assert clients.trouble() == REFUSED


def test_brokers_that_are_down_hide_no_reason() -> None:
    down = KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down")
    assert complaining(KafkaError(KafkaError._AUTHENTICATION, REFUSED), down, down).trouble() == REFUSED
    assert complaining(down).trouble() == "1/1 brokers are down"
