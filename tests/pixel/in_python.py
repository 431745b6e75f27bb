"""Runs a file with pixel functions in CPython, element by element: what galatea must give.

Usage: in_python.py FILE.json with {"text": …, "inputs": {name: {"extents", "values", "layout"}}}. Prints the outputs of the
pipeline `p` as JSON: extents and values before rounding.
"""
import json
import math as python_math
import sys
import types as python_types


class Array:
    """An image, a table or a scalar; images are indexed by row, column and channel, whatever the layout."""

    def __init__(self, extents, values, layout):
        self.extents, self.values, self.layout = extents, values, layout
        order = "HWC" if "H" in layout else layout
        self.axes = [layout.index(letter) for letter in order if letter in layout] or list(range(len(extents)))
        self.border, self.fill = "clamp", 0

    def extent(self, coordinate):
        return self.extents[self.axes[coordinate]]

    height = property(lambda self: self.extent(0))
    width = property(lambda self: self.extent(1))
    channels = property(lambda self: self.extent(2))

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        place = [0] * len(self.extents)
        for coordinate, at in enumerate(index):
            size = self.extent(coordinate)
            if not 0 <= at < size:
                if self.border == "constant":
                    return self.fill
                if self.border == "clamp":
                    at = min(max(at, 0), size - 1)
                else:
                    at %= max(2 * (size - 1), 1)
                    at = min(at, 2 * (size - 1) - at)
            place[self.axes[coordinate]] = at
        flat = 0
        for at, size in zip(place, self.extents):
            flat = flat * size + at
        return self.values[flat]

    def bilinear(self, y, x, *rest):
        top, left = python_math.floor(y), python_math.floor(x)
        ty, tx = y - top, x - left
        row = lambda j: (1 - tx) * self[(j, left) + rest] + tx * self[(j, left + 1) + rest]
        return (1 - ty) * row(top) + ty * row(top + 1)


def pixel(function=None, **fixed):
    if function is None:
        return lambda inner: pixel(inner, **fixed)

    def call(*given, **keywords):
        options = {**fixed, **{k: keywords.pop(k) for k in list(keywords) if k in NAMES}}
        named = [keywords[name] for name in function.__code__.co_varnames if name in keywords]
        arrays = [x for x in list(given) + named if isinstance(x, Array)]
        for array in arrays:
            array.border = options.get("border", "constant" if "fill" in options else "clamp")
            array.fill = options.get("fill", 0)
        image = next((x for x in arrays if len(x.extents) > 1), None)
        at = function(*given, **keywords)
        rank = at.__code__.co_argcount
        layout = image.layout if image and len(image.extents) == rank else "HWC"[:rank]
        height, width = options.get("size") or (image.height, image.width)
        sizes = {"H": height, "W": width, "C": options.get("channels") or (image.channels if rank == 3 else 1)}
        extents = [sizes[letter] for letter in layout]
        values = []
        for n in range(python_math.prod(extents)):
            place = {}
            for letter, size in reversed(list(zip(layout, extents))):
                n, place[letter] = divmod(n, size)
            values.append(at(*[place[letter] for letter in "HWC"[:rank]]))
        return Array(extents, values, layout)

    return call


NAMES = ("border", "fill", "size", "channels", "dtype")


def total(elements, function):
    result = 0
    for element in elements:
        result = result + function(element)
    return result


def main():
    case = json.load(open(sys.argv[1]))
    inputs = {
        name: Array(x["extents"], x["values"], x["layout"]) if x["extents"] else x["values"][0]
        for name, x in case["inputs"].items()
    }
    fn = python_types.SimpleNamespace(external_source=lambda name, **_: inputs[name])
    names = {n: n for n in "UINT8 INT8 UINT16 INT16 INT32 INT64 FLOAT FLOAT16 FLOAT64 BOOL".split()}
    clamp = lambda x, low, high: min(max(x, low), high)
    math = python_types.SimpleNamespace(**{**vars(python_math), "clamp": clamp, "min": min, "max": max, "abs": abs})
    math.rsqrt, math.cbrt = lambda x: x**-0.5, lambda x: python_math.copysign(abs(x) ** (1 / 3), x)
    galatea = python_types.ModuleType("galatea")
    galatea.__dict__.update(
        fn=fn,
        math=math,
        types=python_types.SimpleNamespace(**names),
        pixel=pixel,
        sum=total,
        pipeline_def=lambda **_: lambda function: function,
    )
    sys.modules["galatea"] = galatea
    scope = {}
    exec(compile(case["text"], "pixel.dali-dsl", "exec"), scope)
    outputs = scope["p"]()
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    print(json.dumps([{"extents": x.extents, "values": [float(v) for v in x.values]} for x in outputs]))


main()
