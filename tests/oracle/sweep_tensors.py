"""Operators on tensors for the sweep: types, shapes, values, statistics, batches, draws that leave one choice."""
import re

import numpy as np

from recorder import TYPES
from sweep_drawer import BATCH, Drawer


class Tensors(Drawer):
    def op_cast(self):
        name = self.one_of("float32", "uint8", "int16", "int32", "float32", "uint16", "int8", "float16", "int64", "float64", "uint32", "uint64")
        if name == "float16" and self.range > 6e4 or self.dtype.kind == "f" and np.dtype(name).itemsize > 2 and np.dtype(name).kind in "iu":
            name = "float32"  # of nothing beyond the type
        if self.chance(0.2):
            self.write("cast_like", f"x = fn.cast_like(x, {self.feed([np.zeros(1, name)] * BATCH)})")
        else:
            self.call("cast", dtype="types." + TYPES[name])
        self.set_type(name)
        if name == "float16":
            self.relative += 1e-3

    def op_pad(self):
        arguments = {"axes": self.one_of("[0, 1]", "[0]", "[-1, 0]", None), "shape": None}
        if arguments["axes"] in ("[0, 1]", "[-1, 0]"):
            arguments["shape"] = self.one_of(None, self.integers(2, 8, 20), self.integers(2, -1, 12))
        elif arguments["axes"] is None and "W" in self.layout and self.chance(0.5):
            arguments["axis_names"] = self.one_of('"W"', '"HW"' if "H" in self.layout else '"W"')
        arguments["align"] = self.one_of(None, "[4]", "[3]") if arguments["axes"] == "[0]" else None
        arguments["fill_value"] = self.one_of(None, repr(self.whole(0, 100)))
        self.call("pad", **arguments)
        self.frames = 0
        if arguments["axes"] != "[0, 1]" or self.layout[-1] != "C":
            self.channels = None

    def op_erase(self):
        boxes = self.one_of(1, 1, 2)
        axes = len(self.layout.replace("C", ""))
        arguments = {"fill_value": self.one_of(None, repr(self.whole(0, 100)), self.channels and self.layout[-1] == "C" and repr(
                         [float(self.whole(0, 100)) for _ in range(self.channels)]) or None),
                     "centered_anchor": self.one_of(None, None, "True")}
        if self.chance(0.3) and "W" in self.layout and "H" in self.layout:
            arguments["axis_names"], axes = self.one_of(('"HW"', 2), ('"W"', 1))
        elif self.chance(0.3):
            arguments["axes"], axes = self.one_of(("[0, 1]", 2), ("[1]", 1))
        form = self.one_of("fractions", "elements", "mixed")
        if form == "fractions":
            arguments |= {"anchor": self.numbers(axes * boxes, 0, 0.8), "shape": self.numbers(axes * boxes, 0.1, 0.5), "normalized": "True"}
        elif form == "elements":
            arguments |= {"anchor": self.numbers(axes * boxes, 0, 8), "shape": self.numbers(axes * boxes, 1, 6)}
        else:
            arguments |= {"anchor": self.numbers(axes * boxes, 0, 0.8), "shape": self.numbers(axes * boxes, 1, 6), "normalized_anchor": "True",
                          "normalized_shape": "False"}
        self.call("erase", **arguments)

    def op_lookup_table(self):
        keys = sorted({self.whole(0, 255 if self.dtype.itemsize == 1 else 65535) for _ in range(6)})
        name = self.one_of("float32", "float32", "uint8", "int16")
        values = [self.real(-5, 250) if name == "float32" else float(self.whole(0, 200)) for _ in keys]
        self.call("lookup_table", keys=repr(keys), values=repr(values), **{self.name_of_type(): "types." + TYPES[name]},
                  default_value=repr(float(self.whole(0, 9))))
        self.dtype, self.range = np.dtype(name), 256.0

    def op_normalize(self):
        arguments = {"axes": self.one_of("[0, 1]", "[0]", None), "batch": self.one_of(None, None, "True")}
        if arguments["batch"]:
            arguments["axes"] = None  # other axes may differ from sample to sample
        elif self.chance(0.2) and {"H", "W"} <= set(self.layout):
            arguments["axes"], arguments["axis_names"] = None, '"HW"'
        if self.chance(0.4):
            arguments["scale"], arguments["shift"] = repr(self.real(1, 60)), repr(self.real(-9, 100))
        if self.chance(0.3):
            arguments["epsilon"] = repr(self.real(0.1, 2))
        if self.chance(0.2):
            arguments["ddof"] = "1"
        if self.chance(0.2):
            arguments["mean"] = repr(self.real(0, 100))
        elif self.chance(0.2):
            arguments["stddev"] = repr(self.real(5, 60))
        elif self.chance(0.2) and not arguments["batch"] and self.layout == "HWC" and self.channels:
            values = self.feed([np.float32([[[self.real(20, 100) for _ in range(self.channels)]]]) for _ in range(BATCH)])
            arguments[self.one_of("mean", "stddev")] = f"fn.reshape({values}, shape=[1, 1, {self.channels}])"
            arguments["axes"], arguments["axis_names"] = "[0, 1]", None
        if self.chance(0.2):
            arguments["dtype"] = "types.INT16"
            arguments["scale"] = repr(self.real(10, 60))
        self.call("normalize", **arguments)
        self.dtype = np.dtype("int16" if "dtype" in arguments else "float32")
        self.range, self.relative = 100.0, 1e-3
        self.slack += "dtype" in arguments

    def op_reductions(self):
        name = self.one_of("sum", "mean", "min", "max", "mean_square", "rms", "std_dev", "variance")
        first = "x"
        where = {"axes": self.one_of("[0]", "[0, 1]", None, "[1]", "[-1]")}
        if where["axes"] is None and {"H", "W"} <= set(self.layout) and self.chance(0.7):
            where = {"axis_names": self.one_of('"HW"', '"W"', *(['"C"', '"WC"', '"CH"'] if "C" in self.layout else []))}
        more = {"keep_dims": self.one_of(None, "True")}
        if name in ("std_dev", "variance"):
            self.write("reductions.mean", f"m = fn.reductions.mean(x{''.join(', ' + a for a in self.arguments(where))}, keep_dims=True)")
            first, more["ddof"] = "x, m", self.one_of(None, "0", "1") if where.get("axes") != "[-1]" else None
        elif name in ("sum", "mean", "mean_square", "rms"):
            more["dtype"] = "types.FLOAT" if self.dtype.kind == "f" and name == "sum" or self.chance(0.4) else None
        self.call("reductions." + name, first, **where, **more)
        if name not in ("min", "max"):
            self.relative += 1e-3
        self.kind = "end"

    def op_shapes(self):
        self.call("shapes", **{self.one_of("dtype", "dtype", "type"): self.one_of(
            None, *("types." + TYPES[name] for name in ("int32", "float32", "uint32", "int64", "uint64", "float64")))})
        self.slack = self.relative = 0.0
        self.kind = "end"

    def op_stack(self):
        if self.chance(0.5):
            self.write("stack", f"x = fn.stack(x, fn.copy(x), axis={self.whole(0, len(self.layout))}{self.one_of('', ', axis_name=' + repr('Q'))})")
            self.kind = "end"
        elif self.chance(0.3) and self.layout:
            self.write("cat", f'x = fn.cat(x, fn.copy(x), x, axis_name="{self.one_of(*self.layout)}")')
        else:
            self.write("cat", f"x = fn.cat(x, x, axis={self.whole(-len(self.layout), len(self.layout) - 1)})")
        self.channels, self.frames = None, 0

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
        n = len(self.layout)
        self.call("reinterpret", dtype="types.UINT8", **self.one_of(
            {"layout": self.one_of(None, '""')}, {"shape": "[-1]", "layout": '""'}, {"rel_shape": repr([1] * (n - 1) + [-1])},
            {"src_dims": repr(list(range(n))), "layout": self.one_of(None, f'"{self.layout}"')}))
        self.kind = "end"

    def op_axes(self):
        form = self.one_of("one", "named", "two", "squeeze", "names")
        n = len(self.layout)
        if form == "one":
            self.call("expand_dims", axes=f"[{self.whole(0, n)}]")
        elif form == "named":
            self.call("expand_dims", axes=f"[{self.whole(0, n)}]", new_axis_names='"Q"')
        elif form == "two":
            self.call("expand_dims", axes=f"[0, {self.whole(1, n + 1)}]")
        else:
            place = self.whole(0, n)
            self.call("expand_dims", axes=f"[{place}]", new_axis_names='"Q"')
            self.call("squeeze", **({"axes": f"[{place}]"} if form == "squeeze" else {"axis_names": '"Q"'}))
            return
        self.kind = "end"

    def op_index(self):
        form = self.one_of("x[0]", "x[-1]", "x[:, 0]", "x[1:]", "x[:-1]", "x[:, 1:]", "x[0:1]", "x[::-1]", "x[:, ::2]", "x[-1:0:-1]",
                           "x[:, :, newaxis]", "x[:, 0:2]")
        self.write("index", "x = " + form)
        self.kind = "end"

    def op_arithmetic(self):
        form = self.one_of("x + 3", "x * 2", "255 - x", "x * 0.5", "x / 3", "x // 3", "x % 7", "-x", "x > 100", "x == 4", "x & 15",
                           "x ^ 3", "math.clamp(x, 10, 100)", "math.sqrt(x)", "math.abs(x)", "math.max(x, 50)", "x * x",
                           "x - 1.5", "math.floor(x)", "math.exp(x * 0.01)", "math.atan2(x, 3.0)", "x ** 2", "x << 1",
                           "x >> 2", "x | 5", "x != 7", "x <= 90", "(x > 3) & (x < 90)", "math.log(x + 1)", "math.sin(x)", "math.tanh(x * 0.01)",
                           "math.min(x, 100)", "math.ceil(x * 0.3)", "math.rsqrt(x + 2)", "math.cbrt(x)", "math.pow(x, 1.5)",
                           "math.fabs(x)", "x - fn.cast(x, dtype=types.FLOAT) * 0.5", "+x")
        if not self.is_exact and re.search(r"[&|^<>%]|[=!]=|//|floor|ceil|exp|sqrt|atan|sin|pow|log|x \* x|\*\*", form):
            form = "x * 0.75"
        if self.dtype.kind == "f" and re.search(r"[&|^]|//|%|<<|>>", form):
            form = "x * 1.25"
        self.write("arithmetic", "x = " + form)
        self.slack *= 2
        self.relative = self.relative * 4 + 1e-5
        self.slack += "sin" in form and 1e-5
        self.kind = "end"

    def op_sequence(self):
        if self.chance(0.5):
            self.call("element_extract", element_map=self.one_of("[0]", "[1]", "1"))
            self.layout, self.frames = self.layout[1:], 0
        else:
            order = self.one_of("[1, 0]", "[0, 0, 1]", "[1]")
            if self.chance(0.3):
                order = f"fn.reshape({self.feed([np.int32([self.whole(0, 1) for _ in range(3)]) for _ in range(BATCH)])}, shape=[3])"
            self.call("sequence_rearrange", new_order=order)
            self.frames = 0

    def op_permute(self):
        self.call("permute_batch", indices=self.one_of("[2, 0, 1]", "[0, 0, 0]", "[1, 2, 0]", self.feed([np.int32(i) for i in self.random.permutation(BATCH)])))

    def op_quiet_noise(self):
        form = self.whole(0, 3)
        seed = self.one_of(None, "5")
        if form == 0:
            self.call("noise.salt_and_pepper", prob="0.0", seed=seed, **self.some(salt_vs_pepper="0.3", salt_val="9.0", pepper_val="1.0", per_channel="True"))
        elif form == 1:
            # All of it becomes salt, or pepper.
            salt = self.one_of("0.0", "1.0")
            self.call("noise.salt_and_pepper", prob="1.0", salt_vs_pepper=salt, seed=seed, **self.some(salt_val="9.0", pepper_val="1.0", per_channel="True"))
        elif form == 2:
            self.call("noise.shot", "x * fn.zeros_like(x)" if self.dtype.kind == "f" else "fn.zeros_like(x)", factor=self.number(1, 20), seed=seed)
        else:
            self.call("noise.gaussian", stddev="0.0", mean=repr(self.one_of(0.0, 3.0)), seed=seed)

    def op_random(self):
        """Draws that leave one value; of the others type and extents."""
        shape = self.one_of(None, "[2, 3]", "[4]")
        dtype = self.one_of(None, None, "types.FLOAT", "types.INT32", "types.UINT8", "types.FLOAT64")
        common = {"shape": shape, "seed": self.one_of(None, "11")}
        form = self.one_of("coin", "values", "normal", "choice", "uniform", "beta", "permutation", "rows")
        calls = {"coin": ("random.coin_flip", {"probability": self.one_of("0.0", "1.0"), "dtype": dtype}, ""),
                 "values": ("random.uniform", {"values": f"[{self.real(0, 50)}]", "dtype": dtype}, ""),
                 "normal": ("random.normal", {"mean": self.number(0, 50), "stddev": "0.0", "dtype": dtype}, ""),
                 "choice": ("random.choice", {"p": self.one_of("[0.0, 1.0, 0.0]", "[1.0, 0.0, 0.0]")}, "3"),
                 "rows": ("random.choice", {}, self.one_of("[7]", "[2.5]", "1")),
                 "uniform": ("random.uniform", {"range": self.one_of(None, "[-3.0, 9.0]"), "dtype": dtype}, ""),
                 "beta": ("random.beta", {"alpha": self.number(0.5, 3), "beta": self.number(0.5, 3),
                                          "dtype": dtype if dtype and "FLOAT" in dtype else None}, "")}
        if form == "permutation":
            self.write("batch_permutation", f"x = x, fn.batch_permutation({', '.join(self.arguments(self.some(seed='3') | self.one_of({}, {'allow_repetitions': 'True'}, {'no_fixed_points': 'True'})))}) * 0")
        else:
            name, arguments, first = calls[form]
            legacy = {"coin": "coin_flip", "uniform": "uniform", "values": "uniform", "normal": "normal_distribution"}
            name = legacy[form] if form in legacy and self.chance(0.2) else name
            given = ", ".join([first] * bool(first) + self.arguments(arguments | common))
            self.write(name, f"x = x, fn.{name}({given}){' * 0' if form in ('uniform', 'beta') else ''}")
        self.kind = "end"

    def op_property(self):
        self.write("get_property", 'x = x, fn.get_property(x, key="layout")' if self.layout else "x = x, x.shape()")
        self.kind = "end"

    def op_constant(self):
        form = self.one_of("idata=[1, 2, 3, 4], shape=[2, 2]", "fdata=[0.5, 2.5]", "idata=[7], shape=[2, 3]", "fdata=[1.5], shape=[2], dtype=types.UINT8",
                           'idata=[1, 2], shape=[1, 2], layout="HW", dtype=types.FLOAT')
        self.write("constant", f"x = x, fn.constant({form})")
        self.kind = "end"

    def op_frames(self):
        """The first axis is one of frames from here on."""
        self.call("per_frame", replace=self.one_of(None, "True") if self.layout[0] == "F" else "True")
        self.kind = "end"

    def op_copy(self):
        self.call("copy")

    def op_one_hot(self):
        if self.chance(0.2):
            self.write("one_hot", 'x = fn.one_hot(fn.reshape(x, layout="AB"), num_classes=3, axis=0, axis_name="Q")')
            self.kind = "end"
            return
        self.write("one_hot", "x = fn.one_hot(x, num_classes=" + repr(self.whole(1, 9)) + self.one_of(
            "", ", axis=0", ", on_value=3", ", dtype=types.INT32", ", axis=-1", ", off_value=-2, dtype=types.INT16") + ")")
        self.kind = "end"

    def op_fill(self):
        name = self.one_of("zeros", "ones", "full", "zeros_like", "ones_like", "full_like")
        dtype = self.one_of(None, "types.INT16", "types.FLOAT", "types.UINT8")
        shape = self.one_of("[2, 3]", "[]", "[4]")
        layout = '"HW"' if shape == "[2, 3]" and self.chance(0.4) else None
        first, arguments = {"zeros_like": ("x", {"dtype": dtype}), "ones_like": ("x", {"dtype": dtype}), "full_like": ("x, 7", {}),
                            "full": (self.one_of("7", "2.5"), {"shape": shape, "layout": layout})}.get(
                                name, ("", {"shape": shape, "dtype": dtype, "layout": layout}))
        self.write(name, f"x = x, fn.{name}({', '.join([first] * bool(first) + self.arguments(arguments))})")
        self.kind = "end"
