"""Clips: an excerpt of a recording, as it is measured and as it is served.

Every clip that is served has the same sampling rate, two channels and the same loudness, measured by ITU-R BS.1770 as
it is played: one channel comes from both loudspeakers and counts twice; more than two are averaged. Encoders change the
loudness a little, most where they drop high frequencies. So a clip is decoded again, measured, and encoded once more
where it missed.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from earmark.audio.excerpts import clip_bounds, fade_ends
from earmark.audio.loudness import amplitude, decibels, integrated_loudness, true_peak
from earmark.audio.peaks import waveform_peaks
from earmark.audio.recordings import Bounds, Part, read_part, resample
from earmark.audio.sound import load_soundfile
from earmark.data.arrays import Floats
from earmark.data.files import replacing
from earmark.errors import InputError
from earmark.media.originals import Original, UnusableError
from earmark.media.settings import CHANNELS, RATE, SHORTEST, SILENT, MediaSettings

_CLOSE = 0.1
# About 165 kbit/s for music; one of soundfile's two settings of the encoder, 0 for the best.
_OPTIONS = {"mp3": {"bitrate_mode": "VARIABLE", "compression_level": 0.3}}
_BITS = {"flac": "PCM_16", "wav": "PCM_16"}


@dataclass(frozen=True)
class ClipMeasurement:
    """An excerpt as it is before its gain.

    Attributes
    ----------
    start, end : float
        Where it was cut from the recording, in seconds.
    loudness : float
        LUFS, as it is played.
    true_peak : float
        dB relative to full scale.
    content : str
        A hash of the samples as decoded, to 16 bits: the same for the same sound in wav and flac.
    """

    start: float
    end: float
    loudness: float
    true_peak: float
    content: str

    def highest_loudness(self, peak: float) -> float:
        """Return the loudness at which the true peak would be at the limit."""
        return self.loudness + peak - self.true_peak


@dataclass(frozen=True)
class EncodedClip:
    """What became of a clip: gain in dB, loudness and largest sample of the decoded file, outline of the waveform."""

    gain: float
    loudness: float
    peak: float
    peaks: dict[str, list[int]]


def measure_clip(original: Original, settings: MediaSettings) -> ClipMeasurement:
    """Read the excerpt of a recording and measure it.

    Raises
    ------
    UnusableError
        If it cannot be read, is empty, too short or silent, or ends before the excerpt starts.
    """
    part = _read_excerpt(original, settings)
    samples = _as_played(part, settings)
    peak = decibels(float(np.abs(samples).max()))
    loudness = integrated_loudness(samples, RATE)
    if peak < SILENT or math.isinf(loudness):
        level = "nothing but zeros" if math.isinf(peak) else f"a largest sample of {peak:.0f} dB"
        raise UnusableError("silent", f"{level} from {part.start:g} to {part.end:g} s")
    return ClipMeasurement(part.start, part.end, loudness, true_peak(samples, RATE), _content(part))


def encode_clip(
    original: Original, measured: ClipMeasurement, path: Path, *, loudness: float, settings: MediaSettings
) -> EncodedClip:
    """Write the excerpt of a recording at a loudness, in the format that the file's ending names."""
    samples = _as_played(_read_excerpt(original, settings), settings)
    gain = loudness - measured.loudness
    for attempt in ("first", "corrected"):
        _write(samples * amplitude(gain), path, settings)
        decoded = read_part(path, lambda n_frames, _: (0, n_frames)).samples
        reached = integrated_loudness(decoded, RATE)
        missed = loudness - reached
        # Whatever the encoder lost, full scale is the end.
        corrected = min(gain + missed, -measured.true_peak)
        if abs(missed) <= _CLOSE or attempt == "corrected" or not math.isfinite(corrected):
            break
        gain = corrected
    low, high = waveform_peaks(decoded)
    largest = decibels(float(np.abs(decoded).max(initial=0.0)))
    return EncodedClip(gain, reached, largest, {"min": low.tolist(), "max": high.tolist()})


