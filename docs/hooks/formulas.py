r"""Formulas as pictures that are part of the page: TeX in, SVG out, no script and no font to load.

Arithmatex marks formulas in a page; here they are set by matplotlib's mathtext and put in their place. Outlines of
glyphs are drawn in the colour of the text, so that formulas follow the light and the dark scheme, and a page holds the
outline of every glyph once. Whoever cannot see a formula hears its TeX.

Mathtext knows most of TeX but not all of its spellings: :func:`plain_tex` writes ``\le`` as ``\leq``, ``\Bigl(`` as
``\left(``, ``\sqrt V`` as ``\sqrt{V}``. What it does not know at all, such as a matrix, is shown as code.
"""

from __future__ import annotations

import html
import re
from functools import cache
from typing import NamedTuple

from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextToPath
from numpy.typing import ArrayLike

_EM = TextToPath.FONT_SCALE
_FONT = FontProperties(math_fontfamily="stix")
_MARKED = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', flags=re.DOTALL)

# What mathtext knows under another name only.
_SPELLINGS = {
    r"\le": r"\leq",
    r"\ge": r"\geq",
    r"\tfrac": r"\frac",
    r"\lVert": r"\|",
    r"\rVert": r"\|",
    **dict.fromkeys((r"\bigl", r"\Bigl", r"\biggl"), r"\left"),
    **dict.fromkeys((r"\bigr", r"\Bigr", r"\biggr"), r"\right"),
    **dict.fromkeys((r"\big", r"\Big", r"\bigg"), ""),
}
_GROUP = r"\s*(?:\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+|\w)"
_WITH_LIMITS = re.compile(rf"\\(sum|prod|int|max|min)(?![A-Za-z])((?:\s*[_^]{_GROUP})+)")


class Formula(NamedTuple):
    """A formula that is set: its size and what is drawn where, in hundredths of an em from its lower left corner."""

    width: float
    height: float
    depth: float
    drawing: str
    glyphs: dict[str, str]


def with_formulas(page: str) -> str:
    """Replace the marked formulas of a page by pictures."""
    glyphs: dict[str, str] = {}

    def picture(found: re.Match[str]) -> str:
        tex, display = " ".join(html.unescape(found[3]).split()), found[2] == "["
        try:
            formula = set_formula(tex, display=display)
        except ValueError:
            code = f"<code>{html.escape(tex, quote=False)}</code>"
            return f'<pre class="formula">{code}</pre>' if display else code
        glyphs.update(formula.glyphs)
        drawn = _svg(formula, tex)
        return f'<div class="formula" tabindex="0">{drawn}</div>' if display else drawn

    page = _MARKED.sub(picture, page)
    if not glyphs:
        return page
    outlines = "".join(f'<path id="{name}" d="{outline}"/>' for name, outline in sorted(glyphs.items()))
    return f'<svg class="glyphs" aria-hidden="true"><defs>{outlines}</defs></svg>{page}'


@cache
def set_formula(tex: str, *, display: bool) -> Formula:
    """Set a formula.

    Raises
    ------
    ValueError
        If mathtext does not know what is in it.
    """
    text = f"${plain_tex(tex, display=display)}$"
    setter = TextToPath()
    placed, outlines, rules = setter.get_glyphs_mathtext(_FONT, text)
    width, height, depth = setter.get_text_width_height_descent(text, _FONT, ismath=True)
    scale = _EM / _FONT.get_size_in_points()
    names = {glyph: "glyph-" + re.sub(r"\W+", "-", str(glyph)).strip("-").lower() for glyph in outlines}
    parts = [
        f'<use href="#{names[glyph]}" transform="translate({x:.0f} {y:.0f})'
        + ("" if size == 1 else f" scale({size:.2g})")
        + '"/>'
        for glyph, x, y, size in placed
    ]
    for corners, _ in rules:
        (left, low), (right, high) = corners[0], corners[2]
        parts.append(f'<rect x="{left:.0f}" y="{low:.0f}" width="{right - left:.0f}" height="{high - low:.1f}"/>')
    drawn = {names[glyph]: _outline(*outline) for glyph, outline in outlines.items()}
    return Formula(width * scale, height * scale, depth * scale, "".join(parts), drawn)


def plain_tex(tex: str, *, display: bool) -> str:
    r"""Spell TeX as mathtext reads it.

    Examples
    --------
    >>> print(plain_tex(r"\Bigl(\frac1Q \sqrt V\Bigr) \le k", display=False))
    \left(\frac{1}{Q} \sqrt{V}\right) \leq k
    """
    text = re.sub(r"\\[A-Za-z]+", lambda found: _SPELLINGS.get(found[0], found[0]), tex)
    text = re.sub(r"\\frac\s*([^\s{\\])\s*([^\s{\\])", r"\\frac{\1}{\2}", text)
    text = re.sub(r"\\sqrt\s*([^\s{\[\\])", r"\\sqrt{\1}", text)
    text = text.replace(r"\#", r"\mathrm{\#}").replace("~", r"\ ")
    if display:
        return _WITH_LIMITS.sub(r"\\,\\\1\2\\,", text.replace(r"\frac", r"\dfrac"))
    # Within a line, limits stand beside their sum and not above and below it.
    return _WITH_LIMITS.sub(r"{\\\1}\2\\,", text)


def _svg(formula: Formula, tex: str) -> str:
    width, height, depth = formula.width, formula.height, formula.depth
    # Room for what sticks out of the box, such as the foot of an italic f.
    box = f"-4 {depth - height - 4:.0f} {width + 8:.0f} {height + 8:.0f}"
    size = (
        f"width:{(width + 8) / _EM:.2f}em;height:{(height + 8) / _EM:.2f}em;vertical-align:{-(depth + 4) / _EM:.2f}em"
    )
    return (
        f'<svg class="tex" role="img" aria-label="{html.escape(tex)}" viewBox="{box}" style="{size}">'
        f'<g transform="scale(1 -1)" fill="currentColor">{formula.drawing}</g></svg>'
    )


def _outline(vertices: ArrayLike, codes: ArrayLike) -> str:
    parts = []
    letters = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}
    for points, code in Path(vertices, codes).iter_segments(curves=True, simplify=False):
        if code == Path.CLOSEPOLY:
            parts.append("Z")
        else:
            parts.append(letters[code] + " ".join(f"{value:.1f}".removesuffix(".0") for value in points))
    return "".join(parts)
