"""The contract for other programs: JSON Schemas of its messages, and an AsyncAPI document of its topics.

Everything is worked out from the models, so the committed files can't say anything else; a test compares them.
"""

from collections.abc import Iterable
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema

from schemas.configuration import TableConfiguration
from schemas.events import EVENT_TYPES, SYSTEM_EVENT_TYPES
from schemas.facts import FACT_KEYS, FACT_KINDS
from schemas.topics import FACT_TOPICS, TABLE_EVENTS, TABLE_STATES, TOPICS, Topic

Document = dict[str, Any]

VERSION: Final = "1.0.0"
"""Version of the contract as a whole: the first number changes when a reader has to."""

JSON_SCHEMA: Final = "https://json-schema.org/draft/2020-12/schema"
_KAFKA_BINDING: Final = "0.5.0"

# What the tables may send; what readers of facts can rely on, where every field is written out.
_EVENTS: Final[JsonSchemaMode] = "validation"
_FACTS: Final[JsonSchemaMode] = "serialization"


class _Plain(GenerateJsonSchema):
    """Leaves out the title of every field, which would only repeat its name."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401, ARG002  pydantic's own signature
        return False


def documents() -> dict[str, Document]:
    """Return every document of the contract by the path of its file."""
    return {
        "asyncapi.json": asyncapi(),
        "json/table_configuration.json": _document(TableConfiguration, _EVENTS, "table_configuration"),
        **{f"json/events/{kind}.json": event_schema(kind) for kind in EVENT_TYPES},
        **{f"json/facts/{kind}.json": fact_schema(kind) for kind in FACT_KINDS},
    }


def event_schema(kind: str) -> Document:
    """Return the JSON Schema of an event type, in its newest version. Raises `KeyError` for any other name."""
    model = EVENT_TYPES[kind]
    return _document(model, _EVENTS, f"event:{kind}:{model.model_fields['schema_version'].default}", "type")


def fact_schema(kind: str) -> Document:
    """Return the JSON Schema of a kind of fact. Raises `KeyError` for any other name."""
    return _document(FACT_KINDS[kind], _FACTS, f"fact:{kind}", "fact")


def asyncapi() -> Document:
    """Return an AsyncAPI 3.0 document: topics, what is written to them and by which key, and who writes."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Pitwatch",
            "version": VERSION,
            "description": "Events of baccarat tables, and the rounds, bets, roads, shoes and alerts made from them.",
            "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {topic.name: _channel(topic) for topic in TOPICS},
        "operations": _operations(),
        "components": {"messages": _messages(), "schemas": _components()},
    }


def _channel(topic: Topic) -> Document:
    kafka: Document = {"topic": topic.name, "bindingVersion": _KAFKA_BINDING}
    if topic.compacted:
        kafka["topicConfiguration"] = {"cleanup.policy": ["compact"]}
    return {
        "address": topic.name,
        "description": topic.purpose,
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in _messages_of(topic.name)},
        "bindings": {"kafka": kafka},
    }


def _messages_of(topic: str) -> list[str]:
    if topic == TABLE_EVENTS:
        return list(EVENT_TYPES)
    return ["table_state"] if topic == TABLE_STATES else [kind for kind, name in FACT_TOPICS.items() if name == topic]


def _operations() -> Document:
    """Return what Pitwatch does with each topic: it reads and adds to the events, and writes everything else."""
    own = sorted(SYSTEM_EVENT_TYPES | {"correction"})
    return {
        "read-events": _operation("receive", TABLE_EVENTS, "Read what the tables send."),
        "write-events": _operation("send", TABLE_EVENTS, "Add decisions that needed a clock or a person.", own),
        "read-states": _operation("receive", TABLE_STATES, "Take up the work of a worker that stopped."),
        "write-states": _operation("send", TABLE_STATES, "Save a table's snapshot together with its facts."),
        **{
            f"write-{topic}": _operation("send", topic, f"Publish facts of kind {kind}.")
            for kind, topic in FACT_TOPICS.items()
        },
    }


def _operation(action: str, topic: str, summary: str, messages: Iterable[str] = ()) -> Document:
    operation: Document = {"action": action, "channel": {"$ref": f"#/channels/{topic}"}, "summary": summary}
    if chosen := [{"$ref": f"#/channels/{topic}/messages/{name}"} for name in messages]:
        operation["messages"] = chosen
    return operation


def _messages() -> Document:
    state = {
        "name": "table_state",
        "summary": "A table's snapshot, for Pitwatch's own workers only.",
        "contentType": "application/octet-stream",
        "bindings": _key("The table's id."),
    }
    return {
        **{kind: _message(kind, model, "The table's id.") for kind, model in EVENT_TYPES.items()},
        **{
            kind: _message(kind, model, "The table's id.") | {"x-natural-key": list(FACT_KEYS[kind])}
            for kind, model in FACT_KINDS.items()
        },
        "table_state": state,
    }


def _message(name: str, model: type[BaseModel], key: str) -> Document:
    return {
        "name": name,
        "summary": summary_of(model),
        "payload": {"$ref": f"#/components/schemas/{model.__name__}"},
        "bindings": _key(key),
    }


def _key(meaning: str) -> Document:
    return {"kafka": {"key": {"type": "string", "description": meaning}, "bindingVersion": _KAFKA_BINDING}}


def _components() -> Document:
    inputs: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        *((model, _EVENTS) for model in EVENT_TYPES.values()),
        *((model, _FACTS) for model in FACT_KINDS.values()),
    ]
    _, found = models_json_schema(inputs, ref_template="#/components/schemas/{model}", schema_generator=_Plain)
    schemas: Document = {name: _plain(schema) for name, schema in found["$defs"].items()}
    for tag, models in (("type", EVENT_TYPES), ("fact", FACT_KINDS)):
        for model in models.values():
            _require(schemas[model.__name__], tag)
    return schemas


def _document(model: type[BaseModel], mode: JsonSchemaMode, identity: str, tag: str = "") -> Document:
    schema = _plain(model.model_json_schema(mode=mode, schema_generator=_Plain))
    if tag:
        _require(schema, tag)
    return {"$schema": JSON_SCHEMA, "$id": f"urn:pitwatch:{identity}", **schema}


def _require(schema: Document, tag: str) -> None:
    """Make the tag a required field: in Python it has a default, on the wire it tells the messages apart."""
    schema["properties"][tag].pop("default", None)
    schema["properties"][tag]["description"] = "Tells the messages apart."
    schema["required"] = [tag, *(name for name in schema["required"] if name != tag)]


def _plain(schema: Any) -> Any:  # noqa: ANN401  any part of a schema
    """Return the schema without what drafts differ in: a pair of equals is a list of two."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {name: _plain(part) for name, part in schema.items()}
    if "prefixItems" in plain:
        first, *others = plain.pop("prefixItems")
        assert all(other == first for other in others)
        plain["items"] = first
    return plain


def summary_of(model: type[BaseModel]) -> str:
    """Return the first paragraph of a model's docstring on one line."""
    return " ".join((model.__doc__ or "").split("\n\n", maxsplit=1)[0].split())
