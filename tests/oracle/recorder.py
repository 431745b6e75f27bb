"""Runs pipeline texts through DALI on the CPU and records what went in and what came out.

In: cases (a pipeline body, named batches of numpy arrays, a tolerance, optionally a reference formula).
Out: one `<group>.json` index and one `<group>.bin` of concatenated `.npy` blobs per group; see README.md.
"""
import hashlib
import importlib.util
import io
import json
import os
import re
import tempfile
import warnings

import numpy as np

import nvidia.dali as dali

TYPES = {"uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32", "uint64": "UINT64", "int8": "INT8",
         "int16": "INT16", "int32": "INT32", "int64": "INT64", "float16": "FLOAT16", "float32": "FLOAT",
         "float64": "FLOAT64", "bool": "BOOL"}


class Feed:
    """One named external source: the samples of its batch and their layout."""

    def __init__(self, samples, layout=None):
        self.samples = [np.array(sample, order="C") for sample in samples]  # DALI refuses strides
        self.layout = layout
        assert len({(sample.dtype, sample.ndim) for sample in self.samples}) == 1


def pipeline_text(body, feeds):
    """The whole pipeline file: a declaration for each feed, then the body (an expression or statements)."""
    size = len(next(iter(feeds.values())).samples)
    names = ["fn", "pipeline_def", "types"]
    for name, pattern in (("math", r"\bmath\."), ("newaxis", r"\bnewaxis\b")):
        if re.search(pattern, body):
            names.append(name)
    options = f"batch_size={size}, num_threads=1"
    if re.search(r"^\s*(if|elif|while)\s|\b(and|or|not)\b|[<>]=? *\w+ *[<>]", body, re.M):
        options += ", enable_conditionals=True"
    lines = ["import numpy as np"] if re.search(r"\bnp\.", body) else []
    lines += [f"from nvidia.dali import {', '.join(sorted(names))}", ""]
    helpers, _, main = body.rpartition("\n---\n")
    if helpers:
        lines += ["", *helpers.strip("\n").split("\n"), ""]
    lines += ["", f"@pipeline_def({options})", "def p():"]
    for name, feed in feeds.items():
        layout = f', layout="{feed.layout}"' if feed.layout else ""
        sample = feed.samples[0]
        lines.append(f'    {name} = fn.external_source(name="{name}", dtype=types.{TYPES[sample.dtype.name]}, '
                     f"ndim={sample.ndim}{layout})")
    if "return" not in main:
        main = "return " + main.strip()
    lines += ["    " + line if line else "" for line in main.strip("\n").split("\n")]
    return "\n".join(lines) + "\n"


def used(body, feeds):
    """DALI prunes inputs that nothing reads, and then refuses to be fed with them."""
    return {name: feed for name, feed in feeds.items() if re.search(rf"\b{name}\b", body)}


def first_line(message):
    """The line of a DALI error that says what is wrong, without the trace around it."""
    rest = message.split("encountered:")[-1].strip()
    lines = [line.strip() for line in rest.split("\n") if line.strip()] or [""]
    if lines[0].startswith("in user code"):  # the trace of rewritten control flow: what is wrong comes last
        lines = [re.sub(r"^\w+: ", "", lines[-1])]
    return lines[0][:240]


class Refused(Exception):
    pass


def run_text(text, feeds):
    """Executes the text as a module of its own, feeds the named sources, returns outputs and layouts."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pipeline_text.py")  # a real file: conditionals read their own source
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        spec = importlib.util.spec_from_file_location("pipeline_text", path)
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
            warnings.showwarning = lambda *_, **__: None  # deprecated spellings are cases too
            pipeline = module.p(device_id=None)
            pipeline.build()
            for name, feed in feeds.items():
                pipeline.feed_input(name, feed.samples, layout=feed.layout)
            batches = pipeline.run()
            outputs = [[np.array(batch.at(i)) for i in range(len(batch))] for batch in batches]
            # "**" marks axes of transforms that may be unfolded into frames; it names none.
            return outputs, ["" if set(batch.layout()) == {"*"} else batch.layout() for batch in batches]
        except Exception as error:  # whatever DALI raises is the finding
            raise Refused(f"{type(error).__name__}: {first_line(str(error))}") from None


class Blobs:
    """Concatenated .npy images; equal arrays are stored once."""

    def __init__(self):
        self.data = bytearray()
        self.places = {}

    def add(self, array):
        stream = io.BytesIO()
        contiguous = np.array(array, order="C", copy=True)  # ascontiguousarray would give scalars a dimension
        np.lib.format.write_array(stream, contiguous, version=(1, 0), allow_pickle=False)
        blob = stream.getvalue()
        key = hashlib.sha256(blob).digest()
        if key not in self.places:
            self.places[key] = [len(self.data), len(blob)]
            self.data += blob
        return self.places[key]


def to_dtype(values, dtype):
    """Reference rounding of float64 values to an output type: half away from zero, then clamp."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        rounded = np.trunc(np.abs(values) + 0.5) * np.sign(values)
        return np.clip(rounded, info.min, info.max)
    return values


