"""What is made up or played through: synthetic collections, and campaigns in which recorded judgments answer."""

from earmark.simulation.synthetic import SyntheticCollection, synthetic_collection

__all__ = ["SyntheticCollection", "synthetic_collection"]
