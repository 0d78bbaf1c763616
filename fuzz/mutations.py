"""Mutations: what people, spreadsheets, networks and other programs do to files, and what nobody would think of.

Text is changed by lines and cells, JSON and Parquet by their values, and everything by bytes.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import polars as pl

CELLS = (
    *("", " ", "0", "1", "2", "-1", "-0", "3", "7", "0.5", "1,5", "50%", "n/a", "NULL", "None", "true", "nan", "inf"),
    *("-inf", "1e308", "-1e308", "1e400", "1e-320", "1e16", "99999999999999999999", "2147483648"),
    *("9223372036854775807", "-9223372036854775808", "0x10", "1_000", "+1", "1.", ".5", "١", "½", "²"),
    *("#", "# a", '"', "'", 'a"b', "a'b", "=1+1", "@x", "a b", "a\tb", "a,b", "a;b", "\\", "/", "..", "../x", "~"),
    *("é", "日本", "\u202e", "\u2028", "\x85", "\xa0", "\ufeff", "\x00", "\x1b[31m", "[red]x[/red]", "[/]", "%s"),
    *("{x}", "all", "a", "b", "q1", "good", "2026-01-01", "2026-02-30T25:00:00Z", "0001-01-01", "x" * 3000, "<b>"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 0.5, 1e308, -1e308, 2**31, 2**63, 10**30, float("nan"), float("inf")),
    *("", "x", "é", "\x00", [], [None], [[1]], {}, {"x": 1}, "2026-01-01"),
)
_SEPARATORS = ("\t", ",", ";", " ", "|")

Bytes = Callable[[bytes, Random], bytes]


def mutate(name: str, data: bytes, rng: Random) -> bytes:
    """Return the content of a file after one mutation or a few."""
    if name.endswith(".gz") and rng.random() < 0.7:
        return gzip.compress(mutate(name.removesuffix(".gz"), gzip.decompress(data), rng), mtime=0)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = _one(name, data, rng)
    return data


def _one(name: str, data: bytes, rng: Random) -> bytes:
    ways: list[Bytes] = [_change_bytes]
    ending = name.rpartition(".")[2]
    if ending in _STRUCTURED:
        ways += [_STRUCTURED[ending]] * 6
    elif ending not in ("gz", "wav", "db", "zip"):
        ways += [_change_rows] * 5 + [_change_cells] * 6 + [_change_text] * 3
    way = rng.choice(ways)
    try:
        with warnings.catch_warnings(action="ignore"):
            return way(data, rng)
    except Exception:
        # An earlier mutation has left what libraries cannot parse, and some say so by errors of any kind.
        return _change_bytes(data, rng)


# ---- bytes -----------------------------------------------------------------------------------------------------------


def _change_bytes(data: bytes, rng: Random) -> bytes:
    way = rng.randrange(8)
    at = rng.randrange(len(data) + 1)
    if way == 0:
        return b""
    if way == 1:
        return data[:at]
    if way == 2:
        return data[:at] + rng.randbytes(rng.choice((1, 1, 8, 100))) + data[at:]
    if way == 3:
        return data[:at] + data[at + rng.choice((1, 4, 50)) :]
    if way == 4:
        return gzip.compress(data, mtime=0)[: rng.choice((None, None, 20, -4))]
    if way == 5:
        return rng.randbytes(rng.choice((1, 10, 300)))
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 5, 20)) if changed else 0):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


# ---- text ------------------------------------------------------------------------------------------------------------


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _change_rows(data: bytes, rng: Random) -> bytes:
    lines = _text(data).splitlines(keepends=True)
    if not lines:
        return b"\n"
    way = rng.randrange(9)
    at = rng.randrange(len(lines))
    if way == 0:
        lines = lines[:1] + rng.sample(lines[1:], rng.randrange(len(lines)))
    elif way == 1:
        del lines[at]
    elif way == 2:
        lines.insert(rng.randrange(len(lines) + 1), lines[at])
    elif way == 3:
        rng.shuffle(lines)
    elif way == 4:
        lines.insert(at, rng.choice(("\n", "  \t\n", "# remark\n", "#\n", ",,,\n", '"\n', f"{'x ' * 40}\n")))
    elif way == 5:
        # What is left of a collection with one query, one system or one document.
        word = rng.choice(re.split(r"[\t ,;]", lines[at].strip()) or [""])
        lines = lines[:1] + [line for line in lines[1:] if word in line]
    elif way == 6:
        lines = lines[1:]
    elif way == 7:
        lines = lines * rng.choice((2, 30))
    else:
        lines = lines[: rng.choice((1, 2, 3))]
    return _encode("".join(lines))


def _change_cells(data: bytes, rng: Random) -> bytes:
    lines = _text(data).split("\n")
    separator = max(_SEPARATORS, key=lines[0].count)
    rows = [line.split(separator) for line in lines]
    row = rng.choice(rows)
    column = rng.randrange(len(row))
    value = rng.choice(CELLS)
    way = rng.randrange(8)
    if way <= 2:
        row[column] = value
    elif way == 3:
        for one in rows[rng.randrange(2) :]:
            if len(one) > column:
                one[column] = value
    elif way == 4:
        del row[column]
    elif way == 5:
        row.insert(column, value)
    elif way == 6:
        for one in rows:
            if len(one) > column:
                del one[column]
    else:
        for one in rows:
            one[column:] = [*one[column:], *one[column : column + 1]]
    return _encode("\n".join(separator.join(one) for one in rows))


def _change_text(data: bytes, rng: Random) -> bytes:
    text = _text(data)
    way = rng.randrange(9)
    if way == 0:
        return b"\xef\xbb\xbf" + data
    if way == 1:
        return _encode(text.replace("\n", rng.choice(("\r\n", "\r", "\n\n", "\x0b", "\u2028", ""))))
    if way == 2:
        return text.encode(rng.choice(("utf-16", "utf-32", "utf-16-le")), "replace")
    if way == 3:
        return text.replace("a", "é").encode("latin-1", "replace")
    if way == 4:
        return _encode(text.replace(max(_SEPARATORS, key=text.count), rng.choice((*_SEPARATORS, "  ", ""))))
    if way == 5:
        return _encode(rng.choice((text.upper(), text.title(), text.rstrip("\n"), text + "\n\n")))
    words = [one for one in re.findall(r"\w+", text) if one]
    if way == 6 and words:
        return _encode(text.replace(rng.choice(words), rng.choice(CELLS)))
    if way == 7 and words:
        return _encode(text.replace(rng.choice(words), rng.choice(words)))
    # The value of a setting.
    found = list(re.finditer(r"(?m)^([\w.\"]+ *= *)(.*)$", text))
    if not found:
        return _encode(text.replace("1", rng.choice(CELLS), 1))
    one = rng.choice(found)
    value = rng.choice((json.dumps(rng.choice(VALUES)), rng.choice(CELLS), f'"{rng.choice(CELLS)}"', "2026-01-01"))
    return _encode(text[: one.start(2)] + value + text[one.end(2) :])


# ---- values ----------------------------------------------------------------------------------------------------------


def _change_json(data: bytes, rng: Random) -> bytes:
    lines = _text(data).splitlines()
    at = rng.randrange(len(lines))
    if len(lines) > 1 and lines[0].endswith("}"):
        lines[at] = json.dumps(_changed(json.loads(lines[at]), rng))
        return _encode("\n".join(lines) + "\n")
    return _encode(json.dumps(_changed(json.loads(data), rng)))


def _changed(value: Any, rng: Random) -> Any:
    """Return a value in which one value, however deep, is another, or gone."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.15:
        return rng.choice(VALUES)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = rng.choice(keys)
    copy = value.copy()
    if rng.random() < 0.15:
        del copy[key]
    elif rng.random() < 0.1 and isinstance(copy, list):
        copy.append(value[key])
    else:
        copy[key] = _changed(value[key], rng)
    return copy


