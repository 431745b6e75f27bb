"""Cases of decoders.image for TIFF, JPEG 2000, PNM, and samples of 8, 12, 16 bits and floats.

Files come from tifffile, imagecodecs and Pillow. Not recorded, as DALI 2.4 refuses them or gives pixels of nothing: planes that lie apart
in tiles, floats of 16 and 64 bits, 1 to 4 bits but for CCITT, grey with alpha, JPEG 2000 and binary PNM of other widths than 8 and 16.
"""
import io

import numpy as np
import tifffile

from recorder import Feed
from samples import photo, rng

GREY = "DALI rounds the grey value by another sum"
SCALE = "float32 rounding of the rescaling"
INKS = "DALI truncates the product of inks, here it is rounded"
TWELVE = "DALI shifts 12 bits to 16, so that its white is 65520; here white is white"
SIZES = ((37, 53), (16, 9), (1, 1))


def file(data):
    return np.frombuffer(data, np.uint8).copy()


def tiff(pixels, **options):
    stream = io.BytesIO()
    tifffile.imwrite(stream, pixels, **options)
    return file(stream.getvalue())


def jpeg2000(pixels, **options):
    import imagecodecs

    return file(imagecodecs.jpeg2k_encode(pixels, **options))


def tiled_jpeg2000(pixels):
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG2000", tile_size=(16, 16))
    return file(stream.getvalue())


def pnm(kind, most, pixels):
    height, width = pixels.shape[:2]
    head = f"P{kind}\n# drawn\n{width} {height}\n" + ("" if kind in (1, 4) else f"{most}\n")
    if kind <= 3:
        return file(head.encode() + b" ".join(b"%d" % v for v in pixels.ravel()) + b"\n")
    if kind == 4:
        return file(head.encode() + np.packbits(pixels, axis=1).tobytes())
    return file(head.encode() + pixels.astype(">u2" if most > 255 else np.uint8).tobytes())


def noise(height, width, channels=None, dtype=np.uint16, key=0):
    shape = (height, width) if channels is None else (height, width, channels)
    return rng(800 + key).integers(0, np.iinfo(dtype).max + 1, shape).astype(dtype)


def each(make, sizes=SIZES):
    return Feed([make(h, w) for h, w in sizes])


def rgb(h, w):
    return photo(h, w, 3, 1)


def rgba(h, w):
    return photo(h, w, 4, 2)


def grey(h, w):
    return photo(h, w, 1, 3)[:, :, 0]


def add_tiff(group):
    plain = dict(photometric="rgb")
    files = {
        "strips": each(lambda h, w: tiff(rgb(h, w), rowsperstrip=5, **plain)),
        "tiles": each(lambda h, w: tiff(rgb(h, w), tile=(16, 32), **plain)),
        "planes": each(lambda h, w: tiff(np.ascontiguousarray(rgb(h, w).transpose(2, 0, 1)), planarconfig="separate",
                                         rowsperstrip=7, **plain)),
        "big": each(lambda h, w: tiff(rgb(h, w), bigtiff=True, byteorder=">", **plain)),
        "alpha": each(lambda h, w: tiff(rgba(h, w), extrasamples=["unassalpha"], **plain)),
        "associated": each(lambda h, w: tiff(rgba(h, w), extrasamples=["assocalpha"], **plain)),
        "grey": each(lambda h, w: tiff(grey(h, w), photometric="minisblack")),
        "white_is_zero": each(lambda h, w: tiff(grey(h, w), photometric="miniswhite")),
        "five": each(lambda h, w: tiff(photo(h, w, 5, 4), photometric="minisblack", planarconfig="contig")),
        "pages": each(lambda h, w: tiff(np.stack([rgb(h, w), 255 - rgb(h, w)]), **plain)),
    }
    for method in ("lzw", "adobe_deflate", "packbits", "zstd"):
        files[method] = each(lambda h, w: tiff(rgb(h, w), compression=method, rowsperstrip=8, **plain))
    files["predictor"] = each(lambda h, w: tiff(rgb(h, w), compression="lzw", predictor=True, **plain))
    files["jpeg"] = each(lambda h, w: tiff(rgb(h, w), compression="jpeg", **plain), SIZES[:2])
    for name, feed in files.items():
        feeds = {"x": feed}
        one_channel = name in ("grey", "white_is_zero")
        group.case(f"tiff_{name}_rgb", "fn.decoders.image(x)", feeds)
        group.case(f"tiff_{name}_any", "fn.decoders.image(x, output_type=types.ANY_DATA)", feeds)
        group.case(f"tiff_{name}_grey", "fn.decoders.image(x, output_type=types.GRAY)", feeds,
                   **({} if one_channel else dict(tolerance=1, why=GREY)))
        group.case(f"tiff_{name}_peek", "fn.peek_image_shape(x, image_type=types.ANY_DATA)", feeds)
    for name in ("tiles", "strips", "alpha"):
        group.case(f"tiff_{name}_crop", "fn.decoders.image_crop(x, crop=[9, 11], crop_pos_x=0.3, crop_pos_y=0.8)",
                   {"x": Feed(files[name].samples[:1])})
    inks = {"x": each(lambda h, w: tiff(rgba(h, w), photometric="separated"))}
    group.case("tiff_inks", "fn.decoders.image(x)", inks, tolerance=1, why=INKS)
    colors = noise(3, 256, key=1)
    palette = {"x": each(lambda h, w: tiff(grey(h, w), photometric="palette", colormap=colors))}
    group.case("tiff_palette_rgb", "fn.decoders.image(x)", palette)
    group.case("tiff_palette_wide", "fn.decoders.image(x, output_type=types.ANY_DATA, dtype=types.UINT16)", palette)
    turned = {"x": Feed([tiff(rgb(21, 30), extratags=[(274, "H", 1, value, True)], **plain) for value in range(1, 9)])}
    group.case("tiff_turned", "fn.decoders.image(x)", turned)
    group.case("tiff_turned_kept", "fn.decoders.image(x, adjust_orientation=False)", turned)
    group.case("tiff_turned_peek", "fn.peek_image_shape(x)", turned)


