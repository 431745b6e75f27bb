"""Random pipelines for sweep.py. In: a seed. Out: the text of a pipeline, what it is fed, and how far results may differ.

Inputs are drawn here, and which operators fit the value at hand; the operators stand in sweep_images.py, sweep_tensors.py,
sweep_points.py, sweep_files.py and sweep_sound.py.
"""
import ast
import json
import os
import re

import numpy as np

from recorder import Feed, pipeline_text
from samples import image
from sweep_drawer import BATCH, FRAMES, INTERPOLATIONS
from sweep_files import Files
from sweep_images import Images
from sweep_points import Points
from sweep_sound import Sound
from sweep_tensors import Tensors

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "layouts.json"), encoding="utf-8") as layouts:
    LAYOUTS = json.load(layouts)["layouts"]

# Kinds of differences that are meant: what of the text, and of the kind, says so, and why (docs/from-dali.md).
ON_PURPOSE = [
    (r"crop_mirror_normalize\((?!.*(mean|std)=\[[^\]]*,)(?!.*(mean|std)=fn.reshape\(v\d+, shape=\[[2-9]\]).*fill_values=\[[^\]]*,", "^values",
     "several fill values beside one mean: all channels but the first are 0 in DALI"),
    (r"reductions\.(rms|mean_square)", "^values",
     "squares of UINT16 above 2^31 wrap in DALI"),
    (r"(rotate|warp_affine|warp_perspective|sphere|water).*(INTERP_NN)", "^values", "ties of nearest neighbours, which float32 noise decides in DALI"),
    (r"reshape\(x, src_dims=fn\.", "^(layout|extents)", "a node src_dims has no effect in DALI"),
    ("save_attrs", "^(layout|extents)", "the extents of a sequence are those of each frame"),
    (r"bbox_rotate.* size=\[\d*\.", "^(values|extents)", "a fractional size: DALI truncates it here and rounds it in rotate"),
    ("", "^refused.*without elements", "an image without pixels, which DALI resizes to nothing"),
    (r"ANY_DATA[\s\S]*warp_perspective", "^values", "images of other channels in the batch, with which DALI's numbers change"),
    ("per_frame", "^refused.*(two axes F|decides which part of the input)", "frames share a window; a layout names each axis once"),
    (r"\[(.*, )?(-?\d*):(-?\d*):-?\d+", "^values",
     "a step of more than 16,384 elements, which DALI reads wrong"),
    ("ddof=", "^refused.*nothing to divide by", "DALI divides by 0"),
    (r'layout="(?!HWC).*\n[\s\S]*grid_mask', "^values", "grid_mask of another layout than HWC, where DALI masks by places in memory"),
    (r"FLOAT16.*\n[\s\S]*(gaussian_blur|laplacian)\(", "^values", "windows over FLOAT16, whose sums DALI rounds to FLOAT16 after each axis"),
    (r"(hsv|hue|saturation|color_twist)\(", "^refused.*needs # channels", "colours of more than three channels, of which DALI takes three elements at a time"),
    (r"U?INT64[\s\S]*reductions", "^values", "sums of 64 bits, which wrap in DALI"),
    (r"rsqrt\(", "^values", "1 / sqrt(0), which is no number in DALI"),
]

ALONE_FROM = 10_000_000
NODES_FROM = 20_000_000

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "dali_facts.json"), encoding="utf-8") as facts:
    FACTS = json.load(facts)["operators"]
# What has no meaning, or another one, per sample: README.md and docs/from-dali.md say which.
NEVER_NODES = {"bbox_rotate.size", "rotate.size", "warp_affine.size", "squeeze.axes", "permute_batch.indices"}

# Operators whose arguments may differ from frame to frame.
BY_FRAME = {"brightness", "contrast", "brightness_contrast", "hue", "saturation", "hsv", "color_twist", "rotate", "gaussian_blur"}
# Those of another name than in layouts.json.
KNOWN_AS = {"warp_perspective": "experimental.warp_perspective", "displace": "water"}


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
            if re.search(pattern, self.text) and re.search(of_kind, kind):
                return why
        return None


