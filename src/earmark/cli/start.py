"""The entry point of ``earmark``: ready for Ctrl-C, and for SIGTERM, before anything that takes time is loaded.

An interrupt at any moment ends with exit code 130 and one line on standard error. It is an exception like others, so
that files on their way are removed and transactions undone. Where no exception may pass (Python is collecting garbage,
or a library that is being loaded turns it into an error of its own), and for a second Ctrl-C, the program ends at once.
When all is done and Python only tidies up, an interrupt changes nothing.

SIGTERM, which services, batch systems and ``timeout`` send, tidies up in the same way. Then the program ends by that
signal, as whoever sent it expects, and says nothing.

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
    """How often the program was interrupted, and by which signal last."""

    count = 0
    number: int = signal.SIGINT

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Interrupt what is going on, the second time without waiting for it."""
        self.count += 1
        self.number = number
        if self.count > 1:
            _leave(number)
        raise KeyboardInterrupt

    def report(self, unraisable: Any) -> None:
        """Report what cannot be raised, unless it is an interrupt."""
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            _leave(self.number)
        sys.__unraisablehook__(unraisable)


# Each with what it does by itself, and what it does while Python tidies up.
_SIGNALS = (
    (signal.SIGINT, signal.default_int_handler, signal.SIG_IGN),
    (signal.SIGTERM, signal.SIG_DFL, signal.SIG_DFL),
)


def run() -> NoReturn:
    """Run ``earmark`` as the shell calls it."""
    interrupts = _Interrupts()
    try:
        for number, usual, last in _SIGNALS:
            # Whoever started the program may have told it to ignore interrupts, as nohup and background jobs are.
            if signal.getsignal(number) in (usual, _leave):
                signal.signal(number, interrupts)
                # What is registered first is called last: everything is done then, and Python only tidies up.
                atexit.register(signal.signal, number, last)
        sys.unraisablehook = interrupts.report
        from earmark.cli.main import main

        code = main()
        for number, *_ in _SIGNALS:
            if signal.getsignal(number) is interrupts:
                # What is left is the end of the interpreter, in which an exception would be printed.
                signal.signal(number, _leave)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception:
        # A library that is interrupted while it is loaded may say that it is broken.
        if not interrupts.count:
            raise
        code = INTERRUPTED
    if code == INTERRUPTED:
        if interrupts.number == signal.SIGTERM:
            _end_by(signal.SIGTERM)
        _say()
        # Python remembers that code made of text was interrupted (the code of a dataclass is), and would end by the
        # signal instead. Running any such code makes it forget.
        exec("0")
    sys.exit(code)


def _leave(number: int = signal.SIGINT, *_: Any) -> NoReturn:
    """End at once, without files that are half-written."""
    outputs = sys.modules.get("earmark.data.outputs")
    if outputs is not None and hasattr(outputs, "discard_unfinished"):
        outputs.discard_unfinished()
    if number == signal.SIGTERM:
        _end_by(number)
    _say()
    os._exit(INTERRUPTED)


def _end_by(number: int) -> NoReturn:
    """End by a signal, so that whoever waits for the program sees by which."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)


def _say() -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write("earmark: interrupted\n")
        sys.stderr.flush()


# Nothing is done yet that would have to be undone. Whoever started the program may have told it to ignore interrupts,
# as nohup and shells in the background do.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _leave)
