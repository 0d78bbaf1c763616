"""The entry point of ``earmark``: ready for Ctrl-C before anything that takes time is loaded.

An interrupt at any moment ends with exit code 130 and one line on standard error. It is an exception like others, so
that files on their way are removed and transactions undone. Where no exception may pass (Python is collecting garbage,
or a library that is being loaded turns it into an error of its own), and for a second Ctrl-C, the program ends at once.
When all is done and Python only tidies up, an interrupt changes nothing.

Importing this module, which only programs do that are ``earmark``, makes the process ready: from then on nothing is
unguarded. Before that lie the start of Python itself and the 15 milliseconds that the import of the package takes. Only
modules that are there anyway are imported here.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn

INTERRUPTED = 130


class _Interrupts:
    """How often the program was interrupted."""

    count = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Interrupt what is going on, the second time without waiting for it."""
        self.count += 1
        if self.count > 1:
            _leave()
        raise KeyboardInterrupt


def run() -> NoReturn:
    """Run ``earmark`` as the shell calls it."""
    interrupts = _Interrupts()
    try:
        if signal.getsignal(signal.SIGINT) in (_leave, signal.default_int_handler):
            signal.signal(signal.SIGINT, interrupts)
        # What is registered first is called last: everything is done then, and Python only tidies up, without handlers.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
        sys.unraisablehook = _unless_interrupted
        from earmark.cli.main import main

        code = main()
        if signal.getsignal(signal.SIGINT) is interrupts:
            # What is left is the end of the interpreter, in which an exception would be printed.
            signal.signal(signal.SIGINT, _leave)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception:
        # A library that is interrupted while it is loaded may say that it is broken.
        if not interrupts.count:
            raise
        code = INTERRUPTED
    if code == INTERRUPTED:
        _say()
        # Python remembers that code made of text was interrupted (the code of a dataclass is), and would end by the
        # signal instead. Running any such code makes it forget.
        exec("0")
    sys.exit(code)


def _unless_interrupted(unraisable: Any) -> None:
    """Report what cannot be raised, unless it is an interrupt."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        _leave()
    sys.__unraisablehook__(unraisable)


def _leave(*_: Any) -> NoReturn:
    """End at once, without files that are half-written."""
    outputs = sys.modules.get("earmark.data.outputs")
    if outputs is not None and hasattr(outputs, "discard_unfinished"):
        outputs.discard_unfinished()
    _say()
    os._exit(INTERRUPTED)


def _say() -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write("earmark: interrupted\n")
        sys.stderr.flush()


# Nothing is done yet that would have to be undone. Whoever started the program may have told it to ignore interrupts,
# as nohup and shells in the background do.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _leave)
