"""Cases of brightness, contrast, brightness_contrast, saturation, hue, hsv and color_twist."""
import numpy as np

import formulas
from recorder import Feed
from samples import SIZES, images

ONE_LEVEL = "ties and float32 rounding differ by at most one level"
ORDER = "float32 rounding"


def hwc(key=200, **options):
    return {"x": Feed(images(SIZES, key=key, **options), "HWC")}


def scalars(values):
    return Feed([np.array(value, np.float32) for value in values])


def add_case(group, name, expression, feeds, reference, out):
    """Integer outputs within one level (wide ones relative to the range), floats relative to the range."""
    out = np.dtype(out)
    if out.kind == "f" or out.itemsize == 4:
        tolerance = 2e-3 if out.itemsize == 2 else 2e-6
        group.case(name, expression, feeds, tolerance=tolerance, kind="range", why=ORDER, expect=reference)
    else:
        group.case(name, expression, feeds, tolerance=1, why=ONE_LEVEL, expect=reference)


BRIGHTNESS = [
    ("brightness", "brightness", "brightness=1.37", dict(brightness=1.37)),
    ("brightness_dark", "brightness", "brightness=0.25", dict(brightness=0.25)),
    ("brightness_shift", "brightness", "brightness_shift=0.3", dict(shift=0.3)),
    ("brightness_negative", "brightness", "brightness=-1.0, brightness_shift=1.0", dict(brightness=-1, shift=1)),
    ("brightness_zero", "brightness", "brightness=0.0, brightness_shift=0.5", dict(brightness=0, shift=0.5)),
    ("contrast", "contrast", "contrast=1.6", dict(contrast=1.6)),
    ("contrast_low", "contrast", "contrast=0.4", dict(contrast=0.4)),
    ("contrast_center", "contrast", "contrast=2.0, contrast_center=40.0", dict(contrast=2, center=40)),
    ("contrast_zero", "contrast", "contrast=0.0", dict(contrast=0)),
    ("contrast_negative", "contrast", "contrast=-0.7", dict(contrast=-0.7)),
    ("brightness_contrast", "brightness_contrast", "brightness=1.2, contrast=0.8", dict(brightness=1.2, contrast=0.8)),
    ("brightness_contrast_all", "brightness_contrast",
     "brightness=0.9, brightness_shift=-0.1, contrast=1.3, contrast_center=100.0",
     dict(brightness=0.9, shift=-0.1, contrast=1.3, center=100)),
    ("brightness_contrast_none", "brightness_contrast", "", {}),
]
NAMES = {"uint8": "UINT8", "int16": "INT16", "int32": "INT32", "float32": "FLOAT", "float16": "FLOAT16"}


def add_brightness(group):
    for name, operator, arguments, options in BRIGHTNESS:
        separator = ", " if arguments else ""
        add_case(group, name, f"fn.{operator}(x{separator}{arguments})", hwc(),
                 lambda x, o=options: formulas.brightness_contrast(x, **o), "uint8")
    for source in ("uint8", "int16", "int32", "float32"):
        for target in ("uint8", "int16", "int32", "float32"):
            # int32 outputs of wide inputs saturate through float32; keep to what is defined.
            feeds = hwc(key=210) if source == "uint8" else {
                "x": Feed([np.asarray(s, source) * 60 if source == "int16" else np.asarray(s, source)
                           for s in images(SIZES, key=210)], "HWC")}
            add_case(group, f"brightness_contrast_{source}_to_{target}",
                     "fn.brightness_contrast(x, brightness=1.1, brightness_shift=0.05, contrast=0.75, "
                     f"contrast_center=90.0, dtype=types.{NAMES[target]})", feeds,
                     lambda x, t=target: formulas.brightness_contrast(x, 1.1, 0.05, 0.75, 90.0, t), target)
        feeds = hwc(key=211, dtype=source) if source in ("uint8", "int16", "float32") else {
            "x": Feed([s.astype(np.int32) * 1000 for s in images(SIZES, key=211)], "HWC")}
        add_case(group, f"contrast_default_center_{source}", "fn.contrast(x, contrast=0.5)", feeds,
                 lambda x: formulas.brightness_contrast(x, contrast=0.5), source)
    for channels in (1, 4):
        add_case(group, f"brightness_contrast_{channels}_channels",
                 "fn.brightness_contrast(x, brightness=1.3, contrast=0.7)", hwc(key=212, channels=channels),
                 lambda x: formulas.brightness_contrast(x, 1.3, 0, 0.7), "uint8")
    add_case(group, "brightness_per_sample", "fn.brightness(x, brightness=a)",
             hwc(key=213) | {"a": scalars([0.3, 1, 1.8, -0.5])},
             lambda x, a: formulas.brightness_contrast(x, float(a)), "uint8")
    add_case(group, "contrast_per_sample", "fn.contrast(x, contrast=a, contrast_center=b)",
             hwc(key=214) | {"a": scalars([0.3, 1, 1.8, 0]), "b": scalars([10, 128, 200.5, 77])},
             lambda x, a, b: formulas.brightness_contrast(x, contrast=float(a), center=float(b)), "uint8")
    add_case(group, "brightness_contrast_per_sample",
             "fn.brightness_contrast(x, brightness=a, brightness_shift=b, contrast=1.2)",
             hwc(key=215) | {"a": scalars([0.3, 1, 1.8, 0.9]), "b": scalars([0.1, 0, -0.2, 0.6])},
             lambda x, a, b: formulas.brightness_contrast(x, float(a), float(b), 1.2), "uint8")


