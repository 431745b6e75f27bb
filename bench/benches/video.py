"""Clips of H.264 films: 16 frames, every second one, from random places of 640 x 360, made 224 x 224 and normalised.

The films are drawn by the program ffmpeg. The limit is libav alone decoding the same frames (limit/video_limit.cpp). The peers are
DALI's CPU, PyAV, torchcodec and decord; who cannot do it is SKIPPED with the reason (DALI's CPU takes no H.264).
"""

import shutil

import contest
import harness
import report

DESCRIPTION = "clips of 16 frames from H.264 films, resized to 224 and normalised"
PIPELINES = "bench/benches/video.dali-dsl"
FILMS = 8
SECONDS = 10
PEERS = ("DALI", "PyAV", "torchcodec", "decord")


def draw_films(context):
    """Films with a key at least every two seconds, in a folder a class."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise harness.Failure("the films are drawn by ffmpeg, which is not installed")
    root = context.scratch / "films"
    for number in range(FILMS):
        folder = root / f"{number % 2}"
        folder.mkdir(parents=True, exist_ok=True)
        drawn = f"testsrc2=s=640x360:r=30:d={SECONDS},noise=alls=12:allf=t:all_seed={number}"
        done = harness.call([program, "-y", "-v", "error", "-f", "lavfi", "-i", drawn, "-c:v", "libx264", "-preset", "fast", "-g", "60", "-crf", "26",
                             folder / f"{number}.mp4"])
        if done.returncode != 0:
            raise harness.Failure(f"the films cannot be drawn: {harness.last_words(done.stderr)}")
    return root


def ours(context, data, threads):
    args = context.args
    return contest.Contestant("galatea", [context.program("pipeline_bench"), PIPELINES, "--set", f"data={data}", "--threads", threads,
                                          "--batch-size", 8, "--warm-up", args.warm_up, "--epochs", args.epochs])


def limit_of(context, data, threads):
    args = context.args
    return contest.Contestant("libav alone", [context.program("video_limit"), "--data", data, "--threads", threads, "--warm-up", args.warm_up,
                                              "--epochs", args.epochs])


def peer(context, data, name, threads):
    command = context.peer("video/clips.py", "--library", name.lower(), "--data", data, "--threads", threads, "--epochs", context.args.epochs)
    return contest.Contestant(name, command, skipped=context.no_peers, is_peer=True)


def run(context):
    data = draw_films(context)
    result = {"name": "video", "machine": report.machine(), "films": FILMS, "rounds": context.args.rounds, "tables": []}
    for threads in context.args.threads:
        us, limit = ours(context, data, threads), limit_of(context, data, threads)
        everyone = [us, limit, *(peer(context, data, name, threads) for name in PEERS if context.wants_peer(name))]
        contest.run_rounds(everyone, context.args.rounds, context.args.timeout)
        if us.skipped:
            raise harness.Failure(us.skipped)
        rows, entries = report.standings(everyone, limit, us)
        print(f"\nvideo-{threads}: clips of {FILMS} films; medians of {context.args.rounds} alternating rounds")
        report.show(rows, entries)
        result["tables"].append({"case": f"video-{threads}", "threads": threads, "contestants": entries})
    report.write("video", result, [report.chart(f"{table['case']}: clips/s", table["contestants"]) for table in result["tables"]])
