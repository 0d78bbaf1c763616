"""A collection being judged: what to ask next, when to stop, and the loop that goes on until then."""
