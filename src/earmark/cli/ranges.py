"""The range of numbers on the command line: no option takes a number that is not finite or that nothing could count to.

One check for all options, before a command starts: what is beyond any use should not fill the memory, run for ever or
end in an error about something else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from earmark.errors import ParameterError

MOST = 2**31 - 1
"""The largest whole number that an option takes."""

MOST_FLOAT = 1e12
"""The largest number of any other kind: the squares of larger ones are beyond what can be computed with."""

# A seed may be any number, and a collection may be larger than any list of documents.
_LARGER = {"seed": math.inf, "collection_size": 2**53}


def check_ranges(parameters: Iterable[Any], values: Mapping[str, Any]) -> None:
    """Refuse the first number that is out of range.

    Parameters
    ----------
    parameters : iterable of parameter
        The options and arguments of a command.
    values : mapping of str to any
        Their values by the names of parameters.

    Raises
    ------
    ParameterError
        Naming the option.
    """
    for one in parameters:
        value = values.get(one.name)
        for number in value if isinstance(value, list | tuple) else [value]:
            if isinstance(number, float) and not math.isfinite(number):
                raise ParameterError(f"{_shown(one)} is a finite number, got {number:g}")
            if isinstance(number, float) and abs(number) > MOST_FLOAT:
                raise ParameterError(f"{_shown(one)} is at most {MOST_FLOAT:g}, got {number:g}")
            most = _LARGER.get(one.name, MOST)
            if isinstance(number, int) and abs(number) > most:
                raise ParameterError(f"{_shown(one)} is at most {most:,}, got {number}")


def _shown(parameter: Any) -> str:
    return max(parameter.opts, key=len) if parameter.param_type_name == "option" else str(parameter.name)
