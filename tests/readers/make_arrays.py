"""Writes tests/readers/recorded/arrays.json and recorded/fits: what DALI reads of arrays of NumPy and of FITS files.

    pip install nvidia-dali-cuda120==2.4.0 astropy fitsio lz4 pycocotools "numpy<2.5"
    python tests/readers/make_arrays.py [dali] [fits] [fits_types] [lz4] [polygons]

DALI's FITS reader asks the CUDA driver for a copy of every image that has elements, on the CPU too. Where there is no
driver, its element types are recorded of images without elements, and pixels by cfitsio, which is what it reads them with.
Tiles that are not compressed (NOCOMPRESS) are read by astropy alone.
"""

import json
import pathlib
import re
import sys

import numpy as np

RECORDED = pathlib.Path(__file__).resolve().parent / "recorded"
FITS = RECORDED / "fits"


def described(array):
    array = np.asarray(array)
    values = [None if array.dtype.kind == "f" and not np.isfinite(v) else v for v in array.astype(object).ravel().tolist()]
    return {"dtype": str(array.dtype.newbyteorder("=")), "shape": list(array.shape), "values": values}


def write(name, cases):
    text = json.dumps(cases, separators=(",", ":")).replace('{"name"', '\n{"name"')
    (RECORDED / name).write_text(text + "\n")


# ---- arrays of NumPy, by DALI

def constant(name):
    content = (RECORDED / name).read_bytes()
    return f"fn.constant(idata={list(content)}, shape=[{len(content)}], dtype=types.UINT8)"


def decoded(name, dtype, ndim):
    return f"return fn.decoders.numpy({constant(name)}, dtype=types.{dtype}, ndim={ndim})"


def regions(arguments, **bounds):
    """The bounds are arrays, one for each sample."""
    lines = [f'{name} = fn.readers.numpy(files=["@/regions/{name}_{case}_0.npy", "@/regions/{name}_{case}_1.npy"])' for name, case in bounds.items()]
    given = ", ".join(f"{name}={name}" for name in bounds)
    return "\n".join([*lines, f'return fn.readers.numpy(files=["@/c_f32.npy", "@/c_f32.npy"], {given}{arguments})'])


BOUNDS = {
    "roi_start_in": np.array([[1, 0, 1], [3, 2, 0]], np.int32),
    "roi_start_out": np.array([[-2, 5, 1], [3, -1, 2]], np.int32),
    "roi_shape_in": np.array([[2, 3, 1], [1, 5, 3]], np.int32),
    "roi_end_in": np.array([[2, 7, 3], [5, 4, 1]], np.int32),
    "roi_end_axes": np.array([[2, 3], [6, 1]], np.int32),
    "rel_roi_start_in": np.array([[0.1, 0.5, 0.0], [0.31, 0.2143, 0.5]], np.float32),
    "rel_roi_shape_in": np.array([[0.36, 0.19, 0.3], [0.5, 0.35, 0.5]], np.float32),
    "rel_roi_end_in": np.array([[0.7, 0.9, 0.5], [1.0, 0.5, 0.9]], np.float32),
    "roi_start_one": np.array([1, 2], np.int32),
}

