"""Pipelines in Python: functions that are traced into text of the language.

@galatea.pipeline_def(batch_size=64, seed=3)
def train(data):
    encoded, label = fn.readers.file(file_root=data, name="Reader")
    return fn.decoders.image(encoded), label

pipe = train("photos", num_threads=4)
print(pipe.text)
"""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import re
from typing import Any, Callable, overload

from galatea.trace.control import check_arms
from galatea.trace.errors import TraceError
from galatea.trace.layout import Layout
from galatea.trace.expression import Call, Display
from galatea.trace.node import Node
from galatea.trace.place import Place
from galatea.trace.recorder import Recorder
from galatea.trace.rewrite import changed, do_not_convert
from galatea.trace.writer import write

__all__ = ["Pipeline", "pipeline_def", "do_not_convert"]

# Options that stand in the text, for every host; the others are the loader's.
_TEXT_OPTIONS = (
    "batch_size",
    "num_threads",
    "seed",
    "prefetch_queue_depth",
    "exact",
    "on_error",
    "memory_limit",
    "compat",
    "same_seed_same_draw",
    "output_dtype",
    "output_ndim",
    "output_layout",
)
_LOADER_OPTIONS = ("device", "device_id", "backend", "limits", "input_types", "policies")
_SOURCE_OPTIONS = ("py_num_workers", "py_start_method")  # of sources with parallel=True
_OWN_OPTIONS = ("enable_conditionals", "name")
OPTIONS = (*_TEXT_OPTIONS, *_LOADER_OPTIONS, *_SOURCE_OPTIONS, *_OWN_OPTIONS)


def _check_option(name: str, what: str) -> None:
    if name in OPTIONS:
        return
    near = difflib.get_close_matches(name, OPTIONS, 1)
    raise TypeError(
        f"{what} has no parameter or option `{name}`"
        + (f"; did you mean `{near[0]}`?" if near else f" (options: {', '.join(OPTIONS)})")
    )


