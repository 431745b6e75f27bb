"""Each operator that works on images, alone: u8 and f32 (levels of 0 to 1), 224 x 224 and 1080 x 1920, one thread, against the fastest peer.

OPERATORS is the whole list: a name, under which peers spell it (bench/peers/memory/with_*.py), and our text. DALI runs our text.
"""

import contest
import memory_bench
import report

DESCRIPTION = "each image operator alone, u8 and f32, 224 x 224 and 1080p, against the fastest peer"
THREADS = [1]
FORMS = [memory_bench.Form(element, height, width, batch_size)
         for height, width, batch_size in ((224, 224, 32), (1080, 1920, 2)) for element in ("u8", "f32")]

NORMALIZE = "mean=[123.675, 116.28, 103.53], std=[58.395, 57.12, 57.375]"
NORMALIZE_UNIT = "mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]"
#: Twenty, of a quarter to two thirds of the picture.
BOXES = ("types.Constant([[{width} * (i % 5) / 10, {height} * (i % 4) / 10, {width} * (5 + i % 4) / 10, {height} * (5 + i % 5) / 10]"
         " for i in range(20)], dtype=types.FLOAT)")
BOTH, BYTES, FLOATS = ("u8", "f32"), ("u8",), ("f32",)

#: (name, elements, our text: an expression of `image`, HWC, of a FORM's height and width)
OPERATORS = [
    ("brightness", BOTH, "fn.brightness(image, brightness=1.3)"),
    ("contrast", BOTH, "fn.contrast(image, contrast=1.3)"),
    ("brightness_contrast", BOTH, "fn.brightness_contrast(image, brightness=1.2, contrast=1.3)"),
    ("saturation", BOTH, "fn.saturation(image, saturation=1.4)"),
    ("hue", BOTH, "fn.hue(image, hue=20.0)"),
    ("hsv", BOTH, "fn.hsv(image, hue=20.0, saturation=1.3, value=0.9)"),
    ("color_twist", BOTH, "fn.color_twist(image, brightness=1.1, contrast=0.9, saturation=1.2, hue=10.0)"),
    ("color_jitter", BOTH, "fn.galatea.color_jitter(image, brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1)"),
    ("gray", BYTES, "fn.color_space_conversion(image, image_type=types.RGB, output_type=types.GRAY)"),
    ("ycbcr", BYTES, "fn.color_space_conversion(image, image_type=types.RGB, output_type=types.YCbCr)"),
    ("invert", BYTES, "types.Constant(255, dtype=types.UINT8) - image"),
    ("invert", FLOATS, "1.0 - image"),
    ("solarize", BYTES, "fn.cast_like(image < 128, image) * image + fn.cast_like(image >= 128, image)"
                        " * (types.Constant(255, dtype=types.UINT8) - image)"),
    ("posterize", BYTES, "image & types.Constant(240, dtype=types.UINT8)"),
    ("equalize", BYTES, "fn.experimental.equalize(image)"),
    ("lookup_table", BYTES, "fn.lookup_table(image, keys=list(range(256)), values=[(i * 7) % 256 for i in range(256)], dtype=types.UINT8)"),
    ("salt_and_pepper", BYTES, "fn.noise.salt_and_pepper(image, prob=0.05)"),
    ("erase", BOTH, "fn.erase(image, anchor=[{height} // 4, {width} // 4], shape=[{height} // 2, {width} // 2], axis_names=\"HW\")"),
    ("flip horizontal", BOTH, "fn.flip(image, horizontal=1)"),
    ("flip vertical", BOTH, "fn.flip(image, horizontal=0, vertical=1)"),
    ("crop", BOTH, "fn.slice(image, start=[{height} // 4, {width} // 4], shape=[{height} // 2, {width} // 2], axis_names=\"HW\")"),
    ("pad", BOTH, "fn.pad(image, axis_names=\"HW\", shape=[{height} + 32, {width} + 32])"),
    ("transpose CHW", BOTH, "fn.transpose(image, perm=[2, 0, 1])"),
    ("transpose WHC", BOTH, "fn.transpose(image, perm=[1, 0, 2])"),
    ("cast f32", BYTES, "fn.cast(image, dtype=types.FLOAT)"),
    ("cast u8", FLOATS, "fn.cast(255.0 * image, dtype=types.UINT8)"),
    ("crop_mirror_normalize", BYTES, f"fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout=\"CHW\", {NORMALIZE})"),
    ("crop_mirror_normalize", FLOATS, f"fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout=\"CHW\", {NORMALIZE_UNIT})"),
    ("normalize", BOTH, "fn.normalize(image, dtype=types.FLOAT)"),
    ("resize half", BOTH, "fn.resize(image, size=[{height} // 2, {width} // 2])"),
    ("resize eighth", BOTH, "fn.resize(image, size=[{height} // 8, {width} // 8])"),
    ("resize half nearest", BOTH, "fn.resize(image, size=[{height} // 2, {width} // 2], interp_type=types.INTERP_NN)"),
    ("resize half cubic", BOTH, "fn.resize(image, size=[{height} // 2, {width} // 2], interp_type=types.INTERP_CUBIC, antialias=False)"),
    ("resize 1.5", BOTH, "fn.resize(image, size=[{height} * 3 // 2, {width} * 3 // 2])"),
    ("tensor_resize channels", BOTH, "fn.tensor_resize(image, sizes=[{height} // 2, 2], axes=[0, 2])"),
    ("rotate", BOTH, "fn.rotate(image, angle=10.0, keep_size=True, fill_value=0)"),
    ("rotate nearest", BOTH, "fn.rotate(image, angle=10.0, keep_size=True, fill_value=0, interp_type=types.INTERP_NN)"),
    ("warp_affine", BOTH, "fn.warp_affine(image, matrix=[0.9, 0.1, 5.0, -0.1, 0.9, 5.0], fill_value=0)"),
    ("shift", BOTH, "fn.warp_affine(image, matrix=[1.0, 0.0, 7.0, 0.0, 1.0, -4.0], fill_value=0)"),
    ("shear", BOTH, "fn.warp_affine(image, matrix=[1.0, 0.15, 5.0, 0.0, 1.0, 0.0], fill_value=0)"),
    ("warp_affine cubic", BOTH, "fn.warp_affine(image, matrix=[0.9, 0.1, 5.0, -0.1, 0.9, 5.0], fill_value=0, interp_type=types.INTERP_CUBIC, cubic_a=-0.75)"),
    ("experimental.warp_perspective", BOTH, "fn.experimental.warp_perspective(image, matrix=[0.9, 0.1, 5.0, -0.1, 0.9, 5.0, 0.0001, 0.0002, 1.0])"),
    ("paste", BOTH, "fn.paste(image, ratio=1.25, fill_value=[0])"),
    ("gaussian_blur 3", BOTH, "fn.gaussian_blur(image, window_size=3, sigma=0.8)"),
    ("gaussian_blur 5", BOTH, "fn.gaussian_blur(image, window_size=5, sigma=1.1)"),
    ("gaussian_blur 15", BOTH, "fn.gaussian_blur(image, window_size=15, sigma=2.6)"),
    ("laplacian 3", BOTH, "fn.laplacian(image, window_size=3)"),
    ("laplacian 5", BOTH, "fn.laplacian(image, window_size=5)"),
    ("filter 3", BOTH, "fn.filter(image, types.Constant([[0.1, 0.1, 0.1], [0.1, 0.2, 0.1], [0.1, 0.1, 0.1]]))"),
    ("median_blur 3", BOTH, "fn.median_blur(image)"),
    ("median_blur 5", BOTH, "fn.median_blur(image, window_size=5)"),
    ("median_blur 7", BYTES, "fn.median_blur(image, window_size=7)"),
    ("dilate 3", BOTH, "fn.dilate(image)"),
    ("erode 15", BOTH, "fn.erode(image, mask_size=15)"),
    ("debayer", BYTES, "fn.debayer(fn.slice(image, start=[0], shape=[1], axes=[2]), blue_position=[0, 1])"),
    ("clahe", BYTES, "fn.clahe(image, tiles_x=8, tiles_y=8, clip_limit=2.0)"),
    ("clahe channels", BYTES, "fn.clahe(image, tiles_x=8, tiles_y=8, clip_limit=2.0, luma_only=False)"),
    ("resize_crop_mirror", BOTH, "fn.resize_crop_mirror(image, size=[{height} * 3 // 4, {width} * 3 // 4],"
                                 " crop=[{height} // 2, {width} // 2], mirror=1)"),
    ("roi_align", FLOATS, f"fn.galatea.roi_align(image, {BOXES}, output_size=7, sampling_ratio=2, aligned=True)"),
    ("roi_align adaptive", FLOATS, f"fn.galatea.roi_align(image, {BOXES}, output_size=7, aligned=True)"),
    ("water", BYTES, "fn.water(image)"),
    ("sphere", BYTES, "fn.sphere(image)"),
    ("grid_mask", BOTH, "fn.grid_mask(image, tile=40, ratio=0.5, angle=0.2)"),
    ("jitter", BYTES, "fn.jitter(image, nDegree=5)"),
    ("shot noise", BYTES, "fn.noise.shot(image, factor=10.0)"),
    ("gaussian noise", BYTES, "fn.noise.gaussian(image, stddev=8.0)"),
    ("mean", BOTH, "fn.reductions.mean(image)"),
    ("max", BOTH, "fn.reductions.max(image)"),
]
#: What has to be read, where that is not the whole picture: a quarter; every second row.
READ_SHARE = {"crop": 0.25, "debayer": 1 / 3, "resize half nearest": 0.5}
#: Operators of the registry that are not measured alone. Those that the list above has by another name come first.
NOT_MEASURED = {
    "crop": "slice", "galatea.cutout": "erase", "galatea.random_perspective": "experimental.warp_perspective",
    "galatea.elastic": "experimental.warp_perspective and gaussian_blur", "experimental.remap": "experimental.warp_perspective, with places that are read", "random_resized_crop": "slice and resize", "cast_like": "cast",
    "cat": "copies", "stack": "copies", "reshape": "moves nothing", "constant": "no image", "one_hot": "no image", "shapes": "no image",
    "peek_image_shape": "no image", "external_source": "no image",
    "reductions.min": "max", "reductions.sum": "mean", "reductions.mean_square": "mean", "reductions.rms": "mean", "reductions.variance": "mean",
    "reductions.std_dev": "mean", "permute_batch": "moves nothing", "batch_permutation": "no image", "galatea.mixup": "a blend", "galatea.cutmix": "copies", "galatea.mosaic": "copies", "multi_paste": "copies", "jpeg_compression_distortion": "a library's",
    "per_frame": "no image",
    "fast_resize_crop_mirror": "resize_crop_mirror", "copy": "moves nothing", "get_property": "reads no elements", "expand_dims": "moves nothing", "squeeze": "moves nothing",
    "element_extract": "moves nothing", "reinterpret": "moves nothing", "sequence_rearrange": "copies", "coord_flip": "no image",
    "coord_transform": "no image", "bb_flip": "no image", "bbox_paste": "no image", "bbox_rotate": "no image", "segmentation.select_masks": "no image", "segmentation.random_mask_pixel": "no image", "segmentation.random_object_bbox": "no image", "box_encoder": "no image", "ssd_random_crop": "slice", "random_bbox_crop": "no image",
    "galatea.nms": "no image", "galatea.batched_nms": "no image", "galatea.take": "copies", "galatea.auto_orient": "transpose and flip",
    "galatea.peek_image_orientation": "no image", "random_crop_generator": "no image", "roi_random_crop": "no image", "zeros": "no image", "ones": "no image", "full": "no image",
    "audio_resample": "no image", "nonsilent_region": "no image",
    **dict.fromkeys(("preemphasis_filter", "spectrogram", "power_spectrum", "mel_filter_bank", "to_decibels", "mfcc", "galatea.spec_augment"), "sound"),
    "zeros_like": "erase", "ones_like": "erase", "full_like": "erase",
}
NOT_MEASURED_GROUPS = ("decoders.", "readers.", "experimental.readers.", "inputs.", "io.", "random.", "transforms.")
#: Peers that do something else where the difference may not show it: area averages instead of a triangle, other pixels.
OTHER_OUTPUT = {("resize half", "OpenCV"), ("resize half", "Albumentations"), ("resize half nearest", "OpenCV"),
                ("resize half nearest", "Albumentations"), ("resize half", "kornia")}
