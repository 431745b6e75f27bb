"""How far `loader.run(progress=True)` is: a bar of tqdm where it is installed, else a line."""

from __future__ import annotations

import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

from .shell import in_notebook

if TYPE_CHECKING:
    from galatea.loader import Loader

__all__ = ["Progress"]

INTERVAL = 0.1  # seconds between two lines


class Progress:
    """Counts the samples of a loader, and shows them.

    A batch costs an addition and a look at the clock; what is shown is written ten times a second.
    """

    def __init__(self, loader: Loader, epochs: int, always: bool):
        self.loader = loader
        self.epochs = epochs
        self.is_shown = always or sys.stderr.isatty() or in_notebook()
        self.batches = 0  # of the epoch
        self.samples = 0
        self.bar: Any = None

    def __enter__(self) -> Progress:
        return self

    def _open(self) -> None:
        size = self.loader.epoch_size
        self.batches_of_epoch = len(self.loader) if size >= 0 else None
        if size >= 0 and self.loader._last_batch == "drop":
            size = len(self.loader) * self.loader.batch_size
        self.total = size * self.epochs if size >= 0 else None
        make = _tqdm() or _Line
        self.bar = make(total=self.total, desc=self.loader.name, unit=" samples")
        self.shown = time.monotonic()

    def begin(self, epoch: int) -> None:
        """Epoch number `epoch` begins."""
        if not self.is_shown:
            return
        if self.bar is None:
            self._open()
        self.batches = 0
        if self.epochs > 1:
            self.bar.set_description(
                f"{self.loader.name}, epoch {epoch + 1}/{self.epochs}", refresh=False
            )

    def count(self, batch: Any) -> Any:
        """A batch was delivered; gives it back."""
        if self.is_shown:
            self.batches += 1
            self.samples += self.loader._delivered
            now = time.monotonic()
            if now - self.shown >= INTERVAL:
                self.shown = now
                self._show()
        return batch

    def _show(self) -> None:
        of = f"/{self.batches_of_epoch}" if self.batches_of_epoch is not None else ""
        self.bar.set_postfix_str(f"batch {self.batches}{of}", refresh=False)
        self.bar.update(self.samples - self.bar.n)

    def __exit__(self, kind, *_) -> None:
        if self.bar is None:
            return
        # Samples that failed and were left out are not missing.
        if kind is None and self.total is not None and self.samples < self.total:
            self.bar.total = self.samples
        self._show()
        self.bar.close()


def _tqdm():
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that widgets for its bar are not installed
            from tqdm.auto import tqdm  # type: ignore[import-untyped]
    except ImportError:
        return None
    return tqdm


class _Line:
    """What is used of tqdm, as a line that is written again and again."""

    def __init__(self, total: int | None, desc: str, unit: str):
        self.total = total
        self.unit = unit
        self.n = 0
        self.began = time.monotonic()
        self.description = desc
        self.postfix = ""
        self.width = 0

    def set_description(self, text: str, refresh: bool = True) -> None:
        self.description = text

    def set_postfix_str(self, text: str, refresh: bool = True) -> None:
        self.postfix = text

    def update(self, count: int) -> None:
        self.n += count
        text = line(self.description, self.n, self.total, self._seconds(), self.unit, self.postfix)
        # Blanks cover what was longer; terminals and notebooks alike know \r.
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def _seconds(self) -> float:
        return time.monotonic() - self.began

    def close(self) -> None:
        sys.stderr.write("\n")


def line(
    description: str, done: int, total: int | None, seconds: float, unit: str, more: str
) -> str:
    """One line: "train: 45 % 450/1000 samples, 1234/s, batch 8/16, 0:00:01 left"."""
    rate = done / seconds if seconds > 0 else 0.0
    parts = [f"{done}{unit}", f"{rate:.0f}/s", more]
    if total is not None:
        share = 100 * done // total if total else 100
        parts[0] = f"{share:3d} % {done}/{total}{unit}"
        if rate and done < total:
            parts.append(f"{_clock((total - done) / rate)} left")
        elif done >= total:
            parts.append(f"took {_clock(seconds)}")
    return f"{description}: " + ", ".join(part for part in parts if part)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"
