"""What a rule says when it is broken."""

from typing import NamedTuple


class Finding(NamedTuple):
    """A breach of a rule: its `kind` in the alert catalogue, the article, what was due and what was done instead."""

    kind: str
    article: str
    expected: int | str
    actual: int | str
