"""Campaigns of pair questions: which two documents of a query to ask people about, and what the answers say."""
