"""A recorder of samples that never blocks the loop that gives them."""

from __future__ import annotations

import array
import atexit
import contextlib
import datetime
import inspect
import math
import numbers
import os
import sys
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from ._errors import RobotmemError
from ._operations import Operations

if TYPE_CHECKING:
    from ._memory import Memory

_MAX_CHUNK = 65536  # bytes
_ALL_STAMPS = 64  # samples of a chunk whose stamps are all kept
_LATEST = 32_503_680_000  # the year 3000
_FORKED = "the recorder of %s belongs to the process that made it; make one after the fork"


def _check_clock(source: str, t: Any) -> None:
    """Warn of a first stamp that is no time since 1970 in seconds, or that this computer has not reached."""
    given = t.timestamp() if isinstance(t, datetime.datetime) else t
    if not isinstance(given, numbers.Real) or not math.isfinite(given):
        return
    stamp = float(given)
    now, day, least = time.time(), 86_400, 100_000_000  # 1973
    if now < least:
        told = "this computer's clock says 1970; set it, or give stamps of another clock"
    elif stamp < least:
        told = "it is no time since 1970, but that of a clock which starts at 0 (time.monotonic, a simulation); use time.time()"
    elif stamp > 1e10:
        told = "it is not in seconds; divide ms by 1e3, us by 1e6, ns by 1e9"
    elif stamp > now + day:
        told = "it is %.0f days ahead of this computer's clock" % ((stamp - now) / day)
    else:
        return
    warnings.warn("the first stamp of %s is %r: %s" % (source, t, told), RuntimeWarning, stacklevel=3)


class RecorderCounts(NamedTuple):
    """Samples so far: pushed ones are stored, dropped, or still on their way."""

    pushed: int
    stored: int
    dropped: int


