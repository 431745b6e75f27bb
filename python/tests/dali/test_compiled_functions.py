"""Functions that numba and jax compile: what is wrong with a call, or with what they give.

What DALI does as well is in cases/compiled_functions.py.
"""

import importlib.util

import numpy as np
import pytest

import galatea.dali as dali
from galatea.dali import fn, types


def compiled(body, **options):
    settings = {"batch_size": 2, "num_threads": 1, "device_id": None, **options}
    return dali.pipeline_def(**settings)(body)().run()


def rows(*lengths):
    arrays = [np.arange(length, dtype=np.float32) for length in lengths]
    return fn.external_source(source=lambda: arrays, batch=True)


KINDS = {"in_types": [types.FLOAT], "ins_ndim": [1], "out_types": [types.FLOAT], "outs_ndim": [1]}


def copy(out, given):
    out[:] = given


def test_numba_that_is_not_there_says_so():
    if importlib.util.find_spec("numba") is not None:
        pytest.skip("SKIPPED: there is numba")
    from galatea.dali.plugin import numba

    with pytest.raises(ImportError, match="numba_function needs the package numba"):
        compiled(lambda: numba.fn.numba_function(rows(2, 2), run_fn=copy, **KINDS))


def shrink(outs, ins):
    for sample in range(len(outs[0])):
        outs[0][sample][0] = -1


@pytest.mark.parametrize(
    "change, error, message",
    [
        ({"in_types": [types.INT32]}, RuntimeError, "input 0 of .*copy.*float32 of 1.*int32 of 1"),
        ({"ins_ndim": [1, 2]}, ValueError, "`in_types` and `ins_ndim` .* 1 and 2 entries"),
        ({"out_types": [3]}, TypeError, "`out_types` .* holds 3"),
        ({"outs_ndim": [2]}, RuntimeError, "without `setup_fn`"),
        ({"outs_ndim": [-1]}, ValueError, "`outs_ndim` .* holds -1"),
        ({"setup_fn": shrink}, RuntimeError, "setup function .*shrink.* gave the extents"),
        ({"run_fn": 3}, TypeError, "`run_fn` .* is a int"),
        ({"device": "gpu"}, NotImplementedError, "memory of a GPU"),
        ({"colour": 1}, KeyError, "no argument `colour`"),
    ],
)
def test_numba_says_what_is_wrong(change, error, message):
    pytest.importorskip("numba")
    from galatea.dali.plugin import numba

    options = {"run_fn": copy, **KINDS, **change}
    with pytest.raises(error, match=message):
        compiled(lambda: numba.fn.numba_function(rows(2, 2), **options))


def test_numba_of_another_number_of_inputs():
    pytest.importorskip("numba")
    from galatea.dali.plugin import numba

    with pytest.raises(ValueError, match="takes 1 inputs, as `in_types` says, not 2"):
        compiled(lambda: numba.fn.numba_function(rows(2), rows(2), run_fn=copy, **KINDS))


def test_a_function_of_jax_names_its_line():
    pytest.importorskip("jax")
    from galatea.dali.plugin.jax.fn import jax_function

    @jax_function
    def divide(batch):
        return batch / {}["nothing"]

    line = divide.__wrapped__.__code__.co_firstlineno
    with pytest.raises(RuntimeError, match=rf"divide' \({__file__}:{line}\) failed: KeyError"):
        compiled(lambda: divide(rows(2, 2)))


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda batch: [batch, batch], "gave 2 outputs"),
        (lambda batch: batch.sum(), r"an array of extents \[\] on 1 devices"),
        (lambda batch: np.asarray(batch), "a ndarray as output 0, and not a jax array"),
    ],
)
def test_what_a_function_of_jax_may_not_give(function, message):
    pytest.importorskip("jax")
    from galatea.dali.plugin.jax.fn import jax_function

    with pytest.raises(RuntimeError, match=message):
        compiled(lambda: jax_function(function)(rows(2, 2)))


def test_a_function_of_jax_takes_one_array():
    pytest.importorskip("jax")
    from galatea.dali.plugin.jax.fn import jax_function

    with pytest.raises(RuntimeError, match=r"samples of extents \[\(2,\), \(3,\)\]"):
        compiled(lambda: jax_function(lambda batch: batch)(rows(2, 3)))


def test_a_function_of_jax_on_global_arrays():
    jax = pytest.importorskip("jax")
    from galatea.dali.plugin.jax.fn import jax_function

    if jax.local_device_count() != 1:
        pytest.skip("SKIPPED: needs one device a process")
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("batch",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))
    seen = []

    @jax_function(sharding=sharding)
    def double(batch):
        seen.append(batch.sharding)
        return batch * 2

    (out,) = compiled(lambda: double(rows(3, 3)))
    assert np.array_equal(out.as_array(), [[0, 2, 4]] * 2)
    assert set(seen) == {sharding}
    with pytest.raises(ValueError, match="jax.sharding.Sharding, not a int"):
        jax_function(double, sharding=3)
