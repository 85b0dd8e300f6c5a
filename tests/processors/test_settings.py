"""The application's settings: where they come from, what is refused and how that is said, and where secrets go."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from processors.settings import Settings
from processors.settings_file import InvalidSettings, load_settings, models_in
from processors.settings_page import settings_page
from schemas.configuration import PRESETS

Write = Callable[[str], Path]

SHA = "ab" * 32


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in os.environ:
        if name.upper().startswith("PITWATCH_"):
            monkeypatch.delenv(name)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a configuration file, and return where it is."""

    def to_file(text: str) -> Path:
        path = tmp_path / "pitwatch.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return to_file


def problems(file: Path | None) -> tuple[str, ...]:
    """Return what is wrong with the settings, without the folder's name."""
    with pytest.raises(InvalidSettings) as refused:
        load_settings(file)
    assert str(refused.value) == "\n".join(refused.value.problems)
    return tuple(line.replace(f"{file.parent}/" if file else "\0", "") for line in refused.value.problems)


class TestSources:
    """The environment goes before the file, and the file before the defaults."""

    def test_without_anything_the_defaults_hold(self) -> None:
        settings = load_settings()
        assert settings == Settings()
        assert settings.gateway.host == "127.0.0.1"
        assert (settings.pipeline.gap_limit_ms, settings.pipeline.revision_rounds) == (5000, 80)
        assert settings.floor.entries() == ()

    def test_the_file_goes_before_the_defaults(self, write: Write) -> None:
        settings = load_settings(write('data_directory = "/srv/pitwatch"\n[gateway]\nport = 9000'))
        assert settings.data_directory == Path("/srv/pitwatch")
        assert (settings.gateway.port, settings.gateway.host) == (9000, "127.0.0.1")

    def test_the_environment_goes_before_the_file_key_by_key(
        self, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PITWATCH_GATEWAY__PORT", "9001")
        monkeypatch.setenv("PITWATCH_DATA_DIRECTORY", "/elsewhere")
        settings = load_settings(write('data_directory = "/srv"\n[gateway]\nport = 9000\nmax_events = 7'))
        assert settings.data_directory == Path("/elsewhere")
        assert (settings.gateway.port, settings.gateway.max_events) == (9001, 7)

    def test_lists_come_from_the_environment_as_json(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PITWATCH_FLOOR__TABLES", '[{"table_id": "B01", "configuration": "macau"}]')
        assert load_settings().floor.entries()[0].table_id == "B01"

    def test_settings_are_frozen(self) -> None:
        with pytest.raises(ValueError, match="frozen"):
            load_settings().data_directory = Path("/elsewhere")  # type: ignore[misc]  # that is what is tested


class TestFloor:
    def test_tables_deal_under_presets_or_configurations_of_their_own(self, write: Write) -> None:
        settings = load_settings(
            write(f"""
[[floor.tables]]
table_id = "B01"
pit = "PIT-2"
configuration = "sjm"
tokens_sha256 = ["{SHA}", "{SHA[::-1]}"]

[[floor.tables]]
table_id = "B02"
configuration = {{ preset = "macau", configuration_id = "vip", pit = "VIP", seats = 7 }}

[[floor.tables]]
table_id = "B03"
configuration = {{ configuration_id = "own", bets = [{{ bet = "player", minimum = 100, maximum = 200 }}] }}
""")
        )
        first, second, third = settings.floor.entries()
        assert first.configuration == PRESETS["sjm"].model_copy(update={"pit": "PIT-2"})
        expected = PRESETS["macau"].model_copy(update={"configuration_id": "vip", "pit": "VIP", "seats": 7})
        assert second.configuration == expected
        assert third.configuration.bets[0].maximum == 200
        assert settings.floor.token_hashes() == {SHA: "B01", SHA[::-1]: "B01"}

    def test_one_configuration_may_serve_tables_of_several_pits(self, write: Write) -> None:
        tables = [f'[[floor.tables]]\ntable_id = "B{n}"\npit = "PIT-{n}"\nconfiguration = "macau"' for n in (1, 2)]
        entries = load_settings(write("\n".join(tables))).floor.entries()
        assert [entry.configuration.pit for entry in entries] == ["PIT-1", "PIT-2"]


TABLE = '[[floor.tables]]\ntable_id = "B01"\nconfiguration = "macau"\n'
ROUTE = '[[notifications.routes]]\nname = "bosses"\n'
OWN = 'configuration = { preset = "macau", configuration_id = "own", seats = %d }\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[gateway]\nport = 70000", "gateway.port: Input should be less than or equal to 65535"),
        ("[gateway]\nprot = 8600", "gateway.prot: no such setting; is it 'port'?"),
        ("[zzzzzzzzzz]\na = 1", "zzzzzzzzzz: no such setting"),
        ("[pipeline]\ngap_limit_ms = 'soon'", "pipeline.gap_limit_ms: Input should be a valid integer"),
        ("[store]\ndatabase = 'a; DROP'", "store.database: String should match pattern"),
        (
            "[[floor.tables]]\ntable_id = 'B 1'\nconfiguration = 'macau'",
            "floor.tables[0].table_id: String should match",
        ),
        ("[[floor.tables]]\ntable_id = 'B1'\nconfiguration = 'macao'", "no preset is called 'macao'; there are: macau"),
        (
            "[[floor.tables]]\ntable_id = 'B1'\nconfiguration = { preset = 'macau', seats = 7 }",
            "floor.tables[0].configuration: a preset with changes is another configuration",
        ),
        (
            "[[floor.tables]]\ntable_id = 'B1'\nconfiguration = { preset = 'sjm', configuration_id = 'x', seets = 7 }",
            "floor.tables[0].configuration.seets: no such setting; is it 'seats'?",
        ),
        (TABLE + TABLE, "floor: table 'B01' is listed twice"),
        (
            "".join(f"[[floor.tables]]\ntable_id = 'B{seats}'\n" + OWN % seats for seats in (7, 8)),
            "floor: two different configurations are called 'own'",
        ),
        (
            "".join(
                f"[[floor.tables]]\ntable_id = 'B{n}'\nconfiguration = 'macau'\ntokens_sha256 = ['{SHA}']\n"
                for n in (1, 2)
            ),
            "floor: table 'B2' has another table's token: abababababab…",
        ),
        (TABLE + "tokens_sha256 = ['secret']", "floor.tables[0].tokens_sha256[0]: String should match pattern"),
        (
            TABLE + "[gateway]\nhost = '0.0.0.0'",
            "settings: gateway.host '0.0.0.0' can be reached from other machines, and table 'B01' has no tokens_sha256",
        ),
        (ROUTE, "notifications.routes[0].urls: Field required"),
        (ROUTE + "urls = ['mail']", "notifications.routes[0].urls[0]: no URL: write schema://…"),
        (
            ROUTE + "urls = ['tgram://${PITWATCH_URL_GONE}/1']",
            "urls[0]: PITWATCH_URL_GONE is neither in the environment",
        ),
        (
            ROUTE + "urls = ['a://b']\ncodes = ['overpiad']",
            "notifications.routes[0].codes[0]: 'overpiad' is no alert code",
        ),
        ((ROUTE + "urls = ['a://b']\n") * 2, "notifications: two routes are called 'bosses'"),
        ("[store]\nurl = 'clickhouse:8123'", "store.url: String should match pattern"),
        ("[store]\nurl = 'http://me:secret@clickhouse:8123'", "store.url: String should match pattern"),
        ("[store]\ncluster = 'floor'", "store: a cluster or a password is a server's: give its url"),
        (
            "[store]\nurl = 'http://c:1'\npassword = '${PITWATCH_GONE}'",
            "store.password: PITWATCH_GONE is neither in the environment",
        ),
        (
            "[[sql.users]]\nname = 'ana'\npassword_sha256 = 'secret'",
            "sql.users[0].password_sha256: String should match",
        ),
        (f"[[sql.users]]\nname = 'ana'\npassword_sha256 = '{SHA}'\n" * 2, "sql: user 'ana' is listed twice"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_key(write: Write, text: str, expected: str) -> None:
    [line] = problems(write(text))
    assert line.startswith("pitwatch.toml: ")
    assert expected in line


class TestFaults:
    def test_every_fault_gets_its_line(self, write: Write) -> None:
        assert len(problems(write("[gateway]\nport = -1\nmax_events = 0\n[store]\nttl_days = 0"))) == 3

    def test_a_variable_at_fault_is_named_instead_of_the_file(
        self, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PITWATCH_GATEWAY__PORT", "70000")
        [line] = problems(write("[gateway]\nport = 8600"))
        assert line.startswith("environment PITWATCH_GATEWAY__PORT: gateway.port: Input should be less than")
        assert problems(None) == (line,)

    def test_without_a_file_a_fault_between_settings_still_has_a_name(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PITWATCH_FLOOR__TABLES", '[{"table_id": "B01", "configuration": "macau"}]')
        monkeypatch.setenv("PITWATCH_GATEWAY__HOST", "10.0.0.1")
        [line] = problems(None)
        assert line.startswith("settings: settings: gateway.host '10.0.0.1' can be reached")

    def test_a_variable_that_is_no_json_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PITWATCH_FLOOR", "{")
        assert problems(None)[0].startswith("environment: ")
        assert "floor" in problems(None)[0]

    def test_a_variable_of_no_section_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PITWATCH_GATWAY__PORT", "1")
        monkeypatch.setenv("PITWATCH_SERVICE_HOST", "an orchestrator's business")
        assert problems(None) == ("environment PITWATCH_GATWAY__PORT: no such setting",)

    def test_a_file_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        assert problems(tmp_path / "gone.toml") == ("gone.toml: can't be read: No such file or directory",)

    @pytest.mark.parametrize("content", [b"[gateway\nport = 1", b"\xff\xfe"])
    def test_what_is_no_toml_is_named(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "broken.toml"
        path.write_bytes(content)
        assert problems(path)[0].startswith("broken.toml: is no TOML: ")


class TestSecrets:
    @pytest.fixture
    def secrets_file(self, tmp_path: Path) -> Path:
        path = tmp_path / "secrets.toml"
        path.write_text('BOT = "123:from-the-file"\nCHAT = "42"\n')
        path.chmod(0o600)
        return path

    def routes(self, secrets_file: Path) -> str:
        return f'[notifications]\nsecrets_file = "{secrets_file}"\n{ROUTE}urls = ["tgram://${{BOT}}/${{CHAT}}"]'

    def test_references_are_filled_from_the_file_and_the_environment_first(
        self, write: Write, secrets_file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("BOT", "456:from-the-environment")
        settings = load_settings(write(self.routes(secrets_file)))
        [url] = settings.notifications.routes[0].urls
        assert url.get_secret_value() == "tgram://456:from-the-environment/42"

    def test_the_stores_password_is_filled_too(self, write: Write, secrets_file: Path) -> None:
        server = '[store]\nurl = "https://clickhouse:8443"\npassword = "${BOT}"'
        settings = load_settings(write(f"{self.routes(secrets_file)}\n{server}"))
        assert settings.store.password.get_secret_value() == "123:from-the-file"
        assert "from-the-file" not in repr(settings)

    def test_settings_never_show_a_secret(self, write: Write, secrets_file: Path) -> None:
        settings = load_settings(write(self.routes(secrets_file)))
        for text in (repr(settings), str(settings), settings.model_dump_json(), repr(settings.model_dump())):
            assert "from-the-file" not in text

    def test_faults_never_show_a_secret(self, write: Write) -> None:
        text = f"{ROUTE}urls = ['token-without-schema', 'tgram://hidden/1']\nminimum_severity = 'grave'"
        assert not [line for line in problems(write(text)) if "token" in line or "hidden" in line]
        [line] = problems(write(f"{ROUTE}urls = ['token-without-schema']"))
        assert "token" not in line

    @pytest.mark.parametrize("mode", [0o604, 0o602, 0o666])
    def test_a_file_that_anybody_may_read_or_change_is_refused(
        self, write: Write, secrets_file: Path, mode: int
    ) -> None:
        secrets_file.chmod(mode)
        [line] = problems(write(self.routes(secrets_file)))
        assert line.startswith("secrets.toml: anybody on this machine may read it or change it")

    def test_a_group_may_read_it(self, write: Write, secrets_file: Path) -> None:
        secrets_file.chmod(0o640)
        assert load_settings(write(self.routes(secrets_file))).notifications.routes

    def test_a_secret_is_text(self, write: Write, secrets_file: Path) -> None:
        secrets_file.write_text('BOT = 123\nCHAT = "1"')
        assert problems(write(self.routes(secrets_file))) == ("secrets.toml: BOT: must be text in quotes",)


def test_the_example_starts_as_it_is(repository: Path) -> None:
    settings = load_settings(repository / "examples" / "pitwatch.toml")
    configurations = {entry.table_id: entry.configuration.configuration_id for entry in settings.floor.entries()}
    assert configurations == {"BAC-101": "macau", "BAC-102": "sjm", "BAC-201": "commission_free", "VIP-201": "vip"}
    # A token and a route are secrets of a floor's own, so none is there to be left in by mistake.
    assert settings.floor.token_hashes() == {}
    assert settings.notifications.routes == ()


def test_the_examples_routes_token_and_analyst_can_be_turned_on(
    repository: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SURVEILLANCE", "PIT_1_BOSS", "PIT_1_DEPUTY"):
        monkeypatch.setenv(f"PITWATCH_URL_{name}", f"json://localhost/{name}")
    text = (repository / "examples" / "pitwatch.toml").read_text(encoding="utf-8")
    on = re.sub(r"^# (?=\[\[|\w+ = )(?!secrets_file)", "", text, flags=re.MULTILINE).replace('…"', f'{SHA}"')
    settings = load_settings(write(on))
    urls = [url.get_secret_value() for route in settings.notifications.routes for url in route.urls]
    assert urls == [f"json://localhost/{name}" for name in ("SURVEILLANCE", "PIT_1_BOSS", "PIT_1_DEPUTY")]
    assert settings.floor.token_hashes() == {SHA: "BAC-101"}
    assert [user.name for user in settings.sql.users] == ["ana"]


class TestPage:
    """docs/settings.md documents every setting, as the code has it now."""

    def test_it_is_current(self, repository: Path) -> None:
        written = (repository / "docs" / "settings.md").read_text(encoding="utf-8")
        assert written == settings_page(), "run: python -m processors.settings_page > docs/settings.md"

    def test_every_setting_is_on_it_with_its_meaning(self) -> None:
        page = settings_page()
        for model in documented_models(Settings):
            for name, field in model.model_fields.items():
                assert field.description, f"{model.__name__}.{name} has no description"
                if not list(models_in(field.annotation)) or name == "configuration":
                    assert f"| `{name}` |" in page, f"{model.__name__}.{name} is not on the page"
                    assert field.description.replace("|", "\\|") in page

    def test_every_section_is_on_it(self) -> None:
        headers = [line for line in settings_page().splitlines() if line.startswith("## `")]
        assert len(headers) == len(list(documented_models(Settings))) - 2  # the top level and [floor] have none


def documented_models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield every model of settings; what the contract defines has its own documentation."""
    yield model
    for field in model.model_fields.values():
        for inner in models_in(field.annotation):
            if inner.__module__.startswith("processors."):
                yield from documented_models(inner)
