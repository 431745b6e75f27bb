"""Speech features of ten seconds of sound: each operator alone, and waveform to normalised log-mel, against DALI, PyTorch, torchaudio and librosa.

Everyone reads the same files, which lie in memory by then: arrays of NumPy at 16 kHz, or recordings (WAV, FLAC) of 44.1 kHz that are decoded and
resampled first.
"""

import contest
import harness
import report

DESCRIPTION = "waveform or recording to normalised log-mel, and each operator of it, against DALI, PyTorch, torchaudio and librosa"
LIBRARIES = (("DALI", "dali"), ("PyTorch", "torch"), ("torchaudio", "torchaudio"), ("librosa", "librosa"))
#: Which pipeline each case is, and what it reads.
CASES = {"preemphasis": ("preemphasis", "waveforms"), "spectrogram": ("spectrogram", "waveforms"), "mel": ("mel", "spectra"),
         "decibels": ("decibels", "bands"), "mfcc": ("mfcc", "bands"), "normalize": ("normalize", "bands"), "features": ("features", "waveforms"),
         "wav": ("recorded", "wav"), "flac": ("recorded", "flac")}


def run(context):
    args = context.args
    if context.no_peers:
        raise harness.Failure(f"asr: NumPy writes the files, and there are no peers: {context.no_peers}")
    folder = context.scratch / "sound"
    harness.call(context.peer("sound/sound_peer.py", "--make", folder))
    tables = []
    for threads in args.threads or (1, 2):
        tables.append({"threads": threads, "cases": run_cases(context, folder, threads)})
    report.write("asr", {"name": "asr", "machine": report.machine(), "tables": tables})


def run_cases(context, folder, threads):
    args = context.args
    entries, rows = [], [["case", "samples/s", *(name for name, _ in LIBRARIES), "galatea is faster than the fastest by"]]
    for case, (pipeline, data) in CASES.items():
        if not context.wants_case(case):
            continue
        ours = contest.Contestant("galatea", [context.program("pipeline_bench"), "bench/benches/asr.dali-dsl", "--pipeline", pipeline, "--set",
                                              f"data={folder / data}", "--threads", threads, "--batch-size", 16, "--epochs", args.epochs,
                                              "--warm-up", args.warm_up])
        peers = [contest.Contestant(shown, context.peer("sound/sound_peer.py", "--library", library, "--case", pipeline, "--data", folder / data,
                                                        "--epochs", args.epochs, "--threads", threads), is_peer=True)
                 for shown, library in LIBRARIES if context.wants_peer(shown)]
        contest.run_rounds([ours, *peers], args.rounds, args.timeout)
        if ours.skipped:
            print(f"SKIPPED {case}: {report.short_reason(ours.skipped)}")
            continue
        fastest = max((peer for peer in peers if not peer.skipped), key=lambda peer: peer.rate, default=None)
        faster = contest.ratio(ours, fastest) if fastest else None
        shown = {peer.name: "-" if peer.skipped else f"{peer.rate:.0f}" for peer in peers}
        for peer in peers:
            if peer.skipped:
                print(f"SKIPPED {case} by {peer.name}: {report.short_reason(peer.skipped)}")
        rows.append([case, f"{ours.rate:.0f}", *(shown.get(name, "-") for name, _ in LIBRARIES), report.show_ratio(faster)])
        entries.append({"case": case, "samples_per_second": ours.rate, "rounds": ours.rates,
                        "peers": [{"name": peer.name, "samples_per_second": peer.rate, "skipped": peer.skipped, "versions": peer.versions}
                                  for peer in peers], "ours_by_fastest": faster})
    print(f"\nasr: samples of ten seconds a second, {report.counted(threads, 'thread')}; medians of {args.rounds} alternating rounds")
    print(report.table(rows))
    return entries