class Recorder:
    """Records the samples of one sensor in the background.

        with ep.recorder("wrist/wrench", rate=1000, channels=["fx", "fy", "fz"]) as wrist:
            while running:
                wrist.push(time.time(), [fx, fy, fz])

    push takes a few microseconds and never waits. A thread sends chunks of a second over one connection;
    each is a perception of type proprioceptive (another: perception_type) with the values as float64,
    the rate, the channels, the source, and the start and end. If the stamps are uneven, a chunk of up
    to 64 samples keeps all stamps, and a longer one the gaps and the largest jitter. Without a rate no
    chunk is longer. While the node is away the samples wait, at most buffer of them; what does not fit is dropped
    and counted, and so is a sample without numbers or of another width. NaN is stored. close, or the end
    of the block, sends the rest.

    One thread may push at a time. A process that was forked gets a RuntimeError.
    """

    def __init__(
        self,
        memory: Memory,
        source: str,
        rate: float = 0.0,
        *,
        channels: Sequence[str] | None = None,
        units: Sequence[str] | None = None,
        kind: str | None = None,
        description: str | None = None,
        perception_type: str | None = None,
        chunk: float = 1.0,
        buffer: int = 0,
        metadata: dict[str, Any] | None = None,
        **fields: Any,
    ):
        """rate, in Hz, is the nominal one, 0 if it is not known; chunk, in seconds, the time of one
        perception; buffer the most samples that wait (default: a minute of them, at least 10,000). Other
        fields are those of save_perception, such as session_id and context."""
        unknown = fields.keys() - set(inspect.signature(Operations.save_perception).parameters)
        if unknown:
            raise TypeError("a recorder has no argument %s; see save_perception" % ", ".join(sorted(unknown)))
        if not source or rate < 0 or not math.isfinite(rate) or chunk <= 0 or not math.isfinite(chunk):
            raise ValueError("a recorder needs the name of its source, a rate of 0 Hz or more, and chunks above 0 s; not %r, %r and %r" % (source, rate, chunk))
        self.source, self.rate = source, rate
        self._memory, self._chunk = memory, chunk
        self._channels = list(channels) if channels is not None else None
        if units is not None and (channels is None or len(units) != len(channels)):
            raise ValueError("give a unit for each channel, or none")
        self._metadata: dict[str, Any] = {**(metadata or {}), "source": source}
        self._metadata.update({name: value for name, value in (("units", list(units) if units else None), ("kind", kind)) if value})
        self._fields = {
            "description": description or "recording of " + source,
            "perception_type": perception_type or ("tactile" if kind == "wrench" else "proprioceptive"), "source": source[:64], **fields,
        }
        self._whole = max(1, int(chunk * rate)) if rate else _ALL_STAMPS  # samples of a chunk
        self._most = buffer or max(int(60 * rate), 10_000)
        self._waiting: list[tuple[float, Any]] = []
        self._pushed = self._dropped = self._stored = 0
        self._pid = os.getpid()
        self._wake = threading.Event()
        self._closing = False
        self._error: Exception | None = None
        self._refused: Exception | None = None
        self._bad = 0
        self._gone = False
        atexit.register(self._flush)
        self._thread = threading.Thread(target=self._work, name="robotmem-recorder", daemon=True)
        self._thread.start()

    def push(self, t: float | datetime.datetime, values: Any) -> bool:
        """Add a sample: its stamp, in seconds since 1970 (time.time()) or a datetime, and a number or
        one number for each channel. False if it was dropped, because too many wait or the recorder is
        closed. Lists and arrays are copied and may be used again."""
        if os.getpid() != self._pid:
            raise RuntimeError(_FORKED % self.source)
        self._pushed += 1
        if self._closing or len(self._waiting) >= self._most:
            self._dropped += 1
            return False
        if self._pushed == 1:
            with contextlib.suppress(Warning):  # where warnings are errors, one would end the caller's loop
                _check_clock(self.source, t)
        values = values.tolist() if hasattr(values, "tolist") else tuple(values) if isinstance(values, list) else values
        self._waiting.append((t, values))  # type: ignore[arg-type]  # one append is atomic
        return True

    @property
    def counts(self) -> RecorderCounts:
        """What happened to the samples so far."""
        return RecorderCounts(self._pushed, self._stored, self._dropped)

    @property
    def error(self) -> Exception | None:
        """Why the last chunk could not be stored; None if it was."""
        return self._error

    def close(self, timeout: float = 30.0) -> RecorderCounts:
        """Send what waits. It takes at most timeout seconds and the time of one call. Raises the error of the
        last attempt if that fails, the node's refusal if it refused samples, such as those of an episode
        that has ended, and ValueError if all samples were no numbers; these samples count as dropped.
        Closing again does nothing."""
        if os.getpid() != self._pid:
            raise RuntimeError(_FORKED % self.source)
        if self._closing:
            return self.counts
        self._closing = True
        atexit.unregister(self._flush)
        self._deadline = time.monotonic() + timeout
        self._wake.set()
        self._thread.join(timeout + 5)
        self._gone = True  # what a call that hangs may still store is counted as dropped
        if self._waiting:
            self._dropped += len(self._waiting)
            self._waiting = []
            raise self._error or RobotmemError("unavailable", "", "the samples of %s could not be stored within %g s" % (self.source, timeout))
        if self._refused is not None:
            raise self._refused
        if self._bad and not self._stored:
            raise self._error or ValueError("no sample of %s could be stored" % self.source)
        return self.counts

    def _flush(self) -> None:
        """Send what waits when Python ends without a close."""
        if os.getpid() == self._pid:
            with contextlib.suppress(Exception):
                self.close(5)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: object, raised: BaseException | None, trace: object) -> None:
        try:
            self.close()
        except Exception:
            if raised is None:
                raise

    # The thread.

    def _work(self) -> None:
        pause, whole, before = 0.1, self._whole if self.rate else 1, 0
        while True:
            closing = self._closing
            if not closing:
                self._wake.wait(self._chunk)
            ready = len(self._waiting)
            if not closing and ready != before:  # more comes: whole chunks alone
                before, ready = ready, ready - ready % whole
            if not ready:
                if closing:
                    return
                continue
            try:
                self._error = None
                self._send(self._waiting[:ready])
                pause, before = 0.1, len(self._waiting)
            except RobotmemError as err:  # the node is away: keep the samples and try again
                self._error = err
                if self._closing and time.monotonic() > self._deadline:
                    return
                self._wake.wait(pause) if not self._closing else time.sleep(pause)
                pause = min(2 * pause, 5.0)

    def _send(self, samples: list[tuple[float, Any]]) -> None:
        """Store samples as chunks of one width; what was stored or refused leaves the queue."""
        at = 0
        while at < len(samples):
            rows, width, stamps = array.array("d"), None, array.array("d")
            end, bad = at, 0
            while end < len(samples) and end - at < self._whole and len(rows) * 8 < _MAX_CHUNK:
                t, values = samples[end]
                row, stamp = self._row(values), self._stamp(t)
                if row is None or stamp is None:
                    if end > at:
                        break  # store what is before it
                    bad = 1
                    end += 1
                    break
                if width is not None and (len(row) != width or stamp < stamps[-1]):
                    break
                width = len(row)
                rows.extend(row)
                stamps.append(stamp)
                end += 1
            self._bad += bad
            if not bad:
                try:
                    self._store(rows, width or 1, stamps)
                    if not self._gone:
                        self._stored += end - at
                except Exception as err:
                    if isinstance(err, RobotmemError) and (err.kind == "unavailable" or err.status in (429, 503)):
                        raise
                    self._error, self._refused, bad = err, err, end - at  # for good
            if not self._gone:
                self._dropped += bad
                del self._waiting[: end - at]
            at = end

    def _row(self, values: Any) -> list[float] | None:
        """The values of a sample; None if they are no numbers, or not one for each channel."""
        try:
            row = [float(v) for v in values] if isinstance(values, (list, tuple)) else [float(values)]
        except (TypeError, ValueError, OverflowError) as err:
            self._error = err
            return None
        if not row or (self._channels is not None and len(row) != len(self._channels)):
            self._error = ValueError("a sample of %s has %d values for %d channels" % (self.source, len(row), len(self._channels or [])))
            return None
        return row

    def _stamp(self, t: Any) -> float | None:
        """A stamp in seconds; None if t is no stamp."""
        try:
            stamp = t.timestamp() if isinstance(t, datetime.datetime) else float(t) if isinstance(t, numbers.Real) else math.nan
        except (OverflowError, ValueError):
            stamp = math.nan
        if 0 <= stamp < _LATEST:
            return stamp
        self._error = ValueError("the stamp %r of %s is not in seconds since 1970; divide nanoseconds by 1e9" % (t, self.source))
        return None

    def _store(self, rows: array.array[float], width: int, stamps: array.array[float]) -> None:
        n = len(stamps)
        metadata = {**self._metadata, "dtype": "<f8", "shape": [n, width], "channels": self._channels or ["%d" % i for i in range(width)]}
        span = stamps[-1] - stamps[0]
        rate = self.rate or ((n - 1) / span if span > 0 else 0)
        if rate:
            metadata["rate_hz"] = rate
        metadata["start"], metadata["end"] = _rfc3339(stamps[0]), _rfc3339(stamps[-1])
        if rate and n > 1 and n <= _ALL_STAMPS and any(abs(b - a - 1 / rate) > 0.1 / rate for a, b in zip(stamps, stamps[1:])):
            metadata["times_s"] = [t - stamps[0] for t in stamps]
        elif rate and n > _ALL_STAMPS:
            intervals = [b - a for a, b in zip(stamps, stamps[1:])]
            gaps = [{"after_index": i, "seconds": d} for i, d in enumerate(intervals) if d > 1.5 / rate]
            if gaps:
                metadata["gaps"], metadata["gaps_total"] = gaps[:64], len(gaps)
            metadata["jitter_s"] = max((abs(d - 1 / rate) for d in intervals if d <= 1.5 / rate), default=0.0)
        if sys.byteorder == "big":
            rows.byteswap()
        self._memory.save_perception(
            data_base64=rows.tobytes(), media_type="application/x-samples", metadata=metadata, observed_at=_rfc3339(stamps[0]), **self._fields,
        )


def _rfc3339(t: float) -> str:
    return datetime.datetime.fromtimestamp(t, datetime.timezone.utc).isoformat()
