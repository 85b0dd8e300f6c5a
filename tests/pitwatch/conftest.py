"""What the commands' tests share."""

import logging
from collections.abc import Iterator

import pytest
import structlog

from tests.pitwatch.command_line import CommandLine


@pytest.fixture
def configured_logs() -> Iterator[None]:
    """Leave logging to the other tests as it was."""
    root, before = logging.getLogger(), structlog.get_config()
    handlers, level = root.handlers, root.level
    yield
    structlog.configure(**before)
    root.handlers = handlers
    root.setLevel(level)


@pytest.fixture
def pitwatch(
    configured_logs: None, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> CommandLine:
    return CommandLine(monkeypatch, capsysbinary)
