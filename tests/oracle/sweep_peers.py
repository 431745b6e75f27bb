#!/usr/bin/env python3
"""Random parameters through each preset of docs/compat.md, and through the library itself, side by side; and boxes
through galatea.nms and galatea.roi_align beside torchvision's.

usage: python3 tests/oracle/sweep_peers.py [--count=600] [--first=0] [--only=REGEX] [--case=SEED]
Needs Pillow, torchvision and OpenCV 4 beside numpy (make_peers.py says how), and galatea.dali of a build:
PYTHONPATH=build/python GALATEA_BUILD=$PWD/build. DALI is not needed, but recorder.py imports its name.

A case is a call on images of drawn sizes; its number is its seed. Printed are the kinds that differ, with the
largest difference and the share of elements. Status 1 if one differs by more than docs/compat.md says.
"""
import argparse
import collections
import io
import os
import re
import sys

import tempfile

import galatea
import galatea.dali

galatea.dali.install()  # recorder.py imports DALI's name
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cv2  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
import torchvision.transforms.functional as old  # noqa: E402
import torchvision.transforms.v2.functional as F  # noqa: E402
from PIL import Image, ImageEnhance, ImageFilter, ImageOps  # noqa: E402
from torchvision import ops  # noqa: E402
from torchvision.transforms import InterpolationMode  # noqa: E402

from peers_decode import encoded  # noqa: E402
from peers_floats import by_planes  # noqa: E402
from peers_resize import by_cv2, by_pil, by_torch  # noqa: E402
from recorder import Feed, pipeline_text  # noqa: E402
from samples import image, rng  # noqa: E402

PIL = {"NN": Image.NEAREST, "LINEAR": Image.BILINEAR, "CUBIC": Image.BICUBIC, "BOX": Image.BOX,
       "HAMMING": Image.HAMMING, "LANCZOS3": Image.LANCZOS}
TORCH = {"NN": InterpolationMode.NEAREST, "LINEAR": InterpolationMode.BILINEAR, "CUBIC": InterpolationMode.BICUBIC}
CV2 = {"NN": cv2.INTER_NEAREST, "LINEAR": cv2.INTER_LINEAR, "CUBIC": cv2.INTER_CUBIC}
THREE = dict(list(PIL.items())[:3])
TWO = dict(list(TORCH.items())[:2])
SAMPLES = 4


