"""`kafka.properties` in Faust's words: translated, left to librdkafka, or refused with the reason."""

import ssl
from pathlib import Path

import pytest
from faust.auth import SASLCredentials, SSLCredentials
from faust.transport.drivers.aiokafka import credentials_to_aiokafka_auth

from processors.streams.broker_access import MECHANISMS, NotForFaust, check, credentials, timings

LOGIN = {"sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "faust", "sasl.password": "secret"}


def test_nothing_said_is_a_plain_connection() -> None:
    check([])
    assert credentials({}) is None
    assert credentials({"security.protocol": "PLAINTEXT"}) is None


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("name", ["sasl.mechanism", "sasl.mechanisms"])
def test_password_is_passed_on(mechanism: str, name: str) -> None:
    found = credentials(
        {"security.protocol": "SASL_PLAINTEXT", name: mechanism, "sasl.username": "faust", "sasl.password": "secret"}
    )
    assert isinstance(found, SASLCredentials)
    passed = credentials_to_aiokafka_auth(found)
    assert passed["security_protocol"] == "SASL_PLAINTEXT"
    assert passed["sasl_mechanism"] == mechanism
    assert (passed["sasl_plain_username"], passed["sasl_plain_password"]) == ("faust", "secret")
    assert passed["ssl_context"] is None


def test_password_goes_through_tls_where_that_is_asked_for() -> None:
    found = credentials({"security.protocol": "sasl_ssl", **LOGIN})
    passed = credentials_to_aiokafka_auth(found)
    assert passed["security_protocol"] == "SASL_SSL"
    assert isinstance(passed["ssl_context"], ssl.SSLContext)


def test_tls_checks_the_brokers_name_and_certificate() -> None:
    found = credentials({"security.protocol": "SSL"})
    assert isinstance(found, SSLCredentials)
    assert found.context.check_hostname
    assert found.context.verify_mode == ssl.CERT_REQUIRED


@pytest.mark.parametrize(
    ("name", "value", "verify_mode"),
    [
        ("ssl.endpoint.identification.algorithm", "none", ssl.CERT_REQUIRED),
        ("enable.ssl.certificate.verification", "false", ssl.CERT_NONE),
    ],
)
def test_checks_may_be_turned_off_as_in_librdkafka(name: str, value: str, verify_mode: ssl.VerifyMode) -> None:
    found = credentials({"security.protocol": "SSL", name: value})
    assert isinstance(found, SSLCredentials)
    assert not found.context.check_hostname
    assert found.context.verify_mode == verify_mode


@pytest.fixture
def identity() -> Path:
    """A folder with a certificate of nobody's and its key, which takes the password `sesame`."""
    return Path(__file__).with_name("identity")


def certificates(identity: Path, **changes: str) -> dict[str, str]:
    return {
        "security.protocol": "SSL",
        "ssl.ca.location": str(identity / "cert.pem"),
        "ssl.certificate.location": str(identity / "cert.pem"),
        "ssl.key.location": str(identity / "key.pem"),
        "ssl.key.password": "sesame",
    } | changes


def test_certificates_are_read(identity: Path) -> None:
    found = credentials(certificates(identity))
    assert isinstance(found, SSLCredentials)
    (trusted,) = found.context.get_ca_certs()
    assert trusted["subject"] == ((("commonName", "pitwatch"),),)


def test_folder_and_text_of_authorities_are_read_too(identity: Path) -> None:
    assert isinstance(credentials({"security.protocol": "SSL", "ssl.ca.location": str(identity)}), SSLCredentials)
    found = credentials({"security.protocol": "SSL", "ssl.ca.pem": (identity / "cert.pem").read_text()})
    assert isinstance(found, SSLCredentials)
    assert len(found.context.get_ca_certs()) == 1


@pytest.mark.parametrize(
    "changes",
    [{"ssl.ca.location": "/nowhere.pem"}, {"ssl.key.location": "/nowhere.pem"}, {"ssl.key.password": "wrong"}],
)
def test_certificates_that_cant_be_used_are_told(identity: Path, changes: dict[str, str]) -> None:
    with pytest.raises(NotForFaust, match="the certificates under ssl"):
        credentials(certificates(identity) | changes)


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"security.protocol": "ssl3"}, "security.protocol is 'ssl3'"),
        (
            {"security.protocol": "SASL_SSL", **LOGIN, "sasl.mechanism": "OAUTHBEARER"},
            "sasl.mechanism is 'OAUTHBEARER'",
        ),
        ({"security.protocol": "SASL_SSL"}, "sasl.mechanism is 'GSSAPI'"),
        (
            {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"},
            "takes a sasl.username and a sasl.password",
        ),
    ],
)
def test_login_that_faust_cant_do_is_refused(properties: dict[str, str], message: str) -> None:
    with pytest.raises(NotForFaust, match=message):
        credentials(properties)


@pytest.mark.parametrize(
    "name",
    ["ssl.keystore.location", "ssl.cipher.suites", "sasl.kerberos.keytab", "sasl.oauthbearer.config", "unheard.of"],
)
def test_what_has_no_counterpart_is_refused_by_name(name: str) -> None:
    with pytest.raises(NotForFaust, match=f"'{name}' has no counterpart"):
        check(["ssl.ca.location", name])


def test_what_only_tunes_librdkafkas_clients_is_left_to_them() -> None:
    check(["linger.ms", "fetch.wait.max.ms", "queued.min.messages", "socket.keepalive.enable", "debug"])


def test_timings_are_those_of_every_other_worker_unless_set() -> None:
    assert timings({}) == {
        "broker_session_timeout": 10,
        "broker_heartbeat_interval": 1,
        "broker_max_poll_interval": 300,
    }
    assert timings({"session.timeout.ms": "30000"})["broker_session_timeout"] == 30
    with pytest.raises(NotForFaust, match=r"session\.timeout\.ms is '30 s'; write whole milliseconds"):
        timings({"session.timeout.ms": "30 s"})


def test_no_error_shows_a_password() -> None:
    with pytest.raises(NotForFaust) as refused:
        credentials({"security.protocol": "SASL_SSL", **LOGIN, "sasl.mechanism": "GSSAPI"})
    assert "secret" not in str(refused.value)
