"""A table whose configuration is in doubt: what rests on the configuration is then not judged.

The configuration in force is the one published last. A round that names another one was dealt under rules that nobody
knows. And where events of a table that publishes its own configuration were lost, a new one may be among them: until
it is published again, a round names it, or a winning bet is paid just as the known one says, a deviation that rests on
the configuration is no accusation but one more sign that there is another.
"""

from typing import Final

from processors.reconstruct.rows import Settled
from processors.reconstruct.state import RoundState, TableState
from processors.reconstruct.table import EvidenceRow, Table
from schemas.configuration import TableConfiguration
from schemas.events import ConfigurationPublished, Event, RoundOpened
from schemas.ids import SYSTEM_EPOCH

ANOTHER: Final = "?"
"""In place of the name of a configuration that may have been published unheard."""


def publish_configuration(table: Table, event: ConfigurationPublished) -> None:
    """Put a configuration in force from the next round on. A round in play keeps the one it began with."""
    state = table.state
    state.publishes_itself = state.publishes_itself or event.epoch != SYSTEM_EPOCH
    state.next_is_doubtful = False
    if state.round:
        state.next_configuration = event.configuration
    else:
        _put_in_force(table, event, event.configuration)


def end_round(table: Table, event: Event) -> None:
    """Put the configuration in force that was published during the round."""
    if table.state.next_configuration is not None:
        _put_in_force(table, event, table.state.next_configuration)


def _put_in_force(table: Table, event: Event, configuration: TableConfiguration) -> None:
    state = table.state
    table.configure(configuration, event.occurred_at)
    state.next_configuration = None
    state.is_doubtful, state.named, state.doubt_told = state.next_is_doubtful, "", ""


def doubt_configuration(state: TableState) -> None:
    """Events were lost: what the house publishes is in the log, what the table itself publishes may be among them."""
    if state.publishes_itself:
        state.is_doubtful = state.next_is_doubtful = True


def name_configuration(table: Table, event: RoundOpened) -> None:
    """Hold the configuration that a round says it is dealt under against the one in force."""
    state, named = table.state, event.configuration_id
    if named is None:
        return
    known = state.configuration.configuration_id if state.configuration else ""
    state.is_doubtful = named != known
    state.named = named if state.is_doubtful else ""
    if state.is_doubtful:
        _tell(table, event, known, named)
    else:
        state.doubt_told = ""


def are_rules_known(table: Table, event: Event, play: RoundState, settled: list[Settled]) -> bool:
    """Tell whether what the round's bets are due can be told, once they were judged as far as they may be."""
    state = table.state
    if not state.is_doubtful:
        return True
    if state.named:
        return False
    if play.withheld:
        assert state.configuration is not None
        _tell(table, event, state.configuration.configuration_id, ANOTHER)
        return False
    # Paid as due and nothing to object: the table deals as it did.
    state.is_doubtful = not any(owed is not None and owed.result == "win" for _, owed in settled)
    return True


def _tell(table: Table, event: Event, known: str, dealt_under: str) -> None:
    """Tell of the doubt, once for as long as it lasts."""
    if table.state.doubt_told != dealt_under:
        table.state.doubt_told = dealt_under
        evidence = EvidenceRow(expected=known or "–", actual=dealt_under)
        table.alert(event, "configuration_unknown", f"{dealt_under}:{event.event_id}", evidence, of_round=False)