def lab(h, w):
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(rgb(h, w)).convert("LAB").save(stream, "TIFF")
    return file(stream.getvalue())


def ycc(h, w):
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(rgb(h, w)).convert("YCbCr").save(stream, "TIFF")
    return file(stream.getvalue())


def fax(h, w):
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(grey(h, w) > 128).save(stream, "TIFF", compression="group4")
    return file(stream.getvalue())


def add_rare(group):
    for name, make in (("lab", lab), ("ycc", ycc), ("fax", fax)):
        group.case(f"tiff_{name}", "fn.decoders.image(x)", {"x": each(make, SIZES[:2])})
    floats = [(rng(820 + i).random((h, w, 3)) * 1.4 - 0.2).astype(np.float32) for i, (h, w) in enumerate(SIZES)]
    feeds = {"x": Feed([tiff(p, photometric="rgb", compression="adobe_deflate", predictor=True) for p in floats])}
    group.case("tiff_float_to_float", "fn.decoders.image(x, dtype=types.FLOAT)", feeds)
    group.case("tiff_float_to_bytes", "fn.decoders.image(x)", feeds)
    group.case("tiff_float_to_wide", "fn.decoders.image(x, dtype=types.UINT16)", feeds, tolerance=1, why=SCALE)
    twelve = {"x": each(lambda h, w: tiff(noise(h, w, key=2) >> 4, photometric="minisblack", bitspersample=12), SIZES[:2])}
    group.case("tiff_twelve_bits", "fn.decoders.image(x, output_type=types.ANY_DATA, dtype=types.UINT16)", twelve,
               tolerance=15, why=TWELVE)


def add_widths(group):
    wide = {"tiff": each(lambda h, w: tiff(noise(h, w, 3, key=3), photometric="rgb")),
            "jpeg2000": each(lambda h, w: jpeg2000(noise(h, w, 3, key=3)), SIZES[:2]),
            "ppm": each(lambda h, w: pnm(6, 65535, noise(h, w, 3, key=3)))}
    for name, feed in wide.items():
        for dtype in ("UINT8", "UINT16", "INT16", "FLOAT"):
            options = dict(tolerance=1e-6, kind="range", why=SCALE) if dtype == "FLOAT" else {}
            group.case(f"{name}_16_{dtype.lower()}", f"fn.decoders.image(x, dtype=types.{dtype})", {"x": feed}, **options)
        group.case(f"{name}_16_grey", "fn.decoders.image(x, output_type=types.GRAY)", {"x": feed}, tolerance=1, why=GREY)


