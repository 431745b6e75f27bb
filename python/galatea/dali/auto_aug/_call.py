"""Calls of the language's own `nvidia.dali.auto_aug`, in the current pipeline."""

from __future__ import annotations

from typing import Any

from galatea.trace import place as places
from galatea.trace.expression import Call

from ..pipeline import Pipeline
from ..types import text_of


def call(module: str, function: str, inputs: tuple, keywords: dict[str, Any]) -> Any:
    """Records `function(inputs, keywords)` of `nvidia.dali.auto_aug.module`."""
    recorder = Pipeline._required(f"auto_aug.{module}.{function}")._recorder
    at = places.caller()
    recorder.modules.setdefault(f"nvidia.dali.auto_aug.{module}", set()).add(function)
    arguments = [("", recorder.value(text_of(one), at)) for one in inputs]
    arguments += [
        (name, recorder.value(text_of(value), at))
        for name, value in keywords.items()
        if value is not None
    ]
    return recorder.add(Call(function, arguments), place=at)
