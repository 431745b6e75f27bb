"""Decodes files of one folder to RGB bytes, by Pillow, OpenCV or imagecodecs, on one thread; or makes the folders: --make FOLDER --photos FOLDER.

imagecodecs decodes what its name says by the library alone; TIFF comes by tifffile, which calls it.
"""

import argparse
import io
import json
import pathlib
import time

import numpy as np
from PIL import Image

#: Name of a folder, and how Pillow writes its files.
FORMATS = {
    "tiff": ("TIFF", {}),
    "tiff-lzw": ("TIFF", dict(compression="tiff_lzw")),
    "tiff-deflate": ("TIFF", dict(compression="tiff_adobe_deflate")),
    "tiff-jpeg": ("TIFF", dict(compression="jpeg", quality=90)),
    "jpeg2000": ("JPEG2000", {}),
    "jpeg2000-lossy": ("JPEG2000", dict(irreversible=True, quality_mode="rates", quality_layers=[20])),
    "ppm": ("PPM", {}),
    "gif": ("GIF", {}),
    "png": ("PNG", {}),
    "webp": ("WEBP", dict(quality=90)),
    "bmp": ("BMP", {}),
    "avif": ("AVIF", dict(quality=80)),
}
FILES = 16


def make(folder, photos):
    paths = sorted(path for path in pathlib.Path(photos).glob("*/*") if path.suffix.lower() in (".jpg", ".jpeg"))[:FILES]
    pictures = [Image.open(path).convert("RGB") for path in paths]
    wide = [np.asarray(picture).astype(np.uint16) * 257 for picture in pictures]
    for name, (format, options) in FORMATS.items():
        to = pathlib.Path(folder) / name / "all"
        to.mkdir(parents=True, exist_ok=True)
        for number, picture in enumerate(pictures):
            stream = io.BytesIO()
            (picture.quantize(256) if format == "GIF" else picture).save(stream, format, **options)
            (to / f"{number:02}.bin").write_bytes(stream.getvalue())
    import tifffile

    to = pathlib.Path(folder) / "tiff-16-tiles" / "all"
    to.mkdir(parents=True, exist_ok=True)
    for number, pixels in enumerate(wide):
        tifffile.imwrite(to / f"{number:02}.bin", pixels, photometric="rgb", tile=(128, 128), compression="lzw", predictor=True)


def by_pillow():
    import PIL

    def decode(data):
        # Draft modes and lazy loading aside: to pixels.
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    return decode, PIL.__version__


def by_opencv():
    import cv2

    cv2.setNumThreads(1)

    def decode(data):
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR_RGB)
        if pixels is None:
            raise SystemExit("cv2.imdecode cannot read it")
        return pixels

    return decode, cv2.__version__


def by_imagecodecs(name):
    import imagecodecs
    import tifffile

    codec = {"jpeg2000": imagecodecs.jpeg2k_decode, "gif": imagecodecs.gif_decode, "png": imagecodecs.png_decode,
             "webp": imagecodecs.webp_decode, "avif": imagecodecs.avif_decode, "bmp": getattr(imagecodecs, "bmp_decode", None)}
    if name.startswith("tiff"):
        return lambda data: tifffile.imread(io.BytesIO(data), maxworkers=1), imagecodecs.__version__
    decode = codec.get(name.split("-")[0])
    if decode is None:
        raise SystemExit(f"imagecodecs has nothing for {name}")
    return decode, imagecodecs.__version__


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--make")
    parser.add_argument("--photos", required=True)
    parser.add_argument("--library")
    parser.add_argument("--format")
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    if args.make:
        make(args.make, args.photos)
        print(json.dumps({"formats": sorted(path.name for path in pathlib.Path(args.make).iterdir())}))
        return
    decode, version = {"pillow": by_pillow, "opencv": by_opencv, "imagecodecs": lambda: by_imagecodecs(args.format)}[args.library]()
    paths = sorted(pathlib.Path(args.photos).glob("*/*"))

    def run_epoch():
        for path in paths:
            assert decode(path.read_bytes()).dtype in (np.uint8, np.uint16)
        return len(paths)

    run_epoch()
    begin, cpu_begin = time.perf_counter(), time.process_time()
    samples = sum(run_epoch() for _ in range(args.epochs))
    print(json.dumps({"samples": samples, "seconds": time.perf_counter() - begin, "cpu_seconds": time.process_time() - cpu_begin,
                      "versions": {args.library: version}}))


main()