#: A peer whose output differs by more on average, in levels of 255, does something else: it is named, but not held against us.
SAME_LEVELS = 1.0
#: Outputs of chance: nothing to compare.
RANDOM = ("salt_and_pepper", "color_jitter", "gaussian noise", "shot noise", "jitter")
PLANES = ("transpose CHW", "crop_mirror_normalize")
DTYPES = {"u8": "UINT8", "f32": "FLOAT"}


def cases(context):
    """A file each: an operator that is not there yet costs its own row only."""
    for form in FORMS:
        for number, (name, elements, text) in enumerate(OPERATORS):
            if form.element not in elements or not context.wants_case(f"{name} {form.name}"):
                continue
            file = context.scratch / f"per-op-{number}-{form.element}-{form.width}.dali-dsl"
            file.write_text(f"""from nvidia.dali import pipeline_def, fn, types


@pipeline_def(batch_size={form.batch_size}, num_threads=1, seed=42)
def case():
    image = fn.external_source(name="image", dtype=types.{DTYPES[form.element]}, ndim=3, layout="HWC")
    return {text.replace("{height}", str(form.height)).replace("{width}", str(form.width))}
""")
            yield memory_bench.Case(name, file, form, planes=name in PLANES, read_share=READ_SHARE.get(name, 1))


