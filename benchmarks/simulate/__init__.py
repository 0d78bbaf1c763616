"""Simulated campaigns: time and memory, beside what the peer was recorded to take."""
