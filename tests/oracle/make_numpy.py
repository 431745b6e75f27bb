"""Records what numpy prints for tests/golden/numpy. usage: python3 tests/oracle/make_numpy.py (needs numpy)

Writes <name>.out beside each <name>.dali-dsl; its first line names the version.
"""
import contextlib
import glob
import io
import os

import numpy

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "numpy")
for path in sorted(glob.glob(folder + "/*.dali-dsl")):
    captured = io.StringIO()
    with contextlib.redirect_stdout(captured), numpy.errstate(all="ignore"):
        exec(compile(open(path).read(), path, "exec"), {"__name__": "m"})
    with open(path.replace(".dali-dsl", ".out"), "w") as out:
        out.write(f"numpy {numpy.__version__}\n{captured.getvalue()}")