class Group:
    """The cases of one index file."""

    def __init__(self, name):
        self.name = name
        self.cases = []
        self.blobs = Blobs()
        self.disagreements = []
        self.names = set()

    def case(self, name, body, feeds, tolerance=0, kind="abs", why="", mean_tolerance=None, expect=None,
             expect_tolerance=None):
        """Records one case. `expect` maps the list of one sample's inputs to reference outputs in float64."""
        feeds = used(body, feeds)
        entry, text = self._open(name, body, feeds)
        try:
            outputs, layouts = run_text(text, feeds)
        except Refused as refused:
            self.disagreements.append(f"{name}: DALI refuses it: {refused}")
            return None
        if tolerance and not why:
            raise SystemExit(f"{self.name}/{name}: a tolerance needs a reason")
        entry["outputs"] = [[self.blobs.add(sample) for sample in output] for output in outputs]
        entry["layouts"] = layouts
        entry["tolerance"] = tolerance
        if tolerance:
            entry["tolerance_kind"] = kind
            entry["why"] = why
        if mean_tolerance is not None:
            entry["mean_tolerance"] = mean_tolerance
        if expect:
            limit = tolerance if expect_tolerance is None else expect_tolerance
            self._compare(name, feeds, outputs, expect, limit, kind)
        self.cases.append(entry)
        return outputs

    def of_peer(self, name, body, feeds, peer, call, layouts=("HWC",)):
        """Records what `call`, a function of another library, makes of one sample's inputs: DALI has no such operator on the CPU."""
        entry, _ = self._open(name, body, feeds)
        samples = [call(*sample) for sample in zip(*[feed.samples for feed in feeds.values()])]
        entry["peer"] = peer
        entry["outputs"] = [[self.blobs.add(sample) for sample in samples]]
        entry["layouts"] = list(layouts)
        entry["tolerance"] = 0
        self.cases.append(entry)

    def refused(self, name, body, feeds):
        """Records that DALI refuses a text."""
        feeds = used(body, feeds)
        entry, text = self._open(name, body, feeds)
        try:
            run_text(text, feeds)
        except Refused as refused:
            entry["refused"] = str(refused)
            self.cases.append(entry)
            return
        self.disagreements.append(f"{name}: DALI accepts it")

    def _open(self, name, body, feeds):
        if os.environ.get("VERBOSE"):
            print(name, flush=True)
        if name in self.names:
            raise SystemExit(f"{self.name}/{name}: the name is taken")
        self.names.add(name)
        text = pipeline_text(body, feeds)
        inputs = {key: [self.blobs.add(sample) for sample in feed.samples] for key, feed in feeds.items()}
        return {"name": name, "text": text, "inputs": inputs}, text

    def _compare(self, name, feeds, outputs, expect, tolerance, kind):
        count = len(outputs[0])
        for i in range(count):
            wanted = expect(*[feed.samples[i] for feed in feeds.values()])
            wanted = wanted if isinstance(wanted, tuple) else (wanted,)
            for k, want in enumerate(wanted):
                got = outputs[k][i]
                if np.shape(got) != np.shape(want):
                    self.disagreements.append(f"{name}: sample {i}: shape {np.shape(got)}, formula {np.shape(want)}")
                    continue
                if got.size == 0:
                    continue
                want = to_dtype(np.asarray(want, np.float64), got.dtype)
                difference = np.abs(got.astype(np.float64) - want)
                limit = tolerance
                if kind == "rel":
                    limit = tolerance * np.abs(want)
                elif kind == "range":
                    limit = tolerance * np.abs(want).max()
                if (difference > limit).any():
                    self.disagreements.append(
                        f"{name}: sample {i} {got.shape} {got.dtype}: DALI and formula differ by up to "
                        f"{difference.max():.6g}, mean {difference.mean():.4g}, in {(difference > limit).mean():.1%}")

    def write(self, folder):
        index = {"dali": dali.__version__, "numpy": np.__version__, "cases": self.cases}
        with open(os.path.join(folder, self.name + ".json"), "w", encoding="utf-8") as file:
            file.write('{"dali": "%s", "numpy": "%s", "cases": [\n' % (index["dali"], index["numpy"]))
            file.write(",\n".join(json.dumps(case, ensure_ascii=False) for case in self.cases))
            file.write("\n]}\n")
        with open(os.path.join(folder, self.name + ".bin"), "wb") as file:
            file.write(self.blobs.data)
        refused = sum("refused" in case for case in self.cases)
        print(f"{self.name}: {len(self.cases)} cases ({refused} refused), {len(self.blobs.data) / 1024:.0f} KiB")
        for line in self.disagreements:
            print("  ! " + line)
        return len(self.disagreements)
