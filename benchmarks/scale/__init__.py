"""How time and memory grow with a collection: ``python -m benchmarks.scale``."""
