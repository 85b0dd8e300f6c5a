"""Who a device is: a bearer token for each table, of which only the hash is kept."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from http import HTTPStatus
from typing import Annotated, NamedTuple

from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import Field

from producers.gateway.problems import Refusal
from schemas.fields import StrictModel, TableId

bearer = HTTPBearer(scheme_name="TableToken", description="The table's own token.", auto_error=False)


class TableToken(StrictModel):
    """A table's right to send events. A table may have several tokens while one replaces another.

    A plain SHA-256 is enough: the tokens are 256 random bits, so nobody finds one by trying.
    """

    table_id: TableId
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    revoked: bool = False


class MintedToken(NamedTuple):
    """A new token: the `secret` for the device, shown once, and the `entry` for the gateway's configuration."""

    secret: str
    entry: TableToken


def mint_token(table_id: str) -> MintedToken:
    """Make a new token for a table. Raises `ValueError` for an impossible table id."""
    secret = secrets.token_urlsafe(32)
    return MintedToken(secret, TableToken(table_id=table_id, sha256=hashlib.sha256(secret.encode()).hexdigest()))


class TokenRegister:
    """The tokens the gateway knows. Raises `ValueError` where two entries have one hash."""

    def __init__(self, tokens: Iterable[TableToken]) -> None:
        self._by_hash: dict[bytes, TableToken] = {}
        for token in tokens:
            digest = bytes.fromhex(token.sha256)
            if digest in self._by_hash:
                raise ValueError(f"tables {self._by_hash[digest].table_id} and {token.table_id} share one token")
            self._by_hash[digest] = token

    def table_of(self, credentials: HTTPAuthorizationCredentials | None) -> str:
        """Return the table whose token was sent. Raises `Refusal`: 401 without a known one, 403 for a revoked one.

        The dictionary is asked for a hash, whose beginning tells nothing about a token; the last word has a comparison
        in constant time.
        """
        if credentials is None:
            raise _unauthorized("Send the table's token: Authorization: Bearer <token>.", 'Bearer realm="pitwatch"')
        digest = hashlib.sha256(credentials.credentials.encode("utf-8", "surrogatepass")).digest()
        token = self._by_hash.get(digest)
        known = bytes.fromhex(token.sha256) if token else bytes(32)
        if not hmac.compare_digest(known, digest) or token is None:
            raise _unauthorized("This token is not known here.", 'Bearer realm="pitwatch", error="invalid_token"')
        if token.revoked:
            raise Refusal(HTTPStatus.FORBIDDEN, "token-revoked", f"This token of table {token.table_id} was revoked.")
        return token.table_id


def _unauthorized(detail: str, challenge: str) -> Refusal:
    return Refusal(HTTPStatus.UNAUTHORIZED, "unauthorized", detail, {"WWW-Authenticate": challenge})
