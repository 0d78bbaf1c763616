"""Alembic's home: every change of the tables since the first version, in ``versions``."""
