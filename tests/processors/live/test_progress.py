"""What stands still is told from what has nothing to do."""

from processors.live.progress import Progress


def standing(progress: Progress[str], now: float, limit: float = 10) -> dict[str, float]:
    return dict(progress.standing(now, limit))


def test_stream_that_waits_and_doesnt_move_stands_still() -> None:
    progress = Progress[str]()
    progress.note("a", 5, 0)
    progress.note("a", 5, 8)
    assert standing(progress, 10) == {}
    assert standing(progress, 11) == {"a": 11}


def test_movement_either_way_begins_anew() -> None:
    progress = Progress[str]()
    for place, now in ((5, 0), (6, 8), (4, 16)):
        progress.note("a", place, now)
    assert standing(progress, 26) == {}
    assert standing(progress, 27) == {"a": 11}


def test_who_has_nothing_to_do_doesnt_stand_still() -> None:
    progress = Progress[str]()
    progress.note("a", 5, 0)
    progress.note("a", 5, 9, waiting=False)
    assert standing(progress, 19) == {}


def test_each_stream_is_judged_alone_and_those_given_up_not_at_all() -> None:
    progress = Progress[str]()
    for name in "abc":
        progress.note(name, 1, 0)
    progress.note("b", 2, 15)
    progress.keep({"b", "c"})
    assert standing(progress, 20) == {"c": 20}
    progress.forget("c")
    progress.forget("a")
    assert standing(progress, 30) == {"b": 15}


def test_standing_still_is_excused_for_what_was_away_and_no_longer() -> None:
    progress = Progress[str]()
    progress.note("a", 5, 0)
    progress.excuse(15)
    progress.note("a", 5, 20)
    assert standing(progress, 25) == {}
    assert standing(progress, 26) == {"a": 11}
