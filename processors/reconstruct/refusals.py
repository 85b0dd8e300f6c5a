"""How the fold says that a well-formed event can't be used."""

from schemas.refusals import REFUSALS


class Unusable(Exception):
    """Raised for an event that is well formed and yet makes no sense where it stands; `reason` is one of `REFUSALS`."""

    def __init__(self, reason: str, detail: str) -> None:
        assert reason in REFUSALS
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
