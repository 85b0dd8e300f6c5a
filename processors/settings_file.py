"""Reads the settings, fills in the secrets, and says of everything wrong where it stands and what to do."""

import difflib
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_settings import SettingsConfigDict, SettingsError

from processors.notify.routing import NotificationSettings, Route
from processors.settings import ENV_DELIMITER, ENV_PREFIX, Settings
from schemas.errors import PitwatchError

_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_URL: Final = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://\S+$")

Location = tuple[str | int, ...]


class InvalidSettings(PitwatchError, ValueError):
    """Raised for settings that can't be used. `problems`: a line for each, with its file or variable, key and fault."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def load_settings(file: Path | None = None) -> Settings:
    """Return the settings of `file` (TOML) and the environment, secrets filled in. Raises `InvalidSettings`.

    Relative paths are relative to the working directory. Secrets stay wrapped: they show neither in errors nor when
    the settings are printed.
    """
    if file is not None:
        _parse(file)
    if stray := sorted(_stray_variables()):
        raise InvalidSettings(tuple(f"environment {name}: no such setting" for name in stray))

    class FromFile(Settings):
        model_config = SettingsConfigDict(toml_file=file)

    try:
        settings = FromFile()
    except ValidationError as error:
        raise InvalidSettings(tuple(_explain(error, file))) from None
    except SettingsError as error:
        raise InvalidSettings((f"environment: {error}",)) from None
    # Everything is validated; only the class that knew the file is left behind.
    return Settings.model_construct(**(dict(settings) | _with_secrets(settings, file)))


def _parse(file: Path) -> dict[str, object]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidSettings((f"{file}: can't be read: {error.strerror}",)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSettings((f"{file}: is no TOML: {error}",)) from None


def _stray_variables() -> Iterator[str]:
    """Yield variables that mean a section's setting (``PITWATCH_SECTION__KEY``) where there is no such section."""
    for name in os.environ:
        section, delimiter, _ = name.upper().removeprefix(ENV_PREFIX).partition(ENV_DELIMITER)
        if name.upper().startswith(ENV_PREFIX) and delimiter and section.lower() not in Settings.model_fields:
            yield name


def _explain(error: ValidationError, file: Path | None) -> Iterator[str]:
    """Yield a line for each finding. What was given isn't shown: it may be a secret."""
    for found in error.errors(include_url=False, include_input=False):
        location = found["loc"]
        message = found["msg"].removeprefix("Value error, ")
        if found["type"] == "extra_forbidden":
            near = difflib.get_close_matches(str(location[-1]), sorted(_setting_names(Settings)), n=1)
            message = "no such setting" + (f"; is it {near[0]!r}?" if near else "")
        yield f"{_origin(location, file)}: {_path(location)}: {message}"


def _origin(location: Location, file: Path | None) -> str:
    """Return where the value at `location` comes from: its variable, which goes before the file, or the file."""
    variables = {name.upper(): name for name in os.environ}
    for length in range(len(location), 0, -1):
        name = ENV_PREFIX + ENV_DELIMITER.join(str(part).upper() for part in location[:length])
        if name in variables:
            return f"environment {variables[name]}"
    return str(file) if file is not None else "settings"


def _path(location: Location) -> str:
    """Return a location as TOML people write it: ``notifications.routes[0].name``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).lstrip(".") or "settings"


def _setting_names(model: type[BaseModel]) -> Iterator[str]:
    """Yield the name of every setting in `model` and in the models of its fields."""
    for name, field in model.model_fields.items():
        yield name
        for inner in models_in(field.annotation):
            yield from _setting_names(inner)


def models_in(annotation: object) -> Iterator[type[BaseModel]]:
    """Yield every model that an annotation mentions, however deep."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from models_in(argument)


def _with_secrets(settings: Settings, file: Path | None) -> dict[str, BaseModel]:
    """Return the sections that hold secrets, with every ``${NAME}`` replaced by the secret it stands for."""
    filling = _Filling(_read_secrets(settings.notifications.secrets_file) | dict(os.environ), file)
    notifications = _with_urls(settings.notifications, filling)
    password = filling.fill(settings.store.password, ("store", "password"))
    properties = {
        name: filling.fill(text, ("kafka", "properties", name)) for name, text in settings.kafka.properties.items()
    }
    if filling.problems:
        raise InvalidSettings(tuple(filling.problems))
    return {
        "notifications": notifications,
        "store": settings.store.model_copy(update={"password": password}),
        "kafka": settings.kafka.model_copy(update={"properties": properties}),
    }


def _with_urls(notifications: NotificationSettings, filling: "_Filling") -> NotificationSettings:
    routes: list[Route] = []
    for index, route in enumerate(notifications.routes):
        places: list[Location] = [("notifications", "routes", index, "urls", place) for place in range(len(route.urls))]
        urls = [filling.fill_url(url, where) for url, where in zip(route.urls, places, strict=True)]
        routes.append(route.model_copy(update={"urls": tuple(urls)}))
    return notifications.model_copy(update={"routes": tuple(routes)})


class _Filling:
    """Puts secrets in their places, and notes what is wrong with each place."""

    def __init__(self, secrets: Mapping[str, str], file: Path | None) -> None:
        self._secrets = secrets
        self._file = file
        self.problems: list[str] = []

    def fill(self, text: SecretStr, where: Location) -> SecretStr:
        """Return `text` with its secrets."""
        given = text.get_secret_value()
        missing = [name for name in _REFERENCE.findall(given) if name not in self._secrets]
        if missing:
            self._complain(where, f"{missing[0]} is neither in the environment nor in notifications.secrets_file")
            return text
        return SecretStr(_REFERENCE.sub(lambda match: self._secrets[match[1]], given))

    def fill_url(self, url: SecretStr, where: Location) -> SecretStr:
        """Return `url` with its secrets; what is no URL is a problem."""
        before = len(self.problems)
        filled = self.fill(url, where)
        if len(self.problems) == before and not _URL.match(filled.get_secret_value()):
            self._complain(where, "no URL: write schema://…, as Apprise documents for the service")
        return filled

    def _complain(self, where: Location, fault: str) -> None:
        self.problems.append(f"{_origin(where, self._file)}: {_path(where)}: {fault}")


def _read_secrets(file: Path | None) -> dict[str, str]:
    """Return the names and values of the secrets file. Raises `InvalidSettings`, also for one that anybody may read."""
    if file is None:
        return {}
    parsed = _parse(file)
    if file.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
        raise InvalidSettings((f"{file}: anybody on this machine may read it or change it: chmod 600 (or 640) it",))
    wrong = sorted(name for name, value in parsed.items() if not isinstance(value, str))
    if wrong:
        raise InvalidSettings(tuple(f"{file}: {name}: must be text in quotes" for name in wrong))
    return {name: str(value) for name, value in parsed.items()}
