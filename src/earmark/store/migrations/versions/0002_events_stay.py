"""Events are added and never changed: the database itself refuses anything else."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_REFUSAL = "the log of answers is append-only"


def upgrade() -> None:
    """Add triggers that refuse to change or to delete an event."""
    if op.get_bind().dialect.name == "sqlite":
        for what in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER earmark_events_no_{what.lower()} BEFORE {what} ON earmark_events "
                f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION earmark_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER earmark_events_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON earmark_events "
        "FOR EACH STATEMENT EXECUTE FUNCTION earmark_refuse()"
    )


def downgrade() -> None:
    """Remove the triggers."""
    if op.get_bind().dialect.name == "sqlite":
        for what in ("update", "delete"):
            op.execute(f"DROP TRIGGER earmark_events_no_{what}")
        return
    op.execute("DROP TRIGGER earmark_events_stay ON earmark_events")
    op.execute("DROP FUNCTION earmark_refuse()")
