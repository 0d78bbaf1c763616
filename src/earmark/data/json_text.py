"""JSON that people may have written: whatever is wrong with it is one kind of error."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str | bytes, **how: Any) -> Any:
    """Read JSON as :func:`json.loads` does.

    Parameters
    ----------
    text : str or bytes
    **how
        Further arguments of :func:`json.loads`.

    Raises
    ------
    ValueError
        If it is none, or brackets stand in brackets so deeply that Python cannot follow.
    """
    try:
        return json.loads(text, **how)
    except RecursionError:
        raise ValueError("brackets nested too deeply") from None
