"""`pitwatch notifications`: how the messages to people's phones and desks stand."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from pitwatch.counting import counted
from pitwatch.workplace import DataOption, settings_for

if TYPE_CHECKING:
    from processors.notify.status import FailedSend, NotifierStatus, TargetStatus


def notifications(
    failed: Annotated[bool, typer.Option("--failed", help="List the messages given up, the newest first.")] = False,
    data: DataOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, times in UTC.")] = False,
) -> None:
    """Show how many messages each route's URLs wait for, got and never got, and what went wrong last.

    The process that owns the data directory may go on working meanwhile.
    """
    from processors.data_directory import check_there
    from processors.notify.database import FILE_NAME
    from processors.notify.status import read_failed, read_status

    directory = settings_for(data).data_directory
    check_there(directory)
    status = read_status(directory / FILE_NAME)
    given_up = read_failed(directory / FILE_NAME) if failed else ()
    if as_json:
        typer.echo(json.dumps(_plain(status, given_up, failed=failed), default=datetime.isoformat))
        return
    for line in _given_up(given_up, status.failed) if failed else _standing(status):
        typer.echo(line)


def _plain(status: "NotifierStatus", given_up: "Sequence[FailedSend]", *, failed: bool) -> dict[str, object]:
    def flat(entry: "TargetStatus | FailedSend") -> dict[str, object]:
        fields = asdict(entry)
        fields.pop("target")
        return {"route": entry.target.route, "url_index": entry.target.url_index, **fields}

    told: dict[str, object] = {
        "pending": status.pending,
        "sent": status.sent,
        "failed": status.failed,
        "collapsed": status.collapsed,
        "unreadable": status.unreadable,
        "targets": [flat(target) for target in status.targets],
    }
    return told | {"given_up": [flat(send) for send in given_up]} if failed else told


def _standing(status: "NotifierStatus") -> list[str]:
    lines = []
    for target in status.targets:
        lines.append(
            f"{_name(target)}: {target.pending:,} pending, {target.sent:,} sent, {target.failed:,} failed"
            + (f"; oldest pending since {target.oldest_pending_at:%F %T} UTC" if target.oldest_pending_at else "")
            + (f"; last sent {target.last_sent_at:%F %T} UTC" if target.last_sent_at else "")
        )
        if target.last_error_at:
            lines.append(f"  last error {target.last_error_at:%F %T} UTC: {target.last_error}")
    if status.collapsed:
        lines.append(f"{counted(status.collapsed, 'alert')} to be told of in a summary")
    if status.unreadable:
        lines.append(f"{counted(status.unreadable, 'record')} could not be read as alerts")
    return lines or ["no messages: no alert has concerned a route yet, or there is no route"]


def _given_up(sends: "Sequence[FailedSend]", number: int) -> list[str]:
    lines = [
        f"{send.failed_at:%F %T} UTC {_name(send)}: {send.title}, given up after"
        f" {counted(send.attempts, 'attempt')}: {send.error}"
        for send in sends
    ]
    more = [f"and {number - len(sends):,} older ones"] if number > len(sends) else []
    return lines + more or ["no message was given up"]


def _name(entry: "TargetStatus | FailedSend") -> str:
    return f"{entry.target.route} (URL {entry.target.url_index + 1})"
