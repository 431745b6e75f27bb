"""In notebooks: %%galatea, errors without the library's frames, the tour; SKIPPED without IPython."""

import json
import pathlib
import re

import pytest

import galatea
from loader_support import FED, PHOTOS, TIMEOUT

TOUR = pathlib.Path(__file__).parents[2] / "examples" / "python" / "tour.ipynb"
COLOUR = re.compile(r"\033\[[\d;]*m")


@pytest.fixture
def shell(monkeypatch, tmp_path):
    """An IPython with the extension; its history is nowhere."""
    pytest.importorskip("IPython", reason="SKIPPED: IPython is not installed")
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance()
    made.history_manager.enabled = False
    made.run_line_magic("load_ext", "galatea")
    yield made
    InteractiveShell.clear_instance()


def run(shell, cell):
    """What a cell gives; it must be well."""
    done = shell.run_cell(cell)
    assert done.success, done.error_in_exec
    return done.result


def fails(shell, capsys, cell) -> list[str]:
    """The lines that IPython shows of a cell that fails, without their colours."""
    capsys.readouterr()
    assert not shell.run_cell(cell).success
    out, err = capsys.readouterr()
    return COLOUR.sub("", out + err).splitlines()


def test_a_cell_is_a_pipeline(shell, data):
    sheet = run(shell, f"%%galatea photos data={data} --samples 3\n{PHOTOS}")
    assert len(sheet) == 3 and sheet.columns == ("image", "label")
    pipe = shell.user_ns["photos"]
    assert isinstance(pipe, galatea.TextPipeline) and pipe.text.strip() == PHOTOS.strip()
    with galatea.Loader(pipe, batch_size=2) as loader:
        assert loader.next_batch()[0].shape == (2, 32, 48, 3)
    shell.user_ns["folder"] = data
    sheet = run(shell, f"%%galatea again --nodes data={{folder}} --draws 2\n{PHOTOS}")
    assert len(sheet) == 2 and "image_random_crop, line" in " ".join(sheet.columns)
    assert run(shell, f"%%galatea quiet data=nowhere --no-view\n{PHOTOS}") is None
    assert shell.user_ns["quiet"].parameters == {"data": "nowhere"}
    # What a host feeds has no samples yet: the text, and the types of the outputs.
    assert run(shell, f"%%galatea fed\n{FED}") is shell.user_ns["fed"]


def test_a_cell_with_marks(shell, capsys, data):
    marked = PHOTOS.replace(
        "return image, label",
        "boxes = types.Constant([[1.0, 2.0, 20.0, 30.0]])\n    return image, boxes, label",
    )
    assert "boxes" in marked
    sheet = run(
        shell,
        f"%%galatea m data={data} --samples 1 --boxes image=boxes --labels boxes=label\n{marked}",
    )
    (mark,) = sheet.cells[0][0].marks
    assert (mark.x0 * 48, mark.y1 * 32) == (1, 30) and mark.name.isdigit()
    lines = fails(shell, capsys, f"%%galatea m data={data} --points image\n{marked}")
    assert "--points image is not of the form NAME=NAME" in "\n".join(lines)


def test_the_cell_of_the_page(shell, data):
    page = (TOUR.parents[2] / "docs" / "python-notebooks.md").read_text(encoding="utf-8")
    (cell,) = re.findall(r"^%%galatea .*?(?=^```)", page, re.M | re.S)
    sheet = run(shell, cell.replace("data=photos", f"data={data}"))
    assert len(sheet) == 4 and sheet.columns[-2:] == ("output0", "label")
    assert sheet.cells[0][-2].picture.shape == (96, 96, 3)


def test_a_cell_that_is_wrong(shell, capsys, data):
    lines = fails(shell, capsys, f"%%galatea p data={data}\n{PHOTOS.replace('resize', 'rezise')}")
    assert lines[0] == "error[G0401]: there is no operator `fn.rezise`"
    # Lines are those of the cell, with the line of the magic.
    line = 2 + PHOTOS[: PHOTOS.index("resize")].count("\n")
    assert re.fullmatch(rf" *--> Cell In\[\d+\]:{line}:\d+", lines[1])
    assert "p" not in shell.user_ns
    for arguments, said in [
        ("3x", "'3x' is no name of a variable"),
        ("p data", "'data' is no parameter; write data=VALUE"),
        ("", "the following arguments are required: name"),
        ("p --sampels 3", "--sampels"),
        ("p --samples many", "invalid int value"),
    ]:
        assert said in "\n".join(fails(shell, capsys, f"%%galatea {arguments}\n{PHOTOS}"))


