"""The log that the settings name, where it can't be had: said in plain words, whichever it is."""

from pathlib import Path

import pytest

from processors.event_log import event_log
from processors.logs.lock import DataDirectoryUnusable
from processors.settings import KafkaSettings, Settings

ANYWHERE = KafkaSettings(bootstrap="127.0.0.1:9")


@pytest.mark.parametrize("kafka", [KafkaSettings(), ANYWHERE], ids=["the data directory's", "a cluster's"])
@pytest.mark.parametrize("place", ["file", "file/below"])
def test_data_directory_that_cannot_be_made_is_told(tmp_path: Path, kafka: KafkaSettings, place: str) -> None:
    (tmp_path / "file").write_text("")
    settings = Settings(data_directory=tmp_path / place, kafka=kafka)
    with pytest.raises(DataDirectoryUnusable, match="may create files") as found, event_log(settings):
        pass
    assert str(tmp_path / place) in str(found.value)
    assert found.value.__cause__ is not None