DALI_CASES = {
    "decode_c_f32": (1, decoded("c_f32.npy", "FLOAT", 3)),
    "decode_scalar": (1, decoded("scalar_f64.npy", "FLOAT64", 0)),
    "decode_bool": (1, decoded("bool.npy", "BOOL", 2)),
    "decode_bool_as_float": (1, decoded("bool.npy", "FLOAT", 2)),
    "decode_u8_as_i8": (1, decoded("u8.npy", "INT8", 1)),
    "decode_u8_as_f16": (1, decoded("u8.npy", "FLOAT16", 1)),
    "decode_f16_as_f64": (1, decoded("f16.npy", "FLOAT64", 2)),
    "decode_f32_as_bool": (1, decoded("c_f32.npy", "BOOL", 3)),
    "decode_f32_as_i32": (1, decoded("c_f32.npy", "INT32", 3)),
    "decode_empty": (1, decoded("empty_i64.npy", "INT64", 2)),
    "regions": (2, regions("", roi_start="in", roi_shape="in")),
    "regions_end": (2, regions("", roi_start="in", roi_end="in")),
    "regions_some_axes": (2, regions(", roi_axes=[1, 0], out_of_bounds_policy=\"trim_to_shape\"", roi_end="axes")),
    "regions_relative": (2, regions("", rel_roi_start="in", rel_roi_shape="in")),
    "regions_relative_end": (2, regions("", rel_roi_start="in", rel_roi_end="in")),
    "regions_mixed": (2, regions(", rel_roi_end=[0.9, 1.0, 0.7]", roi_start="one")),
    "regions_padded": (2, regions(", roi_shape=[4, 6, 3], out_of_bounds_policy=\"pad\", fill_value=-7.6", roi_start="out")),
    "regions_trimmed": (2, regions(", roi_shape=4, out_of_bounds_policy=\"trim_to_shape\"", roi_start="out")),
    "region_of_one_number": (1, 'return fn.readers.numpy(files="@/c_f32.npy", roi_start=1, rel_roi_end=0.7)'),
    "fill_is_rounded": (1, 'return fn.readers.numpy(files="@/fortran_i16.npy", roi_end=[5, 7], out_of_bounds_policy="pad", fill_value=-7.6)'),
    "headers_are_kept": (2, 'return fn.readers.numpy(files=["@/c_f32.npy", "@/c_f32.npy"], cache_header_information=True)'),
}


def dali():
    from nvidia.dali import fn, pipeline_def, types  # noqa: F401: the text uses them

    (RECORDED / "regions").mkdir(exist_ok=True)
    for name, rows in BOUNDS.items():
        for i, row in enumerate(rows):
            np.save(RECORDED / "regions" / f"{name}_{i}.npy", row)
    cases = []
    for name, (batch, body) in DALI_CASES.items():
        text = re.sub(r", ndim=\d", "", body).replace("@", str(RECORDED))
        scope = dict(locals())
        exec("def case():\n" + "".join(f"    {line}\n" for line in text.splitlines()), scope)
        pipe = pipeline_def(scope["case"])(batch_size=batch, num_threads=1, device_id=None)
        pipe.build()
        outputs = [[described(np.asarray(output.at(i))) for i in range(batch)] for output in pipe.run()]
        cases.append({"name": name, "batch": batch, "body": body, "outputs": outputs})
    write("arrays.json", cases)


# ---- FITS

