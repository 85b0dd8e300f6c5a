"""The exported documents: valid, complete, committed as they are, and in agreement with what is decoded."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pitwatch.commands.schema import as_text
from schemas.configuration import PRESETS
from schemas.events import EVENT_TYPES
from schemas.export import JSON_SCHEMA, Document, asyncapi, documents, event_schema, fact_schema
from schemas.facts import FACT_KEYS, FACT_KINDS
from schemas.topics import FACT_TOPICS, TABLE_EVENTS, TOPICS
from schemas.wire import InvalidEvent, decode_event, encode
from tests.schemas.messages import ODD_TOKENS, Json, as_bytes, event, valid_events
from tests.schemas.test_facts import any_fact, twin_of

DOCUMENTS = documents()
ASYNCAPI = DOCUMENTS["asyncapi.json"]
SCHEMAS = {path: document for path, document in DOCUMENTS.items() if path != "asyncapi.json"}
VALIDATORS = {path: jsonschema.Draft202012Validator(document) for path, document in SCHEMAS.items()}

COMMAND = "run `pitwatch schema export --out schemas` and commit what it writes"


def parts(document: object) -> Iterator[Document]:
    """Yield every object inside a document."""
    if isinstance(document, dict):
        yield document
    for part in document.values() if isinstance(document, dict) else document if isinstance(document, list) else ():
        yield from parts(part)


def resolved(document: Document, reference: str) -> Any:  # noqa: ANN401  any part of a document
    found: Any = document
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    return found


@pytest.mark.parametrize("path", DOCUMENTS)
def test_committed_document_is_what_the_code_says(repository: Path, path: str) -> None:
    committed = repository / "schemas" / path
    assert committed.is_file(), COMMAND
    assert committed.read_text(encoding="utf-8") == as_text(DOCUMENTS[path]), COMMAND


def test_no_committed_document_is_left_over(repository: Path) -> None:
    folder = repository / "schemas"
    committed = {path.relative_to(folder).as_posix() for path in folder.rglob("*.json")}
    assert committed == DOCUMENTS.keys(), COMMAND


def test_every_message_has_a_document() -> None:
    assert {f"json/events/{kind}.json" for kind in EVENT_TYPES} < DOCUMENTS.keys()
    assert {f"json/facts/{kind}.json" for kind in FACT_KINDS} < DOCUMENTS.keys()
    assert len(DOCUMENTS) == len(EVENT_TYPES) + len(FACT_KINDS) + 2


@pytest.mark.parametrize("path", SCHEMAS)
def test_schema_is_valid_by_its_own_metaschema(path: str) -> None:
    assert SCHEMAS[path]["$schema"] == JSON_SCHEMA
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[path])


def test_schemas_are_named_apart() -> None:
    assert len({document["$id"] for document in SCHEMAS.values()}) == len(SCHEMAS)


@pytest.mark.parametrize("path", DOCUMENTS)
def test_references_lead_somewhere(path: str) -> None:
    for part in parts(DOCUMENTS[path]):
        if "$ref" in part:
            assert resolved(DOCUMENTS[path], part["$ref"]) is not None


@pytest.mark.parametrize("path", SCHEMAS)
def test_every_object_and_field_is_described(path: str) -> None:
    for part in parts(SCHEMAS[path]):
        if "properties" in part:
            assert part["description"]
            for name, field in part["properties"].items():
                assert field.get("description"), f"{part['title']}.{name} says nothing of what it means"


@pytest.mark.parametrize(
    "name", ["amount", "stake", "float", "minimum", "maximum", "multiple", "paid", "due", "handle"]
)
def test_amounts_say_their_unit(name: str) -> None:
    described = [
        field["description"]
        for document in SCHEMAS.values()
        for part in parts(document)
        for key, field in part.get("properties", {}).items()
        if key == name or key.endswith(f"_{name}")
    ]
    assert described
    assert all("inor units" in description for description in described)


@given(valid_events())
def test_events_fit_their_schema_as_sent_and_as_written_again(message: Json) -> None:
    validator = VALIDATORS[f"json/events/{message['type']}.json"]
    validator.validate(message)
    validator.validate(json.loads(encode(decode_event(as_bytes(message)))))


@given(any_fact)
def test_facts_fit_their_schema(fields: Json) -> None:
    VALIDATORS[f"json/facts/{fields['fact']}.json"].validate(json.loads(encode(twin_of(fields))))


@pytest.mark.parametrize("name", PRESETS)
def test_presets_fit_the_schema_of_a_configuration(name: str) -> None:
    VALIDATORS["json/table_configuration.json"].validate(PRESETS[name].model_dump(mode="json"))


def told_apart(token: str) -> bool:
    """Tell whether a token is JSON, and one that JSON Schema and Python's patterns read as the contract does.

    To JSON Schema 1.0 is an integer, and `$` in Python lets a last newline pass.
    """
    try:
        value = json.loads(token)
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        return False
    return not isinstance(value, float) and value != "AS\n"


TELLING_TOKENS = [token for token in ODD_TOKENS if told_apart(token)]


@given(st.sampled_from(list(EVENT_TYPES)), st.data())
def test_what_a_schema_refuses_is_no_event(kind: str, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(EVENT_TYPES[kind].model_fields)))
    message = event(kind) | {name: json.loads(data.draw(st.sampled_from(TELLING_TOKENS)))}
    if not VALIDATORS[f"json/events/{kind}.json"].is_valid(message):
        with pytest.raises(InvalidEvent):
            decode_event(as_bytes(message))


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_schema_of_an_event_asks_for_what_the_models_ask_for(kind: str) -> None:
    needed = [name for name, field in EVENT_TYPES[kind].model_fields.items() if field.is_required()]
    assert event_schema(kind)["required"] == ["type", *needed]


@pytest.mark.parametrize("kind", FACT_KINDS)
def test_schema_of_a_fact_promises_every_field(kind: str) -> None:
    assert set(fact_schema(kind)["required"]) == set(FACT_KINDS[kind].model_fields)


def test_channels_are_the_topics() -> None:
    channels = ASYNCAPI["channels"]
    assert [(name, channel["address"]) for name, channel in channels.items()] == [(t.name, t.name) for t in TOPICS]
    compacted = {name for name, channel in channels.items() if "topicConfiguration" in channel["bindings"]["kafka"]}
    assert compacted == {topic.name for topic in TOPICS if topic.compacted}


def test_every_message_is_on_the_channel_it_is_written_to() -> None:
    channels = {name: set(channel["messages"]) for name, channel in ASYNCAPI["channels"].items()}
    assert channels.pop(TABLE_EVENTS) == EVENT_TYPES.keys()
    assert channels.pop("table-states") == {"table_state"}
    assert channels == {topic: {kind} for kind, topic in FACT_TOPICS.items()}
    assert set().union(*(channel["messages"] for channel in ASYNCAPI["channels"].values())) == set(messages())


def messages() -> Json:
    return dict(ASYNCAPI["components"]["messages"])


@pytest.mark.parametrize("kind", [*EVENT_TYPES, *FACT_KINDS])
def test_message_has_a_key_and_the_payload_of_its_schema(kind: str) -> None:
    message = messages()[kind]
    assert message["name"] == kind
    assert message["summary"]
    assert message["bindings"]["kafka"]["key"]["type"] == "string"
    payload = resolved(ASYNCAPI, message["payload"]["$ref"])
    alone = event_schema(kind) if kind in EVENT_TYPES else fact_schema(kind)
    assert payload["required"] == alone["required"]
    assert payload["properties"].keys() == alone["properties"].keys()
    assert message.get("x-natural-key", []) == list(FACT_KEYS.get(kind, ()))


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_payload_accepts_what_is_an_event(kind: str) -> None:
    schema = {"$ref": messages()[kind]["payload"]["$ref"], "components": ASYNCAPI["components"]}
    jsonschema.Draft202012Validator(schema).validate(event(kind))
    # AsyncAPI's own dialect grew out of draft 7; what is exported means the same in both.
    jsonschema.Draft7Validator(schema).validate(event(kind))


def test_operations_use_channels_and_their_messages() -> None:
    written = set()
    for operation in ASYNCAPI["operations"].values():
        assert operation["action"] in {"send", "receive"}
        channel = operation["channel"]["$ref"]
        assert resolved(ASYNCAPI, channel)
        for message in operation.get("messages", ()):
            assert message["$ref"].startswith(f"{channel}/messages/")
        if operation["action"] == "send":
            written.add(channel.rsplit("/", 1)[1])
    assert written == {topic.name for topic in TOPICS}


def test_document_names_its_own_version_of_asyncapi() -> None:
    assert asyncapi() == ASYNCAPI
    assert ASYNCAPI["asyncapi"] == "3.0.0"
    assert ASYNCAPI["info"]["title"] == "Pitwatch"
    assert ASYNCAPI["defaultContentType"] == "application/json"


@pytest.mark.parametrize("of", [event_schema, fact_schema])
def test_an_unknown_name_has_no_schema(of: Any) -> None:  # noqa: ANN401
    with pytest.raises(KeyError):
        of("rounds")
