"""Limits that hold for all processes together: how often somebody may still ask."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table of requests."""
    op.create_table(
        "earmark_usage",
        sa.Column("campaign", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("who", sa.String(length=64), nullable=False, comment="a keyed hash of who asks"),
        sa.Column("allowed", sa.Double(), nullable=False, comment="requests that were still welcome at that time"),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.Column("full", sa.BigInteger(), nullable=False, comment="when all is forgotten"),
        sa.ForeignKeyConstraint(["campaign"], ["earmark_campaigns.id"], name=op.f("fk_earmark_usage_campaign")),
        sa.PrimaryKeyConstraint("campaign", "who", name=op.f("pk_earmark_usage")),
    )


def downgrade() -> None:
    """Remove it."""
    op.drop_table("earmark_usage")
