"""Makes docs/settings.md from the settings themselves: ``python -m processors.settings_page > docs/settings.md``."""

import json
import sys
from collections.abc import Iterator
from typing import Final

from pydantic import JsonValue

from processors.settings import Settings

Schema = dict[str, JsonValue]

_INTRODUCTION: Final = """\
# Settings

Commands that take `--config FILE` read a TOML file; `examples/pitwatch.toml` is one to start from. Without a file the
defaults hold. An environment variable goes before the file: `PITWATCH_`, the section, two underscores, the key
(`PITWATCH_GATEWAY__PORT=8601`); lists are written in JSON. What is misspelt or out of bounds is refused, with its file
or variable and its key.

Paths are relative to the working directory. The environment of a container or a service may hold other `PITWATCH_…`
variables too; only those with two underscores are taken for settings, and refused when there is no such section.

## Secrets

The routes' URLs, `store.password` and `kafka.properties` may hold some. Write `${NAME}` there, and keep the secret in
the environment variable `NAME` or in `notifications.secrets_file`, a TOML file of `NAME = "value"` lines that nobody
but its owner and group may read. What a value holds goes into a URL as it is, so it must be percent-encoded already.
Neither errors, nor logs, nor printed settings show a secret. A hash (`…_sha256`) needs no secrecy.

<!-- Made by `python -m processors.settings_page > docs/settings.md`; change the descriptions in the code instead. -->
"""

_SECTIONS: Final[dict[str, str]] = {
    "Settings": "",
    "FloorTable": "[[floor.tables]]",
    "GatewaySettings": "[gateway]",
    "PipelineSettings": "[pipeline]",
    "KafkaSettings": "[kafka]",
    "StoreSettings": "[store]",
    "SqlSettings": "[sql]",
    "SqlUser": "[[sql.users]]",
    "NotificationSettings": "[notifications]",
    "Route": "[[notifications.routes]]",
    "WorkerSettings": "[worker]",
    "TimerSettings": "[timers]",
    "MonitoringSettings": "[monitoring]",
}
"""Model → the TOML header its keys stand under, in the page's order."""


def settings_page() -> str:
    """Return the page: a table of keys for each section."""
    schema = Settings.model_json_schema()
    models: dict[str, Schema] = {"Settings": schema, **schema["$defs"]}
    return "\n".join([_INTRODUCTION, *(line for name in _SECTIONS for line in _section(name, models[name]))])


def _section(name: str, model: Schema) -> Iterator[str]:
    header = _SECTIONS[name]
    about = str(model["description"]).partition("\n")[0] if header else "Keys at the top of the file."
    yield f"## `{header}`\n\n{about}\n" if header else f"## Top level\n\n{about}\n"
    yield "| key | values | default | meaning |"
    yield "|---|---|---|---|"
    properties, required = model["properties"], model.get("required", [])
    assert isinstance(properties, dict)
    assert isinstance(required, list)
    for key, field in properties.items():
        assert isinstance(field, dict)
        if not _is_section(field):
            default = "required" if key in required else _default(field.get("default"))
            meaning = str(field["description"]).replace("|", "\\|")
            yield f"| `{key}` | {_values(field)} | {default} | {meaning} |"
    yield ""


def _is_section(field: Schema) -> bool:
    """Tell whether the key holds keys that this page lists under a header of their own."""
    items = field.get("items", {})
    assert isinstance(items, dict)
    inner = str(field.get("$ref") or items.get("$ref", "")).rpartition("/")[2]
    return inner in _SECTIONS or inner == "FloorSettings"


def _values(field: Schema) -> str:
    """Return what may be written, in words."""
    if isinstance(arms := field.get("anyOf"), list):
        return " or ".join(_values(arm) for arm in arms if isinstance(arm, dict) and arm.get("type") != "null")
    if isinstance(choices := field.get("enum"), list):
        return ", ".join(f"`{choice}`" for choice in choices)
    if "$ref" in field:
        return "text or a table"
    if field.get("type") == "integer":
        return f"{field['minimum']:,} to {field['maximum']:,}"
    if field.get("type") == "array" and isinstance(items := field["items"], dict):
        return f"list of {_values(items)}"
    if isinstance(named := field.get("additionalProperties"), dict):
        return f"table of {_values(named)}"
    return _WORDS[str(field.get("format", field["type"]))]


_WORDS: Final = {"path": "path", "password": "secret text", "string": "text", "boolean": "`true`, `false`"}


def _default(value: JsonValue) -> str:
    """Return a default as TOML writes it; what is left out has none."""
    return "none" if value is None or value in ([], {}) else f"`{json.dumps(value)}`"


if __name__ == "__main__":
    sys.stdout.write(settings_page())
