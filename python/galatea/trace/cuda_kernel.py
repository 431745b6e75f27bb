"""Kernels of one's own: CUDA text as an operator (docs/custom-kernels.md).

warp = galatea.cuda_kernel(
    source="warp.cu",
    name="warp",
    inputs=["image: u8[h, w, c] HWC", "matrix: f32[2, 3]"],
    outputs=["warped: u8[h, w, c] HWC"],
)

Python reads the file, which lies beside the one that names it, and knows where an inline text
stands; the text of the pipeline has all of it.
"""

from __future__ import annotations

import difflib
import linecache
import os
from typing import Any, Sequence

from galatea.trace import place as places
from galatea.trace import recorder as recorders
from galatea.trace.errors import TraceError
from galatea.trace.expression import Call, Literal

_OPTIONS = ("source", "name", "inputs", "outputs", "launch", "device")


class CudaKernel:
    """What `galatea.cuda_kernel` gives; called with data nodes and numbers, it gives its outputs."""

    def __init__(self, options: dict[str, Any], place):
        self.options = options
        self.place = place

    def __repr__(self) -> str:
        return f"<the kernel `{self.options['name']}`>"

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        recorder = recorders.require(f"the kernel `{self.options['name']}`")
        at = places.caller()
        name = self.galatea_definition(recorder.definitions, at)
        arguments = [("", recorder.value(value, at)) for value in inputs]
        arguments += [(key, recorder.value(value, at)) for key, value in keywords.items()]
        count = len(self.options["outputs"])
        return recorder.add(Call(name, arguments), None if count == 1 else count, at)

    def galatea_definition(self, definitions, place) -> str:
        """Its name in the text, which has it as a constant."""
        recorder = definitions.recorder
        recorder.imports.add("galatea")
        options = [
            (key, recorder.value(value, self.place or place)) for key, value in self.options.items()
        ]
        expression = Call("galatea.cuda_kernel", options)
        return definitions.constant(self.options["name"], expression, self.place or place)

    def galatea_expression(self, recorder, place) -> Literal:
        return Literal(self.galatea_definition(recorder.definitions, place))


def cuda_kernel(
    *,
    source: str,
    name: str,
    outputs: str | Sequence[str],
    inputs: str | Sequence[str] = (),
    launch: str = "",
    **options: Any,
) -> CudaKernel:
    """Makes an operator of a function of a CUDA text that is marked `__global__`.

    `source` is the text, or the name of a file beside this one. `inputs` and `outputs` describe
    each ("image: u8[h, w, 3] HWC", "strength: f32"), `launch` blocks and threads as CUDA writes
    them ("<<<(ceil_div(w, 16), h), (16, 16)>>>"); without it there is a thread for each element of
    the first output. Call it with the inputs, in their order.
    """
    place = places.caller()
    for option in options:
        if option not in _OPTIONS:
            near = difflib.get_close_matches(option, _OPTIONS, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"options: {', '.join(_OPTIONS)}"
            raise TraceError(f"`galatea.cuda_kernel` has no option `{option}`", place, hint)
    for what, value in (("source", source), ("name", name)):
        if not isinstance(value, str):
            raise TraceError(
                f"`{what}` of `galatea.cuda_kernel` is a string, not a value of type "
                f"`{type(value).__qualname__}`",
                place,
                "give a CUDA text, or the name of a file"
                if what == "source"
                else "give the name of the function that is marked `__global__`",
            )
    text, file, line = _find(source, place)
    made = {"source": text, "name": name, "file": file, "line": line}
    made["inputs"] = [inputs] if isinstance(inputs, str) else list(inputs)
    made["outputs"] = [outputs] if isinstance(outputs, str) else list(outputs)
    if launch:
        made["launch"] = launch
    return CudaKernel({**made, **options}, place)


def _find(source: str, place) -> tuple[str, str, int]:
    """The text, and the file and line where it begins."""
    here = place.file if place is not None else ""
    if "\n" not in source and "__global__" not in source:
        path = os.path.normpath(os.path.join(os.path.dirname(here), source))
        try:
            with open(path, encoding="utf-8") as opened:
                return opened.read(), path, 1
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is no text in UTF-8"
            raise TraceError(
                f"cannot read `{path}`: {why}", place, "`source` is a CUDA text, or a file of one"
            ) from None
    at = "".join(linecache.getlines(here)).find(source)
    if at < 0:  # put together, or with escapes
        return source, "the text of the kernel", 1
    return source, here, 1 + "".join(linecache.getlines(here))[:at].count("\n")