def require_encoder(settings: MediaSettings) -> None:
    """Refuse a format that this build of the sound library does not write."""
    soundfile = load_soundfile("preparing clips")
    if not soundfile.check_format(settings.format.upper()):
        got = f"a build of libsndfile ({soundfile.__libsndfile_version__}) without it"
        hint = "serve flac or wav, or install a newer soundfile"
        raise InputError(expected=f"an encoder of {settings.format}", got=got, hint=hint)


def _read_excerpt(original: Original, settings: MediaSettings) -> Part:
    assert original.path is not None, "a recording is a file"

    def bounds(n_frames: int, rate: int) -> tuple[int, int]:
        if original.start is None and original.end is None:
            return clip_bounds(n_frames, rate, start=settings.start, seconds=settings.seconds)
        start, end = original.start, original.end
        first = max(end - settings.seconds, 0.0) if start is None and end is not None else start or 0.0
        begin = round(first * rate)
        if n_frames and begin >= n_frames:
            raise UnusableError(
                "outside", f"the excerpt starts at {first:g} s, the recording ends at {n_frames / rate:g} s"
            )
        last = round((first + settings.seconds if end is None else end) * rate)
        return begin if n_frames else 0, min(last, n_frames)

    try:
        part = (
            _read_moved(original.path, bounds, original.shift) if original.shift else read_part(original.path, bounds)
        )
    except InputError as error:
        raise UnusableError("unreadable", f"{error.got} ({error.hint})" if error.hint else error.got) from None
    seconds = part.samples.shape[0] / part.rate
    if not part.n_frames:
        raise UnusableError("empty", "no sound in it")
    if seconds < SHORTEST:
        raise UnusableError("too short", f"{seconds:.3f} s of at least {SHORTEST:g} s")
    if not np.isfinite(part.samples).all():
        raise UnusableError("unreadable", "samples that are not numbers")
    return part


def _read_moved(path: Path, bounds: Bounds, seconds: float) -> Part:
    """Read an excerpt so many seconds later; where there is no room, earlier, or reflected where the recording ends."""
    missing = 0

    def moved(n_frames: int, rate: int) -> tuple[int, int]:
        nonlocal missing
        begin, end = bounds(n_frames, rate)
        by = min(round(seconds * rate), (end - begin) // 4)
        if end + by <= n_frames:
            return begin + by, end + by
        if begin >= by:
            return begin - by, end - by
        missing = by
        return begin + by, end

    part = read_part(path, moved)
    if missing:
        part = replace(part, samples=np.concatenate((part.samples, part.samples[-missing:][::-1])))
    return part


def _as_played(part: Part, settings: MediaSettings) -> Floats:
    """Make it two channels at the rate that is served, with faded ends, shape (frames, 2)."""
    return fade_ends(resample(_two_channels(part.samples), part.rate, RATE), RATE, seconds=settings.fade)


def _two_channels(samples: Floats) -> Floats:
    if samples.shape[1] == CHANNELS:
        return samples
    return np.repeat(samples.mean(axis=1, keepdims=True), CHANNELS, axis=1)


def _content(part: Part) -> str:
    rounded = np.clip(np.rint(_two_channels(part.samples) * 32_768), -32_768, 32_767).astype("<i2")
    return hashlib.sha256(f"{part.rate} ".encode() + rounded.tobytes()).hexdigest()


def _write(samples: Floats, path: Path, settings: MediaSettings) -> None:
    soundfile = load_soundfile("preparing clips")
    try:
        with replacing(path, follow=False) as temporary:
            options = _OPTIONS.get(settings.format, {})
            soundfile.write(temporary, samples, RATE, subtype=_BITS.get(settings.format), **options)
    except (soundfile.SoundFileError, OSError) as error:
        got = str(getattr(error, "error_string", error)).rstrip(".")
        raise InputError(expected="a clip that can be written", got=got, path=path) from None
