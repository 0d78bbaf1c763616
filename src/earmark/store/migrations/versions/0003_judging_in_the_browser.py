"""Judging in the browser: links and sessions of organisers, links of the pilot, how far people are, and paid work."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add columns and the tables of sessions and of paid work."""
    failure = "why there are no new estimates, in words; null where there are"
    op.add_column("earmark_campaigns", sa.Column("failure", sa.Text(), nullable=True, comment=failure))
    if op.get_bind().dialect.name != "sqlite":
        op.alter_column("earmark_assessors", "state", comment="active, paused, rejected or pilot")
        told = "the whole of the newest, JSON; of earlier ones what the stop rule watched"
        op.alter_column("earmark_estimates", "body", comment=told)
    for name, kind, comment in (
        ("consent", sa.String(length=64), "the version of the consent text that the person agreed to"),
        ("questionnaire", sa.Text(), "what the person said about themselves, JSON"),
        ("prepared", sa.Text(), "when the sound check and the training were done, JSON"),
    ):
        op.add_column("earmark_people", sa.Column(name, kind, nullable=True, comment=comment))
    op.add_column(
        "earmark_invitations",
        sa.Column(
            "role",
            sa.String(length=16),
            nullable=False,
            server_default="assessor",
            comment="assessor, pilot or organiser",
        ),
    )
    paid_work = "the number of the paid work that it is for; null for all others"
    op.add_column("earmark_invitations", sa.Column("sitting", sa.Integer(), nullable=True, comment=paid_work))
    op.create_table(
        "earmark_sessions",
        sa.Column("token", sa.String(length=64), nullable=False, comment="a hash of what the organiser's cookie holds"),
        sa.Column("campaign", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("link", sa.String(length=64), nullable=False, comment="the invitation that it was opened with"),
        sa.Column("expires", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["earmark_campaigns.id"], name=op.f("fk_earmark_sessions_campaign")),
        sa.PrimaryKeyConstraint("token", name=op.f("pk_earmark_sessions")),
    )
    op.create_table(
        "earmark_sittings",
        sa.Column("campaign", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("platform", sa.String(length=16), nullable=False, comment="prolific or mturk"),
        sa.Column(
            "assignment", sa.String(length=128), nullable=False, comment="the platform's id of one paid piece of work"
        ),
        sa.Column("assessor", sa.Text(), nullable=False),
        sa.Column(
            "number", sa.Integer(), nullable=False, comment="counts those of one assessor; the log knows them by it"
        ),
        sa.Column("study", sa.Text(), nullable=True, comment="the platform's id of the study or task"),
        sa.Column("began", sa.BigInteger(), nullable=False),
        sa.Column("ended", sa.BigInteger(), nullable=True, comment="when the work was handed in"),
        sa.Column("answers_before", sa.Integer(), nullable=False, comment="of this person that do not belong to it"),
        sa.Column(
            "answers", sa.Integer(), nullable=True, comment="given in it; null for the one that the person is in"
        ),
        sa.Column("submit_to", sa.Text(), nullable=True, comment="where the platform wants to be told of the end"),
        sa.Column(
            "settled", sa.BigInteger(), nullable=True, comment="when a file for the platform was last made of it"
        ),
        sa.Column("decision", sa.String(length=16), nullable=True, comment="in such a file: approve or reject"),
        sa.Column("owed", sa.Double(), nullable=True, comment="when the decision was written"),
        sa.Column("bonus", sa.Double(), nullable=True, comment="in files for the platform so far"),
        sa.ForeignKeyConstraint(["campaign"], ["earmark_campaigns.id"], name=op.f("fk_earmark_sittings_campaign")),
        sa.PrimaryKeyConstraint("campaign", "platform", "assignment", name=op.f("pk_earmark_sittings")),
    )
    op.create_index(
        op.f("ix_earmark_sittings_campaign_assessor"), "earmark_sittings", ["campaign", "assessor"], unique=False
    )


def downgrade() -> None:
    """Remove them."""
    if op.get_bind().dialect.name != "sqlite":
        op.alter_column("earmark_assessors", "state", comment="active, paused or rejected")
        op.alter_column("earmark_estimates", "body", comment="the whole of it, JSON; of the newest only")
    op.drop_index(op.f("ix_earmark_sittings_campaign_assessor"), table_name="earmark_sittings")
    op.drop_table("earmark_sittings")
    op.drop_table("earmark_sessions")
    for name in ("sitting", "role"):
        op.drop_column("earmark_invitations", name)
    for name in ("prepared", "questionnaire", "consent"):
        op.drop_column("earmark_people", name)
    op.drop_column("earmark_campaigns", "failure")
