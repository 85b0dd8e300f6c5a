"""What the services read: our own settings, and Grafana's files."""

import configparser
import re
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # the package ships no types

from deploy.make_env import LAYOUTS, complete
from processors.settings import Settings
from processors.settings_file import load_settings
from tests.conftest import REPOSITORY
from tests.deploy.compose import environment, pitwatch_commands, read
from tests.deploy.test_make_env import values_of

FOLDER = REPOSITORY / "deploy"
COMPOSE = read()
OURS = sorted(pitwatch_commands(COMPOSE))


def settings_of(monkeypatch: pytest.MonkeyPatch, name: str, layout: str) -> Settings:
    """Return the settings of a service of ours as its container loads them."""
    made = values_of(complete("", layout))
    for variable, value in environment(COMPOSE.services[name], made).items():
        monkeypatch.setenv(variable, value)
    return load_settings(FOLDER / "pitwatch.toml")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", OURS)
def test_settings_of_every_service_load(monkeypatch: pytest.MonkeyPatch, name: str, layout: str) -> None:
    settings = settings_of(monkeypatch, name, layout)
    assert settings.gateway.port == 8600
    assert str(settings.data_directory) == "/var/lib/pitwatch"


def test_folder_of_data_is_a_volume_where_one_is_needed() -> None:
    keepers = {name for name in OURS if any(":/var/lib/pitwatch" in one for one in COMPOSE.services[name].volumes)}
    assert keepers == {"gateway", "worker", "simulator"}


def test_data_source_is_clickhouse_as_deployed() -> None:
    found = yaml.safe_load((FOLDER / "grafana/provisioning/datasources/clickhouse.yaml").read_text())
    (source,) = found["datasources"]
    assert source["type"] == "grafana-clickhouse-datasource"
    assert f"install {source['type']} " in (FOLDER / "grafana" / "Dockerfile").read_text()
    assert source["jsonData"] == {
        "host": "clickhouse",
        "port": 9000,
        "protocol": "native",
        "username": "grafana",
        "defaultDatabase": "pitwatch",
    }
    variable = source["secureJsonData"]["password"].removeprefix("$")
    assert variable in COMPOSE.services["grafana"].environment
    assert not source["editable"]


def test_boards_are_read_where_they_are_mounted() -> None:
    found = yaml.safe_load((FOLDER / "grafana/provisioning/dashboards/pitwatch.yaml").read_text())
    (provider,) = found["providers"]
    assert any(f":{provider['options']['path']}:ro" in one for one in COMPOSE.services["grafana"].volumes)
    assert not provider["allowUiUpdates"]


def test_grafana_asks_nobody_on_the_internet_and_lets_nobody_in() -> None:
    ini = configparser.ConfigParser(interpolation=None)
    ini.read(FOLDER / "grafana" / "grafana.ini")
    for section, key in (
        ("analytics", "reporting_enabled"),
        ("analytics", "check_for_updates"),
        ("analytics", "check_for_plugin_updates"),
        ("users", "allow_sign_up"),
        ("auth.anonymous", "enabled"),
        ("panels", "disable_sanitize_html"),
        ("snapshots", "external_enabled"),
        ("news", "news_feed_enabled"),
    ):
        assert not ini.getboolean(section, key), key
    assert ini.getboolean("plugins", "preinstall_disabled")
    assert ini.getint("server", "http_port") == 3000


# Of Grafana's documentation: its configuration's sections and keys, and the keys of what it is provisioned with.
GRAFANAS = {
    "server": {"http_port"},
    "analytics": {"reporting_enabled", "check_for_updates", "check_for_plugin_updates", "feedback_links_enabled"},
    "security": {"disable_gravatar", "cookie_samesite", "strict_transport_security"},
    "users": {"allow_sign_up", "allow_org_create"},
    "auth.anonymous": {"enabled"},
    "plugins": {"preinstall_disabled", "plugin_admin_enabled"},
    "panels": {"disable_sanitize_html"},
    "snapshots": {"external_enabled"},
    "news": {"news_feed_enabled"},
    "date_formats": {"default_timezone"},
    "log": {"mode"},
}
DATA_SOURCE = {"name", "uid", "type", "access", "isDefault", "editable", "jsonData", "secureJsonData"}
PROVIDER = {
    "name", "folder", "folderUid", "type", "disableDeletion", "allowUiUpdates", "updateIntervalSeconds", "options",
}  # fmt: skip


