"""`pitwatch schema`: the contract written out for other programs and for readers."""

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Write out the contract: JSON Schemas, AsyncAPI, reference pages.")

Folder = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write files there instead of printing.")]


@app.command()
def export(out: Folder = None) -> None:
    """Print the AsyncAPI document, or write it and every message's JSON Schema into a folder."""
    from schemas.export import asyncapi, documents

    if out is None:
        typer.echo(as_text(asyncapi()), nl=False)
    else:
        write({path: as_text(document) for path, document in documents().items()}, out)


@app.command()
def reference(out: Folder = None) -> None:
    """Print the reference of events and facts in Markdown, or write its pages into a folder."""
    from schemas.reference import pages

    if out is None:
        typer.echo("\n".join(pages().values()), nl=False)
    else:
        write(pages(), out)


def as_text(document: dict[str, object]) -> str:
    """Return a document as the text of its file: indented JSON that ends with a newline."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def write(texts: dict[str, str], folder: Path) -> None:
    """Write every text to its path under `folder`. Raises `typer.BadParameter` where that can't be done."""
    try:
        for name, text in texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"can't write there: {error}", param_hint="--out") from error
    typer.echo(f"{len(texts)} files written into {folder}", err=True)
