"""Random pipelines for sweep.py. In: a seed. Out: the text of a pipeline, what it is fed, and how far results may differ.

A state is what the drawer knows of the value at hand: element type, layout, and how far two right answers may lie apart. An
operator is a method `op_NAME` that appends statements and says so; `OPERATORS` names those for each kind of state.
"""
import re

import numpy as np

from recorder import TYPES, Feed, pipeline_text
from samples import image, rng

BATCH = 3
INTERPOLATIONS = ["NN", "LINEAR", "CUBIC", "LANCZOS3", "TRIANGULAR", "GAUSSIAN"]

# Kinds of differences that are meant: what of the text, and of the kind, says so, and why (docs/from-dali.md).
ON_PURPOSE = [
    (r"crop_mirror_normalize.*(mean|std)=(\[[^,\]]*\]|fn.reshape\(v\d+, shape=\[1\]\)),.*fill_values=\[[^\]]*,", "^values",
     "several fill values beside one mean: all channels but the first are 0 in DALI"),
    (r"reductions\.(rms|mean_square)", "^values",
     "squares of UINT16 above 2^31 wrap in DALI"),
    ("INTERP_GAUSSIAN", "^values", "a tap on the very edge of a Gaussian window: float32 noise decides about it in DALI"),
    (r"(rotate|warp_affine|sphere|water).*(INTERP_NN)", "^values", "ties of nearest neighbours, which float32 noise decides in DALI"),
]


class Case:
    def __init__(self, body, feeds, calls, slack, relative):
        self.body, self.feeds, self.calls = body, feeds, calls
        self.text = pipeline_text(body, feeds)
        self.slack, self.relative = slack, relative

    def tolerance(self, expected):
        """Of one output: what roundings and float32 noise on the way may come to, and noise of the last step."""
        if expected.dtype == bool:
            return 0
        finite = np.abs(expected.astype(np.float64))
        finite = finite[np.isfinite(finite)]
        return self.slack + self.relative * (finite.max() if finite.size else 0)

    def explained(self, kind):
        for pattern, of_kind, why in ON_PURPOSE:
            if re.search(pattern, self.body) and re.search(of_kind, kind):
                return why
        return None


