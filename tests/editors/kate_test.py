"""Kate's own highlighter knows our files by kate.xml, and kate.json names that language alone."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

SOURCE = pathlib.Path(os.environ["GALATEA_SOURCE"])


def highlighted(file: pathlib.Path, data: pathlib.Path) -> str:
    environment = {**os.environ, "XDG_DATA_HOME": str(data), "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.run(
        ["kate-syntax-highlighter", file], env=environment, capture_output=True, text=True, check=True
    ).stdout


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder)
        syntax = data / "org.kde.syntax-highlighting/syntax"
        syntax.mkdir(parents=True)
        shutil.copy(SOURCE / "editors/kate.xml", syntax / "galatea.xml")
        page = highlighted(SOURCE / "examples/01_hello.dali-dsl", data)
        assert "Definition (galatea)" in page, page[:400]
        for word in ("# Hello: read photographs", "def", "@pipeline_def"):
            assert re.search(f'<span style="[^"]+">{word}', page), word
        python = data / "a.py"
        python.write_text("x = 1\n")
        assert "Definition (Python)" in highlighted(python, data)
    server = json.loads((SOURCE / "editors/kate.json").read_text())["servers"]["galatea"]
    assert re.search(server["highlightingModeRegex"], "galatea")
    assert not re.search(server["highlightingModeRegex"], "Python"), "files of Python have a server of their own"


if __name__ == "__main__":
    main()
