"""How Alembic reaches the database: by the connection that :mod:`earmark.store.migrate` hands over."""

from __future__ import annotations

from alembic import context

from earmark.store.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    # SQLite changes a column by making the table anew.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
