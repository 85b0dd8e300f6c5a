"""How a running demonstration is shown: as a picture that keeps changing, or line by line where nobody watches."""

from contextlib import ExitStack
from types import TracebackType
from typing import Final, Protocol, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from pitwatch.floor_model import Floor
from pitwatch.floor_view import Status, screen
from pitwatch.floor_words import counts, percent, signed
from schemas.money import format_money

PICTURE_SECONDS: Final = 0.125
LINE_SECONDS: Final = 2.0


class Show(Protocol):
    """Shows a run; a context. `update` may be called as often as one likes."""

    def update(self, floor: Floor, status: Status, *, last: bool = False) -> None:
        """Show how things stand, now and then, and in any case the `last` time."""
        ...


class LiveShow:
    """Pictures on a terminal of its own, which gives the former one back at the end."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, screen=True, auto_refresh=False)
        self._resources = ExitStack()
        self._next = 0.0

    def __enter__(self) -> Self:
        self._resources.enter_context(self._live)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()

    def update(self, floor: Floor, status: Status, *, last: bool = False) -> None:
        """Draw the next picture when it is time for one."""
        if last or status.now >= self._next:
            self._next = status.now + PICTURE_SECONDS
            width, height = self._console.size
            self._live.update(screen(floor, status, width, height), refresh=True)


class LineShow:
    """A line every two seconds."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._next = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def update(self, floor: Floor, status: Status, *, last: bool = False) -> None:
        """Print the next line when it is time for one."""
        if last or status.now >= self._next:
            self._next = status.now + LINE_SECONDS
            self._console.print(progress_line(floor, status), soft_wrap=True)


def progress_line(floor: Floor, status: Status) -> Text:
    """Return how far the run is, on one line."""
    of_all = f"/{status.rounds:,}" if status.rounds else ""
    text = Text(f"{status.elapsed_seconds:6.1f} s  events {status.events:,} ({status.events_per_second:,.0f}/s)")
    text.append(f"  rounds {floor.rounds:,}{of_all}")
    for currency, money in sorted(floor.totals().items()):
        text.append(f"  handle {format_money(money.handle, currency)}  win ")
        text.append_text(signed(money.house_win, currency))
        text.append_text(Text.assemble(" ", percent(money.hold)))
    text.append_text(Text.assemble("  alerts ", counts(floor.severities)))
    if status.trouble:
        text.append(f"  ! {status.trouble}")
    return text