class Drawer:
    def __init__(self, seed):
        self.random = rng(78, seed)
        self.dtype, self.layout = np.dtype("uint8"), "HWC"
        # Levels, or the part of a value between 0 and 1, by which results may differ.
        self.allowed = 0
        # Whether single bytes may be a level off besides: f32 that the library adds in an order of its own.
        self.seldom = False

    def one_of(self, *values):
        return values[self.random.integers(len(values))]

    def whole(self, low, high):
        return int(self.random.integers(low, high, endpoint=True))

    def real(self, low, high):
        """A number of f32, as arguments are."""
        return float(np.float32(round(float(self.random.uniform(low, high)), self.one_of(1, 2, 3, 6))))

    def filter(self, filters):
        name = self.one_of(*filters)
        return name, filters[name]

    def images(self, least=1, channels=(3, 3, 3, 1, 4)):
        channels = self.one_of(*channels)
        drawn = [image(self.whole(least, 64), self.whole(least, 64), channels, "uint8", self.whole(0, 1 << 20))
                 for _ in range(SAMPLES)]
        return drawn if self.dtype == np.uint8 else [(one / np.float32(255)).astype(np.float32) for one in drawn]

    def draw(self):
        name = self.one_of(*KINDS)
        text, peer, samples = getattr(self, name)()
        return name, text, peer, samples

    # ---- resizing
    def resize_form(self):
        """An argument, and the extents that it means for an image of h x w."""
        h, w = self.whole(1, 70), self.whole(1, 70)
        form = self.one_of("both", "both", "x", "y")
        if form == "both":
            return f"size=[{h}, {w}]", lambda *_: (h, w)
        if form == "x":
            return f'resize_x={w}, mode="stretch"', lambda rows, _: (rows, w)
        return f'resize_y={h}, mode="stretch"', lambda _, columns: (h, columns)

    def pil_resize(self):
        if self.one_of(True, False, False):
            self.dtype, self.allowed = np.dtype("float32"), 3e-6
        ours, theirs = self.filter(PIL if self.dtype == np.uint8 else {k: v for k, v in PIL.items() if k != "HAMMING"})
        given, extents = self.resize_form()
        peer = by_pil if self.dtype == np.uint8 else by_planes
        return (f"fn.resize(x, {given}, interp_type=types.INTERP_{ours}, compat=\"pil\")",
                peer(lambda one: one.resize(extents(one.height, one.width)[::-1], theirs)), self.images())

    def pil_resize_box(self):
        ours, theirs = self.filter(PIL)
        h, w = self.whole(1, 40), self.whole(1, 40)
        top, left = self.real(0, 6), self.real(0, 6)
        bottom, right = self.real(7, 16), self.real(7, 16)
        return (f"fn.resize(x, size=[{h}, {w}], interp_type=types.INTERP_{ours}, roi_start=[{top}, {left}], "
                f"roi_end=[{bottom}, {right}], compat=\"pil\")",
                by_pil(lambda one: one.resize((w, h), theirs, (left, top, right, bottom))), self.images(16))

    def torch_resize(self):
        if self.one_of(True, False, False):
            self.dtype, self.allowed = np.dtype("float32"), 3e-6
        ours, theirs = self.filter(TORCH)
        given, extents = self.resize_form()
        smooth = ours == "NN" or self.one_of(True, True, False)
        return (f"fn.resize(x, {given}, interp_type=types.INTERP_{ours}, antialias={smooth}, compat=\"torchvision\")",
                by_torch(lambda t: F.resize(t, list(extents(*t.shape[1:])), theirs, antialias=smooth)),
                # One pixel wide, torchvision's cubics of floats depend on the order of memory.
                self.images(least=2 if self.dtype.kind == "f" and ours == "CUBIC" and smooth else 1))

    def torch_resize_side(self):
        ours, theirs = self.filter(TORCH)
        size = self.whole(1, 60)
        longest = self.one_of(None, size + self.whole(1, 40))
        given = f"resize_shorter={size}" + (f", max_size={longest}" if longest else "")
        return (f"fn.resize(x, {given}, interp_type=types.INTERP_{ours}, compat=\"torchvision\")",
                by_torch(lambda t: F.resize(t, [size], theirs, max_size=longest, antialias=True)), self.images(8))

    def opencv_resize(self):
        ours, theirs = self.filter(CV2)
        if self.one_of(True, False, False):
            self.dtype, self.allowed = np.dtype("float32"), 3e-6
        elif ours == "CUBIC":
            self.allowed = 1
        given, extents = self.resize_form()
        return (f"fn.resize(x, {given}, interp_type=types.INTERP_{ours}, compat=\"opencv\")",
                by_cv2(lambda one: cv2.resize(one, extents(*one.shape[:2])[::-1], interpolation=theirs)), self.images())

    def opencv_area(self):
        self.allowed = 1
        h, w = self.whole(1, 16), self.whole(1, 16)
        return (f"fn.resize(x, size=[{h}, {w}], interp_type=types.INTERP_BOX, compat=\"opencv\")",
                by_cv2(lambda one: cv2.resize(one, (w, h), interpolation=cv2.INTER_AREA)), self.images(16))

    # ---- colours
    def enhanced(self, preset, by, functions):
        operator = self.one_of(*functions)
        factor = self.one_of(self.real(0, 3), self.real(0, 3), self.whole(0, 16) / 8)
        return (f"fn.{operator}(x, {operator}={factor}, compat=\"{preset}\")",
                by(lambda one: functions[operator](one, factor)),
                self.images(channels=(3,) if operator == "saturation" else (3, 3, 1)))

    def pil_colour(self):
        enhance = {"brightness": ImageEnhance.Brightness, "contrast": ImageEnhance.Contrast, "saturation": ImageEnhance.Color}
        return self.enhanced("pil", by_pil, {name: lambda one, factor, make=make: make(one).enhance(factor)
                                             for name, make in enhance.items()})

    def torch_colour(self):
        return self.enhanced("torchvision", by_torch, {"brightness": F.adjust_brightness, "contrast": F.adjust_contrast,
                                                       "saturation": F.adjust_saturation})

    def hue(self):
        preset, by, function = self.one_of(("pil", by_pil, old.adjust_hue), ("torchvision", by_torch, F.adjust_hue))
        degrees = self.real(-180, 180)
        return (f"fn.hue(x, hue={degrees}, compat=\"{preset}\")", by(lambda one: function(one, degrees / 360)),
                self.images(channels=(3,)))

    def twist(self):
        preset = self.one_of("pil", "torchvision")
        hue, saturation, contrast, brightness = self.real(-180, 180), *(self.real(0, 2) for _ in range(3))

        def pil(one):
            one = ImageEnhance.Color(old.adjust_hue(one, hue / 360)).enhance(saturation)
            return ImageEnhance.Brightness(ImageEnhance.Contrast(one).enhance(contrast)).enhance(brightness)

        def tensor(one):
            one = F.adjust_saturation(F.adjust_hue(one, hue / 360), saturation)
            return F.adjust_brightness(F.adjust_contrast(one, contrast), brightness)

        return (f"fn.color_twist(x, hue={hue}, saturation={saturation}, contrast={contrast}, brightness={brightness}, "
                f"compat=\"{preset}\")", by_pil(pil) if preset == "pil" else by_torch(tensor), self.images(channels=(3,)))

    def histogram(self):
        preset = self.one_of("pil", "torchvision", "opencv")
        if preset == "opencv":
            peer = lambda one: np.stack([cv2.equalizeHist(np.ascontiguousarray(one[..., c])) for c in range(one.shape[2])], -1)  # noqa: E731
        else:
            peer = by_pil(ImageOps.equalize) if preset == "pil" else by_torch(F.equalize)
        return f"fn.equalize(x, compat=\"{preset}\")", peer, self.images(channels=(3, 1))

    def grey(self):
        preset = self.one_of("pil", "torchvision", "opencv")
        peer = {"pil": lambda one: np.array(Image.fromarray(one).convert("L"))[..., None], "torchvision": by_torch(F.rgb_to_grayscale),
                "opencv": lambda one: cv2.cvtColor(np.ascontiguousarray(one), cv2.COLOR_RGB2GRAY)[..., None]}[preset]
        return (f"fn.color_space_conversion(x, image_type=types.RGB, output_type=types.GRAY, compat=\"{preset}\")", peer,
                self.images(channels=(3,)))

    # ---- windows
    def blur(self):
        preset = self.one_of("pil", "torchvision", "opencv")
        if preset == "pil":
            sigma = self.real(0, 12)
            return (f"fn.gaussian_blur(x, sigma={sigma}, window_size=None, compat=\"pil\")",
                    by_pil(lambda one: one.filter(ImageFilter.GaussianBlur(sigma))), self.images())
        window = 2 * self.whole(0, 8) + 1
        sigma = self.one_of(0.0, self.real(0.2, 6))
        if preset == "opencv":
            return (f"fn.gaussian_blur(x, window_size={window}, sigma={sigma}, compat=\"opencv\")",
                    by_cv2(lambda one: cv2.GaussianBlur(one, (window, window), sigma)), self.images())
        self.seldom = True
        return (f"fn.gaussian_blur(x, window_size={window}, sigma={sigma}, compat=\"torchvision\")",
                by_torch(lambda t: F.gaussian_blur(t, [window, window], [sigma, sigma] if sigma else None)), self.images(10))

    # ---- maps
    def fill(self, channels):
        given = self.one_of(None, None, self.whole(0, 255), [self.whole(0, 255) for _ in range(3)] if channels == 3 else 9)
        return ("" if given is None else f"fill_value={given}, "), given

    def rotate(self):
        preset, angle, samples = self.one_of("pil", "torchvision", "opencv"), self.real(-400, 400), self.images()
        ours, theirs = self.filter({"pil": THREE, "torchvision": TWO, "opencv": CV2}[preset])
        keep = preset == "opencv" or self.one_of(True, False)
        text, fill = self.fill(samples[0].shape[2])
        number = fill if not isinstance(fill, list) else None
        if preset == "pil":
            colour = tuple(fill) if isinstance(fill, list) else None if fill is None else (fill,) * 3 if samples[0].shape[2] == 3 else fill
            peer = by_pil(lambda one: one.rotate(angle, theirs, expand=not keep, fillcolor=colour))
        elif preset == "torchvision":
            self.seldom = True
            peer = by_torch(lambda t: F.rotate(t, angle, theirs, expand=not keep, fill=fill if number is None else float(fill)))
        else:
            border = tuple(fill) if isinstance(fill, list) else (fill or 0,) * 4
            peer = by_cv2(lambda one: cv2.warpAffine(one, cv2.getRotationMatrix2D(
                ((one.shape[1] - 1) / 2, (one.shape[0] - 1) / 2), angle, 1), one.shape[1::-1], flags=theirs, borderValue=border))
        return (f"fn.rotate(x, angle={angle}, keep_size={keep}, {text}interp_type=types.INTERP_{ours}, compat=\"{preset}\")",
                peer, samples)

    def affine(self):
        preset, samples = self.one_of("pil", "opencv"), self.images()
        ours, theirs = self.filter(THREE if preset == "pil" else CV2)
        matrix = [self.one_of(1, -1) * self.real(0.2, 2), self.real(-1, 1), self.real(-9, 9), self.real(-1, 1), self.real(0.2, 2), self.real(-9, 9)]
        h, w, fill = self.whole(1, 50), self.whole(1, 50), self.whole(0, 255)
        if preset == "pil":
            peer = by_pil(lambda one: one.transform((w, h), Image.AFFINE, matrix, theirs, fillcolor=(fill,) * 3 if one.mode == "RGB" else fill))
        else:
            a, b, c, d, e, f = matrix
            centres = np.array([[a, b, c + (a + b) / 2 - 0.5], [d, e, f + (d + e) / 2 - 0.5]])
            peer = by_cv2(lambda one: cv2.warpAffine(one, centres, (w, h), flags=theirs | cv2.WARP_INVERSE_MAP, borderValue=(fill,) * 4))
        return (f"fn.warp_affine(x, matrix={matrix}, size=[{h}, {w}], fill_value={fill}, interp_type=types.INTERP_{ours}, compat=\"{preset}\")",
                peer, samples)

    def perspective(self):
        preset, samples = self.one_of("pil", "torchvision", "opencv"), self.images()
        ours, theirs = self.filter({"pil": THREE, "torchvision": TWO, "opencv": CV2}[preset])
        matrix = [self.real(0.3, 2), self.real(-0.5, 0.5), self.real(-5, 5), self.real(-0.5, 0.5), self.real(0.3, 2), self.real(-5, 5),
                  self.real(-0.01, 0.01), self.real(-0.01, 0.01), 1.0]
        h, w, fill = self.whole(1, 50), self.whole(1, 50), self.whole(0, 255)
        more = f"size=[{h}, {w}], "
        if preset == "pil":
            peer = by_pil(lambda one: one.transform((w, h), Image.PERSPECTIVE, matrix[:8], theirs, fillcolor=(fill,) * 3 if one.mode == "RGB" else fill))
        elif preset == "torchvision":
            more = ""
            self.seldom = True
            peer = by_torch(lambda t: F.perspective(t, None, None, theirs, float(fill), coefficients=matrix[:8]))
        else:
            more += 'pixel_origin="center", '
            peer = by_cv2(lambda one: cv2.warpPerspective(one, np.array(matrix).reshape(3, 3), (w, h), flags=theirs | cv2.WARP_INVERSE_MAP,
                                                          borderValue=(fill,) * 4))
        return (f"fn.experimental.warp_perspective(x, matrix={matrix}, interp_type=types.INTERP_{ours}, fill_value={fill}, {more}compat=\"{preset}\")",
                peer, samples)

    # ---- files
    def decode(self):
        from torchvision.io import ImageReadMode, decode_image

        self.layout = None
        files = [encoded("JPEG", self.one_of("RGB", "RGB", "L"), quality=self.whole(5, 100), subsampling=self.whole(0, 2),
                         progressive=self.one_of(True, False)) if self.one_of(True, True, False) else encoded("PNG", self.one_of("RGB", "RGBA", "L"))
                 for _ in range(SAMPLES)]
        preset, kind, peer = self.one_of(
            ("pil", "RGB", lambda data: np.array(Image.open(io.BytesIO(data.tobytes())).convert("RGB"))),
            ("torchvision", "RGB", lambda data: decode_image(torch.from_numpy(np.array(data)), ImageReadMode.RGB).permute(1, 2, 0).numpy()),
            ("opencv", "BGR", lambda data: cv2.imdecode(data, cv2.IMREAD_COLOR)))
        return f"fn.decoders.image(x, output_type=types.{kind}, compat=\"{preset}\")", peer, files


    # ---- boxes, which no preset changes
    def boxes(self, count):
        corners = self.random.uniform(-20, 50, (count, 2))
        form = self.one_of("any", "grid", "same", "small")
        if form == "grid":  # overlaps that are equal to a threshold
            corners = self.random.integers(0, 12, (count, 2))
            return np.float32(np.concatenate([corners, corners + self.random.integers(0, 9, (count, 2))], 1))
        if form == "same":
            corners[:] = corners[:1]
        ends = corners + self.random.uniform(0, 1e-4 if form == "small" else 30, (count, 2))
        return np.float32(np.concatenate([corners, ends], 1))

    def suppression(self):
        boxes = [self.boxes(self.one_of(0, 1, 2, 7, 40, 300)) for _ in range(SAMPLES)]
        scores = [np.float32(self.random.integers(0, 9, len(b)) / 8 if self.one_of(True, False) else self.random.normal(0, 1, len(b)))
                  for b in boxes]
        threshold = abs(self.real(0, 1))
        return (f"fn.galatea.nms(b, s, iou_threshold={threshold})", lambda b, s: ops.nms(torch.tensor(b), torch.tensor(s), threshold).numpy(),
                {"b": Feed(boxes), "s": Feed(scores)})

    def regions(self):
        images = [np.float32(self.random.normal(0, 1, (self.whole(1, 40), self.whole(1, 40), self.one_of(1, 2, 3, 8)))) for _ in range(1)] * SAMPLES
        boxes = [self.boxes(self.one_of(0, 1, 5, 12)) for _ in range(SAMPLES)]
        size, ratio, aligned = [self.whole(1, 8), self.whole(1, 8)], self.one_of(-1, 0, 1, 2, 3, 5), self.one_of(True, False)
        scale = self.one_of(1.0, 0.25, 2.0, float(np.float32(0.37)))

        def peer(x, b):
            planes = torch.tensor(x.transpose(2, 0, 1))[None]
            return ops.roi_align(planes, [torch.tensor(b)], size, scale, ratio, aligned).numpy().transpose(0, 2, 3, 1)

        return (f"fn.galatea.roi_align(x, b, output_size={size}, sampling_ratio={ratio}, aligned={aligned}, spatial_scale={scale})", peer,
                {"x": Feed(images, "HWC"), "b": Feed(boxes)})


