"""What every drawer of sweep pipelines needs. In: a seed. Out: choices, arguments as numbers and per sample, statements.

A state is what the drawer knows of the value at hand: element type, layout, and how far two right answers may lie apart. An
operator is a method `op_NAME` that appends statements and keeps that knowledge right; sweep_cases.py chooses among them.
"""
import numpy as np

from recorder import TYPES, Feed
from samples import rng

BATCH = 3
FRAMES = 2
INTERPOLATIONS = ["NN", "LINEAR", "CUBIC", "LANCZOS3", "TRIANGULAR", "GAUSSIAN"]


class Drawer:
    def __init__(self, seed):
        self.random = rng(77, seed)
        self.feeds, self.lines, self.calls = {}, [], []
        self.slack, self.relative = 0.0, 0.0
        self.frames, self.by_frame = 0, False  # of a sequence whose number of frames is known; whether arguments may differ by frame
        self.channels, self.later = None, None

    # ---- choices
    def one_of(self, *values):
        return values[self.random.integers(len(values))]

    def chance(self, p):
        return self.random.random() < p

    def whole(self, low, high):
        return int(self.random.integers(low, high, endpoint=True))

    def real(self, low, high):
        return round(float(self.random.uniform(low, high)), 3)

    def some(self, **arguments):
        """Each of these, or None instead of it."""
        return {name: value if self.chance(0.5) else None for name, value in arguments.items()}

    def whole_window(self):
        """Arguments of random windows that leave the whole image: a larger one never fits, and every ratio is allowed."""
        return {"random_area": "[4.0, 4.0]", "random_aspect_ratio": "[0.01, 100.0]", **self.some(num_attempts=repr(self.whole(1, 20)), seed="7")}

    # ---- values of arguments
    def feed(self, samples, layout=None):
        name = f"v{len(self.feeds)}"
        self.feeds[name] = Feed(samples, layout)
        return name

    def each(self, dtype, draw):
        """A value of each sample, or of each of its frames."""
        if self.by_frame and self.chance(0.5):
            return f"fn.per_frame({self.feed([dtype([draw() for _ in range(self.frames)]) for _ in range(BATCH)])})"
        return self.feed([dtype(draw()) for _ in range(BATCH)])

    def number(self, low, high, sampled=0.3):
        if self.chance(sampled):
            return self.each(np.float32, lambda: self.real(low, high))
        return repr(self.real(low, high))

    def integer(self, low, high, sampled=0.3):
        if self.chance(sampled):
            return self.each(np.int32, lambda: self.whole(low, high))
        return repr(self.whole(low, high))

    def numbers(self, n, low, high, sampled=0.3):
        if self.chance(sampled):
            name = self.feed([np.float32([self.real(low, high) for _ in range(n)]) for _ in range(BATCH)])
            return f"fn.reshape({name}, shape=[{n}])"
        return repr([self.real(low, high) for _ in range(n)])

    def integers(self, n, low, high, sampled=0.3):
        if self.chance(sampled):
            name = self.feed([np.int32([self.whole(low, high) for _ in range(n)]) for _ in range(BATCH)])
            return f"fn.reshape({name}, shape=[{n}])"
        return repr([self.whole(low, high) for _ in range(n)])

    def whole_numbers(self, n, low, high, sampled=0.3):
        """As integers, of type FLOAT."""
        if self.chance(sampled):
            name = self.feed([np.float32([self.whole(low, high) for _ in range(n)]) for _ in range(BATCH)])
            return f"fn.reshape({name}, shape=[{n}])"
        return repr([float(self.whole(low, high)) for _ in range(n)])

    # ---- what a statement does
    def arguments(self, given):
        return [f"{key}={value}" for key, value in given.items() if value is not None]

    def call(self, name, first="x", **arguments):
        self.write(name, f"x = fn.{name}({', '.join([first] * bool(first) + self.arguments(arguments))})")

    def write(self, name, line):
        self.lines.append(line)
        self.calls.append(name)

    def rounds(self, gain=1.0, noise=3e-5):
        """Arithmetic that rounds: a level of integers, noise of float32 as a part of the range of values."""
        self.slack = self.slack * gain + (1 if self.dtype.kind in "iu" else 0) + noise * self.range
        self.range *= max(gain, 1)
        if self.dtype.kind in "iu":
            self.range = min(self.range, 256.0 ** self.dtype.itemsize)

    @property
    def is_exact(self):
        return self.slack == 0 and self.relative == 0

    def set_type(self, name):
        if self.dtype.kind == "f" and np.dtype(name).kind in "iu":
            self.slack += 1
        self.dtype = np.dtype(name)

    def maybe_type(self, *names):
        """A dtype= of these, or none."""
        if self.chance(0.6):
            return None
        self.later = self.one_of(*names)
        return "types." + TYPES[self.later]

    def name_of_type(self):
        return self.one_of("dtype", "dtype", "dtype", "output_dtype")

    def old(self, **arguments):
        """Deprecated arguments without an effect, now and then."""
        return arguments if self.chance(0.05) else {}

    def take_type(self):
        if self.later:
            self.set_type(self.later)
        self.later = None

    @property
    def axes(self):
        """Spatial axes, outermost first, with the names that arguments give them."""
        return [axis for axis in self.layout if axis in "DHW"]