class PipelineDrawer(Images, Tensors, Points, Files, Sound):
    # ---- inputs
    def draw_images(self):
        self.dtype = np.dtype(self.one_of("uint8", "uint8", "uint8", "uint8", "float32", "float32", "int16", "uint16", self.one_of(
            "int8", "int32", "uint32", "int64", "float16")))
        self.layout = self.one_of("HWC", "HWC", "HWC", "HWC", "HWC", "CHW", "FHWC", "DHWC", self.one_of("HW", "FCHW", "CDHW", "FHW", "CFHW"))
        self.channels = self.one_of(3, 3, 3, 1, 2, 4, 5) if "C" in self.layout else None
        self.range = 256.0 if self.dtype.kind == "f" else 256.0 ** self.dtype.itemsize
        self.frames = FRAMES if self.layout[0] == "F" else 0
        samples = [self.draw_sample() for _ in range(BATCH)]
        self.kind = "image"
        self.lines.append("x = " + self.feed(samples, self.layout))

    def draw_sample(self):
        height, width = (1, self.whole(1, 5)) if self.chance(0.05) else (self.whole(3, 20), self.whole(3, 24))
        plane = image(height, width, self.channels or 1, self.dtype, int(self.random.integers(1 << 30)))
        depth = FRAMES if "F" in self.layout else self.whole(1, 4)
        solid = np.stack([plane, plane[::-1], plane[:, ::-1], plane[::-1, ::-1]][:depth])  # F or D, H, W, C
        axes = {"F": 0, "D": 0, "H": 1, "W": 2, "C": 3}
        index = tuple(0 if n not in [axes[a] for a in self.layout] else slice(None) for n in range(4))
        kept = [n for n in range(4) if n in [axes[a] for a in self.layout]]
        return solid[index].transpose([kept.index(axes[a]) for a in self.layout])

    def draw_sensor(self):
        """What a camera with a colour filter sees: even extents, one value a pixel."""
        self.dtype = np.dtype(self.one_of("uint8", "uint8", "uint16"))
        self.layout, self.channels, self.kind = self.one_of("HW", "HWC"), 1, "sensor"
        self.range = 256.0 ** self.dtype.itemsize
        samples = [image(2 * self.whole(2, 9), 2 * self.whole(2, 9), 1, self.dtype, self.whole(0, 1 << 30)) for _ in range(BATCH)]
        self.lines.append("x = " + self.feed([s[:, :, 0] if self.layout == "HW" else s for s in samples], self.layout))

    # ---- what fits
    def takes_layout(self, name):
        name = KNOWN_AS.get(name, name)
        return self.layout in LAYOUTS.get(name, [self.layout]) + LAYOUTS.get(name + " (d, h, w)", [])

    def fitting(self):
        if self.kind == "points":
            found = ["cast", "copy", "permute", "arithmetic", "fill", "transforms"]
            if self.dtype == np.float32:
                found += ["coord_transform", "coord_flip"] * 3 + ["bb_flip"] * 3
            elif self.dtype in (np.uint8, np.int16, np.int32):
                found += ["coord_transform"] * 3
            if self.dtype.kind in "iu" and self.is_exact:
                found += ["one_hot"] * 2
            return found
        if self.kind == "boxes":
            found = ["boxes_flip", "bbox_paste"]
            return found + ["bbox_rotate", "box_encoder", "random_bbox_crop", "ssd_random_crop"] * 2 if self.is_exact and not self.calls else found
        if self.kind == "mask":
            return ["random_mask_pixel", "random_object_bbox", "random_object_bbox", "select_masks", "windows", "copy"]
        if self.kind == "file":
            return ["decode", "decode", "decode_crop", "decode_slice", "decode_random_crop", "peek"]
        if self.kind == "sound file":
            return ["decode_sound"]
        if self.kind == "sound":
            return self.fitting_sound()
        if self.kind == "spectrum":
            return self.fitting_spectrum()
        if self.kind == "sensor":
            self.kind = "image"
            return ["debayer"]
        return [name for name in self.fitting_images() if self.takes_layout(name)]

    def fitting_images(self):
        narrow = self.dtype in (np.uint8, np.int16, np.uint16, np.float32)
        wide = self.dtype in (np.int64, np.uint64, np.float64)
        found = ["transpose", "cast", "pad", "permute", "stack", "axes", "index", self.one_of("random", "property", "constant", "fill", "shapes", "copy")]
        if not wide or self.dtype == np.int64:
            found += ["erase"]
        if self.layout[0] in "FC" and self.chance(0.2):
            found += ["frames"]
        if len(self.layout) == 3:
            found += ["reshape", "windows"]
        if self.dtype in (np.uint8, np.int16, np.uint16, np.float32, np.int32):
            found += ["arithmetic"] * 2
        if self.dtype.kind in "iu" and self.dtype.itemsize == 2 and self.is_exact:
            found += ["reinterpret"]
        if narrow and self.range <= 1e6:
            found += ["tensor_resize"]
        if not {"H", "W"} <= set(self.layout):
            return found
        found += ["slice_given", "slice", "crop", "flip"] if not wide else ["flip"]
        if narrow:
            found += ["resize"] * 3 + ["resize_crop_mirror", "random_resized_crop"] + ["normalize", "reductions"] * (self.is_exact and self.range <= 1e6)
            if self.layout not in ("HW", "FHW") and "D" not in self.layout or self.layout in ("HWC", "CHW", "FHWC", "FCHW"):
                found += ["warp_perspective"]
            found += ["gaussian_blur", "laplacian"]
            if self.channels and self.channels < 5:  # of more, what DALI puts around them is not set
                found += ["crop_mirror_normalize"] * 2
        if narrow and self.channels and self.dtype != np.uint16 and self.layout[-1] == "C":
            found += ["rotate", "warp_affine", "brightness", "contrast", "brightness_contrast"]
            if self.channels == 3:
                found += ["hue", "saturation", "hsv", "color_twist"]
        if self.dtype in (np.uint8, np.float32):
            found += ["filter"]
        if self.dtype == np.uint8:
            found += ["lookup_table", "equalize"] if self.is_exact else []
            if self.channels in (1, 3):
                found += ["color_space_conversion"]
        elif self.dtype == np.uint16 and self.is_exact:
            found += ["lookup_table"]
        if self.layout == "HWC" and self.channels:
            if self.dtype in (np.uint8, np.float32):
                found += ["displace", "quiet_noise"]
            if self.dtype in (np.uint8, np.float32, np.int16):
                found += ["grid_mask"]
            if self.dtype == np.uint8:
                found += ["paste", "multi_paste"]
                if self.is_exact and self.channels == 3:
                    found += ["jpeg", "clahe"] * 3
                elif self.is_exact and self.channels == 1:
                    found += ["clahe"] * 4
        if self.layout[0] == "F" and self.frames:
            found += ["sequence"]
        return found

    def draw_input(self):
        place = self.random.random()
        for share, draw in ((0.08, self.draw_vectors), (0.15, self.draw_boxes), (0.19, self.draw_mask), (0.28, self.draw_files), (0.30, self.draw_sensor),
                            (0.42, self.draw_sound)):
            if place < share:
                return draw()
        return self.draw_images()

    def draw(self):
        self.draw_input()
        for _ in range(self.whole(1, 5)):
            if self.kind == "end":
                break
            name = self.one_of(*self.fitting())
            self.by_frame = name in BY_FRAME and self.layout[:1] == "F" and self.frames > 0
            getattr(self, "op_" + name)()
            self.by_frame = False
        if not self.calls:
            self.op_copy()
        self.lines.append("return x")
        body = "\n".join(self.lines)
        feeds = {name: feed for name, feed in self.feeds.items() if re.search(rf"\b{name}\b", body)}
        return Case(body, feeds, self.calls, self.slack, self.relative)


    # ---- one operator
    def draw_alone(self, number):
        """One operator on images, whatever the type, the layout and the channels: what fits is for DALI to say."""
        # Each operator meets each type and each layout within as many cases.
        name = ALONE[number % len(ALONE)]
        self.dtype = np.dtype(ALONE_TYPES[number // len(ALONE) % len(ALONE_TYPES)])
        layouts = len(ALONE) * len(ALONE_TYPES)
        self.layout = ALONE_LAYOUTS[(number // layouts + number) % len(ALONE_LAYOUTS)]
        self.channels = self.one_of(1, 2, 3, 3, 4, 5) if "C" in self.layout else 1
        self.range = 256.0 if self.dtype.kind == "f" else 256.0 ** self.dtype.itemsize
        self.frames = FRAMES if self.layout[0] == "F" else 0
        self.kind = "image"
        self.lines.append("x = " + self.feed([self.draw_alone_sample() for _ in range(BATCH)], self.layout))
        self.by_frame = name in BY_FRAME and self.frames > 0
        getattr(self, "op_" + name)()
        self.lines.append("return x")
        body = "\n".join(self.lines)
        feeds = {name: feed for name, feed in self.feeds.items() if re.search(rf"\b{name}\b", body)}
        return Case(body, feeds, self.calls, self.slack, self.relative)


    def draw_alone_sample(self):
        # A film of volumes is the same volume in each frame.
        kept, self.layout = self.layout, self.layout.replace("FCD", "CD").replace("FD", "D")
        is_bool, self.dtype = self.dtype == bool, np.dtype("uint8") if self.dtype == bool else self.dtype
        sample = self.draw_sample()
        self.layout = kept
        if is_bool:
            self.dtype, sample = np.dtype(bool), sample > 127
        return np.stack([sample] * FRAMES) if "F" in kept and "D" in kept else sample


class Nodes(ast.NodeTransformer):
    """Of the numbers and lists that an operator takes per sample, half become nodes of the same value."""

    def __init__(self, drawer, feeds):
        self.drawer, self.feeds = drawer, feeds

    def visit_Call(self, call):
        self.generic_visit(call)
        name = ast.unparse(call.func).removeprefix("fn.")
        if name == "reshape" and ast.unparse(call.args[0]) != "x":  # a value per sample, whose rank is to be known
            return call
        for keyword in call.keywords:
            takes = FACTS.get(name, {}).get(keyword.arg, {}).get("per_sample")
            if takes and f"{name}.{keyword.arg}" not in NEVER_NODES and self.drawer.chance(0.5):
                keyword.value = self.node_of(ast.unparse(keyword.value)) or keyword.value
        return call

    def node_of(self, text):
        form = "{}"
        if text.startswith("types.INTERP_"):
            text, form = repr(INTERPOLATIONS.index(text.removeprefix("types.INTERP_"))), "fn.cast({}, dtype=types.INTERP_TYPE)"
        try:
            value = np.array(ast.literal_eval(text))
        except (ValueError, SyntaxError):
            return None
        if value.dtype.kind not in "if" or value.ndim > 1 or value.size == 0:
            return None
        name = f"n{len(self.feeds)}"
        self.feeds[name] = Feed([value.astype(np.int32 if value.dtype.kind == "i" else np.float32)] * BATCH, None)
        form = f"fn.reshape({{}}, shape=[{value.size}])" if value.ndim else form
        return ast.parse(form.format(name), mode="eval").body


def with_nodes(case, seed):
    feeds = dict(case.feeds)
    body = ast.unparse(Nodes(PipelineDrawer(seed), feeds).visit(ast.parse("def p():\n" + "".join(f"    {line}\n" for line in case.body.split("\n")))))
    return Case("\n".join(line.strip() for line in body.split("\n")[1:]), feeds, case.calls, case.slack, case.relative)


ALONE = sorted(name[len("op_"):] for group in (Images, Tensors) for name in vars(group) if name.startswith("op_"))
ALONE_TYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float16", "float32", "int64", "uint64", "float64", "bool")
ALONE_LAYOUTS = ("HWC", "CHW", "HW", "FHWC", "FCHW", "FHW", "CFHW", "DHWC", "CDHW", "DHW", "FDHWC", "FCDHW")


def draw(seed):
    """The cases from ALONE_FROM on are operators by themselves, of every type and layout; those from NODES_FROM on are the first
    ones again, with arguments per sample."""
    if seed >= NODES_FROM:
        return with_nodes(PipelineDrawer(seed - NODES_FROM).draw(), seed)
    return PipelineDrawer(seed).draw_alone(seed - ALONE_FROM) if seed >= ALONE_FROM else PipelineDrawer(seed).draw()
