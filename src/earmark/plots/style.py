"""The same look everywhere: colours that the colour-blind tell apart, thin lines, no frame, text large enough to print.

The colours are those of Okabe and Ito; whatever they tell, a marker, a line style or a word tells too, so that a copy
in black and white loses nothing. The style holds while something is drawn and leaves the settings of users alone.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earmark.data.files import replacing
from earmark.errors import EarmarkError, MissingLibraryError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, AMBER, YELLOW, BLACK = "#56B4E9", "#E69F00", "#F0E442", "#000000"
PALETTE = (BLUE, ORANGE, GREEN, PURPLE, AMBER, SKY, BLACK)
"""One colour after the other, yellow left out: it is lost on white paper."""
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LONGEST_NAME = 28
INK, MUTED, FAINT = "#1b1f24", "#6b7280", "#d5d9de"

# The keys are settings that matplotlib spells out as a type of its own.
_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "savefig.facecolor": "white",
    "text.parse_math": True,
}
# Ids that one part of an image gives itself or refers to others by.
_ID = re.compile(r'(\bid="|url\(#|xlink:href="#)')


def luminance(colour: Any) -> float:
    """Return the relative luminance of a colour, 0..1, as the Web Content Accessibility Guidelines 2 define it."""
    from matplotlib.colors import to_rgb

    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: Any, other: Any) -> float:
    """Return the contrast of two colours, 1..21; text is easy to read from 4.5 on."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def ink_on(colour: Any) -> str:
    """Return black or white, whichever is easier to read on a colour: on any, one of them has a contrast of 4.5."""
    return max((BLACK, "#ffffff"), key=lambda ink: contrast(ink, colour))


def plain(name: str, *, longest: int = LONGEST_NAME) -> str:
    """Write a name so that it is shown as it is, its middle left out where it is too long for a figure."""
    if len(name) > longest:
        end = min(10, longest // 2 - 1)
        name = f"{name[: longest - end - 1]}…{name[-end:]}"
    # What stands between two dollars would be set as a formula.
    return name.replace("$", r"\$")


def legend_label(name: str) -> str:
    """Write a name so that a legend shows it: one that starts with an underscore would be left out."""
    return f"{' ' if name.startswith('_') else ''}{plain(name)}"


def need_matplotlib() -> None:
    """Say what to install where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingLibraryError("plots need matplotlib: pip install 'earmark[plots]'") from None


def in_style() -> AbstractContextManager[None]:
    """Let the style of earmark hold for a while."""
    import matplotlib as mpl

    return mpl.rc_context(_STYLE)


@contextmanager
def drawing(ax: Axes | None, *, width: float = 6.4, height: float = 4.0) -> Iterator[Axes]:
    """Draw in the style of earmark, on these axes or on those of a figure of this size in inches.

    Raises
    ------
    EarmarkError
        Where matplotlib is not installed.
    """
    need_matplotlib()
    from matplotlib.figure import Figure

    from earmark.plots.picture import Picture

    with in_style():
        if ax is None:
            ax = Figure(figsize=(width, height), layout="constrained").add_subplot(axes_class=Picture)
        yield ax


def figure_of(ax: Axes) -> Figure:
    """Return the figure that axes belong to."""
    found = ax.get_figure(root=True)
    if found is None:
        raise EarmarkError("these axes belong to no figure: there is nothing to save")
    return found


def svg_text(ax: Axes, *, prefix: str, label: str) -> str:
    """Return a figure as SVG to be put into a page: the same figure always gives the same text.

    Parameters
    ----------
    ax : Axes
        Of the figure.
    prefix : str
        Put before every id, so that several images may share a page.
    label : str
        What the image shows, for those who cannot see it.
    """
    from html import escape

    text = svg_file(ax)
    text = text[text.index("<svg") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = _ID.sub(rf"\g<1>{prefix}-", text)
    return text.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)


def save_svg(ax: Axes, path: Path) -> None:
    """Write a figure to an SVG file, all of it or nothing."""
    text = svg_file(ax)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def pdf_file(ax: Axes) -> bytes:
    """Return a figure as a PDF file with its letters in it: the same figure always gives the same bytes."""
    import matplotlib as mpl

    written = io.BytesIO()
    # Publishers refuse letters of type 3, matplotlib's default.
    with mpl.rc_context({**_STYLE, "pdf.fonttype": 42}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing|Creating legend with loc=.best")
        figure_of(ax).savefig(written, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
    return written.getvalue()


def svg_file(ax: Axes) -> str:
    """Return a figure as the text of an SVG file: the same figure always gives the same text."""
    import matplotlib as mpl

    written = io.StringIO()
    # Letters and not their shapes: they can be searched, and a reader's fonts have those that ours lacks. No date, and
    # ids that do not vary.
    with mpl.rc_context({**_STYLE, "svg.fonttype": "none", "svg.hashsalt": "earmark"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing|Creating legend with loc=.best")
        figure_of(ax).savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    return written.getvalue()