def images():
    """By file: for each HDU behind the primary one, how it is made."""
    from astropy.io import fits

    rng = np.random.default_rng(5)
    small = np.arange(24).reshape(2, 3, 4)

    def plain(dtype, **cards):
        hdu = fits.ImageHDU((small - (0 if np.dtype(dtype).kind == "u" else 5)).astype(dtype))
        for key, value in cards.items():
            hdu.header[key] = value
        return hdu

    def tiled(array, **how):
        return fits.CompImageHDU(array, **how)

    noise = rng.normal(size=(11, 13)) * 50 + 1000
    mask = np.zeros((20, 37), "i4")
    mask[3:9, 5:30], mask[4, 6], mask[12:], mask[15, 10:12], mask[16, ::6], mask[19, 36] = 7, 1, 200, 255, np.arange(7) * 11, 5
    wide = np.zeros((2, 4300), "i4")
    wide[1, 100:4250], wide[1, 4299] = 70000, 16000000
    holes = noise.copy()
    holes[3, 4], holes[5, :], holes[7, 8] = 0, 0, np.nan
    cube = rng.normal(size=(3, 6, 9)) * 3000
    return {
        "plain": [plain("u1"), plain(">i2"), plain(">i4"), plain(">i8"), plain(">f4"), plain(">f8"), plain("u2"), plain("u4"), plain("u8"),
                  plain("i1"), plain(">i2", BSCALE=0.5, BZERO=10.25), plain(">i2", BSCALE=2, BZERO=10), plain(">i4", BSCALE=0.1, BZERO=-3.0),
                  plain("u1", BSCALE=-1.0), plain(">f4", BSCALE=0.3, BZERO=7.0)],
        "rice": [tiled(noise.astype(">i2"), compression_type="RICE_1", tile_shape=(4, 5)), tiled((noise % 250).astype("u1"), compression_type="RICE_1"),
                 tiled((cube * 1e5).astype(">i4"), compression_type="RICE_1", tile_shape=(2, 4, 4)), tiled(noise.astype("u2"), compression_type="RICE_1"),
                 tiled(np.full((5, 70), 3, ">i2"), compression_type="RICE_1")],
        "gzip": [tiled(noise.astype(">i2"), compression_type="GZIP_1"), tiled((cube * 1e5).astype(">i4"), compression_type="GZIP_2", tile_shape=(1, 6, 5)),
                 tiled((noise % 250).astype("u1"), compression_type="GZIP_2"),
                 tiled(noise.astype(">f4"), compression_type="GZIP_2", quantize_level=0), tiled(noise.astype(">f8"), compression_type="GZIP_1", quantize_level=0)],
        "rounded": [tiled(noise.astype(">f4"), compression_type="RICE_1", quantize_method=-1),
                    tiled(noise.astype(">f4"), compression_type="RICE_1", quantize_method=1, dither_seed=7),
                    tiled(holes.astype(">f4"), compression_type="RICE_1", quantize_method=2, dither_seed=9998, tile_shape=(4, 5)),
                    tiled(noise.astype(">f8"), compression_type="GZIP_1", quantize_method=1, dither_seed=10000),
                    tiled(holes.astype(">f4"), compression_type="GZIP_2", quantize_method=1, dither_seed=3)],
        "masks": [tiled(mask.astype("u1"), compression_type="PLIO_1"), tiled((mask * 100).astype(">i2"), compression_type="PLIO_1", tile_shape=(20, 37)),
                  tiled(wide.astype(">i4"), compression_type="PLIO_1")],
        "stored": [tiled(noise.astype(">i2"), compression_type="NOCOMPRESS"), tiled(noise.astype(">f8"), compression_type="NOCOMPRESS", quantize_level=0)],
        "other": [tiled(noise.astype(">i4"), compression_type="HCOMPRESS_1", tile_shape=(11, 13)), fits.BinTableHDU.from_columns([fits.Column(name="a", format="J", array=np.arange(3))])],
    }


#: Of images without elements, the type that DALI gives them by BITPIX, BSCALE and BZERO.
EMPTY = [("u1", 1, 0), (">i2", 1, 0), (">i4", 1, 0), (">i8", 1, 0), (">f4", 1, 0), (">f8", 1, 0), (">i2", 1, 32768), (">i4", 1, 2147483648), ("u1", 1, -128),
         (">i2", 0.5, 10), (">i4", 0.5, 10), ("u1", 0.5, 10), (">i2", 1, 10), ("u1", 2, 0), ("u1", 1, 5), ("u1", -1, 0), (">i4", 1, 5), (">i4", 3, 1), (">i2", 1000, 0),
         (">i2", 100000, 0), (">i2", 100000, 3276800000), (">i2", 1, -32768), (">i2", 1, 0.5), (">f4", 0.5, 1)]


