"""What the plugins do beyond DALI's, or what cases cannot show: addresses, devices, ends, errors.

What DALI does as well is in cases/*_iterators.py and cases/tensorflow_datasets.py.
"""

import importlib.util
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import galatea.dali as dali
from galatea.dali import fn, types

TIMEOUT = 240


def run_python(text, *arguments):
    """Runs a program in a process of its own; gives what it wrote."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(text), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def need_tensorflow():
    """Skips where there is no tensorflow; does not load it: paddle crashes behind it."""
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("tensorflow is not installed")


@pytest.fixture
def files(tmp_path):
    """Eight files in two folders; file i holds the byte i three times."""
    for i in range(8):
        folder = tmp_path / "files" / ("a" if i < 4 else "b")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{i}.jpg").write_bytes(bytes([i]) * 3)
    return tmp_path / "files"


def labels_of(files):
    """A pipeline of one output, which is dense: labels of batches of two."""
    pipe = dali.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        _, labels = fn.readers.file(file_root=files)
        pipe.set_outputs(labels)
    return pipe


# Addresses: what an iterator gives is the memory of the pipeline's outputs.


def lists_of(iterator):
    """Has an iterator note the tensor lists that it makes its batches of."""
    noted, get = [], iterator._get_outputs

    def noting():
        noted.append(get())
        return noted[-1]

    iterator._get_outputs = noting
    return noted


def test_addresses_of_torch(files):
    pytest.importorskip("torch")
    from galatea.dali.plugin import pytorch

    it = pytorch.DALIGenericIterator(labels_of(files), ["x"], prepare_first_batch=False)
    noted = lists_of(it)
    tensors = [next(it)[0]["x"] for _ in range(3)]
    assert [one.data_ptr() for one in tensors] == [lists[0][0].data_ptr() for lists in noted]
    assert [one[0, 0].item() for one in tensors] == [0, 0, 1]


def test_addresses_of_torch_lists(files):
    pytest.importorskip("torch")
    from galatea.dali.plugin import pytorch

    cls = pytorch.DALIRaggedIterator
    it = cls(labels_of(files), ["x"], output_types=[cls.SPARSE_LIST_TAG], prepare_first_batch=False)
    noted = lists_of(it)
    samples = next(it)[0]["x"]
    assert [one.data_ptr() for one in samples] == [one.data_ptr() for one in noted[0][0][0]]


def test_addresses_of_paddle(files):
    pytest.importorskip("paddle")
    from galatea.dali.plugin import paddle

    it = paddle.DALIGenericIterator(labels_of(files), ["x"], prepare_first_batch=False)
    noted = lists_of(it)
    tensor = next(it)[0]["x"]
    # paddle's own arrays are copies: what is written shows where the tensor looks.
    noted[0][0][0].at(0)[0] = 77
    assert np.array(tensor)[0, 0] == 77


def test_addresses_of_jax(files):
    pytest.importorskip("jax")
    from galatea.dali.plugin import jax

    it = jax.DALIGenericIterator(labels_of(files), ["x"], prepare_first_batch=False)
    noted = lists_of(it)
    array = next(it)["x"]
    assert array.unsafe_buffer_pointer() == noted[0][0][0].data_ptr()


# jax over devices.


def test_jax_over_devices(files):
    pytest.importorskip("jax")
    out = run_python(
        """
        import os, sys
        os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
        import jax, numpy as np
        from galatea.dali import fn
        from galatea.dali.plugin.jax import data_iterator

        def define(shard_id, num_shards):
            data, _ = fn.readers.file(
                file_root=sys.argv[1], shard_id=shard_id, num_shards=num_shards, name="Reader")
            return data

        options = dict(output_map=["data"], reader_name="Reader")
        mesh = jax.sharding.Mesh(np.array(jax.devices()), ("batch",))
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))
        for batch in data_iterator(define, sharding=sharding, **options)(batch_size=4):
            array = batch["data"]
            parts = {one.device.id: np.asarray(one.data)[:, 0].tolist()
                     for one in array.addressable_shards}
            print("sharded", array.shape, array.sharding == sharding, sorted(parts.items()))
        for batch in data_iterator(define, devices=jax.devices(), **options)(batch_size=4):
            print("pmap", batch["data"].shape, batch["data"][..., 0].tolist())
        two = jax.sharding.SingleDeviceSharding(jax.devices()[0])
        try:
            data_iterator(define, sharding=two, **options)(batch_size=4)
        except AssertionError as error:
            print(error)
        """,
        files,
    )
    lines = [line for line in out.splitlines() if line.startswith(("sharded", "pmap", "2 "))]
    assert lines == [
        "sharded (4, 3) True [(0, [0, 1]), (1, [4, 5])]",
        "sharded (4, 3) True [(0, [2, 3]), (1, [6, 7])]",
        "pmap (2, 2, 3) [[0, 1], [4, 5]]",
        "pmap (2, 2, 3) [[2, 3], [6, 7]]",
        "2 pipelines for 1 devices of `sharding`: make one for each",
    ]


def test_jax_is_nonpadding_needs_a_reader(files):
    pytest.importorskip("jax")
    from galatea.dali.plugin.jax import clu

    it = clu.DALIGenericPeekableIterator(labels_of(files), ["x"])
    next(it)
    with pytest.raises(RuntimeError, match="reader_name"):
        it.is_nonpadding


def test_jax_needs_names():
    pytest.importorskip("jax")
    from galatea.dali.plugin.jax import data_iterator

    with pytest.raises(ValueError, match="output_map"):
        data_iterator(lambda: None)


# Names that are there, and raise where they are used.


def test_what_is_not_there_says_so():
    pytest.importorskip("torch")
    from galatea.dali.plugin.pytorch import loader_evaluator

    name = "plugin.pytorch.loader_evaluator.LoaderEvaluator"
    with pytest.raises(NotImplementedError, match=f"nvidia.dali.{name} is not in galatea"):
        loader_evaluator.LoaderEvaluator(None)


# The proxy.


def server(batch_size=3, **options):
    from galatea.dali.plugin.pytorch.experimental import proxy

    pipe = dali.Pipeline(batch_size=batch_size, num_threads=1, device_id=None)
    with pipe:
        a = fn.external_source(name="a", dtype=types.INT32, ndim=1)
        pipe.set_outputs(a * 2)
    return proxy.DALIServer(pipe, **options)


class Numbers:
    """A data set of `count` samples: what the transform makes of [i, i], and i."""

    def __init__(self, transform, count=7):
        self.transform, self.count = transform, count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return self.transform(np.full(2, i, np.int32)), i


def test_proxy_without_workers():
    pytest.importorskip("torch")
    from galatea.dali.plugin.pytorch.experimental import proxy

    with server() as made:
        loader = proxy.DataLoader(made, Numbers(made.proxy), batch_size=3)
        for _ in range(2):
            got = [(x[:, 0].tolist(), i.tolist()) for x, i in loader]
            assert got == [([0, 2, 4], [0, 1, 2]), ([6, 8, 10], [3, 4, 5]), ([12], [6])]


def test_proxy_with_spawned_workers():
    pytest.importorskip("torch")
    from galatea.dali.plugin.pytorch.experimental import proxy

    with server() as made:
        loader = proxy.DataLoader(
            made,
            Numbers(made.proxy),
            batch_size=3,
            num_workers=1,
            multiprocessing_context="spawn",
        )
        assert [x[:, 0].tolist() for x, _ in loader] == [[0, 2, 4], [6, 8, 10], [12]]


def test_proxy_epochs_that_are_left_early():
    """What workers sent for an epoch that was left does not turn up in the next one."""
    pytest.importorskip("torch")
    from galatea.dali.plugin.pytorch.experimental import proxy

    with server(1) as made:
        loader = proxy.DataLoader(made, Numbers(made.proxy, 12), batch_size=1, num_workers=2)
        for _ in range(3):
            for x, i in loader:
                assert x[0, 0] == 2 * i[0]
                if i[0] == 2:
                    break


def test_proxy_errors_belong_to_their_batch():
    pytest.importorskip("torch")
    from torch.utils.data import default_collate

    with server() as made:
        good = default_collate([made.proxy(np.full(2, 1, np.int32))])
        bad = default_collate([made.proxy(np.full(2, 1, np.float64))])
        after = default_collate([made.proxy(np.full(2, 3, np.int32))])
        assert made.produce_data(after)[0, 0] == 6
        with pytest.raises(RuntimeError, match="FLOAT64"):
            made.produce_data(bad)
        assert made.produce_data(good)[0, 0] == 2


def test_proxy_server_that_does_not_run():
    pytest.importorskip("torch")
    from torch.utils.data import default_collate

    made = server()
    given = default_collate([made.proxy(np.zeros(2, np.int32))])
    with pytest.raises(RuntimeError, match="does not run"):
        made.produce_data(given)
    with made:
        assert made.produce_data(given).tolist() == [[0, 0]]
    made.stop_thread()


def test_a_program_ends_with_a_running_server():
    pytest.importorskip("torch")
    here = Path(__file__).parent
    out = run_python(f"""
        import sys
        sys.path.insert(0, {str(here)!r})
        from test_plugins import server
        made = server()
        made.start_thread()
        print("end")
        """)
    assert out.splitlines()[-1] == "end"


# tensorflow.


def test_tensorflow_sessions_end_with_their_iteration(files):
    """Each iteration runs a pipeline of its own, and leaves no threads behind."""
    need_tensorflow()
    out = run_python(
        """
        import gc, os, sys
        import tensorflow as tf
        import galatea.dali as dali
        from galatea.dali import fn
        from galatea.dali.plugin import tf as plugin
        pipe = dali.Pipeline(batch_size=2, num_threads=2, device_id=None)
        with pipe:
            pipe.set_outputs(*fn.readers.file(file_root=sys.argv[1]))
        made = plugin.DALIDataset(pipe, (tf.uint8, tf.int32), batch_size=2, num_threads=2)
        def run(times):
            for _ in range(times):
                assert len(list(made.take(3))) == 3
            gc.collect()
            return len(os.listdir("/proc/self/task"))
        before = run(3)
        print("threads", run(20) - before)
        """,
        files,
    )
    assert int(out.splitlines()[-1].split()[1]) <= 2


def test_tensorflow_refuses_sparse_outputs(files):
    need_tensorflow()
    out = run_python("""
        from galatea.dali.plugin import tf as plugin
        try:
            plugin.DALIIterator()(serialized_pipeline=b"", sparse=[True], shapes=[(1,)])
        except NotImplementedError as error:
            print(error)
        """)
    assert "sparse" in out


def test_sums_of_bytes_become_tensors_of_torch():
    torch = pytest.importorskip("torch")
    from galatea.dali.plugin.pytorch import DALIGenericIterator

    pipe = dali.Pipeline(2, 1, None)
    with pipe:
        data = fn.external_source(lambda: [np.uint8([1, 2]), np.uint8([250, 251])])
        pipe.set_outputs(fn.reductions.sum(data))
    (batch,) = next(DALIGenericIterator(pipe, ["sum"], size=2))
    assert batch["sum"].dtype == torch.uint64
    assert batch["sum"].tolist() == [3, 501]
