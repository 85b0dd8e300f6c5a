"""A broker that is reached through TLS, with passwords or with certificates, and what its users say to it."""

import os
import subprocess
import sys
from pathlib import Path

import trustme
from cryptography.hazmat.primitives import serialization
from pydantic import SecretStr

from processors.settings import KafkaSettings
from tests.kafka.broker import USERS, Broker, Cluster, Listener
from tests.kafka.serve import REPOSITORY

KEY_PASSWORD = "sesame"
"""Opens the key of every client."""

PARTITIONS = 2
"""Of each topic, as the administrator's command makes it."""

HOST = "127.0.0.1"
"""The one name that the broker's certificate is for."""

SASL_TLS = Listener("SASL_TLS", "SASL_SSL")
TLS = Listener("TLS", "SSL")


class Certificates:
    """An authority of one test's own, and the certificates that it gave out, as files in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._authority = trustme.CA()
        folder.mkdir(parents=True)
        self.authority = folder / "ca.pem"
        self._authority.cert_pem.write_to_path(self.authority)

    def broker(self) -> Path:
        """Return a file with the brokers' key and certificate."""
        leaf = self._authority.issue_cert(HOST)
        file = self._folder / "broker.pem"
        chain = b"".join(one.bytes() for one in leaf.cert_chain_pems)
        file.write_bytes(_key(leaf, serialization.NoEncryption()) + chain)
        return file

    def client(self, name: str) -> dict[str, str]:
        """Return the properties of a client whose certificate says ``CN=name,OU=floor,O=casino``."""
        leaf = self._authority.issue_cert(
            f"{name}.casino", common_name=name, organization_name="casino", organization_unit_name="floor"
        )
        certificate, key = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        certificate.write_bytes(b"".join(one.bytes() for one in leaf.cert_chain_pems))
        key.write_bytes(_key(leaf, serialization.BestAvailableEncryption(KEY_PASSWORD.encode())))
        return {
            "ssl.certificate.location": str(certificate),
            "ssl.key.location": str(key),
            "ssl.key.password": KEY_PASSWORD,
        }


def _key(leaf: trustme.LeafCert, encryption: serialization.KeySerializationEncryption) -> bytes:
    # Kafka reads keys in PKCS 8 alone.
    key = serialization.load_pem_private_key(leaf.private_key_pem.bytes(), None)
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)


class SecuredCluster(Cluster):
    """A cluster with two more listeners: TLS with SCRAM passwords, and TLS with certificates on both sides."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.certificates = Certificates(folder / "certificates")
        super().__init__(folder, further=(SASL_TLS, TLS), settings=_settings(self.certificates))
        self.sasl_tls_bootstrap = self.addresses(SASL_TLS)
        self.tls_bootstrap = self.addresses(TLS)

    def format(self, broker: Broker, cluster_id: str) -> None:
        """Prepare a broker that knows every user's password."""
        users = (f"--add-scram=SCRAM-SHA-512=[name={user},iterations=4096,password={user}-secret]" for user in USERS)
        broker.format(cluster_id, self.brokers, *users)

    def by_password(self, user: str, **changes: str) -> KafkaSettings:
        """Return settings with which a user logs in; `changes` with underscores for dots."""
        login = {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": user,
            "sasl.password": f"{user}-secret",
        }
        return self._settings(self.sasl_tls_bootstrap, user, login, changes)

    def by_certificate(self, name: str, **changes: str) -> KafkaSettings:
        """Return settings with which the holder of a certificate is known."""
        login = {"security.protocol": "SSL", **self.certificates.client(name)}
        return self._settings(self.tls_bootstrap, name, login, changes)

    def _settings(self, bootstrap: str, user: str, login: dict[str, str], changes: dict[str, str]) -> KafkaSettings:
        changed = {name.replace("_", "."): value for name, value in changes.items()}
        properties = {"ssl.ca.location": str(self.certificates.authority), **login, **changed}
        secrets = {name: SecretStr(value) for name, value in properties.items()}
        return KafkaSettings(
            bootstrap=bootstrap, worker_id=f"{user}-1", properties=secrets, timeout_seconds=5, partitions=PARTITIONS
        )

    def command(self, *arguments: str) -> str:
        """Run `pitwatch` as the administrator, who logs in by password; return what it printed."""
        code, told = self.run(self.by_password("admin"), *arguments)
        assert code == 0, told
        return told

    def run(self, settings: KafkaSettings, *arguments: str) -> tuple[int, str]:
        """Run `pitwatch` with these settings; return its exit code, and what it printed or why it failed."""
        config = self.folder / "pitwatch.toml"
        config.write_text(as_toml(settings))
        program = (sys.executable, "-c", "from pitwatch.cli import main; main()")
        ran = subprocess.run(
            [*program, *arguments, "--config", str(config)],
            check=False,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), "COLUMNS": "1000"},
        )
        return ran.returncode, ran.stdout if ran.returncode == 0 else ran.stderr


def _settings(certificates: Certificates) -> dict[str, object]:
    settings: dict[str, object] = {
        "listener.name.tls.ssl.client.auth": "required",
        "listener.name.sasl_tls.sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.sasl_tls.scram-sha-512.sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        ),
    }
    stores = {"keystore": certificates.broker(), "truststore": certificates.authority}
    for listener in (SASL_TLS, TLS):
        for store, file in stores.items():
            begins = f"listener.name.{listener.name.lower()}.ssl.{store}"
            settings |= {f"{begins}.type": "PEM", f"{begins}.location": file}
    return settings


def as_toml(settings: KafkaSettings) -> str:
    """Return settings as their file has them, secrets included."""
    properties = "".join(f'"{name}" = "{value}"\n' for name, value in settings.plain_properties().items())
    return (
        f'[kafka]\nbootstrap = "{settings.bootstrap}"\nworker_id = "{settings.worker_id}"\n'
        f"timeout_seconds = {settings.timeout_seconds}\npartitions = {settings.partitions}\n"
        f"[kafka.properties]\n{properties}"
    )
