"""Cases of the conformance suite: what `nvidia.dali` and `galatea.dali` must both give.

A case is a function of one argument, a `Modules`, that returns plain values, or arrays, tensors and
tensor lists, which `plain` makes plain. An exception that leaves it is a result too: the name of
its built-in class. `record.py` writes down what DALI gives; `test_conformance.py` compares.
"""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path
from typing import Any, Callable

CASES: dict[str, Callable] = {}
MODULES = (
    "names",
    "tensors",
    "arithmetic",
    "operators",
    "operator_forms",
    "pipelines",
    "graphs",
    "feeds",
    "fed_arguments",
    "workers",
    "sources",
    "readers",
    "reader_values",
    "sounds",
    "films",
    "iterators",
    "torch_iterators",
    "jax_iterators",
    "paddle_iterators",
    "tensorflow_datasets",
    "classes",
    "conditionals",
    "functions",
    "python_functions",
    "compiled_functions",
    "auto_aug",
    "programs",
    "function_programs",
    "source_programs",
    "checkpoint_programs",
    "conditional_programs",
    "iterator_programs",
    "parallel_programs",
    "tensor_programs",
    "node_forms",
    "operator_values",
    "media_values",
    "mistakes",
    "operator_inputs",
    "operand_pairs",
    "argument_forms",
    "tensor_methods",
    "pipeline_forms",
    "signatures",
    "orders",
    "dynamic",
    "dynamic_states",
    "corners",
    "random_programs",
    "checked_programs",
    "questions",
    "axes_and_extents",
    "boxes_and_masks",
    "sound_forms",
    "operand_forms",
    "error_words",
    "run_forms",
    "image_forms",
    "operator_checks",
    "refused_calls",
    "more_refused_calls",
    "value_checks",
    "pipeline_checks",
    "source_checks",
    "iterator_checks",
    "object_checks",
)


def case(function: Callable) -> Callable:
    """Registers a case under `module.function`."""
    CASES[f"{function.__module__.rsplit('.', 1)[-1]}.{function.__name__}"] = function
    return function


def each(*values: Any, **named: Any) -> Callable:
    """Registers a case for each value: `module.function[value]`, or `[name]` of a named one."""

    def register(function: Callable) -> Callable:
        base = f"{function.__module__.rsplit('.', 1)[-1]}.{function.__name__}"
        for label, value in [(str(value), value) for value in values] + list(named.items()):
            CASES[f"{base}[{label}]"] = lambda m, value=value: function(m, value)
        return function

    return register


def all_of(*values: Any, **named: Any) -> Callable:
    """Registers one case of all values: {name: what the function gives with it, or raises}.

    For functions that are quick: a process for each value would take longer than they do.
    """
    entries = {**{str(value): value for value in values}, **named}

    def register(function: Callable) -> Callable:
        name = f"{function.__module__.rsplit('.', 1)[-1]}.{function.__name__}"
        CASES[name] = lambda m: {
            label: m.attempt(lambda: function(m, value)) for label, value in entries.items()
        }
        return function

    return register


def load() -> dict[str, Callable]:
    """All cases by name."""
    for name in MODULES:
        importlib.import_module(f"{__name__}.{name}")
    return CASES


def error_name(error: BaseException) -> str:
    """The built-in class that an exception belongs to: modules may have subclasses of their own."""
    return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")


