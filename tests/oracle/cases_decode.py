"""Cases of decoders.image, image_crop, image_slice, image_random_crop and peek_image_shape.

Encoded files are 1-D u8 inputs. DALI is checked against Pillow, which shares its JPEG library.
"""
import io
import struct
import zlib

import numpy as np

from recorder import Feed
from samples import decode, encode, oriented, photo, rng

GREY_PNG = "DALI truncates the grey value of a PNG and rounds that of other formats"
STUDIO = "rounding of the colour matrix"
SCALE = "float32 rounding of the rescaling"


def jpegs(key=0, **options):
    """Several sizes, none a multiple of the MCU, of one sampling."""
    return [encode(photo(h, w, key=key + i), "JPEG", quality=85 + i, **options)
            for i, (h, w) in enumerate(((40, 57), (33, 18), (9, 23), (1, 1)))]


SAMPLINGS = {"444": dict(subsampling=0), "422": dict(subsampling=1), "420": dict(subsampling=2),
             "progressive": dict(progressive=True, subsampling=2), "restart": dict(restart_marker_rows=1)}


def png16_rgb(pixels):
    """A 16-bit RGB PNG, which Pillow cannot write."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + pixels[i].astype(">u2").tobytes() for i in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return np.frombuffer(data, np.uint8).copy()


def encode_mode(pixels, mode, format="PNG", **options):
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(pixels, mode).save(stream, format, **options)
    return np.frombuffer(stream.getvalue(), np.uint8).copy()


def grey(height, width, key=0):
    return photo(height, width, 1, key)


def grey16(height, width, key=0):
    return rng(700 + key).integers(0, 65536, (height, width)).astype(np.uint16)


def rgb(data):
    return decode(data, "RGB")


def files():
    """Name -> (encoded samples, a reference for RGB output)."""
    sizes = ((21, 30), (8, 13), (3, 2))
    photos = [photo(h, w, key=10 + i) for i, (h, w) in enumerate(sizes)]
    alphas = [photo(h, w, 4, key=20 + i) for i, (h, w) in enumerate(sizes)]
    greys = [grey(h, w, key=30 + i) for i, (h, w) in enumerate(sizes)]
    wide = [rng(710 + i).integers(0, 65536, (h, w, 3)).astype(np.uint16) for i, (h, w) in enumerate(sizes)]
    return {
        "png_rgb": [encode(p, "PNG") for p in photos], "png_rgba": [encode(p, "PNG") for p in alphas],
        "png_grey": [encode(p, "PNG") for p in greys], "png_palette": [encode(p, "PNG", mode="P") for p in photos],
        "png_palette_transparent": [encode(p, "PNG", mode="P", transparency=3) for p in photos],
        "png_grey_alpha": [encode_mode(p[:, :, [0, 3]].copy(), "LA") for p in alphas],
        "png_1_bit": [encode(p[:, :, 0] > 128, "PNG") for p in greys],
        "png_grey_16": [encode(grey16(h, w, i), "PNG") for i, (h, w) in enumerate(sizes)],
        "png_rgb_16": [png16_rgb(p) for p in wide],
        "bmp_rgb": [encode(p, "BMP") for p in photos], "bmp_grey": [encode(p, "BMP") for p in greys],
        "bmp_palette": [encode(p, "BMP", mode="P") for p in photos],
        "webp_lossy": [encode(p, "WEBP", quality=80) for p in photos],
        "webp_lossless": [encode(p, "WEBP", lossless=True) for p in photos],
        "webp_alpha": [encode(p, "WEBP", quality=80) for p in alphas],
        "webp_lossless_alpha": [encode(p, "WEBP", lossless=True, exact=True) for p in alphas],
    }


def add_jpeg(group):
    for name, options in SAMPLINGS.items():
        feeds = {"x": Feed(jpegs(**options))}
        group.case(f"jpeg_{name}_rgb", "fn.decoders.image(x)", feeds, expect=rgb)
        group.case(f"jpeg_{name}_grey", "fn.decoders.image(x, output_type=types.GRAY)", feeds)
    feeds = {"x": Feed(jpegs(subsampling=2))}
    group.case("jpeg_bgr", "fn.decoders.image(x, output_type=types.BGR)", feeds, expect=lambda x: rgb(x)[:, :, ::-1])
    group.case("jpeg_ycbcr", "fn.decoders.image(x, output_type=types.YCbCr)", feeds, tolerance=1, why=STUDIO,
               expect=lambda x: studio(rgb(x)))
    group.case("jpeg_any_data", "fn.decoders.image(x, output_type=types.ANY_DATA)", feeds, expect=rgb)
    group.case("jpeg_fast_idct", "fn.decoders.image(x, use_fast_idct=True)", feeds, tolerance=5, mean_tolerance=1.5,
               why="the fast IDCT is an approximation; ours may be the exact one")
    greys = {"x": Feed([encode(grey(h, w, key=i), "JPEG", quality=90)
                        for i, (h, w) in enumerate(((25, 40), (16, 16), (3, 7)))])}
    group.case("jpeg_grey_to_rgb", "fn.decoders.image(x)", greys, expect=rgb)
    group.case("jpeg_grey_to_grey", "fn.decoders.image(x, output_type=types.GRAY)", greys,
               expect=lambda x: decode(x, "L")[:, :, None])
    group.case("jpeg_grey_to_ycbcr", "fn.decoders.image(x, output_type=types.YCbCr)", greys, tolerance=1, why=STUDIO,
               expect=lambda x: studio(rgb(x)))
    # Not with ANY_DATA: DALI 2.4 corrupts memory there.
    mixed = Feed([greys["x"].samples[0], *jpegs(subsampling=1)[:2]])
    group.case("jpeg_grey_and_colour", "fn.decoders.image(x)", {"x": mixed}, expect=rgb)
    loud = np.clip((rng(730).random((24, 31, 3)) - 0.5) * 900 + 128, 0, 255).astype(np.uint8)
    clipped = {"x": Feed([encode(loud, "JPEG", quality=60, subsampling=0)])}
    group.case("jpeg_clipped_grey", "fn.decoders.image(x, output_type=types.GRAY)", clipped)
    group.case("jpeg_clipped_rgb", "fn.decoders.image(x)", clipped, expect=rgb)
    cmyk = {"x": Feed([encode(photo(19, 26), "JPEG", mode="CMYK", quality=90)])}
    group.case("jpeg_cmyk", "fn.decoders.image(x)", cmyk, expect=rgb, tolerance=1, why="rounding of ink products")


def studio(pixels):
    """BT.601 studio range of u8 RGB."""
    r = pixels.astype(np.float64) / 255
    rows = ((65.481, 128.553, 24.966), (-37.797, -74.203, 112.0), (112.0, -93.786, -18.214))
    return np.stack([r @ np.array(row) + offset for row, offset in zip(rows, (16, 128, 128))], -1)


def add_formats(group):
    table = files()
    for name, samples in table.items():
        feeds = {"x": Feed(samples)}
        wide = name.endswith("16")
        group.case(f"{name}_to_rgb", "fn.decoders.image(x)", feeds,
                   expect=None if wide else lambda x: decode(x, "RGBA")[:, :, :3])
        grey_source = "grey" in name or "1_bit" in name
        group.case(f"{name}_to_grey", "fn.decoders.image(x, output_type=types.GRAY)", feeds,
                   **({} if grey_source else dict(tolerance=1, why=GREY_PNG)))
        if name != "png_grey_alpha":
            group.case(f"{name}_to_any_data", "fn.decoders.image(x, output_type=types.ANY_DATA)", feeds)
    for name in ("png_rgb", "png_rgba", "bmp_rgb", "webp_lossless"):
        group.case(f"{name}_to_bgr", "fn.decoders.image(x, output_type=types.BGR)", {"x": Feed(table[name])})
    for name in ("png_rgb", "png_grey", "bmp_rgb", "webp_lossy"):
        group.case(f"{name}_to_ycbcr", "fn.decoders.image(x, output_type=types.YCbCr)", {"x": Feed(table[name])},
                   tolerance=1, why=STUDIO)
    mixed = [table[name][0] for name in ("png_rgba", "bmp_rgb", "webp_lossy", "png_grey_16")] + jpegs()[:1]
    group.case("mixed_formats", "fn.decoders.image(x)", {"x": Feed(mixed)})
    group.case("mixed_formats_crop", "fn.decoders.image_crop(x, crop=[9, 11], crop_pos_x=0.2)", {"x": Feed(mixed)})
    for dtype in ("UINT8", "INT8", "UINT16", "INT16", "UINT32", "INT32", "FLOAT"):
        wide = dtype in ("UINT32", "INT32", "FLOAT")
        options = dict(tolerance=1e-6, kind="range", why=SCALE) if wide else {}
        group.case(f"decode_dtype_{dtype.lower()}", f"fn.decoders.image(x, dtype=types.{dtype})",
                   {"x": Feed(table["png_rgb"])}, **options)
        group.case(f"decode_16_bit_dtype_{dtype.lower()}", f"fn.decoders.image(x, dtype=types.{dtype})",
                   {"x": Feed(table["png_rgb_16"])}, **options)
    group.case("decode_any_data_uint16", "fn.decoders.image(x, output_type=types.ANY_DATA, dtype=types.UINT16)",
               {"x": Feed(table["png_grey_16"])})
    group.case("decode_grey_float", "fn.decoders.image(x, output_type=types.GRAY, dtype=types.FLOAT)",
               {"x": Feed(jpegs())}, tolerance=1e-6, kind="range", why=SCALE)
    group.refused("refused_decode_float16", "fn.decoders.image(x, dtype=types.FLOAT16)", {"x": Feed(jpegs())})
    group.refused("refused_decode_int64", "fn.decoders.image(x, dtype=types.INT64)", {"x": Feed(jpegs())})
    group.refused("refused_grey_alpha_any_data", "fn.decoders.image(x, output_type=types.ANY_DATA)",
                  {"x": Feed(table["png_grey_alpha"])})
    whole = jpegs()[0]
    for name, data in (("half", whole[:len(whole) // 2]), ("most", whole[:len(whole) * 9 // 10]),
                       ("noise", np.arange(200, dtype=np.uint8)), ("empty", whole[:0]),
                       ("png", table["png_rgb"][0][:300])):
        group.refused(f"refused_damaged_{name}", "fn.decoders.image(x)", {"x": Feed([data])})


def add_orientation(group):
    picture = photo(27, 38, key=40)
    turned = Feed([oriented(picture, value, quality=95, subsampling=0) for value in range(1, 9)])
    feeds = {"x": turned}
    group.case("exif_adjusted", "fn.decoders.image(x)", feeds)
    group.case("exif_kept", "fn.decoders.image(x, adjust_orientation=False)", feeds, expect=rgb)
    group.case("exif_peek", "fn.peek_image_shape(x)", feeds)
    group.case("exif_peek_kept", "fn.peek_image_shape(x, adjust_orientation=False)", feeds)
    group.case("exif_crop", "fn.decoders.image_crop(x, crop=[10, 7], crop_pos_x=0.1, crop_pos_y=0.8)", feeds)
    group.case("exif_slice", "fn.decoders.image_slice(x, start=[2, 3], shape=[9, 5])", feeds)
    group.case("exif_crop_kept", "fn.decoders.image_crop(x, crop=[10, 7], adjust_orientation=False)", feeds)
    subsampled = {"x": Feed([oriented(picture, value, quality=90, subsampling=2) for value in (3, 5, 6, 8)])}
    group.case("exif_420", "fn.decoders.image(x)", subsampled)
    group.case("exif_420_crop", "fn.decoders.image_crop(x, crop=[11, 9], crop_pos_x=0.7)", subsampled)
    odd = {"x": Feed([oriented(picture, value, quality=95, subsampling=0) for value in (0, 9)])}
    group.case("exif_invalid", "fn.decoders.image(x)", odd, expect=rgb)
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = 6
    # DALI's WebP parser takes some small files with EXIF data for truncated; this one it reads.
    large = photo(47, 61)
    others = {"x": Feed([encode(picture, "PNG", exif=exif.tobytes()),
                         encode(large, "WEBP", lossless=True, exif=exif.tobytes())])}
    group.case("exif_png_webp", "fn.decoders.image(x)", others)
    group.case("exif_png_webp_peek", "fn.peek_image_shape(x)", others)


CROPS = ["crop=[9, 11]", "crop=[9.7, 11.2], crop_pos_x=0.0, crop_pos_y=1.0", "crop_h=7, crop_w=12, crop_pos_x=0.9",
         'crop=[8, 8], rounding="truncate"', "crop=[0, 10]", "crop=[16, 16], crop_pos_x=0.35, crop_pos_y=0.6",
         "crop=[5, 5], crop_pos_x=1.0, crop_pos_y=0.0"]
SLICES = ["start=[3, 4], shape=[10, 12]", "start=[3, 4], end=[10, 15]", "rel_start=[0.1, 0.2], rel_shape=[0.33, 0.51]",
          "rel_start=[0.5, 0.25], rel_end=[0.99, 0.75]", "start=[1, 2], rel_shape=[0.5, 0.5]",
          "start=[4, 1], shape=[9, 10], axes=[0, 1]", 'start=[4], shape=[9], axis_names="W"',
          'rel_start=[0.3, 0.1], shape=[5, 6], axis_names="HW"']


def add_windows(group):
    sources = {"420": [encode(photo(h, w, key=50 + i), "JPEG", quality=88, subsampling=2)
                       for i, (h, w) in enumerate(((61, 47), (33, 49), (20, 20)))],
               "png": [encode(photo(h, w, key=60 + i), "PNG") for i, (h, w) in enumerate(((31, 27), (19, 24)))]}
    for source, samples in sources.items():
        feeds = {"x": Feed(samples)}
        for number, arguments in enumerate(CROPS if source == "420" else CROPS[:2]):
            group.case(f"image_crop_{source}_{number}", f"fn.decoders.image_crop(x, {arguments})", feeds)
        for number, arguments in enumerate(SLICES if source == "420" else SLICES[:3]):
            group.case(f"image_slice_{source}_{number}", f"fn.decoders.image_slice(x, {arguments})", feeds)
    feeds = {"x": Feed(sources["420"])}
    for sampling in ("444", "422", "progressive"):
        several = {"x": Feed([encode(photo(h, w, key=70 + i), "JPEG", quality=88, **SAMPLINGS[sampling])
                              for i, (h, w) in enumerate(((45, 52), (29, 33)))])}
        group.case(f"image_crop_{sampling}", "fn.decoders.image_crop(x, crop=[13, 17], crop_pos_x=0.3)", several)
    group.case("image_crop_grey", "fn.decoders.image_crop(x, crop=[9, 11], output_type=types.GRAY)", feeds)
    group.case("image_crop_bgr", "fn.decoders.image_crop(x, crop=[9, 11], output_type=types.BGR)", feeds)
    group.case("image_crop_float", "fn.decoders.image_crop(x, crop=[9, 11], dtype=types.FLOAT)", feeds,
               tolerance=1e-6, kind="range", why=SCALE)
    group.case("image_crop_per_sample", "fn.decoders.image_crop(x, crop=[9, 11], crop_pos_x=a, crop_pos_y=b)",
               feeds | {"a": Feed([np.float32(v) for v in (0, 0.4, 1)]), "b": Feed([np.float32(v) for v in (1, 0.2, 0)])})
    group.case("image_slice_per_sample", "fn.decoders.image_slice(x, start=a, shape=b)", feeds | {
        "a": Feed([np.array(v, np.int32) for v in ((0, 5), (9, 3), (2, 2))]),
        "b": Feed([np.array(v, np.int32) for v in ((47, 20), (8, 8), (18, 18))])})
    anchors = [np.array(v, np.float32) for v in ((0, 0.25), (0.1, 0.2), (0.5, 0.5))]
    shapes = [np.array(v, np.float32) for v in ((1, 0.5), (0.33, 0.44), (0.5, 0.5))]
    group.case("image_slice_positional", "fn.decoders.image_slice(x, a, b)",
               feeds | {"a": Feed(anchors), "b": Feed(shapes)})
    group.case("image_slice_positional_int", "fn.decoders.image_slice(x, a, b, axes=[0, 1])", feeds | {
        "a": Feed([np.array(v, np.int64) for v in ((4, 5), (9, 3), (2, 2))]),
        "b": Feed([np.array(v, np.int64) for v in ((47, 20), (8, 8), (18, 18))])})
    squares = {"x": Feed([encode(photo(n, n, key=80 + n), "JPEG", quality=90, subsampling=2) for n in (33, 16)])}
    group.case("image_random_crop_whole", "fn.decoders.image_random_crop(x, random_area=[1.0, 1.0], "
               "random_aspect_ratio=[1.0, 1.0])", squares, expect=rgb)
    group.refused("refused_image_crop_too_large", "fn.decoders.image_crop(x, crop=[100, 20])", feeds)
    group.refused("refused_image_slice_outside", "fn.decoders.image_slice(x, start=[-2, 3], shape=[9, 9])", feeds)
    group.refused("refused_image_slice_both", "fn.decoders.image_slice(x, start=[1, 2], rel_start=[0.1, 0.2])", feeds)


def add_peek(group):
    table = files()
    samples = [table[name][0] for name in ("png_rgb", "png_rgba", "png_grey", "png_grey_16", "bmp_rgb", "bmp_grey",
                                           "webp_lossy", "webp_lossless_alpha", "png_palette")] + jpegs()[:2]
    feeds = {"x": Feed(samples)}
    for image_type in ("RGB", "GRAY", "BGR", "ANY_DATA"):
        group.case(f"peek_{image_type.lower()}", f"fn.peek_image_shape(x, image_type=types.{image_type})", feeds)
    for dtype in ("INT32", "UINT32", "INT64", "UINT64", "FLOAT", "FLOAT64"):
        group.case(f"peek_{dtype.lower()}", f"fn.peek_image_shape(x, dtype=types.{dtype})", feeds)
    group.refused("refused_peek_noise", "fn.peek_image_shape(x)", {"x": Feed([np.arange(100, dtype=np.uint8)])})


def add(group):
    for part in (add_jpeg, add_formats, add_orientation, add_windows, add_peek):
        part(group)
