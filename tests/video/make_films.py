"""Draws the small films of this folder, and records what others read of them.

    python make_films.py      (needs the programs and packages: ffmpeg, av, numpy, nvidia-dali)

films/ are encoded by libav of a test picture. recorded.json holds, of every film, the checksum of each
frame as RGB and when it is shown, by PyAV, whose planes a formula of this file turns into RGB; and
outputs of DALI on the CPU, for the codecs that it takes there.
"""

import json
import os
import subprocess

import av
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
FILMS = os.path.join(HERE, "films")
DRAWN = "-f lavfi -i testsrc2=s=64x48:r=25:d=1"
EVEN = "-f lavfi -i testsrc2=s=64x48:r=25:d=0.4"
ODD = "-f lavfi -i testsrc=s=37x23:r=25:d=0.4"
UNEVEN = (
    "-f lavfi -i testsrc2=s=62x46:r=10:d=3 "
    "-vf select='not(eq(mod(n\\,3)\\,1))',setpts=PTS+1.5/TB -vsync vfr"
)
X264 = "-c:v libx264 -g 10 -crf 34"

COMMANDS = {
    "h264_open_gop.mp4": f"{DRAWN} {X264} -bf 3 -b_strategy 0 -x264-params b-pyramid=normal:open-gop=1",
    "h264.mkv": f"{DRAWN} {X264} -bf 2",
    "h264.avi": f"{DRAWN} {X264} -bf 2",
    "h264_fields.ts": f"{DRAWN} {X264} -bf 2 -flags +ildct+ilme -x264opts tff=1",
    "h264_cut.mp4": "-ss 0.6 -i h264_open_gop.mp4 -c copy",
    "h264_cut.mkv": "-ss 0.6 -i h264_open_gop.mp4 -c copy",
    "h264_turned.mp4": "-i h264.mkv -c copy -metadata:s:v:0 rotate=270",
    "h264_uneven.mp4": f"{UNEVEN} {X264} -bf 2",
    "h264_444.mp4": f"{ODD} {X264} -pix_fmt yuv444p",
    "h264_bt709.mp4": f"{DRAWN} {X264} -vf scale=out_color_matrix=bt709 -colorspace bt709",
    "hevc_open_gop.mp4": f"{DRAWN} -c:v libx265 -x265-params log-level=none:keyint=10:bframes=3:open-gop=1 -crf 34",
    "hevc_10_bits.mkv": f"{DRAWN} -c:v libx265 -pix_fmt yuv420p10le -x265-params log-level=none:keyint=10:bframes=3"
    " -crf 34",
    "mpeg4.mp4": f"{DRAWN} -c:v mpeg4 -g 10 -bf 2 -q:v 20",
    "mpeg4.avi": f"{DRAWN} -c:v mpeg4 -g 10 -bf 2 -q:v 20",
    "mpeg2.ts": f"{DRAWN} -c:v mpeg2video -g 10 -bf 2 -q:v 20",
    "vp8.webm": f"{DRAWN} -c:v libvpx -b:v 60k -auto-alt-ref 1 -lag-in-frames 16 -g 10",
    "vp9.webm": f"{DRAWN} -c:v libvpx-vp9 -b:v 60k -auto-alt-ref 1 -lag-in-frames 16 -g 10",
    "vp9_10_bits.webm": f"{EVEN} -c:v libvpx-vp9 -pix_fmt yuv420p10le -crf 50",
    "vp9_odd.webm": f"{ODD} -c:v libvpx-vp9 -pix_fmt yuv420p -crf 40",
    "vp9_full_range.webm": f"{EVEN} -c:v libvpx-vp9 -vf scale=out_range=pc -color_range pc -pix_fmt yuv420p -crf 40",
    "vp9_uneven.webm": f"{UNEVEN} -c:v libvpx-vp9 -crf 50",
    "av1.mp4": f"{DRAWN} -c:v libaom-av1 -cpu-used 8 -b:v 50k -g 10",
    "av1_10_bits.webm": f"{EVEN} -c:v libaom-av1 -cpu-used 8 -b:v 50k -pix_fmt yuv420p10le",
    "av1_cut.mp4": "-ss 0.6 -i av1.mp4 -c copy",
    "av1_turned.mp4": "-i av1.mp4 -c copy -metadata:s:v:0 rotate=90",
    "h264_upside_down.mp4": "-i h264.mkv -c copy -metadata:s:v:0 rotate=180",
    "h264_fragments.mp4": "-i h264_open_gop.mp4 -c copy -movflags frag_keyframe+empty_moov",
    "h264_copied.avi": "-i h264_open_gop.mp4 -c copy",
    "mpeg4_cut.avi": "-ss 0.6 -i mpeg4.avi -c copy",
    "mpeg4_uneven.avi": f"{UNEVEN} -c:v mpeg4 -g 10 -bf 2 -q:v 20",
    "mjpeg.avi": f"{EVEN} -c:v mjpeg -q:v 20 -pix_fmt yuvj422p",
}
# AVI does not say when the last frames are shown of those that the decoder holds back; PyAV guesses.
GUESSED_TIMES = {"h264_copied.avi": 2, "mpeg4_cut.avi": 1, "mpeg4_uneven.avi": 1}
FOREIGN = {
    "flv1.avi": f"{ODD} -c:v flv1",
    "h264.flv": f"{DRAWN} {X264}",
    "sound.mkv": "-f lavfi -i sine=d=0.1 -c:a flac",
}

