"""The tables of a store.

``events`` is the log of answers and the truth: rows are added and never changed, which triggers enforce. The tables
``campaigns``, ``people``, ``invitations``, ``sessions``, ``sittings`` and ``texts`` hold what is not for the log: the
state of a campaign, who the assessors are, what they agreed to, and their paid work; ``usage`` counts requests for
minutes. All other tables are derived from the log, so that giving out a question and taking in an answer cost the same
whether the log holds a thousand events or a million; :func:`earmark.store.rebuild.rebuild` makes them anew.

Every table names the campaign, as one PostgreSQL database may hold several. Times are integers: microseconds since
1970 in UTC, whatever the database and the clock's time zone.
"""

from __future__ import annotations

import sqlalchemy as sa

VERSION = "0004"
"""The newest migration, so that opening a store of this version need not load Alembic."""

VERSION_TABLE = "earmark_version"

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite counts up by itself in columns of the type INTEGER only.
_Number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_Moment = sa.BigInteger()


def _campaign(*, primary_key: bool = False) -> sa.Column[int]:
    return sa.Column(
        "campaign", _Number, sa.ForeignKey("earmark_campaigns.id"), nullable=False, primary_key=primary_key
    )


campaigns = sa.Table(
    "earmark_campaigns",
    metadata,
    sa.Column("id", _Number, primary_key=True, autoincrement=True),
    sa.Column("uid", sa.String(64), nullable=False, unique=True, comment="the id in campaign.toml"),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("created", _Moment, nullable=False),
    sa.Column("state", sa.String(16), nullable=False, comment="open, paused, stopped, closed or moved"),
    sa.Column("reason", sa.Text, comment="of the state, in words"),
    sa.Column("since", _Moment, nullable=False, comment="when the state was reached"),
    sa.Column("secret", sa.String(64), nullable=False, comment="key of all hashes that nobody may predict"),
    sa.Column("settings", sa.Text, nullable=False, comment="as last recorded, JSON"),
    sa.Column("next_sequence", sa.BigInteger, nullable=False),
    sa.Column("next_place", sa.BigInteger, nullable=False, comment="the next place in a queue"),
    sa.Column("last_time", _Moment, nullable=False, comment="of the last event"),
    sa.Column("failure", sa.Text, comment="why there are no new estimates, in words; null where there are"),
)

