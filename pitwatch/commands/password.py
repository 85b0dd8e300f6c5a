"""`pitwatch password`: a new password for somebody who queries the store over HTTP."""

import json
from typing import Annotated

import typer
from pydantic import ValidationError


def password(
    name: Annotated[str, typer.Argument(help="The user, such as an analyst or grafana.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make a password for a reader of the store. Shown once: the settings keep its hash, which needs no secrecy."""
    from processors.sql.settings import SqlUser
    from processors.sql.users import mint_password

    secret, sha256 = mint_password()
    try:
        SqlUser(name=name, password_sha256=sha256)
    except ValidationError:
        raise typer.BadParameter(
            f"{name[:60]!r} is no user's name: 1 to 63 letters, digits and _ , the first no digit", param_hint="NAME"
        ) from None
    if as_json:
        typer.echo(json.dumps({"name": name, "password": secret, "password_sha256": sha256}))
        return
    typer.echo(f"The password of {name}, shown only now; below it, for the settings:", err=True)
    typer.echo(secret)
    typer.echo(f'[[sql.users]]\nname = "{name}"\npassword_sha256 = "{sha256}"')