def run(context):
    arena, entries = memory_bench.Arena(context), []
    with memory_bench.Servers(context) as servers:
        for case in cases(context):
            for threads in context.args.threads:
                entries.append(measure(context, arena, servers, case, threads))
    shown = sorted((entry for entry in entries if entry.get("ours_by_fastest")), key=lambda entry: entry["ours_by_fastest"]["median"])
    rows = [["operator", "us/image", "of the limit", "fastest peer", "its us/image", "galatea is faster by", "difference: mean, largest",
             "with other output"]]
    rows += [row(entry) for entry in shown]
    rows += [row(entry) for entry in entries if not entry.get("ours_by_fastest")]
    print(f"\nper-op: medians of {context.args.rounds} alternating rounds (lowest - highest); a batch is 32 pictures of 224 x 224, 2 of 1080p")
    print(report.table(rows))
    for reason in sorted({f"SKIPPED {entry['operator']}, {entry['form']}: {entry['skipped']}" for entry in entries if entry.get("skipped")}):
        print(reason)
    slower = sum(entry["ours_by_fastest"]["median"] < 1 for entry in shown)
    print(f"{len(shown)} cases, {slower} slower than the fastest peer")
    charts = [(f"per-op: speed by that of the fastest peer, {form.name}",
               [(f"galatea: {entry['operator']}", entry["ours_by_fastest"]["median"], f"{entry['fastest']}, {entry['us']:.0f} us") for entry in shown
                if entry["form"] == form.name]) for form in FORMS]
    report.write("per-op", {"name": "per-op", "machine": report.machine(), "rounds": context.args.rounds, "seconds": context.args.seconds,
                            "entries": entries}, charts)