events = sa.Table(
    "earmark_events",
    metadata,
    _campaign(primary_key=True),
    sa.Column("sequence", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("time", _Moment, nullable=False),
    sa.Column("assessor", sa.Text),
    sa.Column("query", sa.Text),
    sa.Column("document", sa.Text),
    sa.Column("other", sa.Text),
    sa.Column("system", sa.Text),
    sa.Column("gain", sa.Double),
    sa.Column("choice", sa.Text),
    sa.Column("strength", sa.Double),
    sa.Column("sampled", sa.Boolean, nullable=False),
    sa.Column("expected", sa.Text),
    sa.Column("source", sa.Text),
    sa.Column("key", sa.Text),
    sa.Column("expires", _Moment),
    sa.Column("text", sa.Text),
    sa.UniqueConstraint("campaign", "key"),
)

questions = sa.Table(
    "earmark_questions",
    metadata,
    _campaign(primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("query", sa.Text, nullable=False),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("other", sa.Text, nullable=False, comment="empty where one document is judged"),
    sa.Column("same_as", sa.BigInteger, comment="the question that asks about the same sound"),
    sa.Column("sampled", sa.Boolean, nullable=False, comment="part of the guaranteed sample"),
    sa.Column("removed", sa.Boolean, nullable=False),
    sa.Column("answers", sa.Integer, nullable=False, comment="that count"),
    sa.Column("out", sa.Integer, nullable=False, comment="live leases"),
    sa.Column("tier", sa.SmallInteger, comment="which queue it waits in; null where nobody may take it"),
    sa.Column("place", sa.BigInteger, comment="its place in that queue"),
    sa.UniqueConstraint("campaign", "query", "document", "other"),
    sa.Index(None, "campaign", "tier", "place"),
    sa.Index(None, "campaign", "query", "tier", "place"),
    sa.Index(None, "campaign", "document"),
)

assignments = sa.Table(
    "earmark_assignments",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True, comment="random, all that an assessor sees of it"),
    _campaign(),
    sa.Column("question", sa.BigInteger, comment="null for a trap"),
    sa.Column("assessor", sa.Text, nullable=False),
    sa.Column("query", sa.Text, nullable=False),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("other", sa.Text, nullable=False),
    sa.Column("expected", sa.Text, comment="the answer that a trap expects"),
    sa.Column("swapped", sa.Boolean, nullable=False, comment="the other document is shown first"),
    sa.Column("sampled", sa.Boolean, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("taken", _Moment, nullable=False),
    sa.Column("expires", _Moment, nullable=False),
    sa.Column("value", sa.Double, comment="the answer as a number, or what does not play"),
    sa.Column("counts", sa.Boolean, nullable=False, comment="an answer of an assessor who is not rejected"),
    sa.Index(None, "campaign", "assessor", "state"),
    sa.Index(None, "campaign", "question", "assessor"),
    sa.Index(None, "campaign", "assessor", "query", "document", "other"),
    sa.Index(None, "campaign", "state", "expires"),
)

assessors = sa.Table(
    "earmark_assessors",
    metadata,
    _campaign(primary_key=True),
    sa.Column("assessor", sa.Text, primary_key=True),
    sa.Column("state", sa.String(16), nullable=False, comment="active, paused, rejected or pilot"),
    sa.Column("reinstated", sa.Boolean, nullable=False, comment="by the organiser; traps do not reject them again"),
    sa.Column("given", sa.Integer, nullable=False, comment="questions given out, traps among them"),
    sa.Column("answers", sa.Integer, nullable=False, comment="answers, traps among them"),
    sa.Column("traps", sa.Integer, nullable=False),
    sa.Column("traps_right", sa.Integer, nullable=False),
    sa.Column("last_query", sa.Text),
    sa.Column("seen_again", sa.BigInteger, nullable=False, comment="up to which place of the queue all was seen"),
    sa.Column("seen_begun", sa.BigInteger, nullable=False),
)

traps = sa.Table(
    "earmark_traps",
    metadata,
    _campaign(primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("query", sa.Text, nullable=False),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("other", sa.Text, nullable=False),
    sa.Column("expected", sa.Text, nullable=False),
    sa.Column("source", sa.String(16), nullable=False, comment="agreed, self or list"),
    sa.UniqueConstraint("campaign", "query", "document", "other"),
)

people = sa.Table(
    "earmark_people",
    metadata,
    _campaign(primary_key=True),
    sa.Column("assessor", sa.Text, primary_key=True, comment="the pseudonym in the log"),
    sa.Column("name", sa.Text),
    sa.Column("mail", sa.Text),
    sa.Column("platform", sa.Text),
    sa.Column("platform_id", sa.Text),
    sa.Column("created", _Moment, nullable=False),
    sa.Column("erased", _Moment),
    sa.Column("consent", sa.String(64), comment="the version of the consent text that the person agreed to"),
    sa.Column("questionnaire", sa.Text, comment="what the person said about themselves, JSON"),
    sa.Column("prepared", sa.Text, comment="when the sound check and the training were done, JSON"),
    sa.Index(None, "campaign", "name"),
    sa.Index(None, "campaign", "platform", "platform_id"),
)

invitations = sa.Table(
    "earmark_invitations",
    metadata,
    sa.Column("token", sa.String(64), primary_key=True, comment="a hash of the token in the link"),
    _campaign(),
    sa.Column("role", sa.String(16), nullable=False, server_default="assessor", comment="assessor, pilot or organiser"),
    sa.Column("assessor", sa.Text, comment="null for a link that several people may use"),
    sa.Column("sitting", sa.Integer, comment="the number of the paid work that it is for; null for all others"),
    sa.Column("seats", sa.Integer, nullable=False),
    sa.Column("used", sa.Integer, nullable=False),
    sa.Column("created", _Moment, nullable=False),
    sa.Column("revoked", _Moment),
)

sessions = sa.Table(
    "earmark_sessions",
    metadata,
    sa.Column("token", sa.String(64), primary_key=True, comment="a hash of what the organiser's cookie holds"),
    _campaign(),
    sa.Column("link", sa.String(64), nullable=False, comment="the invitation that it was opened with"),
    sa.Column("expires", _Moment, nullable=False),
)

sittings = sa.Table(
    "earmark_sittings",
    metadata,
    _campaign(primary_key=True),
    sa.Column("platform", sa.String(16), primary_key=True, comment="prolific or mturk"),
    sa.Column("assignment", sa.String(128), primary_key=True, comment="the platform's id of one paid piece of work"),
    sa.Column("assessor", sa.Text, nullable=False),
    sa.Column("number", sa.Integer, nullable=False, comment="counts those of one assessor; the log knows them by it"),
    sa.Column("study", sa.Text, comment="the platform's id of the study or task"),
    sa.Column("began", _Moment, nullable=False),
    sa.Column("ended", _Moment, comment="when the work was handed in"),
    sa.Column("answers_before", sa.Integer, nullable=False, comment="of this person that do not belong to it"),
    sa.Column("answers", sa.Integer, comment="given in it; null for the one that the person is in"),
    sa.Column("submit_to", sa.Text, comment="where the platform wants to be told of the end"),
    sa.Column("settled", _Moment, comment="when a file for the platform was last made of it"),
    sa.Column("decision", sa.String(16), comment="in such a file: approve or reject"),
    sa.Column("owed", sa.Double, comment="when the decision was written"),
    sa.Column("bonus", sa.Double, comment="in files for the platform so far"),
    sa.Index(None, "campaign", "assessor"),
)

texts = sa.Table(
    "earmark_texts",
    metadata,
    _campaign(primary_key=True),
    sa.Column("version", sa.String(64), primary_key=True, comment="a hash of the text"),
    sa.Column("role", sa.String(16), nullable=False, comment="consent"),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("created", _Moment, nullable=False),
)

estimates = sa.Table(
    "earmark_estimates",
    metadata,
    _campaign(primary_key=True),
    sa.Column("sequence", sa.BigInteger, primary_key=True, autoincrement=False, comment="the last event that counted"),
    sa.Column("time", _Moment, nullable=False),
    sa.Column("judged", sa.Integer, nullable=False),
    sa.Column("mean_confidence", sa.Double),
    sa.Column("min_confidence", sa.Double),
    sa.Column("body", sa.Text, comment="the whole of the newest, JSON; of earlier ones what the stop rule watched"),
)

usage = sa.Table(
    "earmark_usage",
    metadata,
    _campaign(primary_key=True),
    sa.Column("who", sa.String(64), primary_key=True, comment="a keyed hash of who asks"),
    sa.Column("allowed", sa.Double, nullable=False, comment="requests that were still welcome at that time"),
    sa.Column("time", _Moment, nullable=False),
    sa.Column("full", _Moment, nullable=False, comment="when all is forgotten"),
)

DERIVED = (estimates, traps, assignments, questions, assessors, usage)
"""What can be made anew from the log, or is forgotten within minutes."""

KEPT = (campaigns, events, people, invitations, sessions, sittings, texts)
"""What a copy of a campaign has to hold."""
