"""Asking many people: benchmarks of preferences, questions and traps, agreement, and answers put together."""
