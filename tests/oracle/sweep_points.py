"""Operators on points, boxes and masks for the sweep. Windows and objects are those that leave no choice."""
import numpy as np

from recorder import TYPES
from sweep_drawer import BATCH, Drawer


class Points(Drawer):
    # ---- inputs
    def draw_vectors(self):
        self.dtype = np.dtype(self.one_of("float32", "float32", "int32", "uint8", "int16", "int64"))
        self.layout, self.kind = "", "points"
        self.coordinates = self.one_of(2, 2, 3, 4)
        low, high = (0, 1) if self.dtype.kind == "f" else (0, 100)
        self.range = float(high)
        samples = [self.random.uniform(low, high, (self.whole(1, 6), self.coordinates)).astype(self.dtype) for _ in range(BATCH)]
        self.lines.append("x = " + self.feed(samples))

    def draw_boxes(self):
        """Boxes within the unit square, some of them nothing, and labels."""
        self.dtype, self.layout, self.kind, self.range, self.coordinates = np.dtype("float32"), "", "boxes", 1.0, 4
        counts = [self.one_of(0, 1, 2, 3, 6) for _ in range(BATCH)]
        corners = [np.sort(np.round(self.random.random((n, 2, 2)), 3), axis=1) for n in counts]
        for c in corners:
            c[:, 1] = np.minimum(c[:, 1] + 0.02, 1)
        self.ltrb = self.chance(0.6)
        boxes = [c.reshape(-1, 4) if self.ltrb else np.concatenate([c[:, 0], c[:, 1] - c[:, 0]], 1) for c in corners]
        self.lines.append("x = " + self.feed([b.astype(np.float32) for b in boxes]))
        column = self.chance(0.3)
        labels = [self.random.integers(0, 90, (n, 1) if column else n).astype(np.int32) for n in counts]
        self.labels = self.feed(labels)

    def draw_mask(self):
        """One object of 3, of several pixels, and one pixel of 7, on a background of 0."""
        self.dtype = np.dtype(self.one_of("int32", "uint8", "int16", "uint16"))
        self.layout, self.kind, self.range, self.channels = "HW", "mask", 8.0, None
        samples = []
        for _ in range(BATCH):
            plane = np.zeros((self.whole(4, 12), self.whole(4, 12)), self.dtype)
            y, x = self.whole(0, plane.shape[0] - 3), self.whole(0, plane.shape[1] - 3)
            plane[y:y + self.whole(1, 2), x:x + self.whole(1, 2)] = 3
            plane[plane.shape[0] - 1, self.whole(0, plane.shape[1] - 1)] = 7
            samples.append(plane)
        self.lines.append("x = " + self.feed(samples, self.one_of(None, "HW")))

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
        arguments = {"flip_" + axis: self.integer(0, 1) for axis in layout}
        arguments |= {"center_" + axis: self.number(0, 1) if self.chance(0.4) else None for axis in layout}
        self.call("coord_flip", layout=f'"{layout}"', **arguments)
        self.relative += 1e-6

    def op_bb_flip(self):
        if self.coordinates != 4:
            return
        self.call("bb_flip", ltrb=self.one_of("True", "False", None), horizontal=self.integer(0, 1), vertical=self.integer(0, 1))
        self.relative += 1e-6

    def op_transforms(self):
        """Matrices of two or three axes, alone, on top of one another, and combined."""
        n = self.one_of(2, 2, 3)

        def one():
            reverse = self.one_of("", "", ", reverse_order=True")
            centre = f", center={self.numbers(n, 0, 9)}" if self.chance(0.5) else ""
            forms = [f"scale({{}}scale={self.numbers(n, 0.5, 2)}{centre}{reverse})", f"translation({{}}offset={self.numbers(n, -9, 9)}{reverse})",
                                          f"crop({{}}from_start={self.numbers(n, 0, 1)}, from_end={self.numbers(n, 2, 3)}, to_start={self.numbers(n, -1, 0)}, "
                     f"to_end={self.numbers(n, 1, 9)}{reverse})",
                     f"crop({{}}from_start={self.numbers(n, 2, 3)}, from_end={self.numbers(n, 0, 1)}, to_end={self.numbers(n, 1, 9)}, absolute=True{reverse})",
                     f"scale({{}}scale={self.numbers(1, 0.5, 2)}, ndim={n}{reverse})"]
            if n == 2:
                forms += [f"rotation({{}}angle={self.number(-400, 400)}{centre}{reverse})", f"shear({{}}angles={self.numbers(2, -60, 60)}{centre}{reverse})",
                          f"shear({{}}shear={self.numbers(2, -2, 2)}{centre}{reverse})"]
            else:
                forms += [f"rotation({{}}angle={self.number(-400, 400)}, axis={self.numbers(3, 0.5, 2)}{centre}{reverse})",
                          f"shear({{}}angles={self.numbers(6, -30, 30, 0)}{centre}{reverse})", f"shear({{}}shear={self.numbers(6, -2, 2, 0)}{centre}{reverse})"]
            return "fn.transforms." + self.one_of(*forms)

        if self.chance(0.1):
            self.write("transform_translation", f"x = x, fn.transform_translation(offset={self.numbers(n, -9, 9)}{self.one_of('', ', reverse_order=True')})")
            self.kind = "end"
            return
        text = one().format("")
        form = self.one_of("alone", "chained", "combined", "fed")
        if form == "chained":
            text = one().format(text + ", ")
        elif form == "combined":
            text = f"fn.transforms.combine({text}, {one().format('')}{self.one_of('', ', reverse_order=True')})"
        elif form == "fed":
            matrix = self.feed([self.random.uniform(-2, 2, (n, n + 1)).astype(np.float32) for _ in range(BATCH)])
            text = one().format(f"fn.reshape({matrix}, shape=[{n}, {n + 1}]), ")
        self.write("transforms", "x = x, " + text)
        self.relative += 1e-5
        self.slack += 1e-4  # of differences of products
        self.kind = "end"

    # ---- boxes
    def op_boxes_flip(self):
        self.call("bb_flip", ltrb=repr(self.ltrb), horizontal=self.integer(0, 1), vertical=self.integer(0, 1))
        self.relative += 1e-6

    def op_bbox_paste(self):
        self.call("bbox_paste", ratio=self.number(1, 3), ltrb=repr(self.ltrb), **self.some(paste_x=self.number(0, 1), paste_y=self.number(0, 1)))
        self.relative += 1e-6

    def layout_of_boxes(self):
        return '"xyXY"' if self.ltrb else '"xyWH"'

    def op_bbox_rotate(self):
        labels = self.chance(0.5)
        order = self.one_of(None, '"HW"', '"WH"', '"HWC"')
        shape = self.integers(3 if order == '"HWC"' else 2, 5, 60)
        arguments = {"angle": self.number(-180, 180), "input_shape": shape, "shape_layout": order, "bbox_layout": self.layout_of_boxes(),
                     "mode": self.one_of(None, '"expand"', '"fixed"', '"halfway"'), "remove_threshold": self.one_of(None, "0.0", repr(self.real(0, 0.6))),
                     "keep_size": self.one_of(None, "True")}
        if not arguments["keep_size"] and self.chance(0.3):
            arguments["size"] = self.numbers(2, 5, 60, 0) if self.chance(0.1) else self.integers(2, 5, 60, 0)
        pixels = self.chance(0.2)
        if pixels:
            arguments["bbox_normalized"] = "False"
        given = ", ".join(["x * 20.0" if pixels else "x"] + [self.labels] * labels + self.arguments(arguments))
        self.write("bbox_rotate", f"x, l = fn.bbox_rotate({given})\nx = x, l" if labels else f"x = fn.bbox_rotate({given})")
        self.relative += 1e-5
        self.slack += 1e-5 * (20 if pixels else 1)
        self.kind = "end"

    def op_box_encoder(self):
        anchors = np.sort(np.round(self.random.random((self.whole(1, 12), 2, 2)), 3), axis=1)
        anchors[:, 1] += 0.05
        arguments = {"anchors": repr(anchors.reshape(-1).round(3).tolist()), "criteria": self.one_of(None, repr(self.real(0, 1)))}
        if self.chance(0.6):
            arguments |= {"offset": "True", "scale": self.one_of(None, "300.0"), "means": self.one_of(None, "[0.1, -0.2, 0.0, 0.4]"),
                          "stds": self.one_of(None, "[0.1, 0.1, 0.2, 0.2]")}
            self.relative += 1e-5
        self.write("box_encoder", f"e, c = fn.box_encoder(x, {self.labels}, {', '.join(self.arguments(arguments))})\nx = e, c")
        self.kind = "end"

    def op_random_bbox_crop(self):
        """The whole picture, as the only choice, and windows as large as it."""
        labels, numbers = self.chance(0.5), self.one_of(None, "True")
        layout = {"bbox_layout": self.layout_of_boxes()} if self.chance(0.7) else {"ltrb": repr(self.ltrb)}
        arguments = {**layout, "output_bbox_indices": numbers, "total_num_attempts": "5", "seed": self.one_of(None, "3"),
                     **self.some(quiet="True", num_attempts="2", threshold_type=self.one_of('"iou"', '"overlap"'), all_boxes_above_threshold="False",
                               thresholds="[0.0]")}
        form = self.one_of("window", "fixed", "fixed_turned")
        if form == "window":
            arguments |= {"allow_no_crop": "False", **self.some(scaling="[1.0, 1.0]", aspect_ratio="[1.0, 1.0]", bbox_prune_threshold="0.5")}
        else:
            shape = self.integers(2, 5, 60)
            arguments |= {"crop_shape": shape, "input_shape": shape, "shape_layout": '"HW"' if form == "fixed_turned" else None, "allow_no_crop": "False"}
        names = ["a", "s", "b"] + ["k"] * labels + ["n"] * bool(numbers)
        given = ", ".join(["x"] + [self.labels] * labels + self.arguments(arguments))
        self.write("random_bbox_crop", f"{', '.join(names)} = fn.random_bbox_crop({given})\nx = {', '.join(names)}")
        self.relative += 1e-6
        self.kind = "end"

    def op_ssd_random_crop(self):
        """No attempts: the whole image."""
        if not self.ltrb:
            return
        image = self.feed([self.random.integers(0, 256, (self.whole(1, 9), self.whole(1, 9), 3), np.uint8) for _ in range(BATCH)], "HWC")
        self.write("ssd_random_crop", f"i, b, l = fn.ssd_random_crop({image}, x, {self.labels}, num_attempts=0{self.one_of('', ', seed=4')})\nx = i, b, l")
        self.kind = "end"

    # ---- masks
    def op_random_mask_pixel(self):
        """The one pixel above 3, or of 7; places of others by their extents."""
        self.call("segmentation.random_mask_pixel", foreground=self.integer(1, 1), seed=self.one_of(None, "2"),
                  **self.one_of({"threshold": self.number(3.2, 6.5)}, {"value": self.integer(7, 7)}))
        self.kind = "end"

    def op_random_object_bbox(self):
        arguments = {"format": self.one_of(None, '"anchor_shape"', '"start_end"', '"box"'), "output_class": self.one_of(None, "True"),
                     "foreground_prob": self.one_of(None, "1.0"), "background": self.one_of(None, "0"), "cache_objects": self.one_of(None, "True"),
                     "seed": self.one_of(None, "2")}
        form = self.one_of("class", "weights", "largest", "threshold", "nothing")
        if form == "class":
            arguments |= {"classes": self.one_of("[3]", "[7, 99]"), "k_largest": "1"}
        elif form == "weights":
            arguments |= {"classes": "[3, 7]", "class_weights": self.one_of("[0.0, 1.0]", "[0, 2.5]"), "k_largest": "1"}
        elif form == "largest":
            arguments |= {"ignore_class": "True", "threshold": "[40, 40]", "output_class": None}
        elif form == "threshold":
            arguments |= {"threshold": self.one_of("[40, 40]", "[50]"), "foreground_prob": "1.0"}  # none is so large
        else:
            arguments |= {"foreground_prob": "0.0"}
        names = ["b"] if arguments["format"] == '"box"' else ["a", "s"]
        names += ["c"] * bool(arguments["output_class"])
        self.write("segmentation.random_object_bbox", f"{', '.join(names)} = fn.segmentation.random_object_bbox(x, {', '.join(self.arguments(arguments))})\n"
                   f"x = {', '.join(names)}")
        self.kind = "end"

    def op_select_masks(self):
        """Masks of one polygon: of several DALI keeps the last."""
        polygons, vertices, ids = [], [], []
        for _ in range(BATCH):
            ends = np.cumsum([self.whole(1, 5) for _ in range(self.whole(1, 4))])
            polygons.append(np.int32([[m, s, e] for m, (s, e) in enumerate(zip([0, *ends[:-1]], ends))]))
            vertices.append(self.random.random((ends[-1], 2)).astype(np.float32))
            chosen = self.random.permutation(len(ends))[:self.whole(0, len(ends))]
            ids.append(np.int32(chosen))
        given = ", ".join(self.feed(values) for values in (ids, polygons, vertices))
        self.write("segmentation.select_masks", f"p, v = fn.segmentation.select_masks({given}{self.one_of('', ', reindex_masks=True')})\nx = p, v, fn.shapes(x)")
        self.kind = "end"

    def op_windows(self):
        """roi_random_crop of a region as large as the window, random_crop_generator of one window, or of its extents."""
        if self.chance(0.5):
            shape, start = self.integers(2, 1, 9), self.integers(2, 0, 9)
            arguments = {"crop_shape": shape, "roi_start": start, "roi_shape": shape, "seed": self.one_of(None, "2")}
            if self.chance(0.3):
                extents, places = [self.whole(1, 9) for _ in range(2)], [self.whole(0, 9) for _ in range(2)]
                arguments = {"crop_shape": repr(extents), "roi_start": repr(places), "roi_end": repr([a + b for a, b in zip(extents, places)])}
            if self.chance(0.3):
                arguments["in_shape"] = self.integers(2, 20, 30)
            self.write("roi_random_crop", f"x = fn.shapes(x), fn.roi_random_crop({', '.join(self.arguments(arguments))})")
        else:
            ratio = self.one_of(20.0, 0.05)  # in no image: the largest window of that ratio, whose place is drawn
            form, outputs = self.one_of((self.whole_window(), "a, s"), ({"random_area": "[1.0, 1.0]", "random_aspect_ratio": repr([ratio, ratio])}, "s"))
            self.write("random_crop_generator", f"a, s = fn.random_crop_generator(fn.shapes(x), {', '.join(self.arguments(form))})\nx = {outputs}")
        self.kind = "end"
