"""What the commands' tests share."""

import pytest

from tests.pitwatch.command_line import CommandLine


@pytest.fixture
def pitwatch(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> CommandLine:
    return CommandLine(monkeypatch, capsysbinary)
