"""`fn.external_source`: data that Python gives, as named inputs of the text.

Comes in: the call. Goes out: one `fn.external_source(name=…)` in the text for each output, and,
where there is a `source`, a record of it for the loader, which drives it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from galatea.trace.errors import TraceError
from galatea.trace.expression import Call

_TYPES = ("dtype", "ndim", "layout")
_KEPT = ("device",)


@dataclass
class Source:
    """A Python object that feeds the inputs `names`, with the options of the call."""

    names: list[str]
    source: Any
    options: dict[str, Any] = field(default_factory=dict)
    num_outputs: int | None = None


def _name(recorder, wanted: str | None, at) -> str:
    taken = recorder.input_names
    if wanted is not None:
        if wanted in taken:
            raise TraceError(f"there are two inputs of the name `{wanted}`", at)
        taken.add(wanted)
        return wanted
    number = 0
    while f"input_{number}" in taken:
        number += 1
    taken.add(f"input_{number}")
    return f"input_{number}"


def call(recorder, at, inputs: tuple, keywords: dict[str, Any]) -> Any:
    keywords = dict(keywords)
    source = keywords.pop("source", None)
    if inputs:
        if source is not None or len(inputs) > 1:
            raise TraceError("`fn.external_source` takes one source", at)
        source = inputs[0]
    count = keywords.pop("num_outputs", None)
    name = keywords.pop("name", None)
    if count is not None and name is not None and count > 1:
        stems = [f"{name}_{i}" for i in range(count)]
    else:
        stems = [name] * (1 if count is None else count)
    names = [_name(recorder, stem, at) for stem in stems]
    results = []
    for i, each in enumerate(names):
        arguments = [("name", recorder.value(each, at))]
        for key in (*_TYPES, *_KEPT):
            value = keywords.get(key)
            if key in _TYPES and isinstance(value, (list, tuple)):
                value = value[i] if i < len(value) else None
            if value is not None:
                arguments.append((key, recorder.value(value, at)))
        with recorder.for_all_samples():  # a host feeds whole batches
            results.append(recorder.add(Call("fn.external_source", arguments), place=at))
    options = {key: value for key, value in keywords.items() if key not in (*_TYPES, *_KEPT)}
    if source is not None:
        recorder.sources.append(Source(names, source, options, count))
    return results if count is not None else results[0]
