"""How a run is shown: pictures at their pace on a terminal, lines at theirs elsewhere, and always the last one."""

import io

from rich.console import Console

from pitwatch.demonstration.shows import LINE_SECONDS, PICTURE_SECONDS, LineShow, LiveShow, progress_line
from pitwatch.floor_model import Floor
from pitwatch.floor_view import Status
from tests.pitwatch.floor_facts import alert_fact, round_fact

STATUS = Status("floor", speed=1, now=50.0, elapsed_seconds=7.25, rounds=80, events=1234, events_per_second=99.6)


def floor() -> Floor:
    made = Floor()
    made.take([round_fact(handle=123_400, house_win=-1_200), alert_fact("overpaid")], 0.0)
    return made


def test_a_line_says_how_far_the_run_is() -> None:
    line = progress_line(floor(), STATUS).plain
    assert line == ("   7.2 s  events 1,234 (100/s)  rounds 1/80  handle HKD 1,234.00  win -12 -0.97 %  alerts ■1")
    assert progress_line(floor(), STATUS._replace(trouble="sink: full")).plain.endswith("! sink: full")


def test_lines_come_at_their_pace_and_the_last_one_always() -> None:
    console = Console(file=io.StringIO(), width=200)
    with LineShow(console) as show:
        for now in (50.0, 50.0 + LINE_SECONDS / 2, 50.0 + LINE_SECONDS):
            show.update(floor(), STATUS._replace(now=now))
        show.update(floor(), STATUS._replace(now=50.1 + LINE_SECONDS), last=True)
    assert isinstance(console.file, io.StringIO)
    assert len(console.file.getvalue().splitlines()) == 3


def test_pictures_come_at_their_pace_on_a_screen_of_their_own() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80, height=24)
    with LiveShow(console) as show:
        for turn in range(4):
            show.update(floor(), STATUS._replace(now=50.0 + turn * PICTURE_SECONDS / 2))
        show.update(floor(), STATUS._replace(now=50.0), last=True)
    assert isinstance(console.file, io.StringIO)
    written = console.file.getvalue()
    assert written.count("PITWATCH") == 3
    assert written.startswith("\x1b[?1049h")
    assert "\x1b[?1049l" in written
    assert "\x1b[2J" not in written