class Modules:
    """The modules under test, and what cases need beside them."""

    def __init__(self, root: str):
        import numpy

        self.np = numpy
        try:
            import torch  # noqa: F401  (here, so that not every forked case loads it)
        except ImportError:
            pass  # cases that need it say so
        self.root = root
        self.dali = importlib.import_module(root)
        for name in ("fn", "ops", "types", "math", "backend", "tensors", "pipeline", "data_node"):
            setattr(self, name, importlib.import_module(f"{root}.{name}"))
        self.Pipeline = self.dali.Pipeline
        self.pipeline_def = self.dali.pipeline_def
        self._folder = tempfile.TemporaryDirectory()

    def load(self, name: str) -> Any:
        """A module below the root."""
        return importlib.import_module(f"{self.root}.{name}")

    def raises(self, function: Callable) -> str:
        """The built-in class of what `function` raises; "nothing" where it returns."""
        try:
            function()
        except Exception as error:
            return error_name(error)
        return "nothing"

    def attempt(self, function: Callable) -> Any:
        """What `function` gives, or what it raises: for cases that try several things at once.

        A framework is loaded for each case, and that takes seconds.
        """
        try:
            return self.plain(function())
        except ImportError:
            raise  # the framework is not there: the case is skipped
        except Exception as error:
            is_tensorflow = type(error).__module__.startswith("tensorflow")
            return f"raises {'OpError' if is_tensorflow else error_name(error)}"

    def path(self, name: str) -> Path:
        """A path in a folder of this run's own."""
        return Path(self._folder.name) / name

    def files(self, count: int) -> str:
        """A folder of `count` files in two classes; file i holds the byte i three times."""
        root = self.path(f"files{count}")
        for i in range(count):
            folder = root / ("a" if i < (count + 1) // 2 else "b")
            path = folder / f"{i:03}.jpg"
            if not path.exists():  # a reader may have it in memory
                folder.mkdir(parents=True, exist_ok=True)
                path.write_bytes(bytes([i]) * 3)
        return str(root)

    def image(self, height: int, width: int, channels: int = 3, start: int = 0) -> Any:
        """An image whose pixels all differ from their neighbours."""
        count = height * width * channels
        flat = (self.np.arange(count) * 7 + start) % 251
        return flat.reshape(height, width, channels).astype(self.np.uint8)

    def run(self, body: Callable, batches: int = 1, **options: Any) -> list:
        """The outputs of a pipeline that `body` defines, made plain, batch after batch."""
        settings = {"batch_size": 2, "num_threads": 1, "device_id": None, **options}
        pipe = self.pipeline_def(**settings)(body)()
        pipe.build()
        return [self.plain(pipe.run()) for _ in range(batches)]

    def feed(self, *batches: Any, **options: Any) -> Any:
        """An external source that gives these batches."""
        return self.fn.external_source(source=list(batches), **options)

    def plain(self, value: Any) -> Any:
        """JSON's values for what a case gives."""
        np = self.np
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if np.isfinite(value) else str(value)
        if isinstance(value, np.generic):
            return self.plain(value.item())
        if isinstance(value, np.ndarray):
            return {
                "dtype": str(value.dtype),
                "shape": list(value.shape),
                "values": self.plain(value.flatten().tolist()),
            }
        if isinstance(value, bytes):
            return value.hex()
        if isinstance(value, (list, tuple)):
            return [self.plain(one) for one in value]
        if isinstance(value, dict):
            return {str(key): self.plain(one) for key, one in value.items()}
        if isinstance(value, type):
            return value.__name__
        if isinstance(value, self.tensors.TensorListCPU):
            samples = [self.plain(np.array(value.at(i))) for i in range(len(value))]
            return {"layout": value.layout(), "samples": samples}
        if isinstance(value, self.tensors.TensorCPU):
            return {"layout": value.layout(), "sample": self.plain(np.array(value))}
        if type(value).__module__.split(".")[0] == "torch":
            return {"torch": self.plain(value.numpy())}
        if type(value).__module__.split(".")[0] in ("jax", "jaxlib"):
            return {"jax": self.plain(np.asarray(value))}
        if type(value).__module__.split(".")[0] == "tensorflow":
            return {"tensorflow": self.plain(value.numpy())}
        if type(value).__module__.split(".")[0] == "paddle":
            return {"paddle": self.plain(np.array(value)), "lod": value.lod()}
        if hasattr(value, "name") and hasattr(value, "value"):
            return f"{type(value).__name__.lstrip('_')}.{value.name}"
        raise TypeError(f"a case gave {type(value)}")
