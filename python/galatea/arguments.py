"""What a loader is given, checked, and as the compiler takes it: options, shards, the source."""

import numbers
import os

__all__ = ["PROGRAM_OPTIONS", "arguments_of", "check_kinds", "parameter_texts", "shard_parameters"]

PROGRAM_OPTIONS = (
    "pipeline batch_size num_threads prefetch_depth seed exact on_error memory_limit backend "
    "device decoder tiers import_root limits policies input_types nodes draw"
).split()
# Options that nanobind would refuse without naming them.
_KINDS = {
    "a whole number": (
        numbers.Integral,
        "batch_size num_threads prefetch_depth seed memory_limit epochs max_held_batches".split(),
    ),
    "a text": (str, "pipeline on_error backend device decoder tiers".split()),
    "True or False": ((bool, int), ["exact"]),
}


def check_kinds(options):
    """TypeError where the value of an option is not of its kind."""
    for kind, (accepted, names) in _KINDS.items():
        for name in names:
            value = options.get(name)
            if value is not None and not isinstance(value, accepted):
                raise TypeError(f"{name} is {value!r}; it must be {kind}")


def shard_parameters(shard):
    """The pipeline's parameters of `Loader(shard=…)`."""
    if shard is None:
        return {}
    if shard == "torch":
        import torch.distributed as distributed

        if not (distributed.is_available() and distributed.is_initialized()):
            raise RuntimeError("shard='torch': call torch.distributed.init_process_group() first")
        shard = distributed.get_rank(), distributed.get_world_size()
    elif shard == "jax":
        import jax

        shard = jax.process_index(), jax.process_count()
    try:
        number, count = (int(value) for value in shard)
    except (TypeError, ValueError):
        raise ValueError(f"shard is {shard!r}; give (number, count), 'torch' or 'jax'") from None
    if not 0 <= number < count:
        raise ValueError(f"shard is ({number}, {count}); its number must be in 0 … {count - 1}")
    return {"shard_id": number, "num_shards": count} if count > 1 else {}


def arguments_of(source, options, parameters):
    """(arguments of _c.Program, sources of its inputs, Pipeline) of what a loader was given."""
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    if isinstance(source, str):
        texts = parameter_texts(parameters)
        if "\n" in source:
            return {"text": source, "file_name": "<text>", "parameters": texts, **options}, {}, None
        return {"path": source, "parameters": texts, **options}, {}, None
    source = getattr(source, "galatea_pipeline", source)  # of a galatea.dali.Pipeline
    if not hasattr(source, "compile_arguments"):
        if not callable(source):
            raise TypeError(
                "a loader takes a path, a text, a Pipeline or a function made by pipeline_def, "
                f"not {type(source).__name__}"
            )
        made = source(**parameters)
        if not hasattr(made, "compile_arguments"):
            raise TypeError(f"{source!r} gave {type(made).__name__}; decorate it by pipeline_def")
        source = made
    elif parameters:
        if not hasattr(source, "with_parameters"):
            names = ", ".join(parameters)
            raise TypeError(
                f"the Pipeline has its parameters already; give {names} where it is made"
            )
        source = source.with_parameters(parameters)
    return {**source.compile_arguments(), **options}, dict(source.sources), source


def parameter_texts(parameters) -> dict[str, str]:
    """Parameters of a text as the compiler reads them."""
    return {name: _literal(name, value) for name, value in parameters.items()}


def _literal(name, value):
    """A parameter's value as text of the language; text stays as it is."""
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    item = getattr(value, "tolist", None)
    value = item() if item is not None else value
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_element(name, item) for item in value) + "]"
    raise TypeError(
        f"parameter '{name}' is {type(value).__name__}; give a number, a text, a path or a list"
    )


def _element(name, value):
    return repr(value) if isinstance(value, str) else _literal(name, value)
