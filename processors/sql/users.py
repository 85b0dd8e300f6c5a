"""Who asks: a name and a password in the request's headers, of which only the hash is kept here."""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from processors.sql.refusals import AUTHENTICATION_FAILED, REQUIRED_PASSWORD, Refused

NAME_HEADER: Final = "x-clickhouse-user"
PASSWORD_HEADER: Final = "x-clickhouse-key"  # noqa: S105  the header's name

_NOBODY: Final = "0" * 64


class User(NamedTuple):
    """Somebody who may ask. Readers' statements are held to reading; a writer's may fill and change tables too.

    No setting makes a writer: the store of a floor belongs to the process that fills it from the log.
    """

    name: str
    password_sha256: str
    writes: bool = False


class Users:
    """Those who may ask, by their names."""

    def __init__(self, users: Iterable[User]) -> None:
        self._by_name = {user.name: user for user in users}

    def of(self, headers: Mapping[str, str]) -> User:
        """Return who sent a request with these headers, their names in lower case. Raises `Refused`."""
        name, password = _credentials(headers)
        user = self._by_name.get(name)
        digest = hashlib.sha256(password.encode()).hexdigest()
        # Compared in constant time, and for unknown names too, so that nothing can be learnt from how long it takes.
        known = hmac.compare_digest(user.password_sha256 if user else _NOBODY, digest)
        if user is None or not known:
            raise Refused(
                AUTHENTICATION_FAILED,
                f"{name[:63]}: Authentication failed: password is incorrect, or there is no user with such name.",
            )
        return user


def mint_password() -> tuple[str, str]:
    """Make a new password; return it and its SHA-256 in hex.

    It is 192 random bits, so a plain hash of it gives nothing away.
    """
    password = secrets.token_urlsafe(24)
    return password, hashlib.sha256(password.encode()).hexdigest()


def _credentials(headers: Mapping[str, str]) -> tuple[str, str]:
    scheme, _, encoded = headers.get("authorization", "").partition(" ")
    own = NAME_HEADER in headers or PASSWORD_HEADER in headers
    if scheme and own:
        raise Refused(
            AUTHENTICATION_FAILED,
            "Invalid authentication: send Authorization or X-ClickHouse-User and X-ClickHouse-Key, not both.",
        )
    if own:
        return headers.get(NAME_HEADER, ""), headers.get(PASSWORD_HEADER, "")
    if scheme.lower() != "basic":
        raise Refused(
            REQUIRED_PASSWORD,
            "Authentication is required: send a user's name and password as Basic authentication, or in the headers"
            " X-ClickHouse-User and X-ClickHouse-Key.",
        )
    try:
        name, separator, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        separator = name = password = ""
    if not separator:
        raise Refused(AUTHENTICATION_FAILED, "Invalid authentication: this is no Basic authentication.")
    return name, password
