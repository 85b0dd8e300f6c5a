"""The facts of a shoe and of its roads, written out from what the fold remembers."""

from datetime import datetime

from processors.reconstruct.state import RoundState
from processors.reconstruct.table import Table
from processors.rules.road_layout import Cell
from schemas.events import Event
from schemas.facts import RoadFact, ShoeFact
from schemas.structs import struct_of

RoadRow = struct_of(RoadFact, tag="road", tag_field="fact")
ShoeRow = struct_of(ShoeFact, tag="shoe", tag_field="fact")


def emit_cells(table: Table, event: Event, play: RoundState, cells: list[Cell]) -> None:
    """Emit the cells of the drawn roads that a round has made or changed."""
    pit, table_id, at = table.rules.configuration.pit, table.state.table_id, event.occurred_at
    for cell in cells:
        table.emit(
            ("road", play.shoe, cell.road, cell.index),
            RoadRow(
                table_id=table_id,
                occurred_at=at,
                gaming_day=play.gaming_day,
                shift=play.shift,
                pit=pit,
                shoe=play.shoe,
                road=cell.road,
                index=cell.index,
                column=cell.column,
                row=cell.row,
                mark=cell.mark,
                ties=cell.ties,
                player_pair=cell.player_pair,
                banker_pair=cell.banker_pair,
                round=cell.round,
            ),
        )


def emit_shoe(
    table: Table,
    event: Event,
    status: str,
    *,
    day: tuple[str, str] | None = None,
    closed_at: datetime | None = None,
    reason: str = "",
) -> None:
    """Emit the shoe as it stands."""
    shoe = table.state.shoe
    assert shoe is not None
    gaming_day, shift = day or table.day_of(event.occurred_at)
    table.emit(
        ("shoe", shoe.number),
        ShoeRow(
            table_id=table.state.table_id,
            occurred_at=event.occurred_at,
            gaming_day=gaming_day,
            shift=shift,
            pit=table.rules.configuration.pit,
            shoe=shoe.number,
            status=status,  # type: ignore[arg-type]  # one of the fact's words, from the callers
            complete=shoe.complete,
            decks=shoe.decks,
            shuffling=shoe.shuffling,
            loaded_at=shoe.loaded_at,
            closed_at=closed_at,
            close_reason=reason,
            cut_by=shoe.cut_by,
            cards_behind_cut=shoe.cards_behind_cut,
            burned=shoe.burned,
            cards_out=shoe.cards_out,
            seen=shoe.seen.copy(),
            rounds=shoe.rounds,
            demonstrations=shoe.demonstrations,
            banker_wins=shoe.banker_wins,
            player_wins=shoe.player_wins,
            ties=shoe.ties,
            voids=shoe.voids,
            cut_card_round=shoe.cut_card_round,
        ),
    )