MATRICES = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722)}


def checksum(data: bytes) -> str:
    """64-bit FNV-1a, as base/checksum.h has it."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def plane(picture, number, height, width):
    kind = np.uint8 if picture.format.components[0].bits == 8 else np.uint16
    rows = np.frombuffer(picture.planes[number], np.uint8).reshape(picture.planes[number].height, -1)
    return rows.view(kind)[:height, :width].astype(np.int64)


def places(pixels, samples, whole):
    """Of every pixel, the two samples that it lies between, and their weights.

    A pixel stands at (x + 1/2) samples / pixels - 1/2, by steps of 2^-16; a first sample that weighs
    less than 0.002 is left out.
    """
    step = ((samples << 16) + pixels // 2) // pixels
    at = (2 * np.arange(pixels) + 1) * step - 65536
    first, share = at >> 17, (1 << 17) - (at & 0x1FFFF)
    weight = np.where(share > 0.002 * (1 << 17), (share * whole + (1 << 16)) >> 17, 0)
    return np.clip(first, 0, samples - 1), np.clip(first + 1, 0, samples - 1), weight, whole - weight


def at_every_pixel(chroma, height, width, bits):
    """Samples of 8 bits with 9 places behind the point, around 0: 14 bits of weights across, 12 down."""
    left, right, of_left, of_right = places(width, chroma.shape[1], 1 << 14)
    above, below, of_above, of_below = places(height, chroma.shape[0], 1 << 12)
    rows = (chroma[:, left] * of_left + chroma[:, right] * of_right) >> (bits - 1)
    return ((rows[above] * of_above[:, None] + rows[below] * of_below[:, None]) >> 10) - (128 << 9)


def to_rgb(picture, matrix="bt601"):
    height, width = picture.height, picture.width
    bits = picture.format.components[0].bits
    rows, columns = picture.format.chroma_height(height), picture.format.chroma_width(width)
    is_full = picture.color_range == 2
    kr, kb = MATRICES[matrix]
    kg = 1 - kr - kb
    scale = 1 if is_full else 255 / 224

    def fixed(value):
        return int(np.floor(value * 8192 + 0.5))

    y = (plane(picture, 0, height, width) - (0 if is_full else 16 << (bits - 8))) << (17 - bits)
    cb, cr = (at_every_pixel(plane(picture, k, rows, columns), height, width, bits) for k in (1, 2))
    grey = y * fixed(1 if is_full else 255 / 219)
    red = grey + cr * fixed(scale * 2 * (1 - kr))
    green = (
        grey - cb * fixed(scale * 2 * kb * (1 - kb) / kg) - cr * fixed(scale * 2 * kr * (1 - kr) / kg)
    )
    blue = grey + cb * fixed(scale * 2 * (1 - kb))
    return np.stack([np.clip((c + (1 << 21)) >> 22, 0, 255) for c in (red, green, blue)], -1).astype(
        np.uint8
    )


def read_film(name, matrix="bt601"):
    with av.open(os.path.join(FILMS, name)) as film:
        pictures = list(film.decode(video=0))
    times = sorted(float(p.pts * p.time_base) for p in pictures if p.pts is not None)
    told = len(times) - GUESSED_TIMES.get(name, 0)
    return {
        "size": [pictures[0].height, pictures[0].width],
        "frames": [checksum(to_rgb(p, matrix).tobytes()) for p in pictures],
        "seconds": [t - times[0] for t in times[:told]] if len(times) == len(pictures) else None,
    }


DECODED = [
    ("vp9.webm", ""), ("vp8.webm", ""), ("mjpeg.avi", ""), ("vp9_10_bits.webm", ""),
    ("vp9_full_range.webm", ""), ("vp9_uneven.webm", ""), ("vp9_odd.webm", ""),
] + [("vp9.webm", args) for args in (
    "start_frame=20", "start_frame=20, sequence_length=8", "start_frame=20, sequence_length=8, stride=3",
    "end_frame=10", "start_frame=2, end_frame=11, stride=4", "end_frame=40", "stride=3",
    "start_frame=20, sequence_length=8, stride=2, pad_mode='none'",
    "start_frame=20, sequence_length=8, stride=2, pad_mode='edge'",
    "start_frame=20, sequence_length=8, stride=2, pad_mode='symmetric'",
    "start_frame=20, sequence_length=8, stride=2, pad_mode='reflect'",
    "start_frame=23, sequence_length=60, pad_mode='reflect_101'",
    "start_frame=-2, pad_mode='reflect_101'", "start_frame=-2, sequence_length=4",
    "start_frame=20, sequence_length=8, fill_value=[1, 2, 3]", "start_frame=20, sequence_length=8, fill_value=9",
    "frames=[3, 1, 1, 24]", "frames=[3, 26]", "frames=[26], pad_mode='edge'", "frames=7",
    "sequence_length=0", "end_frame=40, pad_mode='none'",
)]

READ = [f"filenames=['@/vp9.webm'], sequence_length={args}" for args in (
    "8, enable_frame_num='scalar', enable_timestamps=True",
    "8, enable_frame_num='sequence', stride=3, step=5", "8, stride=2, enable_frame_num='scalar'",
    "10, stride=2, pad_mode='constant', enable_frame_num='sequence', enable_timestamps=True",
    "10, stride=2, pad_mode='edge', enable_frame_num='sequence'",
    "10, stride=2, pad_mode='reflect_1001', enable_frame_num='sequence'",
    "10, stride=2, pad_mode='reflect_101', enable_frame_num='sequence'",
    "26, pad_mode='constant', fill_value=7, enable_frame_num='scalar'",
    "3, step=1, stride=4, enable_frame_num=True", "6, step=0, enable_frame_num=True",
    "8, uniform_sample=True, enable_frame_num='sequence', enable_timestamps=True",
    "40, uniform_sample=True, enable_frame_num='sequence'", "1, uniform_sample=True, enable_frame_num='sequence'",
)] + [
    "filenames=['@/vp9.webm', '@/vp9_uneven.webm'], labels=[7, 8], sequence_length=13, enable_timestamps=True",
    "filenames=['@/vp9_uneven.webm'], sequence_length=5, enable_frame_num='sequence', enable_timestamps=True",
]
LISTS = [
    ("@/vp9.webm 3 0.2 0.6\n@/vp9_uneven.webm 5\n", "sequence_length=4, enable_frame_num='scalar', enable_timestamps=True"),
    ("@/vp9.webm 3 5 15\n@/vp9_uneven.webm 5 -10 -2\n",
     "sequence_length=4, file_list_format='frames', enable_frame_num='scalar'"),
    ("@/vp9.webm 3 10 100\n", "sequence_length=4, file_list_format='frames', enable_frame_num='sequence'"),
] + [("@/vp9.webm 3 5 10\n",
      f"sequence_length=12, file_list_format='frames', pad_mode='{mode}', enable_frame_num='sequence'")
     for mode in ("reflect_1001", "reflect_101", "edge")] + [
    ("@/vp9.webm 3 0.21 0.61\n",
     f"sequence_length=1, step=1, file_list_rounding='{rounding}', enable_frame_num='scalar'")
    for rounding in ("start_down_end_up", "start_up_end_down", "all_up", "all_down")]


def run_dali(make, count=None):
    from nvidia.dali import pipeline_def

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipeline():
        outputs = make()
        return tuple(outputs) if isinstance(outputs, (list, tuple)) else outputs

    pipe = pipeline()
    pipe.build()
    if count is None:
        count = pipe.reader_meta("reader")["epoch_size"]
    samples = []
    for _ in range(count):
        outputs = [np.array(output.at(0)) for output in pipe.run()]
        samples.append([
            {"extents": list(o.shape), "checksum": checksum(o.tobytes())} if o.ndim == 4 else o.tolist() for o in outputs
        ])
    return samples


def record_dali():
    from nvidia.dali import fn, types

    def decoded(name, args):
        data = np.fromfile(os.path.join(FILMS, name), np.uint8)
        encoded = fn.external_source(source=lambda: [data], batch=True, dtype=types.UINT8)
        return fn.decoders.video(encoded, **eval(f"dict({args})"))

    def read(args):
        return fn.experimental.readers.video(name="reader", **eval(f"dict({args})".replace("@", FILMS)))

    cases = [{"film": n, "args": a, "samples": run_dali(lambda: decoded(n, a), 1)} for n, a in DECODED]
    readers = [{"args": a, "list": "", "samples": run_dali(lambda: read(a))} for a in READ]
    path = os.path.join(FILMS, "list.txt")
    for text, args in LISTS:
        with open(path, "w", encoding="ascii") as file:
            file.write(text.replace("@", FILMS))
        args = f"file_list='@/list.txt', {args}"
        readers.append({"args": args, "list": text, "samples": run_dali(lambda: read(args))})
    os.remove(path)
    return {"decoders": cases, "readers": readers}


def main():
    os.makedirs(FILMS, exist_ok=True)
    for name, arguments in (COMMANDS | FOREIGN).items():
        subprocess.run(["ffmpeg", "-y", "-v", "error", *arguments.split(), "-fflags", "+bitexact", name],
                       cwd=FILMS, check=True)
    recorded = {"films": {name: read_film(name) for name in COMMANDS}}
    recorded["tagged"] = {"h264_bt709.mp4": read_film("h264_bt709.mp4", "bt709")}
    recorded["dali"] = record_dali()
    with open(os.path.join(HERE, "recorded.json"), "w", encoding="ascii") as file:
        json.dump(recorded, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
