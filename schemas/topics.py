"""The topics of the log: one of device events, one of facts per kind, one of table snapshots."""

from typing import Final, NamedTuple

from schemas.facts import FACT_KINDS


class Topic(NamedTuple):
    """A topic's name and how it is kept: by time, or compacted to the newest message of each key."""

    name: str
    purpose: str
    compacted: bool = False


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
    Topic("rounds", "Rounds as reconstructed."),
    Topic("bets", "Bets as they were settled."),
    Topic("commissions", "Entries of the commission ledgers."),
    Topic("roads", "Cells of the drawn roads."),
    Topic("shoes", "Shoes: procedure, composition, counts."),
    Topic("table-hours", "Sums of each table's hours."),
    Topic("alerts", "Deviations found."),
    Topic("dead-letters", "Messages that could not be used, with their bytes."),
)
