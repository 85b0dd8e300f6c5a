"""Numbers of things, in words that agree with them."""


def counted(number: int, one: str, more: str = "") -> str:
    """Return how many there are of what: 1 line, 2 lines. `more` is for plurals that take more than an s."""
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"