def add_others(group):
    files = {
        "jpeg2000_rgb": each(lambda h, w: jpeg2000(rgb(h, w)), SIZES[:2]),
        "jpeg2000_stream": each(lambda h, w: jpeg2000(rgb(h, w), codecformat="j2k"), SIZES[:2]),
        "jpeg2000_tiles": each(lambda h, w: tiled_jpeg2000(rgb(h, w)), SIZES[:1]),
        "jpeg2000_lossy": each(lambda h, w: jpeg2000(rgb(h, w), level=35), SIZES[:2]),
        "jpeg2000_grey": each(lambda h, w: jpeg2000(grey(h, w)), SIZES[:2]),
        "jpeg2000_alpha": each(lambda h, w: jpeg2000(rgba(h, w)), SIZES[:2]),
        "ppm": each(lambda h, w: pnm(6, 255, rgb(h, w))),
        "ppm_text": each(lambda h, w: pnm(3, 255, rgb(h, w))),
        "pgm": each(lambda h, w: pnm(5, 255, grey(h, w))),
        "pgm_text": each(lambda h, w: pnm(2, 255, grey(h, w))),
        "pbm": each(lambda h, w: pnm(4, 1, (grey(h, w) > 128).astype(np.uint8))),
        "pbm_text": each(lambda h, w: pnm(1, 1, (grey(h, w) > 128).astype(np.uint8))),
    }
    for name, feed in files.items():
        feeds = {"x": feed}
        one_channel = name.startswith(("pgm", "pbm")) or name.endswith("grey")
        group.case(f"{name}_to_rgb", "fn.decoders.image(x)", feeds)
        group.case(f"{name}_to_any", "fn.decoders.image(x, output_type=types.ANY_DATA)", feeds)
        group.case(f"{name}_to_grey", "fn.decoders.image(x, output_type=types.GRAY)", feeds,
                   **({} if one_channel else dict(tolerance=1, why=GREY)))
        group.case(f"{name}_peek", "fn.peek_image_shape(x, image_type=types.ANY_DATA)", feeds)
    group.case("jpeg2000_tiles_crop", "fn.decoders.image_crop(x, crop=[9, 11], crop_pos_x=0.3, crop_pos_y=0.8)",
               {"x": files["jpeg2000_tiles"]})
    group.case("jpeg2000_lossy_slice", "fn.decoders.image_slice(x, start=[3, 2], shape=[5, 12])",
               {"x": files["jpeg2000_lossy"]})
    strip = tiff(rgb(37, 53), photometric="rgb", rowsperstrip=5)
    stream = jpeg2000(rgb(37, 53))
    for name, data in (("tiff", strip[:len(strip) // 2]), ("jpeg2000", stream[:len(stream) // 2]),
                       ("ppm", files["ppm"].samples[0][:2000])):
        group.refused(f"refused_half_{name}", "fn.decoders.image(x)", {"x": Feed([data])})


def add_pages(group):
    """DALI has the first page only: the others are tifffile's."""
    pages = [[photo(21, 30, 3, 90 + i) for i in range(3)], [photo(9, 14, 3, 95 + i) for i in range(2)]]
    files = Feed([tiff(np.stack(p), photometric="rgb", compression="lzw") for p in pages])
    numbers = Feed([np.int32(2), np.int32(1)])
    page = lambda data, number: tifffile.imread(io.BytesIO(data.tobytes()), key=int(number))
    group.of_peer("pages", "fn.decoders.image(x, page=n)", {"x": files, "n": numbers}, "tifffile", page)
    group.of_peer("pages_crop", "fn.decoders.image_crop(x, page=n, crop=[5, 7], crop_pos_x=0.0, crop_pos_y=0.0)",
                  {"x": files, "n": numbers}, "tifffile", lambda data, number: page(data, number)[:5, :7])
    group.of_peer("page_1", "fn.decoders.image(x, page=1)", {"x": files}, "tifffile", lambda data: page(data, 1))
    group.of_peer("pages_peek", "fn.peek_image_shape(x, page=n)", {"x": files, "n": numbers}, "tifffile",
                  lambda data, number: np.array(page(data, number).shape, np.int64), layouts=("",))


def add(group):
    add_pages(group)
    add_tiff(group)
    add_rare(group)
    add_widths(group)
    add_others(group)
