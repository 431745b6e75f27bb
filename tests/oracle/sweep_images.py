"""Operators on images for the sweep: what resamples, cuts, moves and covers them, colours, filters."""
import numpy as np

from recorder import TYPES
from sweep_drawer import BATCH, INTERPOLATIONS, Drawer

BORDERS = ("constant", "replicate", "reflect", "reflect_101", "wrap")


class Images(Drawer):
    # ---- geometry
    def interp(self, names=INTERPOLATIONS):
        return "types.INTERP_" + self.one_of(*names)

    def hints(self):
        """Arguments without an effect."""
        return {"minibatch_size": "4", "temp_buffer_hint": "0"} if self.chance(0.1) else {}

    def filters(self):
        if self.chance(0.7):
            return {"interp_type": self.interp()}
        if self.chance(0.5):
            return {"min_filter": self.interp(INTERPOLATIONS[1:]), "mag_filter": self.interp(INTERPOLATIONS[1:])}
        return {}

    def region(self, n, arguments):
        if self.chance(0.15) and "NN" not in (arguments.get("interp_type") or ""):
            arguments["roi_start"], arguments["roi_end"] = self.numbers(n, 0, 0.4), self.numbers(n, 0.5, 1)
            arguments["roi_relative"] = "True"
            if self.chance(0.2):  # mirrored
                arguments["roi_start"], arguments["roi_end"] = arguments["roi_end"], arguments["roi_start"]

    def resizing(self):
        """Arguments that resize has, and the operators that resize and cut."""
        arguments = {}
        n = len(self.axes)
        form = self.one_of("size", "xy", "x", "shorter", "longer")
        if form == "size":
            arguments["size"] = self.numbers(n, 1.2, 30 if n < 3 else 9)
        elif form == "xy":
            arguments["resize_x"], arguments["resize_y"] = self.number(1.2, 30), self.number(1.2, 30)
            if n == 3:
                arguments["resize_z"] = self.number(1.2, 9)
        elif form == "x":
            arguments["resize_x"] = self.number(1.2, 30)
        else:
            arguments["resize_" + form] = self.number(1.2, 30)
        if form in ("size", "xy") and self.chance(0.3):
            arguments["mode"] = self.one_of('"default"', '"stretch"', '"not_larger"', '"not_smaller"')
        if form == "shorter" and self.chance(0.3):
            arguments["max_size"] = self.one_of(self.number(20, 40, 0), self.numbers(n, 20, 40, 0))
        arguments |= self.filters()
        if self.chance(0.2):
            arguments["antialias"] = self.one_of("True", "False")
        self.region(n, arguments)
        if self.chance(0.1):
            arguments["subpixel_scale"] = "False"
        arguments["dtype"] = self.maybe_type("float32", str(self.dtype))
        return arguments | self.hints()

    def op_resize(self):
        arguments = self.resizing()
        if self.chance(0.1):
            self.write("resize", f"x, attributes = fn.resize(x, {', '.join(self.arguments(arguments))}, save_attrs=True)\nx = x, attributes")
            self.kind = "end"
        else:
            self.call("resize", **arguments, **self.old(image_type="types.RGB"))
        if "NN" not in arguments.get("interp_type", ""):
            self.rounds(1.6, 6e-4)
        self.take_type()

    def op_resize_crop_mirror(self):
        arguments = self.resizing()
        if "NN" in arguments.get("interp_type", ""):
            arguments["interp_type"] = "types.INTERP_LINEAR"
        if self.chance(0.5):
            arguments["crop"] = self.numbers(2, 1, 8) if self.chance(0.3) else repr([self.whole(1, 8), self.whole(1, 8)])
        elif self.chance(0.6):
            arguments["crop_h"], arguments["crop_w"] = self.number(1, 8), self.number(1, 8)
        if self.chance(0.5):
            arguments["crop_pos_x"], arguments["crop_pos_y"] = self.number(0, 1), self.number(0, 1)
        if self.chance(0.5) and self.layout == "HWC":
            arguments["mirror"] = self.integer(0, 3)
        arguments["rounding"] = self.one_of(None, None, '"round"', '"truncate"')
        self.call(self.one_of("resize_crop_mirror", "fast_resize_crop_mirror"), **arguments)
        self.rounds(1.6, 6e-4)
        self.take_type()

    def op_random_resized_crop(self):
        arguments = {"size": self.integers(2, 1, 30, 0), **self.whole_window(),
                     "antialias": self.one_of(None, "True", "False"), "dtype": self.maybe_type("float32", str(self.dtype)), **self.hints()}
        arguments |= self.filters()
        self.call("random_resized_crop", **arguments)
        self.rounds(1.6, 6e-4)
        self.take_type()

    def op_tensor_resize(self):
        if "C" in self.layout and self.channels and self.chance(0.3):  # more channels than images have
            self.call("cat", "x, x, x", axis_name='"C"')
        n = self.whole(1, 3)
        axes = [int(a) for a in self.random.permutation(len(self.layout))[:n]]
        arguments = {"axes": repr(axes)}
        if self.chance(0.3):
            arguments = {"axis_names": '"' + "".join(self.layout[a] for a in axes) + '"'}
        if self.chance(0.6):
            arguments["sizes"] = self.whole_numbers(n, 1, 9)
            arguments["mode"] = self.one_of(None, None, '"stretch"', '"not_larger"', '"not_smaller"')
        else:
            # None rounds to the extent that there is, from which DALI makes another scale.
            arguments["scales"] = self.one_of(self.numbers(n, 0.2, 0.45), self.numbers(n, 1.8, 2.4))
        arguments |= self.filters() | self.hints()
        arguments |= self.some(antialias=self.one_of("True", "False"), alignment=self.numbers(n, 0, 1),
                               size_rounding=self.one_of('"round"', '"truncate"', '"ceil"'))
        if "sizes" in arguments and self.chance(0.2):
            arguments["max_size"] = self.one_of(repr(float(self.whole(3, 12))), repr([float(self.whole(3, 12)) for _ in range(n)]))
        if self.chance(0.1):
            arguments["subpixel_scale"] = "False"
        self.region(n, arguments)
        arguments["dtype"] = self.maybe_type("float32", str(self.dtype))
        self.call(self.one_of("tensor_resize", "tensor_resize", "experimental.tensor_resize"), **arguments)
        self.rounds(2.5, 1e-3)
        self.take_type()
        self.channels, self.frames = None, 0

    def op_crop(self):
        arguments = {}
        volume = "D" in self.axes
        if self.chance(0.5):
            arguments["crop"] = self.numbers(3 if volume else 2, 1, 9 if not volume else 3)
        else:
            arguments["crop_h"], arguments["crop_w"] = self.number(1, 9), self.number(1, 9)
            arguments["crop_d"] = self.number(1, 3) if volume else None
        for axis in "xyz"[:3 if volume else 2]:
            if self.chance(0.4):
                arguments["crop_pos_" + axis] = self.number(0, 1)
        arguments["rounding"] = self.one_of(None, None, '"round"', '"truncate"')
        self.bounds(arguments)
        arguments[self.name_of_type()] = self.maybe_type("float32", str(self.dtype))
        self.call("crop", **arguments, **self.old(image_type="types.RGB"))
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
        arguments[self.name_of_type()] = self.maybe_type("float32", str(self.dtype))
        self.call("slice", **arguments, **self.old(image_type="types.RGB"))
        self.take_type()
        self.frames = 0
        if "axes" in arguments or self.layout[-1] != "C":
            self.channels = None  # may be cut

    def op_slice_given(self):
        """Anchor and shape as inputs."""
        whole = self.chance(0.4)
        values = self.integers if whole else self.numbers
        anchor, shape = (values(2, 0, 2, 1), values(2, 1, 5, 1)) if whole else (values(2, 0, 0.5, 1), values(2, 0.2, 0.5, 1))
        arguments = {} if whole else {"normalized_anchor": self.one_of(None, "True"), "normalized_shape": self.one_of(None, "True")}
        arguments["axis_names"] = self.one_of('"HW"', '"WH"', None) if {"H", "W"} <= set(self.layout) else None
        arguments["axes"] = self.one_of(None, "[0, 1]") if not arguments["axis_names"] else None
        if not arguments["axis_names"] and not arguments["axes"] and not {"H", "W"} <= set(self.layout):
            arguments["axes"] = "[0, 1]"
        self.bounds(arguments)
        self.call("slice", f"x, {anchor}, {shape}", **arguments)
        self.channels, self.frames = None, 0

    def op_crop_mirror_normalize(self):
        arguments = {"crop": self.one_of(None, repr([self.whole(1, 8), self.whole(1, 8)])), **self.old(image_type="types.RGB"),
                     "mirror": self.one_of(None, self.integer(0, 1)), "rounding": self.one_of(None, None, '"truncate"'),
                     "output_layout": self.one_of('"HWC"', '"CHW"', None)}
        if self.layout not in ("HWC", "CHW"):
            arguments["output_layout"] = f'"{self.layout}"'
        if arguments["crop"]:
            arguments |= self.some(crop_pos_x=self.number(0, 1), crop_pos_y=self.number(0, 1))
        if "D" in self.axes and arguments["crop"] and self.chance(0.5):
            arguments["crop"] = repr([self.whole(1, 3), self.whole(1, 8), self.whole(1, 8)])
            arguments["crop_pos_z"] = self.number(0, 1)
        if not arguments["crop"] and self.chance(0.3):
            arguments["crop_h"], arguments["crop_w"] = self.number(1, 9), self.number(1, 9)
            arguments["crop_d"] = self.number(1, 3) if "D" in self.axes else None
        if self.chance(0.6):
            n = self.one_of(1, self.channels)
            arguments["mean"], arguments["std"] = self.numbers(n, 0, 100, 0.2), self.numbers(n, 5, 60, 0.2)
        if self.chance(0.3):
            arguments["scale"], arguments["shift"] = repr(self.real(0.5, 2)), repr(self.real(-2, 20))
        dtype = self.one_of("float32", "float32", "float16", "uint8", "int8")
        arguments[self.name_of_type()] = "types." + TYPES[dtype]
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
        self.call("flip", horizontal=self.integer(0, 1), vertical=self.integer(0, 1) if self.chance(0.6) else None,
                  depthwise=self.integer(0, 1) if "D" in self.axes and self.chance(0.6) else None)

    def warp(self, arguments):
        arguments["interp_type"] = self.one_of(None, "types.INTERP_LINEAR", "types.INTERP_NN")
        if self.chance(0.7):
            arguments["fill_value"] = repr(self.whole(0, 200))
        if self.chance(0.3):
            arguments["size"] = self.numbers(2, 2, 20, 0.2)
        arguments[self.name_of_type()] = self.maybe_type("float32", str(self.dtype))

    def op_rotate(self):
        arguments = {"angle": self.number(-180, 180) if self.chance(0.8) else repr(float(self.one_of(0, 90, 180, 270, -90)))}
        self.warp(arguments)
        if self.chance(0.3) or "per_frame" in arguments["angle"]:  # one canvas of all frames
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

    def op_warp_perspective(self):
        matrix = [1 + self.real(-0.3, 0.3), self.real(-0.3, 0.3), self.real(-3, 3), self.real(-0.3, 0.3), 1 + self.real(-0.3, 0.3),
                  self.real(-3, 3), self.real(-0.008, 0.008), self.real(-0.008, 0.008), self.real(0.8, 1.3)]
        matrix, first = [round(m, 3) for m in matrix], "x"
        arguments = {"matrix": repr(matrix)}
        if self.chance(0.4):
            name = self.feed([np.float32(matrix).reshape(3, 3) + np.float32(self.real(-0.005, 0.005)) for _ in range(BATCH)])
            arguments, first = ({"matrix": name}, "x") if self.chance(0.5) else ({}, f"x, {name}")
        filters = ["NN", "LINEAR", "CUBIC"]
        if self.dtype == np.int16 or self.channels in (2, None):
            filters.remove("LINEAR")  # DALI rounds places to 1/32 of a pixel
        arguments |= {"interp_type": self.interp(filters), "pixel_origin": self.one_of(None, '"corner"', '"center"'),
                      "border_mode": self.one_of(None, *(f'"{mode}"' for mode in BORDERS)),
                      "inverse_map": self.one_of(None, None, "True", "False"),
                      "fill_value": self.one_of(None, repr(self.whole(0, 200)), repr(self.real(0, 200))),
                      "size": self.numbers(2, 2, 20, 0.2) if self.chance(0.4) else None}
        self.call("experimental.warp_perspective", first, **arguments)
        if "NN" not in arguments["interp_type"]:
            self.rounds(2, 1e-3)

    def op_paste(self):
        self.call("paste", ratio=self.number(1, 2), fill_value=repr([self.whole(0, 200) for _ in range(self.one_of(1, self.channels))]),
                  n_channels=repr(self.channels), **self.some(paste_x=self.number(0, 1), paste_y=self.number(0, 1), min_canvas_size=self.number(0, 30)))

    def op_multi_paste(self):
        n = self.whole(1, 3)
        ids = repr([self.whole(0, BATCH - 1) for _ in range(n)])
        if self.chance(0.3):
            ids = f"fn.reshape({self.feed([np.int32([self.whole(0, BATCH - 1) for _ in range(n)]) for _ in range(BATCH)])}, shape=[{n}])"

        def places(dtype, draw):
            return f"fn.reshape({self.feed([dtype([[draw(), draw()] for _ in range(n)]) for _ in range(BATCH)])}, shape=[{n}, 2])"

        arguments = {"in_ids": ids, "output_size": self.one_of("[60, 64]", self.integers(2, 50, 70))}
        if self.chance(0.7):
            arguments |= {"shapes_rel": places(np.float32, lambda: self.real(0.1, 0.5)),
                          **self.some(in_anchors_rel=places(np.float32, lambda: self.real(0, 0.4)))}
        else:  # which the smallest images have not
            arguments |= {"shapes": places(np.int32, lambda: self.whole(1, 2)), **self.some(in_anchors=places(np.int32, lambda: self.whole(0, 1)))}
        if self.chance(0.5):
            arguments["out_anchors"] = places(np.int32, lambda: self.whole(0, 20))
        else:
            arguments |= self.some(out_anchors_rel=places(np.float32, lambda: self.real(0, 0.4)))
        arguments["dtype"] = self.maybe_type("float32", str(self.dtype))
        self.call("multi_paste", **arguments)
        self.take_type()

    def op_jpeg(self):
        self.call("jpeg_compression_distortion", quality=self.one_of(None, self.integer(1, 100)))

    def op_displace(self):
        name = self.one_of("sphere", "water")
        arguments = {"fill_value": repr(self.whole(0, 100)) if self.chance(0.5) else None,
                     "interp_type": self.one_of(None, "types.INTERP_LINEAR", "types.INTERP_NN"), "mask": self.one_of(None, None, self.integer(1, 1))}
        if name == "water":
            arguments |= self.some(ampl_x=repr(self.real(0, 5)), ampl_y=repr(self.real(0, 5)), freq_x=repr(self.real(0, 0.3)),
                                   freq_y=repr(self.real(0, 0.3)), phase_x=repr(self.real(-2, 2)), phase_y=repr(self.real(-2, 2)))
        self.call(name, **arguments)
        self.rounds(1.6, 6e-4)

    def op_transpose(self):
        axes = list(range(len(self.layout)))
        perm = [int(a) for a in self.random.permutation(axes)]
        moved = "".join(self.layout[a] for a in perm)
        form = self.one_of("moves", "moves", "stays", "named")
        # Without transpose_layout the names stay where they are; output_layout gives them anew.
        self.call("transpose", perm=repr(perm), **{"moves": {}, "stays": {"transpose_layout": "False"},
                                                   "named": {"output_layout": f'"{moved}"'}}[form])
        if form == "stays" and moved != self.layout:
            self.channels = None
        self.layout = self.layout if form == "stays" else moved
        self.frames = 0

    def op_grid_mask(self):
        self.call("grid_mask", tile=self.integer(3, 12), ratio=self.number(0.1, 0.9), angle=self.number(-1, 1),
                  shift_x=self.number(0, 9) if self.chance(0.5) else None, shift_y=self.number(0, 9) if self.chance(0.5) else None)

    # ---- colours
    def colour(self, name, gain=1.0, **arguments):
        arguments["dtype"] = self.maybe_type("float32", "uint8", "int16")
        typed = getattr(self, "later", None)
        if name in ("hue", "saturation", "color_twist"):
            arguments |= self.old(image_type="types.RGB")
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
                    brightness_shift=self.number(-0.3, 0.3) if self.chance(0.3) else None,
                    contrast_center=self.number(0, 200) if self.chance(0.3) else None)

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
        start = "GRAY" if self.channels == 1 else self.one_of("RGB", "BGR", "YCbCr")
        to = self.one_of(*sorted({"RGB", "BGR", "GRAY", "YCbCr"} - {start}))
        self.call("color_space_conversion", image_type="types." + start, output_type="types." + to)
        self.channels = 1 if to == "GRAY" else 3
        if "YCbCr" in (start, to) or to == "GRAY":
            self.rounds(2)

    def op_equalize(self):
        self.call(self.one_of("equalize", "experimental.equalize"))

    def op_clahe(self):
        self.call("clahe", tiles_x=repr(self.whole(1, 5)), tiles_y=repr(self.whole(1, 5)), clip_limit=self.number(0, 6, 0),
                  **self.some(luma_only=self.one_of("True", "False"), bins="256"))

    def op_debayer(self):
        algorithm = self.one_of(None, "bilinear_ocv", "edgeaware_ocv", "vng_ocv", "gray_ocv")
        if algorithm == "vng_ocv" and self.dtype != np.uint8:
            algorithm = "bilinear_ocv"
        self.call(self.one_of("debayer", "experimental.debayer"), blue_position=self.integers(2, 0, 1),
                  algorithm=algorithm and f'"{algorithm}"')
        if algorithm == "vng_ocv":
            self.slack += 1  # the share of a gradient, in OpenCV's vectors and in the rest of a row
        self.layout, self.channels = self.layout.rstrip("C") + "C", 1 if algorithm == "gray_ocv" else 3

    # ---- filters
    def op_gaussian_blur(self):
        arguments = {}
        n = len(self.axes)
        if self.chance(0.7):
            arguments["sigma"] = self.one_of(self.number(0.3, 3), self.numbers(n, 0.3, 3))
        if self.chance(0.4) or not arguments:
            arguments["window_size"] = self.one_of(repr(self.one_of(3, 5, 7)), repr([self.one_of(3, 5, 7) for _ in range(n)]))
        arguments["dtype"] = self.maybe_type("float32")
        self.call("gaussian_blur", **arguments)
        self.rounds(1, 3e-5)
        self.take_type()

    def op_laplacian(self):
        n = len(self.axes)
        arguments = {"window_size": self.one_of(repr(self.one_of(3, 5)), repr([self.one_of(3, 5) for _ in range(n)])),
                     "smoothing_size": self.one_of(None, None, repr(self.one_of(1, 3, 5)), repr([self.one_of(1, 3) for _ in range(n)]))}
        if self.chance(0.3):
            arguments["normalized_kernel"] = "True"
        else:
            arguments["scale"] = self.one_of(self.number(0.02, 0.3), self.numbers(n, 0.02, 0.3))
        self.call("laplacian", dtype="types.FLOAT", **arguments)
        self.dtype = np.dtype("float32")
        self.rounds(16, 1e-4)

    def op_filter(self):
        shape = [self.one_of(1, 3), self.one_of(1, 2, 3)]
        kernel = self.feed([self.random.uniform(-0.3, 0.5, shape).astype(np.float32) for _ in range(BATCH)])
        kernel = f"fn.reshape({kernel}, shape={shape})"
        arguments = {"border": self.one_of(None, '"clamp"', '"wrap"', '"reflect_1001"', '"reflect_101"', '"constant"', '"fill"'),
                     "anchor": self.one_of(None, None, repr([self.whole(0, shape[0] - 1), self.whole(0, shape[1] - 1)])),
                     "mode": self.one_of(None, None, '"same"', '"valid"'), "dtype": self.maybe_type("float32")}
        if arguments["mode"] == '"valid"':
            arguments["border"] = None
        fill = ""
        if arguments["border"] in ('"constant"', '"fill"') and self.dtype == np.float32:
            fill = ", " + self.feed([np.float32(self.real(0, 90)) for _ in range(BATCH)])
        self.call(self.one_of("filter", "experimental.filter"), f"x, {kernel}{fill}", **arguments)
        self.rounds(3, 1e-4)
        self.take_type()