def makes_the_same(case, peer):
    return case.name in RANDOM or peer.difference["mean"] <= SAME_LEVELS and (case.name, peer.name) not in OTHER_OUTPUT


def row(entry):
    if entry.get("skipped"):
        return [f"{entry['operator']}, {entry['form']}", "SKIPPED"] + [""] * 6
    other = f"{entry['other_output']} {entry['ours_by_other_output']['median']:.2f}" if entry.get("other_output") else ""
    fastest = f"{entry['fastest_us']:.1f}" if entry.get("fastest") else ""
    return [f"{entry['operator']}, {entry['form']}", f"{entry['us']:.1f}", report.show_ratio(entry["of_limit"]), entry.get("fastest", ""), fastest,
            report.show_ratio(entry.get("ours_by_fastest")), report.show_difference(entry.get("difference")), other]


def measure(context, arena, servers, case, threads):
    entry = {"operator": case.name, "form": case.form.name, "threads": threads}
    try:
        everyone = memory_bench.measure(context, arena, servers, case, threads, quiet=True)
    except memory_bench.harness.Failure as failure:
        print(f"  {case.name}, {case.form.name}: SKIPPED: {report.short_reason(str(failure))}", file=memory_bench.harness.sys.stderr)
        return entry | {"skipped": report.short_reason(str(failure))}
    limit, ours, *peers = everyone
    running = [peer for peer in peers if not peer.skipped]
    same = [peer for peer in running if makes_the_same(case, peer)]
    fastest = max(same, key=lambda peer: peer.rate, default=None)
    other = max((peer for peer in running if peer not in same), key=lambda peer: peer.rate, default=None)
    entry |= {"us": 1e6 / ours.rate, "of_limit": contest.ratio(ours, limit), "contestants": report.standings(everyone, limit, ours)[1]}
    if fastest:
        entry |= {"fastest": fastest.name, "fastest_us": 1e6 / fastest.rate, "ours_by_fastest": contest.ratio(ours, fastest),
                  "difference": fastest.difference}
    if other:
        entry |= {"other_output": other.name, "ours_by_other_output": contest.ratio(ours, other), "other_difference": other.difference}
    print(f"  {case.name}, {case.form.name}: {entry['us']:.1f} us" +
          (f", {entry['ours_by_fastest']['median']:.2f} x {fastest.name}" if fastest else ""), file=memory_bench.harness.sys.stderr)
    return entry
