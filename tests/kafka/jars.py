"""Fetches Apache Kafka's jars through Maven, once: ``python3 -m tests.kafka.jars``. Needs nothing but Python."""

import fcntl
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

POM = Path(__file__).with_name("pom.xml")
CACHE = Path(__file__).resolve().parents[2] / "build" / "kafka"


class KafkaNotToBeHad(Exception):
    """Raised where this machine can't run a broker; the message says what is missing."""


def kafka_jars() -> Path:
    """Return the folder of the jars that pom.xml asks for, fetching them first if need be. Raises `KafkaNotToBeHad`."""
    missing = [name for name in ("java", "mvn") if shutil.which(name) is None]
    if missing:
        raise KafkaNotToBeHad(f"a Kafka broker takes {' and '.join(missing)}, which this machine doesn't have")
    folder = CACHE / hashlib.sha256(POM.read_bytes()).hexdigest()[:16]
    CACHE.mkdir(parents=True, exist_ok=True)
    # Test processes that start together must not fetch the same jars twice.
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            _fetch(folder)
    return folder


def _fetch(folder: Path) -> None:
    unfinished = folder.with_suffix(".part")
    shutil.rmtree(unfinished, ignore_errors=True)
    command = ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies", f"-DoutputDirectory={unfinished}"]
    ran = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if ran.returncode:
        raise KafkaNotToBeHad(f"Maven could not fetch Kafka's jars:\n{ran.stdout.strip()}")
    unfinished.rename(folder)


if __name__ == "__main__":
    try:
        kafka_jars()
    except KafkaNotToBeHad as error:
        sys.exit(str(error))
