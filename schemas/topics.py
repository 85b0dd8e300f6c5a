"""The topics of the log: one of device events, one of facts per kind, one of table snapshots.

All are keyed by table and divided into the same number of partitions, so that what belongs to a table is in the
partition of one number, whatever the topic.
"""

from typing import Final, NamedTuple

from schemas.facts import FACT_KINDS


class Topic(NamedTuple):
    """A topic's name, and how it is kept.

    `compacted`: of each key only the newest message stays. `droppable`: a floor may have what is old dropped, because
    it can be worked out from the events again.
    """

    name: str
    purpose: str
    compacted: bool = False
    droppable: bool = False


TABLE_EVENTS: Final = "table-events"
TABLE_STATES: Final = "table-states"

FACT_TOPICS: Final[dict[str, str]] = {
    "round": "rounds",
    "bet": "bets",
    "commission": "commissions",
    "road": "roads",
    "shoe": "shoes",
    "table_hour": "table-hours",
    "alert": "alerts",
    "dead_letter": "dead-letters",
}
"""Topic of each kind of fact."""

assert FACT_TOPICS.keys() == FACT_KINDS.keys()

TOPICS: Final[tuple[Topic, ...]] = (
    Topic(TABLE_EVENTS, "What the tables sent, keyed by table, in order of arrival."),
    Topic(TABLE_STATES, "The newest snapshot of each table's fold.", compacted=True),
    Topic("rounds", "Rounds as reconstructed.", droppable=True),
    Topic("bets", "Bets as they were settled.", droppable=True),
    Topic("commissions", "Entries of the commission ledgers.", droppable=True),
    Topic("roads", "Cells of the drawn roads.", droppable=True),
    Topic("shoes", "Shoes: procedure, composition, counts.", droppable=True),
    Topic("table-hours", "Sums of each table's hours.", droppable=True),
    Topic("alerts", "Deviations found.", droppable=True),
    Topic("dead-letters", "Messages that could not be used, with their bytes.", droppable=True),
)