def test_an_error_shows_the_users_lines_alone(shell, capsys, data):
    shell.user_ns.update(galatea=galatea, text=PHOTOS)
    lines = fails(shell, capsys, "def made():\n    return galatea.Loader(text, siz=3)\nmade()")
    assert re.fullmatch(r"Cell In\[\d+\]:3  made\(\)", lines[0])
    assert re.fullmatch(r"Cell In\[\d+\]:2  return galatea.Loader\(text, siz=3\)", lines[1])
    assert lines[2] == "error[G0270]: no pipeline parameter `siz`"
    assert not any("galatea/" in line for line in lines)
    # An error of tracing, at the line of its cell.
    cell = "@galatea.pipeline_def\ndef p():\n    return galatea.fn.flop(3)\np()"
    lines = fails(shell, capsys, cell)
    assert "error: there is no operator `fn.flop`" in lines
    assert any(re.match(r" *--> Cell In\[\d+\]:3:", line) for line in lines)


def test_what_a_callable_raised_comes_first(shell, capsys):
    shell.user_ns.update(galatea=galatea)
    lines = fails(
        shell,
        capsys,
        "@galatea.pipeline_def(batch_size=1)\n"
        "def p():\n"
        "    def make(info): raise KeyError('no such thing')\n"
        "    return galatea.fn.external_source(make, batch=False, dtype=galatea.types.FLOAT, ndim=1)\n"
        "galatea.Loader(p()).next_batch()",
    )
    assert lines[0] == "Traceback (most recent call last):"
    assert sum(line.startswith("  File ") for line in lines) == 1
    assert "KeyError: 'no such thing'" in lines
    (said,) = [line for line in lines if line.startswith("error[G0976]")]
    assert re.search(r"'p.<locals>.make' \(Cell In\[\d+\]:3\)", said)


def test_bugs_keep_their_frames(shell, capsys):
    shell.user_ns["bug"] = galatea.InternalError("broken")
    lines = fails(shell, capsys, "raise bug")
    assert "Traceback (most recent call last):" in lines[0] and "broken" in lines[-1]


def test_messages_are_coloured():
    from galatea.display import marked

    text = "error[G0403]: no <x>\n --> a.py:6:1\n  |\n6 |  f(^2) - 1\n  |  ^^ here --- from\n  = help: y\n"
    parts = marked.of_message(text)
    assert "".join(part for _, part in parts) == text
    assert [part for mark, part in parts if mark == "error"] == ["error[G0403]", "^^ here "]
    assert ("margin", "--- from\n") in parts and ("", "  f(^2) - 1\n") in parts
    shown = marked.ansi(parts)
    assert COLOUR.sub("", shown) == text and "\033[1;31m^^ here \033[0m" in shown
    assert "no &lt;x&gt;" in marked.html(parts)
    for source in (PHOTOS, "x = '''open", "\tif x:\n  y", ""):
        parts = marked.of_source(source)
        assert "".join(part for _, part in parts) == source
    assert ("keyword", "def") in marked.of_source(PHOTOS)


def test_the_tour_is_clean():
    text = TOUR.read_text(encoding="utf-8")
    notebook = json.loads(text)
    assert text == json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    assert len(text) < 20_000
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None


def test_the_tour(tmp_path):
    """Runs in a kernel; so does an error, since what kernels show is not what terminals do."""
    nbformat = pytest.importorskip("nbformat", reason="SKIPPED: nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="SKIPPED: nbclient is not installed")
    pytest.importorskip("ipykernel", reason="SKIPPED: ipykernel is not installed")
    notebook = nbformat.read(TOUR, 4)
    wrong = nbformat.v4.new_code_cell("galatea.Loader(wrong(photos))")
    wrong.metadata["tags"] = ["raises-exception"]
    notebook.cells.append(wrong)
    client = nbclient.NotebookClient(
        notebook, timeout=TIMEOUT, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    client.execute()
    pages = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            html = output.get("data", {}).get("text/html")
            if html:
                pages.setdefault(cell.source.splitlines()[-1].strip(), []).append(html)
    shown = {last: sum(page.count("<img") for page in found) for last, found in pages.items()}
    assert shown == {
        "pipe": 0,
        "galatea.view(pipe, samples=4, nodes=True)": 20,
        "sheet": 6,
        "loader": 0,
        "batch": 8,
        "display(error)": 0,
        "galatea.view(augmented(photos), draws=8)": 8,
        "return fn.resize(image, size=[size, size]), label": 6,
    }
    (error,) = [output for output in wrong.outputs if output.output_type == "error"]
    lines = COLOUR.sub("", "\n".join(error.traceback)).splitlines()
    assert re.fullmatch(r"Cell In\[\d+\]:1  galatea.Loader\(wrong\(photos\)\)", lines[0])
    assert lines[1] == "error[G0403]: `fn.flip` has no argument `horisontal`"
    assert re.fullmatch(r" *--> Cell In\[\d+\]:5:\d+", lines[2])