TWISTS = [
    ("saturation", "saturation=0.0", dict(saturation=0)), ("saturation", "saturation=0.5", dict(saturation=0.5)),
    ("saturation", "saturation=1.0", {}), ("saturation", "saturation=2.5", dict(saturation=2.5)),
    ("hue", "hue=0.0", {}), ("hue", "hue=45.0", dict(hue=45)), ("hue", "hue=-120.0", dict(hue=-120)),
    ("hue", "hue=180.0", dict(hue=180)), ("hue", "hue=380.0", dict(hue=20)),
    ("hsv", "hue=30.0, saturation=0.7, value=1.2", dict(hue=30, saturation=0.7, value=1.2)),
    ("hsv", "value=0.5", dict(value=0.5)), ("hsv", "hue=-60.0, saturation=1.8", dict(hue=-60, saturation=1.8)),
    ("color_twist", "hue=20.0, saturation=1.3, contrast=0.8, brightness=1.1",
     dict(hue=20, saturation=1.3, contrast=0.8, brightness=1.1)),
    ("color_twist", "brightness=1.5", dict(brightness=1.5)), ("color_twist", "contrast=1.5", dict(contrast=1.5)),
    ("color_twist", "contrast=0.0", dict(contrast=0)),
    ("color_twist", "hue=300.0, saturation=0.2", dict(hue=300, saturation=0.2)),
]


def add_twists(group):
    for number, (operator, arguments, options) in enumerate(TWISTS):
        add_case(group, f"{operator}_{number}", f"fn.{operator}(x, {arguments})", hwc(key=220),
                 lambda x, o=options: formulas.color_twist(x, **o), "uint8")
    everything = dict(hue=25, saturation=1.4, contrast=0.9, brightness=1.05)
    arguments = "hue=25.0, saturation=1.4, contrast=0.9, brightness=1.05"
    for source in ("uint8", "int16", "int32", "float32"):
        feeds = {"x": Feed([np.asarray(s, source) for s in images(SIZES, key=221)], "HWC")}
        for target in ("uint8", "int16", "float32"):
            add_case(group, f"color_twist_{source}_to_{target}",
                     f"fn.color_twist(x, {arguments}, dtype=types.{NAMES[target]})", feeds,
                     lambda x: formulas.color_twist(x, **everything), target)
        add_case(group, f"saturation_{source}", "fn.saturation(x, saturation=1.5)", feeds,
                 lambda x: formulas.color_twist(x, saturation=1.5), source)
        add_case(group, f"hue_{source}", "fn.hue(x, hue=70.0)", feeds, lambda x: formulas.color_twist(x, hue=70),
                 source)
        add_case(group, f"hsv_default_dtype_{source}", "fn.hsv(x, hue=70.0, value=0.9)", feeds,
                 lambda x: formulas.color_twist(x, hue=70, value=0.9), "uint8")
    add_case(group, "saturation_to_float16", "fn.saturation(x, saturation=0.3, dtype=types.FLOAT16)", hwc(key=222),
             lambda x: formulas.color_twist(x, saturation=0.3), "float16")
    add_case(group, "saturation_per_sample", "fn.saturation(x, saturation=a)",
             hwc(key=223) | {"a": scalars([0, 0.5, 1.7, 3])},
             lambda x, a: formulas.color_twist(x, saturation=float(a)), "uint8")
    add_case(group, "hue_per_sample", "fn.hue(x, hue=a)", hwc(key=224) | {"a": scalars([0, 90, -33.3, 270])},
             lambda x, a: formulas.color_twist(x, hue=float(a)), "uint8")
    add_case(group, "hsv_per_sample", "fn.hsv(x, hue=a, saturation=b, value=1.1)",
             hwc(key=225) | {"a": scalars([0, 90, -33.3, 270]), "b": scalars([1, 0, 1.5, 0.7])},
             lambda x, a, b: formulas.color_twist(x, float(a), float(b), 1.1), "uint8")
    add_case(group, "color_twist_per_sample", "fn.color_twist(x, contrast=a, brightness=b, hue=15.0)",
             hwc(key=226) | {"a": scalars([0.5, 1, 1.5, 0.9]), "b": scalars([1, 0.4, 1.5, 1.2])},
             lambda x, a, b: formulas.color_twist(x, hue=15, contrast=float(a), brightness=float(b)), "uint8")


def add(group):
    add_brightness(group)
    add_twists(group)
    # Not with one channel: DALI 2.4 does not check the count and corrupts memory.
    group.refused("refused_saturation_chw", "fn.saturation(x, saturation=0.5)",
                  {"x": Feed(images(SIZES, layout="CHW"), "CHW")})
    group.refused("refused_brightness_uint16", "fn.brightness(x, brightness=0.5)", hwc(dtype="uint16"))
    group.refused("refused_brightness_contrast_argument", "fn.brightness(x, contrast=0.5)", hwc())
    group.refused("refused_brightness_unknown_argument", "fn.brightness(x, brightnes=0.5)", hwc())