class Drawer:
    def __init__(self, seed):
        self.random = rng(77, seed)
        self.feeds, self.lines, self.calls = {}, [], []
        self.slack, self.relative = 0.0, 0.0

    # ---- choices
    def one_of(self, *values):
        return values[self.random.integers(len(values))]

    def chance(self, p):
        return self.random.random() < p

    def whole(self, low, high):
        return int(self.random.integers(low, high, endpoint=True))

    def real(self, low, high):
        return round(float(self.random.uniform(low, high)), 3)

    # ---- values of arguments
    def feed(self, samples, layout=None):
        name = f"v{len(self.feeds)}"
        self.feeds[name] = Feed(samples, layout)
        return name

    def number(self, low, high, sampled=0.3):
        if self.chance(sampled):
            return self.feed([np.float32(self.real(low, high)) for _ in range(BATCH)])
        return repr(self.real(low, high))

    def integer(self, low, high, sampled=0.3):
        if self.chance(sampled):
            return self.feed([np.int32(self.whole(low, high)) for _ in range(BATCH)])
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

    # ---- what a statement does
    def call(self, name, first="x", **arguments):
        given = ", ".join([first] * bool(first) + [f"{key}={value}" for key, value in arguments.items() if value is not None])
        self.lines.append(f"x = fn.{name}({given})")
        self.calls.append(name)

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
        name = self.one_of(*names)
        self.later = name
        return "types." + TYPES[name]

    def take_type(self):
        if getattr(self, "later", None):
            self.set_type(self.later)
        self.later = None

    # ---- inputs
    def draw_images(self):
        self.dtype = np.dtype(self.one_of("uint8", "uint8", "uint8", "float32", "int16", "uint16"))
        self.layout = self.one_of("HWC", "HWC", "HWC", "HWC", "CHW", "FHWC")
        self.channels = self.one_of(3, 3, 3, 1, 2, 4)
        self.range = 65536.0 if self.dtype.itemsize == 2 else 256.0
        frames = 2
        samples = []
        for k in range(BATCH):
            height, width = (1, self.whole(1, 5)) if self.chance(0.05) else (self.whole(3, 20), self.whole(3, 24))
            sample = image(height, width, self.channels, self.dtype, int(self.random.integers(1 << 30)))
            if self.layout == "CHW":
                sample = sample.transpose(2, 0, 1)
            if self.layout == "FHWC":
                sample = np.stack([sample, sample[::-1]][:frames])
            samples.append(sample)
        self.kind = "image"
        self.lines.append("x = " + self.feed(samples, self.layout))

    def draw_vectors(self):
        self.dtype = np.dtype(self.one_of("float32", "float32", "int32", "uint8", "int16", "int64"))
        self.layout, self.kind = "", "points"
        self.coordinates = self.one_of(2, 2, 3, 4)
        low, high = (0, 1) if self.dtype.kind == "f" else (0, 100)
        self.range = float(high)
        samples = [self.random.uniform(low, high, (self.whole(1, 6), self.coordinates)).astype(self.dtype) for _ in range(BATCH)]
        self.lines.append("x = " + self.feed(samples))

    # ---- geometry
    def interp(self, names=INTERPOLATIONS):
        return "types.INTERP_" + self.one_of(*names)

    def op_resize(self, name="resize"):
        arguments = {}
        form = self.one_of("size", "xy", "x", "shorter", "longer")
        if form == "size":
            arguments["size"] = self.numbers(2, 1.2, 30)
        elif form == "xy":
            arguments["resize_x"], arguments["resize_y"] = self.number(1.2, 30), self.number(1.2, 30)
        elif form == "x":
            arguments["resize_x"] = self.number(1.2, 30)
        else:
            arguments["resize_" + form] = self.number(1.2, 30)
        if form in ("size", "xy") and self.chance(0.3):
            arguments["mode"] = self.one_of('"default"', '"stretch"', '"not_larger"', '"not_smaller"')
        if form == "shorter" and self.chance(0.3):
            arguments["max_size"] = self.number(20, 40, 0)
        if self.chance(0.7):
            arguments["interp_type"] = self.interp()
        elif self.chance(0.5):
            arguments["min_filter"], arguments["mag_filter"] = self.interp(INTERPOLATIONS[1:]), self.interp(INTERPOLATIONS[1:])
        if self.chance(0.2):
            arguments["antialias"] = self.one_of("True", "False")
        if self.chance(0.15) and "NN" not in arguments.get("interp_type", ""):
            arguments["roi_start"], arguments["roi_end"] = self.numbers(2, 0, 0.4), self.numbers(2, 0.5, 1)
            arguments["roi_relative"] = "True"
        if self.chance(0.1):
            arguments["subpixel_scale"] = "False"
        arguments["dtype"] = self.maybe_type("float32", str(self.dtype))
        self.call(name, **arguments)
        if "NN" not in arguments.get("interp_type", ""):
            self.rounds(1.6, 6e-4)
        self.take_type()

    def op_resize_crop_mirror(self):
        arguments = {self.one_of("resize_shorter", "resize_longer"): self.number(8, 30),
                     "crop": repr([self.whole(1, 8), self.whole(1, 8)])}
        if self.chance(0.5):
            arguments["crop_pos_x"], arguments["crop_pos_y"] = self.number(0, 1), self.number(0, 1)
        if self.chance(0.5) and self.layout == "HWC":
            arguments["mirror"] = self.integer(0, 1)
        if self.chance(0.6):
            arguments["interp_type"] = self.interp(INTERPOLATIONS[1:])
        self.call(self.one_of("resize_crop_mirror", "fast_resize_crop_mirror"), **arguments)
        self.rounds(1.6, 6e-4)

    def op_crop(self):
        arguments = {}
        if self.chance(0.5):
            arguments["crop"] = self.numbers(2, 1, 9)
        else:
            arguments["crop_h"], arguments["crop_w"] = self.number(1, 9), self.number(1, 9)
        for axis in "xy":
            if self.chance(0.4):
                arguments["crop_pos_" + axis] = self.number(0, 1)
        arguments["rounding"] = self.one_of(None, None, '"round"', '"truncate"')
        self.bounds(arguments)
        arguments["dtype"] = self.maybe_type("float32", str(self.dtype))
        self.call("crop", **arguments)
        self.take_type()

    def bounds(self, arguments):
        arguments["out_of_bounds_policy"] = self.one_of('"pad"', '"pad"', '"trim_to_shape"', '"edge"', '"reflect_101"', '"wrap"')
        if arguments["out_of_bounds_policy"] == '"pad"' and self.chance(0.4):
            arguments["fill_values"] = repr([self.whole(0, 100) for _ in range(self.one_of(1, self.channels or 1))])

    def op_slice(self):
        arguments = {}
        n = 2
        if self.chance(0.4):
            arguments["axes"] = self.one_of("[0, 1]", "[1, 0]", "[-1, 0]")
        elif self.chance(0.3):
            arguments["axis_names"] = self.one_of('"HW"', '"WH"')
        if self.chance(0.5):
            arguments["start"] = self.integers(n, 0, 2)
        elif self.chance(0.6):
            arguments["rel_start"] = self.numbers(n, 0, 0.5)
        end = self.one_of("end", "shape", "rel_end", "rel_shape", *[None] * ("start" in arguments or "rel_start" in arguments))
        if end in ("end", "shape"):
            if "rel_start" in arguments and end == "end":
                del arguments["rel_start"]  # which may lie behind it
            arguments[end] = self.integers(n, 2, 6)
        elif end:
            arguments[end] = self.numbers(n, 0.5, 1)
        self.bounds(arguments)
        self.call("slice", **arguments)
        if "axes" in arguments:
            self.channels = None  # may be cut

    def op_crop_mirror_normalize(self):
        arguments = {"crop": self.one_of(None, repr([self.whole(1, 8), self.whole(1, 8)])),
                     "mirror": self.one_of(None, self.integer(0, 1)),
                     "output_layout": self.one_of('"HWC"', '"CHW"', None)}
        if self.layout not in ("HWC", "CHW"):
            arguments["output_layout"] = f'"{self.layout}"'
        if self.chance(0.6):
            n = self.one_of(1, self.channels)
            arguments["mean"], arguments["std"] = self.numbers(n, 0, 100, 0.2), self.numbers(n, 5, 60, 0.2)
        if self.chance(0.3):
            arguments["scale"], arguments["shift"] = repr(self.real(0.5, 2)), repr(self.real(-2, 20))
        dtype = self.one_of("float32", "float32", "float16", "uint8", "int8")
        arguments["dtype"] = "types." + TYPES[dtype]
        if self.chance(0.3):
            arguments["pad_output"] = "True"
        self.bounds(arguments)
        if arguments["out_of_bounds_policy"] not in ('"pad"', '"trim_to_shape"'):
            arguments["out_of_bounds_policy"] = '"pad"'
        if arguments.get("pad_output") == "True" and "fill_values" in arguments:
            del arguments["fill_values"]
        self.call("crop_mirror_normalize", **arguments)
        self.dtype = np.dtype(dtype)
        self.rounds(2 / 5 if "std" in arguments else 2, 2e-3 if dtype == "float16" else 3e-5)
        if arguments["output_layout"]:
            self.layout = arguments["output_layout"].strip('"')
        else:
            self.layout = "CHW"
        self.channels = self.channels if "pad_output" not in arguments else None

    def op_flip(self):
        self.call("flip", horizontal=self.integer(0, 1), vertical=self.integer(0, 1) if self.chance(0.6) else None)

    def warp(self, arguments):
        arguments["interp_type"] = self.one_of(None, "types.INTERP_LINEAR", "types.INTERP_NN")
        if self.chance(0.7):
            arguments["fill_value"] = repr(self.whole(0, 200))
        if self.chance(0.3):
            arguments["size"] = self.numbers(2, 2, 20, 0.2)
        arguments["dtype"] = self.maybe_type("float32", str(self.dtype))

    def op_rotate(self):
        arguments = {"angle": self.number(-180, 180) if self.chance(0.8) else repr(float(self.one_of(0, 90, 180, 270, -90)))}
        self.warp(arguments)
        if self.chance(0.3):
            arguments["keep_size"] = "True"
        self.call("rotate", **arguments)
        self.rounds(1.6, 6e-4)
        self.take_type()

    def op_warp_affine(self):
        matrix = [1 + self.real(-0.3, 0.3), self.real(-0.3, 0.3), self.real(-3, 3), self.real(-0.3, 0.3),
                  1 + self.real(-0.3, 0.3), self.real(-3, 3)]
        arguments = {"matrix": repr([round(m, 3) for m in matrix])}
        if self.chance(0.3):
            name = self.feed([np.float32(matrix).reshape(2, 3) + np.float32(self.real(-0.1, 0.1)) for _ in range(BATCH)])
            arguments["matrix"] = f"fn.reshape({name}, shape=[2, 3])"
        self.warp(arguments)
        if self.chance(0.3):
            arguments["inverse_map"] = "False"
        self.call("warp_affine", **arguments)
        self.rounds(1.6, 6e-4)
        self.take_type()

    def op_displace(self):
        name = self.one_of("sphere", "water")
        arguments = {"fill_value": repr(self.whole(0, 100)) if self.chance(0.5) else None,
                     "interp_type": self.one_of(None, "types.INTERP_LINEAR", "types.INTERP_NN")}
        if name == "water" and self.chance(0.6):
            arguments["ampl_x"], arguments["freq_y"] = repr(self.real(0, 5)), repr(self.real(0, 0.3))
        self.call(name, **arguments)
        self.rounds(1.6, 6e-4)

    def op_transpose(self):
        axes = list(range(len(self.layout)))
        perm = [int(a) for a in self.random.permutation(axes)]
        self.call("transpose", perm=repr(perm))
        self.layout = "".join(self.layout[a] for a in perm)

    def op_grid_mask(self):
        self.call("grid_mask", tile=self.integer(3, 12), ratio=self.number(0.1, 0.9), angle=self.number(-1, 1),
                  shift_x=self.number(0, 9) if self.chance(0.5) else None)

    # ---- colours
    def colour(self, name, gain=1.0, **arguments):
        arguments["dtype"] = self.maybe_type("float32", "uint8", "int16")
        typed = getattr(self, "later", None)
        self.call(name, **arguments)
        if name in ("hue", "saturation", "hsv", "color_twist") and not typed and name == "hsv":
            self.set_type("uint8")
        self.rounds(max(gain, 1), 1e-4)
        self.take_type()

    def op_brightness(self):
        self.colour("brightness", 2, brightness=self.number(0, 2),
                    brightness_shift=self.number(-0.3, 0.3) if self.chance(0.3) else None)

    def op_contrast(self):
        self.colour("contrast", 2, contrast=self.number(0, 2),
                    contrast_center=self.number(0, 200) if self.chance(0.3) else None)

    def op_brightness_contrast(self):
        self.colour("brightness_contrast", 4, brightness=self.number(0, 2), contrast=self.number(0, 2),
                    brightness_shift=self.number(-0.3, 0.3) if self.chance(0.3) else None)

    def op_hue(self):
        self.colour("hue", 2.5, hue=self.number(-180, 180))

    def op_saturation(self):
        self.colour("saturation", 2.5, saturation=self.number(0, 2))

    def op_hsv(self):
        self.colour("hsv", 4, hue=self.number(-90, 90), saturation=self.number(0, 2) if self.chance(0.5) else None,
                    value=self.number(0, 2) if self.chance(0.5) else None)

    def op_color_twist(self):
        self.colour("color_twist", 8, **{name: self.number(low, high) for name, low, high in
                                         (("brightness", 0, 2), ("contrast", 0, 2), ("hue", -90, 90), ("saturation", 0, 2))
                                         if self.chance(0.6)})

    def op_color_space_conversion(self):
        to = self.one_of("BGR", "GRAY", "YCbCr")
        self.call("color_space_conversion", image_type="types.RGB", output_type="types." + to)
        if to == "GRAY":
            self.channels = 1
        if to != "BGR":
            self.rounds()

    def op_equalize(self):
        self.call("equalize")

    # ---- filters
    def op_gaussian_blur(self):
        arguments = {}
        if self.chance(0.7):
            arguments["sigma"] = self.number(0.3, 3)
        if self.chance(0.4) or not arguments:
            arguments["window_size"] = repr(self.one_of(3, 5, 7))
        arguments["dtype"] = self.maybe_type("float32")
        self.call("gaussian_blur", **arguments)
        self.rounds(1, 3e-5)
        self.take_type()

    def op_laplacian(self):
        self.call("laplacian", window_size=repr(self.one_of(3, 5)), scale=repr(self.real(0.02, 0.3)), dtype="types.FLOAT")
        self.dtype = np.dtype("float32")
        self.rounds(16, 1e-4)

    def op_filter(self):
        shape = [self.one_of(1, 3), self.one_of(1, 2, 3)]
        kernel = self.feed([self.random.uniform(-0.3, 0.5, shape).astype(np.float32) for _ in range(BATCH)])
        kernel = f"fn.reshape({kernel}, shape={shape})"
        self.write("filter", f"x = fn.filter(x, {kernel}" + (', border="' + self.one_of("clamp", "wrap", "reflect_1001") + '"'
                                                              if self.chance(0.4) else "") + ")")
        self.rounds(3, 1e-4)

    # ---- tensors
    def op_cast(self):
        name = self.one_of("float32", "uint8", "int16", "int32", "float32")
        self.call("cast", dtype="types." + TYPES[name])
        self.set_type(name)

    def op_pad(self):
        arguments = {"axes": self.one_of("[0, 1]", "[0]", None), "shape": None}
        if arguments["axes"] == "[0, 1]":
            arguments["shape"] = self.one_of(None, self.integers(2, 8, 20))
        arguments["align"] = self.one_of(None, "[4]", "[3]") if arguments["axes"] == "[0]" else None
        arguments["fill_value"] = self.one_of(None, repr(self.whole(0, 100)))
        self.call("pad", **arguments)

    def op_erase(self):
        boxes = self.one_of(1, 1, 2)
        axes = len(self.layout.replace("C", ""))
        self.call("erase", anchor=self.numbers(axes * boxes, 0, 0.8), shape=self.numbers(axes * boxes, 0.1, 0.5), normalized="True",
                  fill_value=repr(self.whole(0, 100)) if self.chance(0.5) else None,
                  centered_anchor=self.one_of(None, None, "True"))

    def op_lookup_table(self):
        keys = sorted({self.whole(0, 255) for _ in range(6)})
        self.call("lookup_table", keys=repr(keys), values=repr([self.real(-5, 250) for _ in keys]), dtype="types.FLOAT",
                  default_value=repr(self.real(0, 9)))
        self.dtype = np.dtype("float32")

    def op_normalize(self):
        arguments = {"axes": self.one_of("[0, 1]", "[0]", None)}
        if self.chance(0.4):
            arguments["scale"], arguments["shift"] = repr(self.real(1, 60)), repr(self.real(-9, 100))
        if self.chance(0.3):
            arguments["epsilon"] = repr(self.real(0.1, 2))
        if self.chance(0.2):
            arguments["ddof"] = "1"
        if self.chance(0.2):
            arguments["mean"] = repr(self.real(0, 100))
        self.call("normalize", **arguments)
        self.dtype = np.dtype("float32")
        self.range, self.relative = 100.0, 1e-3

    def op_reductions(self):
        name = self.one_of("sum", "mean", "min", "max", "mean_square", "rms", "std_dev", "variance")
        first = "x"
        axes = self.one_of("[0]", "[0, 1]", None, "[1]")
        if name in ("std_dev", "variance"):
            self.write("reductions." + name, f"m = fn.reductions.mean(x{', axes=' + axes if axes else ''})")
            first = "x, m"
        self.call("reductions." + name, first, axes=axes, keep_dims=self.one_of(None, "True") if name not in ("std_dev", "variance")
                  else None, dtype="types.FLOAT" if name == "sum" and self.dtype.kind == "f" else None)
        if name not in ("min", "max"):
            self.relative += 1e-3
        self.kind = "end"

    def op_shapes(self):
        self.call("shapes", dtype=self.one_of(None, "types.INT32", "types.FLOAT"))
        self.slack = self.relative = 0.0
        self.kind = "end"

    def op_stack(self):
        if self.chance(0.5):
            self.write("stack", f"x = fn.stack(x, fn.copy(x), axis={self.whole(0, len(self.layout))})")
            self.kind = "end"
        else:
            self.write("cat", f"x = fn.cat(x, x, axis={self.whole(-len(self.layout), len(self.layout) - 1)})")
            self.channels = None

    def op_reshape(self):
        form = self.one_of("flat", "layout", "relative", "dims")
        if form == "flat":
            self.call("reshape", shape="[-1]", layout='""')
        elif form == "layout":
            self.call("reshape", layout='"' + "XYZT"[:len(self.layout)] + '"')
        elif form == "relative":
            self.call("reshape", rel_shape="[1, -1]", layout='"HW"')
        else:
            self.call("reshape", src_dims=repr([-1, 0]), rel_shape="[1, -1]", layout='""')
        self.kind = "end"

    def op_reinterpret(self):
        if self.dtype.itemsize == 1:
            return
        self.call("reinterpret", dtype="types.UINT8")
        self.kind = "end"

    def op_axes(self):
        self.write("expand_dims", f"x = fn.expand_dims(x, axes=[{self.whole(0, len(self.layout))}])")
        self.kind = "end"

    def op_index(self):
        form = self.one_of("x[0]", "x[-1]", "x[:, 0]", "x[1:]", "x[:-1]", "x[:, 1:]", "x[..., 0]" if False else "x[0:1]")
        self.write("index", "x = " + form)
        self.kind = "end"

    def op_arithmetic(self):
        form = self.one_of("x + 3", "x * 2", "255 - x", "x * 0.5", "x / 3", "x // 3", "x % 7", "-x", "x > 100", "x == 4", "x & 15",
                           "x ^ 3", "math.clamp(x, 10, 100)", "math.sqrt(x)", "math.abs(x)", "math.max(x, 50)", "x * x",
                           "x - 1.5", "math.floor(x)", "math.exp(x * 0.01)", "math.atan2(x, 3.0)", "x ** 2", "x << 1")
        if not self.is_exact and re.search(r"[&^<>%]|==|//|floor|exp|sqrt|atan|x \* x|\*\*", form):
            form = "x * 0.75"
        if self.dtype.kind == "f" and re.search(r"[&^]|//|%|<<", form):
            form = "x * 1.25"
        self.write("arithmetic", "x = " + form)
        self.slack *= 2
        self.relative = self.relative * 4 + 1e-5
        self.kind = "end"

    def op_sequence(self):
        if self.chance(0.5):
            self.call("element_extract", element_map=self.one_of("[0]", "[1]", "1"))
            self.layout = "HWC"
        else:
            self.call("sequence_rearrange", new_order=self.one_of("[1, 0]", "[0, 0, 1]", "[1]"))

    def op_permute(self):
        self.call("permute_batch", indices=self.one_of("[2, 0, 1]", "[0, 0, 0]", "[1, 2, 0]"))

    def op_quiet_noise(self):
        if self.chance(0.5):
            self.call("noise.salt_and_pepper", prob="0.0")
        else:
            self.call("noise.gaussian", stddev="0.0", mean=repr(self.one_of(0.0, 3.0)))

    def op_copy(self):
        self.call("copy")

    def op_one_hot(self):
        self.write("one_hot", "x = fn.one_hot(x, num_classes=" + repr(self.whole(1, 9)) + self.one_of("", ", axis=0", ", on_value=3",
                                                                                                    ", dtype=types.INT32") + ")")
        self.kind = "end"

    def op_fill(self):
        name = self.one_of("zeros", "ones", "full", "zeros_like", "ones_like", "full_like")
        dtype = self.one_of("", ", dtype=types.INT16", ", dtype=types.FLOAT", ", dtype=types.UINT8")
        inputs = {"zeros_like": "x", "ones_like": "x", "full_like": "x, 7"}.get(name, "7, shape=[2, 3]" if name == "full" else "shape=[2, 3]")
        self.write(name, f"x = x, fn.{name}({inputs}{dtype if name != 'full' and name != 'full_like' else ''})")
        self.kind = "end"

    # ---- points
    def op_coord_transform(self):
        n, m = self.coordinates, self.one_of(1, 2, 3)
        matrix = self.numbers(n * m, -2, 2, 0)
        form = self.one_of("M", "MT", "T", "scalar")
        if form == "M":
            arguments = {"M": matrix, "T": self.numbers(m, -2, 2)}
            self.coordinates = m
        elif form == "MT":
            arguments = {"MT": self.numbers((n + 1) * m, -2, 2, 0)}
            self.coordinates = m
        elif form == "T":
            arguments = {"T": self.numbers(n, -2, 2)}
        else:
            arguments = {"M": self.number(-2, 2)}
        if self.chance(0.3):
            arguments["dtype"] = "types." + TYPES[self.dtype.name]
        self.call("coord_transform", **arguments)
        self.dtype = self.dtype if "dtype" in arguments else np.dtype("float32")
        self.rounds(6, 1e-5)

    def op_coord_flip(self):
        if self.coordinates not in (2, 3):
            return
        layout = "xyz"[:self.coordinates]
        self.call("coord_flip", layout=f'"{layout}"', flip_x=self.integer(0, 1), flip_y=self.integer(0, 1),
                  center_x=self.number(0, 1) if self.chance(0.4) else None)
        self.relative += 1e-6

    def op_bb_flip(self):
        if self.coordinates != 4:
            return
        self.call("bb_flip", ltrb=self.one_of("True", "False", None), horizontal=self.integer(0, 1), vertical=self.integer(0, 1))
        self.relative += 1e-6

    def op_transforms(self):
        a = "fn.transforms." + self.one_of(
            f"rotation(angle={self.number(-180, 180)}, center={self.numbers(2, 0, 9)})",
            f"scale(scale={self.numbers(2, 0.5, 2)}, center={self.numbers(2, 0, 9)})", f"translation(offset={self.numbers(2, -9, 9)})",
            f"shear(angles={self.numbers(2, -60, 60)})", f"shear(shear={self.numbers(2, -2, 2)})",
            f"crop(from_start={self.numbers(2, 0, 1)}, from_end={self.numbers(2, 2, 3)}, to_start=[0.0, 0.0], to_end={self.numbers(2, 1, 9)})",
            "rotation(angle=30.0, axis=[1.0, 2.0, 2.0])")
        b = f"fn.transforms.translation(offset={self.numbers(2, -9, 9)})"
        self.write("transforms", f"x = x, {a if 'axis' in a or self.chance(0.4) else f'fn.transforms.combine({a}, {b})'}")
        self.relative += 1e-5
        self.kind = "end"

    # ---- what fits
    def fitting(self):
        if self.kind == "points":
            found = ["cast", "copy", "permute", "arithmetic", "fill", "transforms"]
            if self.dtype in (np.float32,):
                found += ["coord_transform", "coord_flip"] * 3 + ["bb_flip"] * 3
            elif self.dtype in (np.uint8, np.int16, np.int32):
                found += ["coord_transform"] * 3
            if self.dtype.kind in "iu" and self.is_exact:
                found += ["one_hot"] * 2
            return found
        found = ["crop", "flip", "transpose", "cast", "pad", "erase", "copy", "permute", "shapes", "stack", "reshape", "axes", "index",
                 "slice"]
        usual = {"H", "W"} <= set(self.layout)
        narrow = self.dtype in (np.uint8, np.int16, np.uint16, np.float32)
        if self.dtype in (np.uint8, np.int16, np.uint16, np.float32, np.int32):
            found += ["arithmetic"] * 2
        if self.dtype.kind in "iu" and self.dtype.itemsize == 2:
            found += ["reinterpret"] if self.is_exact else []
        if self.layout not in ("HWC", "CHW", "FHWC"):
            return [name for name in found if name not in ("flip", "crop", "slice")]
        if usual and narrow:
            found += ["resize"] * 3 + ["resize_crop_mirror"] + ["normalize", "reductions"] * self.is_exact
            found += ["gaussian_blur", "laplacian"]
            if self.channels:
                found += ["crop_mirror_normalize"] * 2
        if self.layout in ("HWC", "FHWC") and narrow and self.channels and self.dtype != np.uint16:
            found += ["rotate", "warp_affine", "brightness", "contrast", "brightness_contrast"]
            if self.dtype == np.uint8 or self.dtype == np.float32:
                found += ["filter"]
            if self.channels == 3:
                found += ["hue", "saturation", "hsv", "color_twist"]
                if self.dtype == np.uint8:
                    found += ["color_space_conversion"]
            if self.dtype == np.uint8 and self.is_exact:
                found += ["equalize"]
        if self.layout == "HWC" and self.channels:
            if self.dtype in (np.uint8, np.float32):
                found += ["displace", "quiet_noise"]
            if self.dtype in (np.uint8, np.float32, np.int16):
                found += ["grid_mask"]
        if self.dtype == np.uint8 and self.is_exact:
            found += ["lookup_table"]
        if self.layout == "FHWC":
            found += ["sequence"]
        return found

    def draw(self):
        (self.draw_vectors if self.chance(0.12) else self.draw_images)()
        for _ in range(self.whole(1, 5)):
            if self.kind == "end":
                break
            getattr(self, "op_" + self.one_of(*self.fitting()))()
        if not self.calls:
            self.op_copy()
        self.lines.append("return x")
        return Case("\n".join(self.lines), {name: feed for name, feed in self.feeds.items() if
                                            re.search(rf"\b{name}\b", "\n".join(self.lines))}, self.calls, self.slack, self.relative)


def draw(seed):
    return Drawer(seed).draw()