def _change_parquet(data: bytes, rng: Random) -> bytes:
    frame = pl.read_parquet(io.BytesIO(data))
    name = rng.choice(frame.columns)
    column = frame[name]
    way = rng.randrange(8)
    if way == 0:
        frame = frame.drop(name)
    elif way == 1:
        frame = frame.head(rng.choice((0, 1, 2)))
    elif way == 2:
        frame = frame.rename({name: rng.choice((" ", "x", "é", name.upper(), f" {name} "))})
    elif way == 3:
        kinds = (pl.List(pl.String), pl.Binary, pl.Null, pl.Categorical, pl.Float32, pl.Int8, pl.UInt64, pl.Boolean)
        frame = frame.with_columns(column.cast(rng.choice(kinds), strict=False).alias(name))
    elif way == 4:
        value = rng.choice(VALUES[:14] + CELLS)
        frame = frame.with_columns(pl.lit(value, allow_object=False).alias(name))
    elif way == 5:
        gone = pl.Series([rng.random() < 0.3 for _ in range(frame.height)])
        frame = frame.with_columns(pl.when(gone).then(None).otherwise(pl.col(name)).alias(name))
    elif way == 6:
        moments = pl.Series(name, [rng.choice((0, 1, -1, 10**12)) for _ in range(frame.height)])
        zone = rng.choice((None, "UTC", "Europe/Paris"))
        kind = rng.choice((pl.Date, pl.Datetime("us", zone), pl.Datetime("ns", zone), pl.Duration("us"), pl.Time))
        frame = frame.with_columns((moments.abs() if kind == pl.Time else moments).cast(kind, strict=False))
    else:
        frame = pl.concat([frame, frame])
    written = io.BytesIO()
    frame.write_parquet(written)
    return written.getvalue()


def _change_array(data: bytes, rng: Random) -> bytes:
    values = np.load(io.BytesIO(data), allow_pickle=False)
    way = rng.randrange(6)
    if way == 0:
        values = values[: rng.choice((0, 1, 2))]
    elif way == 1:
        values = values.reshape(rng.choice(((-1,), (1, -1), (-1, 1), (1, *values.shape))))
    elif way == 2:
        values = values.astype(rng.choice(("f4", "i8", "u1", "c16", "U4", "bool", ">f8", "f2", "M8[s]")))
    elif way == 3:
        values = np.zeros_like(values) + np.asarray(rng.choice((0, 1, 1e308, -1))).astype(values.dtype)
    else:
        values = values.copy()
        values.flat[rng.randrange(max(values.size, 1))] = rng.choice((np.nan, np.inf, -np.inf, -1, 1e308, 0))
    written = io.BytesIO()
    np.save(written, values, allow_pickle=False)
    return written.getvalue()


_STRUCTURED: dict[str, Bytes] = {
    "json": _change_json,
    "jsonl": _change_json,
    "parquet": _change_parquet,
    "npy": _change_array,
}
