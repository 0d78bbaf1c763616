"""Campaigns that last: a folder with settings and inputs, and a database that holds the log of answers."""
