"""Encoded files for the sweep, and the operators that decode them."""
import numpy as np

from cases_decode import encode_mode, png16_rgb
from recorder import TYPES
from samples import encode, oriented, photo
from sweep_drawer import BATCH, Drawer


class Files(Drawer):
    def draw_files(self):
        self.kind, self.dtype, self.layout, self.range = "file", np.dtype("uint8"), "", 256.0
        self.formats = []
        self.lines.append("x = " + self.feed([self.draw_file() for _ in range(BATCH)]))

    def draw_file(self):
        height, width, key = self.whole(8, 40), self.whole(8, 40), self.whole(0, 999)
        form = self.one_of("jpeg", "jpeg", "jpeg", "turned", "grey_jpeg", "png", "rgba_png", "grey_png", "palette_png", "wide_png", "bmp", "webp")
        self.formats.append(form)
        pixels = photo(height, width, 1 if form.startswith("grey") else 4 if form == "rgba_png" else 3, key)
        if form in ("jpeg", "grey_jpeg"):
            return encode(pixels, "JPEG", quality=self.whole(30, 98), **({} if form == "grey_jpeg" else {"subsampling": self.whole(0, 2)}),
                          progressive=self.chance(0.3))
        if form == "turned":
            return oriented(pixels, self.whole(1, 8), quality=90, subsampling=self.whole(0, 2))
        if form == "palette_png":
            return encode(pixels, "PNG", mode="P")
        if form == "wide_png":
            return png16_rgb(pixels.astype(np.uint16) * 257 + np.uint16(self.whole(0, 99)))
        if form == "bmp":
            return encode(pixels, "BMP")
        if form == "webp":
            return encode(pixels, "WEBP", lossless=self.chance(0.5))
        return encode_mode(pixels[:, :, 0] if form == "grey_png" else pixels, "L" if form == "grey_png" else "RGBA" if form == "rgba_png" else "RGB")

    def decoding(self):
        """Arguments of every decoder, and what comes out of it."""
        kind = self.one_of(None, None, "RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA")
        if kind == "ANY_DATA" and "grey_jpeg" in self.formats:
            kind = "RGB"  # memory corruption
        arguments = {"output_type": kind and "types." + kind, "adjust_orientation": self.one_of(None, None, "False", "True"),
                     "device": self.one_of(None, '"cpu"')}
        for name, value in (("jpeg_fancy_upsampling", "True"), ("affine", "False"), ("hybrid_huffman_threshold", "1000"), ("hw_decoder_load", "0.5"),
                            ("preallocate_width_hint", "64"), ("preallocate_height_hint", "64"), ("device_memory_padding", "1024"),
                            ("host_memory_padding", "1024"), ("device_memory_padding_jpeg2k", "0"), ("host_memory_padding_jpeg2k", "0"),
                            ("use_fast_idct", "False"), ("memory_stats", "False"), ("split_stages", "False"), ("use_chunk_allocator", "False")):
            if self.chance(0.08):
                arguments[name] = value
        arguments["dtype"] = self.maybe_type("float32", "uint16", "int16", "int8", "int32", "uint32") if self.chance(0.4) else None
        self.decoded = kind
        return arguments

    def take_decoded(self):
        kind = self.decoded
        self.kind, self.layout = "image", "HWC"
        self.channels = {"GRAY": 1, "ANY_DATA": None}.get(kind, 3)
        levels = (1 if kind == "GRAY" and any("jpeg" not in form and form != "turned" for form in self.formats) else 0) + (kind == "YCbCr")
        if self.later:
            self.dtype, self.range = np.dtype(self.later), {"float32": 1.0, "uint16": 65536.0, "int16": 32768.0, "int8": 128.0, "int32": 2.0 ** 31,
                                                            "uint32": 2.0 ** 32}[self.later]
            self.relative += 1e-6
            self.later = None
        self.slack += levels * (self.range / 255 + 1)
        if self.dtype.itemsize == 4:
            self.kind = "end"

    def op_decode(self):
        cache = {name: value for name, value in (("cache_size", "0"), ("cache_threshold", "0"), ("cache_type", '""'), ("cache_debug", "False"),
                                                 ("cache_batch_copy", "True")) if self.chance(0.05)}
        self.call(self.one_of("decoders.image", "decoders.image", "experimental.decoders.image", "image_decoder"), **self.decoding(), **cache)
        self.take_decoded()

    def op_decode_crop(self):
        arguments = self.decoding()
        if self.chance(0.6):
            arguments["crop"] = self.numbers(2, 1, 8) if self.chance(0.5) else self.integers(2, 1, 8, 0)
        else:
            arguments["crop_h"], arguments["crop_w"] = self.number(1, 8), self.number(1, 8)
        arguments |= self.some(crop_pos_x=self.number(0, 1), crop_pos_y=self.number(0, 1))
        arguments["rounding"] = self.one_of(None, None, '"round"', '"truncate"')
        self.call(self.one_of("decoders.image_crop", "experimental.decoders.image_crop", "image_decoder_crop"), **arguments)
        self.take_decoded()

    def op_decode_slice(self):
        arguments, first = self.decoding(), "x"
        form = self.one_of("start", "relative", "mixed", "inputs", "whole_inputs")
        if form == "start":
            arguments |= {"start": self.integers(2, 0, 3), self.one_of("shape", "end"): self.integers(2, 4, 8 - 3)}
        elif form == "relative":
            arguments |= {"rel_start": self.numbers(2, 0, 0.4), self.one_of("rel_shape", "rel_end"): self.numbers(2, 0.45, 0.6)}
        elif form == "mixed":
            arguments |= {"start": self.integers(2, 0, 2), "rel_shape": self.numbers(2, 0.2, 0.7)}
        elif form == "inputs":
            first = f"x, {self.numbers(2, 0, 0.4, 1)}, {self.numbers(2, 0.2, 0.6, 1)}"
            arguments |= self.some(normalized_anchor="True", normalized_shape="True")
        else:
            first = f"x, {self.integers(2, 0, 3, 1)}, {self.integers(2, 1, 5, 1)}"
        arguments |= self.one_of({}, {"axes": self.one_of("[0, 1]", "[1, 0]")}, {"axis_names": self.one_of('"HW"', '"WH"')})
        self.call(self.one_of("decoders.image_slice", "experimental.decoders.image_slice", "image_decoder_slice"), first, **arguments)
        self.take_decoded()

    def op_decode_random_crop(self):
        self.call(self.one_of("decoders.image_random_crop", "experimental.decoders.image_random_crop", "image_decoder_random_crop"),
                  **self.decoding(), **self.whole_window())
        self.take_decoded()

    def op_peek(self):
        self.call(self.one_of("peek_image_shape", "experimental.peek_image_shape"),
                  dtype=self.one_of(None, *("types." + TYPES[name] for name in ("int32", "uint32", "float32", "int64", "uint64", "float64"))),
                  adjust_orientation=self.one_of(None, "False", "True"), image_type=self.one_of(None, "types.RGB", "types.GRAY"))
        self.kind = "end"
