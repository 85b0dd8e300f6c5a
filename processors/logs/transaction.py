"""What a transaction's block asks to be written, collected until its end."""

from collections.abc import Sequence

from schemas.log import MAX_MESSAGE_BYTES, LogError, MessageTooLong, Position

Messages = Sequence[tuple[str, bytes]]


class CollectedTransaction:
    """What a transaction's block asks to be written. Nothing reaches the log before the block's end.

    So the log isn't locked, nor its readers held up, while the block computes, and a block that fails leaves nothing to
    undo.
    """

    def __init__(self) -> None:
        self.messages: dict[str, list[tuple[str, bytes]]] = {}
        self.states: dict[str, bytes] = {}
        self.positions: list[Position] = []
        self._over = False

    def publish(self, topic: str, messages: Messages) -> None:
        """Add messages to `topic`, in order."""
        self._check_open()
        check_lengths(messages)
        if messages:
            self.messages.setdefault(topic, []).extend(messages)

    def save_state(self, key: str, state: bytes) -> None:
        """Replace the group's snapshot of `key`."""
        self._check_open()
        check_lengths([(key, state)])
        self.states[key] = state

    def commit(self, position: Position) -> None:
        """Put the group's place in the partition at `position`."""
        self._check_open()
        self.positions.append(position)

    def end(self) -> None:
        """Refuse everything from now on."""
        self._over = True

    def _check_open(self) -> None:
        if self._over:
            raise LogError("the transaction's block has ended, and with it the transaction. Open another")


def check_lengths(messages: Messages) -> None:
    """Raise `MessageTooLong` unless a log takes every one of `messages`."""
    for key, value in messages:
        if len(value) > MAX_MESSAGE_BYTES:
            raise MessageTooLong(
                f"a message of {key} has {len(value)} bytes, and a log takes at most {MAX_MESSAGE_BYTES}"
            )
