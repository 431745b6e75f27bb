"""Cases of clahe, of median_blur, dilate and erode (OpenCV's numbers), and of noise.shot where nothing is drawn."""
import cv2
import numpy as np

from recorder import Feed
from samples import SIZES, images

OPENCV = "opencv " + cv2.__version__
BORDERS = {"constant": cv2.BORDER_CONSTANT, "replicate": cv2.BORDER_REPLICATE, "reflect": cv2.BORDER_REFLECT,
           "reflect_101": cv2.BORDER_REFLECT_101}
#: Samples that are larger than the masks, since OpenCV reads a border once.
LARGE = [(13, 17), (31, 22), (9, 40)]


def dim(samples):
    return [(40 + s.astype(np.int64) * 90 // 255).astype(np.uint8) for s in samples]


def add_clahe(group):
    for name, arguments in {"": "tiles_x=4, tiles_y=4, clip_limit=2.0", "_uneven": "tiles_x=3, tiles_y=5, clip_limit=1.25",
                            "_no_limit": "tiles_x=2, tiles_y=3, clip_limit=0.0", "_one_tile": "tiles_x=1, tiles_y=1, clip_limit=40.0"}.items():
        group.case("clahe" + name, f"fn.clahe(x, {arguments})", {"x": Feed(dim(images(SIZES, key=700)), "HWC")})
        group.case("clahe_channels" + name, f"fn.clahe(x, {arguments}, luma_only=False)", {"x": Feed(dim(images(SIZES, key=704)), "HWC")})
        group.case("clahe_grey" + name, f"fn.clahe(x, {arguments})", {"x": Feed(images(SIZES, channels=1, key=708), "HWC")})
    group.case("clahe_all_levels", "fn.clahe(x, tiles_x=2, tiles_y=2, clip_limit=3.0)", {"x": Feed(images([(64, 48), (57, 33)], key=713), "HWC")})
    # OpenCV makes both extents larger where one of them does not fit.
    group.case("clahe_one_axis_fits", "fn.clahe(x, tiles_x=4, tiles_y=4, clip_limit=2.0)", {"x": Feed(dim(images([(16, 18), (18, 16)], key=716)), "HWC")})


def add_windows(group):
    for dtype in ("uint8", "uint16", "float32"):
        for size in (3, 5):
            group.of_peer(f"median_blur_{size}_{dtype}", f"fn.experimental.median_blur(x, window_size={size})",
                          {"x": Feed(images(SIZES, dtype=dtype, key=720), "HWC")}, OPENCV, lambda x, n=size: cv2.medianBlur(x, n))
    for size in (7, 9):
        group.of_peer(f"median_blur_{size}", f"fn.experimental.median_blur(x, window_size=[{size}, {size}])",
                      {"x": Feed(images(SIZES, key=724), "HWC")}, OPENCV, lambda x, n=size: cv2.medianBlur(x, n))
    feeds = {"x": Feed(images(LARGE, key=728), "HWC"), "n": Feed([np.int32(3), np.int32(5), np.int32(3)])}
    group.of_peer("median_blur_per_sample", "fn.experimental.median_blur(x, window_size=n)", feeds, OPENCV, lambda x, n: cv2.medianBlur(x, int(n)))


def add_morphology(group):
    for name, call in (("dilate", cv2.dilate), ("erode", cv2.erode)):
        def run(x, rows=3, columns=3, anchor=(-1, -1), call=call, **options):
            return call(x, np.ones((rows, columns), np.uint8), anchor=anchor[::-1], **options)

        for dtype in ("uint8", "uint16", "int16", "float32"):
            group.of_peer(f"{name}_{dtype}", f"fn.experimental.{name}(x)", {"x": Feed(images(SIZES, dtype=dtype, key=730), "HWC")}, OPENCV, run)
        for border, mode in BORDERS.items():
            group.of_peer(f"{name}_{border}", f'fn.experimental.{name}(x, mask_size=[5, 4], anchor=[1, 3], border_mode="{border}")',
                          {"x": Feed(images(LARGE, key=734), "HWC")}, OPENCV,
                          lambda x, r=run, b=mode: r(x, 5, 4, (1, 3), borderType=b))
        group.of_peer(f"{name}_iterations", f"fn.experimental.{name}(x, mask_size=[2, 3], iterations=3)",
                      {"x": Feed(images(LARGE, key=738), "HWC")}, OPENCV, lambda x, r=run: r(x, 2, 3, iterations=3))
        group.of_peer(f"{name}_large", f"fn.experimental.{name}(x, mask_size=[19, 12])",
                      {"x": Feed(images(LARGE, key=742), "HWC")}, OPENCV, lambda x, r=run: r(x, 19, 12))
        feeds = {"x": Feed(images(LARGE, key=746), "HWC"), "n": Feed([np.array(v, np.int32) for v in ([1, 4], [7, 2], [3, 3])])}
        group.of_peer(f"{name}_per_sample", f"fn.experimental.{name}(x, mask_size=n)", feeds, OPENCV, lambda x, n, r=run: r(x, int(n[0]), int(n[1])))


def add_shot(group):
    black = {"x": Feed([np.zeros((4, 5, 3), np.uint8), np.zeros((1, 1, 3), np.uint8)], "HWC")}
    group.case("shot_noise_of_black", "fn.noise.shot(x, factor=7.5)", black, expect=lambda x: x)
    negative = {"x": Feed([np.full((4, 5, 3), -3, np.float32), np.full((1, 2, 3), -0.5, np.float32)], "HWC")}
    group.case("shot_noise_below_0", "fn.noise.shot(x, factor=0.5)", negative, expect=lambda x: 0 * x)


def add_filter(group):
    x = {"x": Feed([np.zeros((3, 4, 5, 2), np.float32)], "DHWC")}
    group.refused("refused_filter_volume", "import numpy as np\n---\nreturn fn.filter(x, types.Constant(np.ones([2, 2, 2], np.float32), device='cpu'))", x)


def add(group):
    add_clahe(group)
    add_windows(group)
    add_morphology(group)
    add_shot(group)
    add_filter(group)