class Pipeline:
    """A pipeline that was traced: text of the language, and what belongs to it.

    `text` is the file; `name` the pipeline's name in it; `options` what `pipeline_def` or the call
    said; `constants` arrays by the names under which the text loads them; `sources` the Python
    objects that feed named inputs; `line_map` the places that parts of the text come from.
    """

    def __init__(
        self,
        name: str,
        text: str,
        options: dict[str, Any],
        line_map: list[tuple[tuple[int, int, int, int], Place]],
        constants: dict[str, Any],
        sources: list,
        file: str = "",
        outputs: Any = None,
    ):
        self.name = name
        self.text = text
        self.options = options
        self.line_map = line_map
        self.constants = constants
        self.source_list = sources
        self.file = file

    def __repr__(self) -> str:
        return f"<galatea.Pipeline {self.name} of {self.file or 'Python'}>"

    @classmethod
    def trace(
        cls,
        function: Callable,
        args: tuple = (),
        kwargs: dict[str, Any] | None = None,
        *,
        name: str | None = None,
        conditionals: bool = True,
        outputs: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> "Pipeline":
        """Runs `function` once with nodes in place of data, and writes what it did.

        `outputs` may change what the function returned before it becomes the pipeline's outputs.
        """
        plain = inspect.unwrap(function, stop=lambda f: not hasattr(f, "__wrapped__"))
        given = getattr(function, "__name__", type(function).__name__)
        name = name or (given if given.isidentifier() else "pipeline")
        recorder = Recorder(name)
        recorder.conditionals = conditionals
        recorder.options = options
        with recorder:
            result = _ready(function, conditionals)(*args, **(kwargs or {}))
            if outputs is not None:
                result = outputs(result)
            code = getattr(plain, "__code__", None)
            at = Place(code.co_filename, code.co_firstlineno) if code else None
            recorder.result_place = at
            recorder.result = _result(recorder, result, at)
        return cls.of(recorder, at, options)

    @classmethod
    def of(cls, recorder: Recorder, at: Place | None, options: dict[str, Any]) -> "Pipeline":
        """The pipeline of what a recorder holds."""
        check_arms(recorder)
        text, line_map = _text_of(recorder, at, options)
        return cls(
            recorder.name,
            text,
            dict(options),
            line_map,
            dict(recorder.constants),
            list(recorder.sources),
            at.file if at else "",
        )

    # What others ask for.

    @property
    def sources(self) -> dict[str, Any]:
        """The Python objects that feed inputs: input name → object with `.attach(session)`."""
        if not self.source_list:
            return {}
        from galatea.sources import drivers  # type: ignore[import-not-found]

        return drivers(self.source_list, self.options)

    def file_name(self) -> str:
        """The name of the text in messages; imports and constants are looked for in its folder."""
        folder = os.path.dirname(self.file) if os.path.isfile(self.file) else ""
        return os.path.join(folder, f"{self.name}.dali-dsl")

    def compile_arguments(self) -> dict[str, Any]:
        """Arguments of `_c.Program` but for the engine."""
        arguments: dict[str, Any] = {
            "text": self.text,
            "file_name": self.file_name(),
            "pipeline": self.name,
            **self._made_text(),
        }
        device = self.options.get("device")
        device_id = self.options.get("device_id")
        if device is not None:
            arguments["device"] = device
        elif device_id is not None and device_id > 0:
            arguments["device"] = f"gpu:{device_id}"
        for name in ("backend", "limits", "input_types", "policies"):
            if self.options.get(name) is not None:
                arguments[name] = self.options[name]
        return arguments

    def _made_text(self) -> dict[str, Any]:
        """Where the text comes from, and its arrays, as `_c.Program` takes them."""
        import linecache

        files = {place.file for _, place in self.line_map}
        texts = {file: "".join(linecache.getlines(file)) for file in files}
        line_map = []
        for part, place in self.line_map:
            if not texts[place.file]:
                continue
            if place.column:
                there = place[1:]
            else:  # the line, without the blanks around it
                line = place.source_line()
                there = (place.line, 1 + len(line) - len(line.lstrip()), place.line, len(line) + 1)
            line_map.append((part, place.file, there))
        constants = {}
        for name, array in self.constants.items():
            dtype = _dtype_number(array.dtype.name)
            plain = array.astype(array.dtype.newbyteorder("="))
            constants[name] = (dtype, list(array.shape), plain.tobytes())
        sources = {file: text for file, text in texts.items() if text}
        return {"source_texts": sources, "line_map": line_map, "constants": constants}

    def program(self, engine=None):
        """Compiles the pipeline; raises what is wrong with it, at the lines of the Python file."""
        from galatea import _c
        from galatea.engine import default_engine

        return _c.Program(engine or default_engine(), **self.compile_arguments())

    def check(self) -> list:
        """What is wrong with the pipeline, as diagnostics (see `galatea.errors`); [] if nothing.

        Compiles it, and reads no data.
        """
        from galatea.errors import GalateaError

        try:
            self.program()
        except GalateaError as error:
            return list(error.diagnostics)
        return []

    def save(self, path) -> None:
        """Writes the text, and beside it the arrays that it loads.

        What a Python callable feeds stays a named input: the host of the file feeds it.
        """
        path = os.fspath(path)
        stem = os.path.basename(path)
        stem = stem[: -len(".dali-dsl")] if stem.endswith(".dali-dsl") else stem
        text = self.text
        folder = os.path.dirname(path) or "."
        if self.constants:
            import numpy as np

            for index, (name, array) in enumerate(self.constants.items()):
                beside = f"{stem}.{index}.npy"
                text = text.replace(f'np.load("{name}")', f'np.load("{beside}")')
                _replace(
                    os.path.join(folder, beside), lambda file, array=array: np.save(file, array)
                )
        _replace(path, lambda file: file.write(text.encode()))

    def _repr_html_(self) -> str:
        from galatea.display.objects import pipeline

        return pipeline(self)

    def explain(self, emit: str | None = None) -> str:
        """What the compiler makes of the pipeline, as `galatea explain` prints it.

        `emit`: None is a page for people; else one of its levels, "graph", "plan", "kernel",
        "loops", "llvm", "asm". Lines are those of `text`.
        """
        from galatea.display.explain import explain

        return explain(self, emit)

    def view(self, *args, **kwargs):
        """A contact sheet of the first samples; see `galatea.view`."""
        from galatea.display import view

        return view(self, *args, **kwargs)


def _dtype_number(name: str) -> int:
    from galatea.types import DALIDataType

    known = {"float32": "FLOAT", "float16": "FLOAT16", "float64": "FLOAT64", "bool": "BOOL"}
    return int(DALIDataType[known.get(name, name.upper())])


def _replace(path: str, write_to: Callable) -> None:
    """Writes a file in one step: what stood there stays until the new one is whole."""
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            write_to(file)
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise


def _ready(function: Callable, conditionals: bool) -> Callable:
    import types

    if isinstance(function, types.MethodType):
        return types.MethodType(_ready(function.__func__, conditionals), function.__self__)
    if isinstance(function, types.FunctionType):
        return changed(function, conditionals)
    if isinstance(function, functools.partial):
        inner = _ready(function.func, conditionals)
        return functools.partial(inner, *function.args, **function.keywords)
    from galatea.trace.rewrite import call

    return call(function)


def _result(recorder: Recorder, result: Any, at: Place | None):
    if result is None:
        raise TraceError(
            "the pipeline's function returned nothing",
            at,
            "return data nodes: `return image, label`",
        )
    if isinstance(result, (list, tuple)):
        for element in result:
            if isinstance(element, (list, tuple, dict)) and _has_node(element):
                raise TraceError(
                    "an output of the pipeline is a list, tuple or dict of data nodes",
                    at,
                    "an output is a data node: spread it, as in `return *crops, label`",
                )
        if isinstance(result, list) and not _has_node(result):
            return recorder.value(result, at)
        elements = [recorder.value(element, at) for element in result]
        if not elements:
            raise TraceError("the pipeline's function returned nothing", at)
        return Display("(", elements)
    return recorder.value(result, at)


def _has_node(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_node(element) for element in value)
    if isinstance(value, dict):
        return any(_has_node(element) for element in value.values())
    return isinstance(value, Node)


def _text_of(recorder: Recorder, at: Place | None, options: dict[str, Any]):
    scratch = Recorder(recorder.name)
    given = [
        (name, scratch.value(options[name], at))
        for name in _TEXT_OPTIONS
        if options.get(name) is not None
    ]
    body, ranges = write(recorder)
    decorator = Layout(lambda node: "").lines("@", Call("pipeline_def", given), "", 0)
    assert decorator is not None
    where = f" of {os.path.basename(at.file)}:{at.line}" if at else ""
    head = [f"# Made from the Python function `{recorder.name}`{where}."]
    above, ranges_above = _definitions(recorder)
    used = "\n".join([*above, *body, *decorator])
    if _uses(used, "np"):
        head.append("import numpy as np")
    if _uses(used, "galatea"):
        head.append("import galatea")
    names = [name for name in ("fn", "math", "pipeline_def", "types") if _uses(used, name)]
    if re.search(r"(?<![\w.])select\(", used):
        names = sorted([*names, "select"])
    head.append(f"from galatea import {', '.join(names)}")
    for module, members in sorted(recorder.modules.items()):
        head.append(f"from {module} import {', '.join(sorted(members))}")
    line_map = _shifted(ranges_above, len(head))
    head += [*above, "", "", *decorator, f"def {recorder.name}():"]
    offset = len(head)
    text = "\n".join([*head, *body]) + "\n"
    line_map += _shifted(ranges, offset)
    if at is not None:
        first = offset - len(decorator)
        line_map.append(((first, 1, offset, 1 + len(f"def {recorder.name}():")), at))
    return text, line_map


def _shifted(ranges, offset: int) -> list[tuple[tuple[int, int, int, int], Place]]:
    return [
        ((line + offset, column, end_line + offset, end_column), place)
        for (line, column, end_line, end_column), place in ranges
    ]


def _definitions(recorder: Recorder):
    """What stands between the imports and the pipeline: lines, and the places of their ranges."""
    lines: list[str] = []
    ranges: list = []
    was_function = False
    for item in recorder.definitions.items:
        if item.is_function or was_function:
            lines += ["", ""]
        elif not lines:
            lines.append("")
        ranges += _shifted(item.ranges, len(lines))
        lines += item.lines
        was_function = item.is_function
    return lines, ranges


def _uses(text: str, name: str) -> bool:
    return name == "pipeline_def" or re.search(rf"(?<![\w.]){name}\b", text) is not None


class PipelineFunction:
    """What `pipeline_def` makes of a function; called, it gives a `Pipeline`."""

    def __init__(self, function: Callable, options: dict[str, Any]):
        functools.update_wrapper(self, function)
        self.function = function
        self.options = options

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return PipelineFunction(self.function.__get__(instance, owner), self.options)

    def split(self, kwargs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Keyword arguments as those of the function and those of the pipeline."""
        parameters = inspect.signature(self.function).parameters
        takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        own = {key: value for key, value in kwargs.items() if key in parameters}
        options = {key: value for key, value in kwargs.items() if key not in parameters}
        for name in list(options):
            if takes_all and name not in OPTIONS:
                own[name] = options.pop(name)
            else:
                _check_option(name, f"`{self.function.__qualname__}`")
        return own, options

    def __call__(self, *args, **kwargs) -> Pipeline:
        own, given = self.split(kwargs)
        options = {**self.options, **given}
        conditionals = options.pop("enable_conditionals", True)
        name = options.pop("name", None)
        return Pipeline.trace(
            self.function, args, own, name=name, conditionals=conditionals, **options
        )


@overload
def pipeline_def(function: Callable, /, **options: Any) -> PipelineFunction: ...
@overload
def pipeline_def(**options: Any) -> Callable[[Callable], PipelineFunction]: ...
def pipeline_def(function: Callable | None = None, /, **options: Any) -> Any:
    """Makes a pipeline of a function that calls operators of `galatea.fn`.

    Called with the function's arguments, and with options by keyword, the result is a `Pipeline`.
    Options, here or at the call: `batch_size` (samples), `num_threads`, `seed`,
    `prefetch_queue_depth` (batches), `exact`, `on_error` ("raise", "skip", "replace"),
    `memory_limit` (bytes), `compat` ("dali", "pil", "torchvision", "opencv": whose numbers calls
    give, docs/compat.md), `device` ("auto", "cpu", "gpu", "gpu:0"), `device_id`,
    `enable_conditionals` (default True: `if`, `and`, `or`, `not`, `x if c else y` work on data),
    `name`, `output_dtype`, `output_ndim`, `output_layout` (checked).
    """
    for name in options:
        _check_option(name, "`pipeline_def`")
    if function is not None:
        return PipelineFunction(function, options)
    return lambda decorated: PipelineFunction(decorated, options)
