"""How fast questions are given out and answers are taken in, by SQLite and by PostgreSQL."""
