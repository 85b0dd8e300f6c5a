"""`pitwatch token`: a new token with which a table's controller shows the gateway who it is."""

import json
from typing import Annotated

import typer


def token(
    table: Annotated[str, typer.Argument(help="The table.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make a token for a table. It is shown once; the settings keep its hash, which needs no secrecy."""
    from producers.gateway.auth import mint_token

    try:
        minted = mint_token(table)
    except ValueError:
        raise typer.BadParameter(
            f"{table[:60]!r} is no table id: 1 to 40 letters, digits and _ . -, the first a letter or digit",
            param_hint="TABLE",
        ) from None
    digest = minted.entry.sha256
    if as_json:
        typer.echo(json.dumps({"table_id": table, "token": minted.secret, "sha256": digest}))
        return
    typer.echo(f"The token for {table}'s controller, shown only now; below it, for the table's settings:", err=True)
    typer.echo(minted.secret)
    typer.echo(f'tokens_sha256 = ["{digest}"]')