KINDS = ["suppression", "regions", "pil_resize", "pil_resize_box", "torch_resize", "torch_resize_side", "opencv_resize", "opencv_area", "pil_colour", "torch_colour",
         "hue", "twist", "histogram", "grey", "blur", "rotate", "affine", "perspective", "decode"]


def run(body, feeds):
    """The arrays of the one output."""
    text = pipeline_text(body, feeds).replace("from nvidia.dali import", "from galatea import")
    with tempfile.NamedTemporaryFile("w", suffix=".dali-dsl") as file:
        file.write(text)
        file.flush()
        with galatea.Loader(file.name) as loader:
            for name, feed in feeds.items():
                loader.feed(name, feed.samples, layout=feed.layout)
            return [np.array(sample) for sample in next(iter(loader))[0]]


SELDOM = 0.002  # of the elements


def difference(peer, feeds, outputs, allowed, seldom):
    """The largest difference, and the share of elements that differ; None: no more than is allowed."""
    most, differ, total = 0.0, 0, 0
    for *given, got in zip(*(feed.samples for feed in feeds.values()), outputs):
        expected = np.asarray(peer(*given))
        if expected.shape != got.shape:
            return f"extents {got.shape} for {expected.shape}"
        off = np.abs(expected.astype(np.float64) - got)
        most, differ, total = max(most, off.max(initial=0)), differ + np.count_nonzero(off > allowed), total + off.size
    if seldom and most <= 1 and differ <= SELDOM * total:
        return None
    return None if most <= allowed else f"off by up to {most:g} in {differ / total:.2%}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--case", type=int)
    options = parser.parse_args()
    assert cv2.__version__.startswith("4."), "OpenCV 5 warps in another way"
    seeds = range(options.first, options.first + options.count) if options.case is None else [options.case]
    kinds, compared = collections.defaultdict(list), 0
    refused, failed = collections.Counter(), collections.Counter()
    for seed in seeds:
        drawer = Drawer(seed)
        name, text, peer, samples = drawer.draw()
        if not re.search(options.only, text):
            continue
        feeds = samples if isinstance(samples, dict) else {"x": Feed(samples, drawer.layout)}
        if options.case is not None:
            print(text, [sample.shape for feed in feeds.values() for sample in feed.samples])
        try:
            outputs = run(text, feeds)
        except galatea.GalateaError as why:
            refused[f"{name}: {str(why)[:150]}"] += 1
            continue
        try:
            found = difference(peer, feeds, outputs, drawer.allowed, drawer.seldom)
        except (RuntimeError, ValueError, cv2.error) as why:  # what the library itself cannot do
            failed[f"{name}: {str(why)[:150]}"] += 1
            continue
        compared += 1
        if found:
            kinds[name].append((seed, found, text))
    print(f"{compared} calls compared, {sum(map(len, kinds.values()))} differ by more than docs/compat.md says")
    for name, cases in kinds.items():
        print(f"{name}: {len(cases)}, as " + "".join(f"\n    {seed}: {found}: {text}" for seed, found, text in cases[:6]))
    for why, number in refused.items():
        print(f"refused {number} times: {why}")
    for why, number in failed.items():
        print(f"the library fails {number} times: {why}")
    return 1 if kinds or refused or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
