"""`nvidia.dali.plugin.jax.fn`: functions of jax inside a pipeline, which galatea has not."""

from ...names import missing


def jax_function(*_, **__):
    """`nvidia.dali.plugin.jax.fn.jax_function`, which raises NotImplementedError."""
    missing("plugin.jax.fn.jax_function", "python_function")