def test_grafana_is_told_nothing_that_its_documentation_does_not_name() -> None:
    """Grafana can't be had here, and it takes a key that it doesn't know for none."""
    ini = configparser.ConfigParser(interpolation=None)
    ini.read(FOLDER / "grafana" / "grafana.ini")
    for section in ini.sections():
        assert set(ini[section]) <= GRAFANAS[section], section
    provisioning = FOLDER / "grafana" / "provisioning"
    sources = yaml.safe_load((provisioning / "datasources" / "clickhouse.yaml").read_text())
    assert sources.keys() == {"apiVersion", "prune", "datasources"}
    assert sources["datasources"][0].keys() == DATA_SOURCE
    boards = yaml.safe_load((provisioning / "dashboards" / "pitwatch.yaml").read_text())
    assert boards.keys() == {"apiVersion", "providers"}
    assert boards["providers"][0].keys() == PROVIDER


@pytest.mark.parametrize(
    ("variable", "section"),
    [("GF_SECURITY_ADMIN_PASSWORD", "security"), ("GF_SECURITY_SECRET_KEY", "security")],
)
def test_grafanas_secrets_come_from_its_environment_alone(variable: str, section: str) -> None:
    ini = configparser.ConfigParser(interpolation=None)
    ini.read(FOLDER / "grafana" / "grafana.ini")
    assert variable in COMPOSE.services["grafana"].environment
    assert variable.removeprefix(f"GF_{section.upper()}_").lower() not in ini[section]


SECRET = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b|\bxox[abp]-[0-9A-Za-z-]{10,}"
)
# A word for a secret, and what is set to it: 12 or more characters that are no reference to something else.
ASSIGNED = re.compile(
    r"(?i)(password|passwd|secret(_key)?|token|api_?key)\w*[\"']?\s*[=:>]\s*[\"']?(?!\$|<|\{)([A-Za-z0-9+/_-]{12,})"
)


def texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(REPOSITORY)): path.read_text() for path in folder.rglob("*") if is_text(path)}


def is_text(path: Path) -> bool:
    return path.is_file() and path.suffix in {".py", ".toml", ".xml", ".yml", ".yaml", ".ini", ".properties", ".md", ""}


def test_nothing_of_the_deployment_holds_a_secret() -> None:
    files = texts(FOLDER) | {name: (REPOSITORY / name).read_text() for name in ("docker-compose.yml", "Makefile")}
    files["Dockerfile"] = (REPOSITORY / "Dockerfile").read_text()
    assert len(files) > 10
    assert {name: found[0] for name, text in files.items() if (found := SECRET.search(text))} == {}
    values = {name: [found[3] for found in ASSIGNED.finditer(text)] for name, text in files.items()}
    # Code calls functions and names variables; none of those is a value.
    assert {name: found for name, found in values.items() if found and not name.endswith(".py")} == {}


@pytest.mark.parametrize(
    "line",
    [
        "password: 5f4dcc3b5aa765d61d83",
        'GRAFANA_SECRET_KEY="658dd94a209c7e86317a"',
        "<password>605a32e443622578a16e</password>",
        "api_key = abcdefghijklmnop",
    ],
)
def test_secret_would_be_found(line: str) -> None:
    assert ASSIGNED.search(line)


@pytest.mark.parametrize(
    "line",
    [
        "password: $CLICKHOUSE_GRAFANA_PASSWORD",
        "X_SECRET: ${X_SECRET:?run make up}",
        '<password from_env="X_PASSWORD"/>',
    ],
)
def test_reference_to_a_secret_is_none(line: str) -> None:
    assert not ASSIGNED.search(line)