def fits():
    import fitsio
    from astropy.io import fits as astropy_fits

    FITS.mkdir(exist_ok=True)
    cases = []
    for name, hdus in images().items():
        path = FITS / f"{name}.fits"
        astropy_fits.HDUList([astropy_fits.PrimaryHDU(), *hdus]).writeto(path, overwrite=True)
        if name == "other":
            continue
        for number in range(2, len(hdus) + 2):
            own = np.array(astropy_fits.open(path)[number - 1].data)
            array = own if name == "stored" else fitsio.FITS(str(path))[number - 1].read()
            if name == "plain" and number == 10:
                array = own  # cfitsio reads UINT64 as INT64
            assert np.allclose(array, own, rtol=1e-6, atol=0, equal_nan=own.dtype.kind == "f"), (name, number)
            cases.append({"name": f"{name}_{number}", "batch": 1, "outputs": [[described(array)]],
                          "body": f'return fn.experimental.readers.fits(files="@/fits/{name}.fits", hdu_indices=[{number}])'})
    hdus = []
    for dtype, scale, zero in EMPTY:
        hdu = astropy_fits.ImageHDU(np.zeros((0, 3), dtype))
        hdu.header["BSCALE"], hdu.header["BZERO"] = scale, zero
        hdus.append(hdu)
    astropy_fits.HDUList([astropy_fits.PrimaryHDU(), *hdus]).writeto(FITS / "empty.fits", overwrite=True)
    write("fits.json", cases)


def fits_types():
    """In an environment that has DALI, behind fits()."""
    from nvidia.dali import fn, pipeline_def

    cases = []
    for number in range(2, len(EMPTY) + 2):
        body = f'return fn.experimental.readers.fits(files="@/fits/empty.fits", hdu_indices=[{number}])'

        @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        def case():
            return fn.experimental.readers.fits(files=str(FITS / "empty.fits"), hdu_indices=[number])

        pipe = case()
        pipe.build()
        cases.append({"name": f"empty_{number}", "batch": 1, "body": body, "outputs": [[described(np.asarray(o.at(0)))] for o in pipe.run()]})
    write("fits_types.json", cases)


# ---- LZ4

def lz4():
    import lz4.block

    rng = np.random.default_rng(8)
    frames = [np.repeat(rng.integers(0, 255, (6, 5, 1)), 3, axis=2).astype("u1") // 16 for _ in range(4)]
    frames[2] = rng.integers(0, 255, (6, 5, 3), dtype="u1")
    blocks = [lz4.block.compress(frame.tobytes(), store_size=False, mode=mode)
              for frame, mode in zip(frames, ["default", "high_compression", "default", "fast"])]
    (RECORDED / "frames.lz4.json").write_text(json.dumps({"shape": [6, 5, 3], "frames": [frame.ravel().tolist() for frame in frames],
                                                          "blocks": [list(block) for block in blocks]}, separators=(",", ":")) + "\n")


# ---- polygons of COCO

def polygons():
    from pycocotools import mask

    rng, cases = np.random.default_rng(3), []

    def add(polygon, height, width):
        counts = mask.frPyObjects([[float(x) for x in polygon]], height, width)[0]["counts"].decode()
        cases.append({"name": f"polygon_{len(cases)}", "height": height, "width": width, "polygon": [float(x) for x in polygon], "counts": counts})

    for _ in range(24):
        add(np.round(rng.uniform(-6, 46, 2 * rng.integers(3, 9)), 2), int(rng.integers(1, 40)), int(rng.integers(1, 40)))
    for _ in range(16):  # corners far outside
        count = 2 * rng.integers(3, 6)
        far = 10.0 ** rng.uniform(2, 5.5, count) * rng.choice([-1, 1], count)
        add(np.round(np.where(rng.random(count) < 0.5, far, rng.uniform(-6, 46, count)), 1), int(rng.integers(1, 40)), int(rng.integers(1, 40)))
    for _ in range(6):
        add(rng.integers(-2, 13, 8), 9, 11)
    write("polygons.json", cases)


if __name__ == "__main__":
    for step in sys.argv[1:] or ["dali", "fits", "fits_types", "lz4", "polygons"]:
        {"dali": dali, "fits": fits, "fits_types": fits_types, "lz4": lz4, "polygons": polygons}[step]()
