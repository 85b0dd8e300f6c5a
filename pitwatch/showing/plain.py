"""A history as JSON: amounts in minor units of the currency named, moments in UTC, facts as they are."""

from collections.abc import Iterable
from datetime import datetime
from typing import cast

import msgspec
from pydantic import BaseModel

from pitwatch.commands.roads import as_plain
from pitwatch.history.telling import History
from pitwatch.showing import contents
from pitwatch.showing.contents import EvidenceLine, ShownRound
from pitwatch.showing.hands import DealtHand
from processors.reconstruct.state import RoundState
from schemas.cards import POINTS
from schemas.facts import BetFact, CommissionFact, DeadLetterFact, RoadFact, ShoeFact

Plain = dict[str, object]


def built(value: object) -> object:
    """Return a message, or a part of one, as JSON takes it."""
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else msgspec.to_builtins(value, str_keys=True)


def _all(values: Iterable[object]) -> list[object]:
    return [built(value) for value in values]


def _head(history: History) -> Plain:
    return {
        "table_id": history.table_id,
        "moment": built(history.moment),
        "currency": history.configuration.currency,
    }


def whole_table(history: History, now: datetime) -> Plain:
    """Return the table; `now` is the moment that the last event's age is counted to."""
    state, configuration = history.state, history.configuration
    shoe = contents.shoe_of(history, state.shoe.number) if state.shoe else None
    last = state.last_occurred_at
    return _head(history) | {
        "open": state.is_open,
        "pit": configuration.pit,
        "dealer_id": state.dealer_id,
        "configuration": built(configuration),
        "last_event": {
            "event_id": state.last_event_id,
            "occurred_at": built(last),
            "age_seconds": (now - last).total_seconds() if last else None,
        },
        "waits_for_events_before": history.waits,
        "seats": built(state.seats),
        "float_expected": state.expected_float,
        "commission_owed": built(state.ledger),
        "commission_in_doubt": built(state.doubtful_debts),
        "shoe": _shoe(shoe) if shoe else None,
        "round_in_play": _in_play(state.round),
        "standing_stakes": _all(state.standing.values()),
        "roads": as_plain(contents.roads_of(history.facts.of(RoadFact))),
        "hours": _all(contents.latest_hours(history)),
        "alerts": _all(contents.latest_alerts(history)),
    }


def one_shoe(history: History, found: ShoeFact) -> Plain:
    """Return a shoe with its rounds, roads and alerts."""
    return _head(history) | {
        "shoe": _shoe(found),
        "rounds": _all(contents.rounds_of(history)),
        "roads": as_plain(contents.roads_of(history.facts.of(RoadFact))),
        "alerts": _all(contents.alerts_of(history)),
        "refused": _all(history.facts.of(DeadLetterFact)),
    }


def _in_play(play: RoundState | None) -> Plain | None:
    """Return a round in play without what the fold notes for itself: its alerts are told apart."""
    if play is None:
        return None
    return {name: value for name, value in cast(Plain, built(play)).items() if name != "raised"}


def _shoe(found: ShoeFact) -> Plain:
    return cast(Plain, built(found)) | {"cards_left": contents.cards_left(found)}


def one_round(history: History, found: ShownRound) -> Plain:
    """Return a round with its hands, bets, alerts, and the events that it rests on."""
    play = found.play
    return _head(history) | {
        "shoe": history.scope.shoe,
        "round": history.scope.round,
        "status": found.status,
        "fact": built(found.fact),
        "in_play": _in_play(play),
        "hands": {name: _hand(hand) for name, hand in found.hands.items()},
        "bets": _all(play.bets.values() if play else history.facts.of(BetFact)),
        "commissions": _all(history.facts.of(CommissionFact)),
        "alerts": _all(contents.alerts_of(history)),
        "refused": _all(history.facts.of(DeadLetterFact)),
        "evidence": [_evidence(line) for line in contents.evidence_of(history)],
    }


def _hand(hand: DealtHand) -> Plain:
    return {
        "cards": [{"card": card, "points": POINTS[card]} for card in hand.cards],
        "total": hand.total,
        "third_card": hand.third._asdict() | {"wrong": hand.third.is_wrong} if hand.third else None,
    }


def _evidence(line: EvidenceLine) -> Plain:
    event, record = line.seen
    return {
        "event_id": event.event_id,
        "type": event.type,
        "occurred_at": built(event.occurred_at),
        "appended_at": built(record.appended_at),
        "partition": record.partition,
        "offset": record.offset,
        "corrected_by": [correction.event_id for correction in line.corrections],
        "refused": line.refused or None,
        "event": built(event),
    }
