"""Memory that runs out in a process of Python is an error, and what comes behind it is right."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

INJECTOR = pathlib.Path(os.environ.get("GALATEA_BUILD", "build")) / "lib" / "libfault_injector.so"

PIPELINE = """
    import ctypes, sys
    import numpy as np
    from galatea.dali import fn, pipeline_def

    @pipeline_def(batch_size=2, num_threads=2, device_id=None, seed=7)
    def drawn():
        return fn.random.uniform(range=[0.0, 1.0], shape=[3])

    def numbers():
        pipe = drawn()
        pipe.build()
        return [np.asarray(pipe.run()[0].as_array()).tolist() for _ in range(3)]

    arm = ctypes.CDLL(None).galatea_fault_arm
    expected = numbers()
    for number in map(int, sys.argv[1:]):
        found = expected
        arm(b"alloc", number, 1)
        try:
            found = numbers()
        except Exception:
            pass
        arm(b"", 0, 0)
        assert found == expected, number
        assert numbers() == expected, number
    print("right")
"""


@pytest.mark.skipif(not INJECTOR.exists(), reason="the library that makes allocations fail is not built here")
def test_memory_that_runs_out_is_an_exception(tmp_path):
    script = tmp_path / "drawn.py"
    script.write_text(textwrap.dedent(PIPELINE))
    numbers = [str(number) for number in (10, 100, 300, 702, 1403, 3000, 9000)]
    done = subprocess.run(
        [sys.executable, script, *numbers],
        env={**os.environ, "LD_PRELOAD": str(INJECTOR)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 and done.stdout.strip() == "right", done.stderr
