"""What is made up or played through: synthetic collections, and campaigns in which recorded judgments answer.

What is named here is loaded when it is first used.
"""

from typing import TYPE_CHECKING

from earmark._lazy import lazily

if TYPE_CHECKING:
    from earmark.simulation.campaigns import Outcome as Outcome
    from earmark.simulation.campaigns import Simulation as Simulation
    from earmark.simulation.campaigns import Study as Study
    from earmark.simulation.campaigns import simulate as simulate
    from earmark.simulation.diagnosis import Diagnosis as Diagnosis
    from earmark.simulation.diagnosis import diagnose as diagnose
    from earmark.simulation.srbench import simulated_srbench as simulated_srbench
    from earmark.simulation.synthetic import SyntheticCollection as SyntheticCollection
    from earmark.simulation.synthetic import synthetic_collection as synthetic_collection

_HOMES = {
    "earmark.simulation.campaigns": ("Outcome", "Simulation", "Study", "simulate"),
    "earmark.simulation.diagnosis": ("Diagnosis", "diagnose"),
    "earmark.simulation.srbench": ("simulated_srbench",),
    "earmark.simulation.synthetic": ("SyntheticCollection", "synthetic_collection"),
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
