"""`galatea.cuda_kernel` in Python: the text that is traced, a file beside, and errors."""

import numpy as np
import pytest

import galatea
from galatea import fn, pipeline_def

SCALE = """
__global__ void scale(galatea::Tensor<const float, 1> x, float by, galatea::Tensor<float, 1> y) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < x.extent(0)) y(k) = x(k) * by;
}
"""
scale = galatea.cuda_kernel(
    source=SCALE, name="scale", inputs=["x: f32[n]", "by: f32"], outputs=["y: f32[n]"]
)


def test_inline_text_and_numbers():
    @pipeline_def(batch_size=2, num_threads=1)
    def p():
        x = fn.constant(fdata=[1.0, 2.0, 3.0], shape=[3])
        return scale(x, 2.5), scale(x, fn.reductions.max(x))

    text = p().text
    assert "galatea.cuda_kernel(" in text
    assert text.count("__global__") == 1, "two calls share a constant"
    with galatea.Loader(p(), backend="interpreter") as loader:
        a, b = next(iter(loader))
        assert np.asarray(a[0]).tolist() == [2.5, 5.0, 7.5]
        assert np.asarray(b[1]).tolist() == [3.0, 6.0, 9.0]


def test_a_file_beside_and_several_outputs(tmp_path):
    (tmp_path / "both.cu").write_text(
        "__global__ void both(galatea::Tensor<const float, 1> x, galatea::Tensor<float, 1> y,\n"
        "                     galatea::Tensor<int, 0> n) {\n"
        "  y(threadIdx.x) = -x(threadIdx.x);\n  if (threadIdx.x == 0) n() = x.extent(0);\n}\n"
    )
    (tmp_path / "own.py").write_text(
        "import galatea\nfrom galatea import fn, pipeline_def\n"
        "both = galatea.cuda_kernel(source='both.cu', name='both', inputs='x: f32[3]',\n"
        "    outputs=['y: f32[3]', 'n: i32[]'], launch='<<<1, 3>>>')\n"
        "@pipeline_def(batch_size=1, num_threads=1)\ndef p():\n"
        "    y, n = both(fn.constant(fdata=[1.0, 2.0, 3.0], shape=[3]))\n    return y, n\n"
    )
    names: dict = {}
    path = str(tmp_path / "own.py")
    exec(compile((tmp_path / "own.py").read_text(), path, "exec"), names)
    with galatea.Loader(names["p"](), backend="interpreter") as loader:
        y, n = next(iter(loader))
        assert np.asarray(y[0]).tolist() == [-1.0, -2.0, -3.0]
        assert int(np.asarray(n[0])) == 3


def test_errors():
    with pytest.raises(galatea.TraceError, match="cannot read .*nowhere.cu"):
        galatea.cuda_kernel(source="nowhere.cu", name="x", outputs="y: f32[1]")
    with pytest.raises(galatea.TraceError, match="has no option `input`"):
        galatea.cuda_kernel(source=SCALE, name="x", outputs="y: f32[1]", input="z")
    with pytest.raises(galatea.TraceError, match="`name` of .* is a string"):
        galatea.cuda_kernel(source=SCALE, name=scale, outputs="y: f32[1]")


def test_the_compilers_errors_are_at_lines_of_this_file():
    wrong = galatea.cuda_kernel(
        name="wrong",
        outputs="y: f32[1]",
        source="""
__global__ void wrong(galatea::Tensor<float, 1> y) {
  y(0) = nothing;  // here
}
""",
    )

    @pipeline_def(batch_size=1, num_threads=1)
    def p():
        return wrong()

    with pytest.raises(galatea.UserError) as caught:
        with galatea.Loader(p(), backend="interpreter") as loader:
            next(iter(loader))
    line = next(
        number
        for number, text in enumerate(open(__file__), 1)
        if "y(0) = nothing;  // here\n" == text.strip() + "\n"
    )
    assert f"test_cuda_kernel.py:{line}" in str(caught.value)
