"""A simulated floor: seeded, lazy, labelled, and independent of the rules it is used to check.

It deals and settles by code of its own (`dealing`, `settlement`), not by Pitwatch's rules, so that the two can be held
against each other; what they share is the contract and the bet catalogue.
"""

from producers.simulator.controller import Arrival
from producers.simulator.floor import simulate, table_stream
from producers.simulator.labels import INJECTABLE, Label, read_labels
from producers.simulator.layouts import LAYOUTS, mixed_floor, simulated_table
from producers.simulator.settings import Deviations, FloorSettings, SimulatedTable, Telemetry, start_before
from producers.simulator.writer import Written, labels_beside, write

__all__ = [
    "INJECTABLE",
    "LAYOUTS",
    "Arrival",
    "Deviations",
    "FloorSettings",
    "Label",
    "SimulatedTable",
    "Telemetry",
    "Written",
    "labels_beside",
    "mixed_floor",
    "read_labels",
    "simulate",
    "simulated_table",
    "start_before",
    "table_stream",
    "write",
]
