"""Papers recomputed: one module per paper, its printed numbers as data, ours beside them."""
