"""The secrets of `make up`: random, private, complete, and never changed once made."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.make_env import LAYOUTS, Unusable, cluster_id, complete, main, write
from processors.settings_file import load_settings


def values_of(text: str) -> dict[str, str]:
    return {name: value.strip("'") for name, value in re.findall(r"^([A-Z_0-9]+)=(.*)$", text, re.MULTILINE)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".env"


def test_nobody_else_may_read_it(path: Path) -> None:
    assert write(path, "single")
    assert path.stat().st_mode & 0o777 == 0o600


def test_file_that_others_could_read_is_closed(path: Path) -> None:
    write(path, "single")
    path.chmod(0o644)
    assert not write(path, "single")
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_there_is_kept(path: Path, layout: str) -> None:
    write(path, layout)
    before = path.read_bytes()
    assert not write(path, layout)
    assert path.read_bytes() == before


def test_no_two_files_have_a_secret_in_common() -> None:
    first, second = values_of(complete("", "single")), values_of(complete("", "single"))
    assert first.keys() == second.keys()
    assert {name for name in first if first[name] == second[name]} == {"COMPOSE_PROFILES"}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_secrets_are_long_and_need_no_quoting(layout: str) -> None:
    for name, value in values_of(complete("", layout)).items():
        if name.endswith(("PASSWORD", "SECRET", "SECRET_KEY")):
            assert re.fullmatch(r"[0-9a-f]{48}", value), name


@pytest.mark.parametrize("user", ["WRITER", "GRAFANA", "ANALYST"])
def test_clickhouse_gets_the_hash_of_the_password(user: str) -> None:
    made = values_of(complete("", "single"))
    password = made[f"CLICKHOUSE_{user}_PASSWORD"]
    assert made[f"CLICKHOUSE_{user}_SHA256"] == hashlib.sha256(password.encode()).hexdigest()


def test_simulated_floor_is_one_that_the_gateway_may_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    made = values_of(complete("", "single"))
    monkeypatch.setenv("PITWATCH_FLOOR__TABLES", made["PITWATCH_FLOOR__TABLES"])
    monkeypatch.setenv("PITWATCH_GATEWAY__HOST", "0.0.0.0")
    hashes = load_settings().floor.token_hashes()
    tokens = json.loads(made["SIMULATOR_TOKENS"])
    assert {hashes[hashlib.sha256(token.encode()).hexdigest()]: token for token in tokens.values()} == tokens


def test_layouts_differ_in_their_profile_and_the_clusters_name() -> None:
    single, cluster = values_of(complete("", "single")), values_of(complete("", "cluster"))
    assert single["COMPOSE_PROFILES"] == "single,simulator"
    assert cluster["COMPOSE_PROFILES"] == "cluster,simulator"
    assert cluster.keys() - single.keys() == {"PITWATCH_STORE__CLUSTER"}


def test_kafkas_tools_take_the_cluster_id_for_no_option() -> None:
    ids = {cluster_id() for _ in range(500)}
    assert len(ids) == 500
    assert not any(found.startswith("-") for found in ids)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{22}", found) for found in ids)


def test_what_a_newer_version_needs_is_added(path: Path) -> None:
    write(path, "single")
    older = "".join(line for line in path.read_text().splitlines(True) if not line.startswith("GRAFANA_SECRET_KEY"))
    path.write_text(older.rstrip("\n"))
    assert write(path, "single")
    assert path.read_text().startswith(older)
    assert re.fullmatch(r"[0-9a-f]{48}", values_of(path.read_text())["GRAFANA_SECRET_KEY"])


def test_somebodys_own_floor_gets_no_simulated_one(path: Path) -> None:
    write(path, "single")
    kept = [line for line in path.read_text().splitlines(True) if "TABLES" not in line and "TOKENS" not in line]
    path.write_text("".join(kept).replace("single,simulator", "single"))
    assert not write(path, "single")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("COMPOSE_PROFILES=cluster,simulator\n", "of another layout"),
        ("CLICKHOUSE_WRITER_SHA256=ab\n", "has CLICKHOUSE_WRITER_SHA256 but not CLICKHOUSE_WRITER_PASSWORD"),
        ("CLICKHOUSE_ANALYST_PASSWORD=ab\n", "has CLICKHOUSE_ANALYST_PASSWORD but not CLICKHOUSE_ANALYST_SHA256"),
    ],
)
def test_what_cannot_be_completed_is_left_alone(
    path: Path, text: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path.write_text(text)
    with pytest.raises(Unusable, match=reason):
        write(path, "single")
    assert main([str(path)]) == 1
    assert reason in capsys.readouterr().err
    assert path.read_text() == text


def test_folder_that_is_missing_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none" / ".env")]) == 1
    assert "none/.env" in capsys.readouterr().err


def test_it_runs_as_make_runs_it(path: Path, repository: Path) -> None:
    asked = [sys.executable, "-I", str(repository / "deploy" / "make_env.py"), "--layout", "cluster", str(path)]
    ran = subprocess.run(asked, check=True, capture_output=True, text=True)
    assert "new secrets" in ran.stderr
    assert not set(values_of(path.read_text()).values()) & set(ran.stderr.split())
    assert subprocess.run(asked, check=True, capture_output=True, text=True).stderr == ""


def test_git_never_takes_it(repository: Path) -> None:
    for name in (".env", ".env.notify"):
        ignored = subprocess.run(["git", "check-ignore", "--quiet", name], cwd=repository, check=False)
        assert ignored.returncode == 0, name
    tracked = subprocess.run(["git", "ls-files"], cwd=repository, check=True, capture_output=True, text=True).stdout
    assert not [name for name in tracked.splitlines() if Path(name).name.startswith(".env")]
