"""Keeps what a notification URL says out of errors and logs: its tokens and passwords open somebody's messenger."""

import logging
import re
import threading
from typing import Final
from urllib.parse import unquote

_LOGGERS: Final = ("apprise", "oauthlib", "requests_oauthlib", "urllib3.connectionpool", "urllib3.util.retry")
"""Whoever may print a URL while a message is being sent."""

_DELIMITERS: Final = re.compile(r"[/:@?&=#,;|]+")
_HOST: Final = re.compile(r"^[\w.-]*\.[\w.-]*$|^localhost$")
_MIN_LENGTH: Final = 4
"""Shorter parts are words and numbers that occur everywhere."""


class Redaction(logging.Filter):
    """Replaces the parts of every URL it was told of by ``***``; as a filter, it also drops what is no warning."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._pattern: re.Pattern[str] | None = None
        self._secrets: set[str] = set()

    def learn(self, url: str) -> None:
        """Keep the parts of `url` secret from now on: all but its schema, its port and a host's name."""
        rest = url.partition("://")[2]
        parts = {part for text in (rest, unquote(rest)) for part in _DELIMITERS.split(text)}
        with self._lock:
            self._secrets |= {url} | {part for part in (rest, *parts) if _is_secret(part)}
            longest_first = sorted(self._secrets, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def redact(self, text: str) -> str:
        """Return `text` without any secret."""
        return self._pattern.sub("***", text) if self._pattern else text

    def filter(self, record: logging.LogRecord) -> bool:
        """Drop what is below a warning, where whole URLs and payloads are printed; clean what is not."""
        if record.levelno < logging.WARNING:
            return False
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text = f"{text}: {record.exc_info[1]}"
        record.msg, record.args, record.exc_info, record.exc_text = self.redact(text), None, None, None
        return True

    def guard_logs(self) -> None:
        """Clean whatever the libraries that send log, for the rest of the process. Idempotent."""
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(self)


def _is_secret(part: str) -> bool:
    return len(part) >= _MIN_LENGTH and not _HOST.match(part)
