"""The reference pages: committed as the code writes them, and every type, kind, field and code on them."""

import re
from pathlib import Path

import pytest

from schemas.alerts import ALERTS
from schemas.configuration import (
    Approval,
    BetOffer,
    Commission,
    GamingDay,
    RoundingPolicy,
    Shift,
    TableConfiguration,
)
from schemas.events import EVENT_TYPES, SYSTEM_EVENT_TYPES, Event
from schemas.facts import FACT_KEYS, FACT_KINDS, FACT_MODELS, Evidence, Fact
from schemas.reference import pages
from schemas.refusals import REFUSALS, STORE_REFUSALS
from schemas.topics import FACT_TOPICS
from schemas.upcasters import UPCASTERS
from schemas.wire import REASONS, SEALED, decode_event, encode

PAGES = pages()
COMMAND = "run `pitwatch schema reference --out docs` and commit what it writes"


def sections(page: str) -> dict[str, str]:
    """Return the text of every section of a page by its heading."""
    found: dict[str, str] = {}
    for section in ("\n" + PAGES[page]).split("\n#")[1:]:
        heading, _, text = section.partition("\n")
        found[heading.lstrip("# ")] = text
    return found


EVENTS, FACTS = sections("events.md"), sections("facts.md")


def rows(section: str) -> dict[str, list[str]]:
    """Return the cells of a section's table by what stands in the first one."""
    lines = [
        line.strip("| ").replace("\\|", "¦").split(" | ") for line in section.splitlines() if line.startswith("| ")
    ]
    return {cells[0].strip("`"): cells[1:] for cells in lines[2:]}


@pytest.mark.parametrize("name", PAGES)
def test_committed_page_is_what_the_code_says(repository: Path, name: str) -> None:
    committed = repository / "docs" / name
    assert committed.is_file(), COMMAND
    assert committed.read_text(encoding="utf-8") == PAGES[name], COMMAND


@pytest.mark.parametrize(("kind", "model"), EVENT_TYPES.items())
def test_event_type_is_described_with_every_field_of_its_own(kind: str, model: type[Event]) -> None:
    section = EVENTS[kind]
    assert section.strip()
    assert rows(section).keys() == model.model_fields.keys() - Event.model_fields.keys()
    assert ("Written by Pitwatch itself" in section) == (kind in SYSTEM_EVENT_TYPES)
    for of, version in UPCASTERS:
        assert (f"Version {version} is read too." in section) == (of == kind)


@pytest.mark.parametrize("kind", FACT_KINDS)
def test_kind_of_fact_is_described_with_key_topic_and_every_field(kind: str) -> None:
    section = FACTS[kind]
    assert rows(section).keys() == FACT_KINDS[kind].model_fields.keys() - Fact.model_fields.keys()
    assert f"Topic `{FACT_TOPICS[kind]}`." in section
    assert "Key: " + ", ".join(f"`{name}`" for name in FACT_KEYS[kind]) in section


def test_what_every_message_has_is_described_once() -> None:
    assert rows(EVENTS["Every event has"]).keys() == Event.model_fields.keys()
    assert rows(FACTS["Every fact has"]).keys() == Fact.model_fields.keys()
    assert rows(FACTS["Evidence"]).keys() == Evidence.model_fields.keys()


def test_every_part_of_a_configuration_is_described() -> None:
    for model in (TableConfiguration, BetOffer, Commission, RoundingPolicy, Approval, GamingDay, Shift):
        assert rows(EVENTS[model.__name__]).keys() == model.model_fields.keys()


@pytest.mark.parametrize("page", [EVENTS, FACTS], ids=["events", "facts"])
def test_no_cell_is_empty(page: dict[str, str]) -> None:
    for section in page.values():
        for name, cells in rows(section).items():
            assert name
            assert all(cell.strip() for cell in cells), name


@pytest.mark.parametrize("page", [EVENTS, FACTS], ids=["events", "facts"])
def test_links_lead_to_sections(page: dict[str, str]) -> None:
    for section in page.values():
        for part in section.split("](#")[1:]:
            assert part.split(")")[0] in {heading.lower() for heading in page}


def test_reasons_and_alert_codes_are_listed() -> None:
    listed = {name: cells[0] for name, cells in rows(EVENTS["What is refused"]).items()}
    # The second table and the third have heads too.
    listed = {name: meaning for name, meaning in listed.items() if name not in {"reason", "---"}}
    assert listed == REASONS | REFUSALS | STORE_REFUSALS
    assert set(SEALED.values()) <= listed.keys()
    assert {name: tuple(cells) for name, cells in rows(FACTS["Alert catalogue"]).items()} == ALERTS


def test_the_example_is_an_event() -> None:
    example = EVENTS["Events"].split("```json\n")[1].split("\n```")[0].encode()
    assert encode(decode_event(example)) == example


@pytest.mark.parametrize(
    ("section", "field", "cells"),
    [
        ("card_drawn", "position", ["whole number, 1 to 6", "required"]),
        ("card_drawn", "card", ["card, such as `10H` or `AS`", "required"]),
        ("card_burned", "card", ["card, such as `10H` or `AS`, or null", "null"]),
        ("bet_placed", "bet", ["bet of the catalogue", "required"]),
        ("bet_placed", "stake", ["whole number, 1 or more", "required"]),
        ("bet_placed", "posture", ["`seated`, `standing`", "`seated`"]),
        ("round_voided", "reason", ["text, at most 500 characters", "required"]),
        ("round_voided", "authorised_by", ["name", "required"]),
        ("correction", "target_event_id", ["event id", "required"]),
        ("correction", "changes", ["object", "none"]),
        ("table_silent", "silent_since", ["moment", "required"]),
        ("configuration_published", "configuration", ["[TableConfiguration](#tableconfiguration)", "required"]),
        ("TableConfiguration", "decks", ["whole number, 6 to 12", "`8`"]),
        ("TableConfiguration", "patron_may_hold_cards", ["true or false", "true"]),
        ("TableConfiguration", "commission", ["[Commission](#commission)", "see there"]),
        ("TableConfiguration", "approvals", ["list of [Approval](#approval)", "none"]),
        ("BetOffer", "odds", ["list of ratio, or null", "null"]),
        ("BetOffer", "effective_from", ["day, or null", "null"]),
        ("Every event has", "schema_version", ["whole number, 1 or more", "`1`"]),
        ("Every event has", "type", ["text", "required"]),
        ("Every event has", "follows", ["list of 2 × whole number, 0 or more, or null", "null"]),
    ],
)
def test_types_and_defaults_are_given_in_words(section: str, field: str, cells: list[str]) -> None:
    assert rows(EVENTS[section])[field][:2] == cells


def test_versions_later_than_the_first_are_named() -> None:
    assert "Version 2." in EVENTS["bet_placed"]
    assert "Version" not in EVENTS["card_drawn"]


def test_every_model_of_a_fact_is_on_the_page() -> None:
    assert len([heading for heading in FACTS if heading in FACT_KINDS]) == len(FACT_MODELS)


def test_every_reason_that_the_source_gives_is_listed() -> None:
    """Read from the source, so that a new refusal can't be forgotten here."""
    root = Path(__file__).parents[2] / "processors"
    given = re.compile(r'(?:_refuse\(entry, |Unusable\(\s*|dead_letter\([\w.]+, entry, |return )"([a-z_]+)", ')
    sources = [path.read_text() for path in (root / "reconstruct").glob("*.py")]
    found = {reason for text in sources for reason in given.findall(text)}
    assert {"conflict", "too_late", "numbering", "wrong_table", "correction", "no_such_bet"} <= found
    assert found <= REFUSALS.keys()
