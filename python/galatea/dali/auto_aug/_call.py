"""Calls of the language's own `nvidia.dali.auto_aug`, in the current pipeline."""

from __future__ import annotations

import inspect
from typing import Any, Callable

from galatea.trace import place as places
from galatea.trace.expression import Call

from ..pipeline import Pipeline
from ..types import text_of


def call(module: str, function: Callable, data: Any, keywords: dict[str, Any]) -> Any:
    """Records a call of the function of `nvidia.dali.auto_aug.module` that `function` stands for.

    Arguments that are the defaults of `function` are left out.
    """
    name = function.__name__
    recorder = Pipeline._required(f"auto_aug.{module}.{name}")._recorder
    at = places.caller()
    recorder.modules.setdefault(f"nvidia.dali.auto_aug.{module}", set()).add(name)
    arguments = [("", recorder.value(text_of(data), at))]
    parameters = inspect.signature(function).parameters
    arguments += [
        (key, recorder.value(text_of(value), at))
        for key, value in keywords.items()
        if not _is(value, parameters[key].default)
    ]
    return recorder.add(Call(name, arguments), place=at)


def _is(value: Any, default: Any) -> bool:
    return type(value) is type(default) and value == default
