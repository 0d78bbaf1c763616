"""Axes that a notebook shows as a picture.

Figures made by earmark belong to no window, so nothing shows them of its own accord. The axes that a plot function
returns are shown by the cell whose last line they are. Load this module only where matplotlib is installed.
"""

from __future__ import annotations

import io
import warnings

from matplotlib.axes import Axes

# Of a screen, and how much finer to draw for one on which letters would else look coarse.
_PIXELS_PER_INCH = 92
_FINER = 1.6


class Picture(Axes):
    """Axes that show their figure."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        from earmark.plots.style import figure_of, in_style

        figure, drawn = figure_of(self), io.BytesIO()
        with in_style(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing")
            figure.savefig(drawn, format="png", dpi=_FINER * _PIXELS_PER_INCH, metadata={"Software": None})
        width, height = (round(inches * _PIXELS_PER_INCH) for inches in figure.get_size_inches())
        return drawn.getvalue(), {"width": width, "height": height}
