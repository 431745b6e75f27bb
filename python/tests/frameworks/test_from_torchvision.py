"""docs/from-torchvision.md: lines of its table against torchvision, on one picture.

Compared are lines without draws, and those with them at an end of their range; torchvision is
SKIPPED where it is not installed (`./dev test --frameworks` does not install it).
"""

import pathlib
import re

import numpy as np
import pytest

import galatea

PAGE = (pathlib.Path(__file__).parents[3] / "docs" / "from-torchvision.md").read_text()

TEXT = """
from galatea import pipeline_def, fn, types

@pipeline_def(batch_size=1, num_threads=1)
def p():
    image = fn.external_source(name="image", dtype=types.UINT8, layout="HWC")
    return {line}
"""

# The transform on the page: (the same as a call, what is put in place of draws, levels apart).
ROWS = {
    "Resize(256)": ("v2.Resize(256)", {}, 1),
    "Resize((224, 320))": ("v2.Resize((224, 320))", {}, 1),
    "Resize(None, max_size=256)": ("v2.Resize(None, max_size=256)", {}, 2),
    "Resize(256, antialias=False)": ("v2.Resize(256, antialias=False)", {}, 1),
    "CenterCrop(224)": ("v2.Compose([v2.Resize(256), v2.CenterCrop(224)])", {}, 1),
    "RandomHorizontalFlip()": ("v2.RandomHorizontalFlip(1)", {"fn.random.coin_flip()": "1"}, 0),
    "RandomVerticalFlip(0.3)": (
        "v2.RandomVerticalFlip(1)",
        {"fn.random.coin_flip(probability=0.3)": "1"},
        0,
    ),
    "Grayscale(1)": ("v2.Grayscale(1)", {}, 1),
    "Grayscale(3)": ("v2.Grayscale(3)", {}, 2),
    "GaussianBlur(5, (0.1, 2.0))": (
        "v2.GaussianBlur(5, (2.0, 2.0))",
        {"fn.random.uniform(range=[0.1, 2.0])": "2.0"},
        1,
    ),
    "RandomInvert()": ("v2.RandomInvert(1)", {"fn.random.coin_flip()": "True"}, 0),
    "RandomSolarize(128)": ("v2.RandomSolarize(128, 1)", {"fn.random.coin_flip()": "True"}, 0),
    "Pad(8)": ("v2.Pad(8)", {}, 0),
    "Normalize(mean, std)": (
        "v2.Compose([v2.ToDtype(torch.float32, scale=True), "
        "v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])",
        {},
        1e-5,
    ),
    "ToTensor()": ("v2.ToDtype(torch.float32, scale=True)", {}, 1e-6),
}


def line_of(name):
    """What the page has beside a transform: the first code of its second cell."""
    row = next(row for row in PAGE.splitlines() if row.startswith(f"| `{name}`"))
    return re.match(r"\| .*? \| `(.*?)`", row)[1]


@pytest.fixture(scope="module")
def picture():
    """Waves of several lengths, so that filters matter; halves as high as wide: no rounding."""
    rows, columns = np.mgrid[0:300, 0:600]
    waves = [np.sin(rows / a) * np.cos(columns / b) for a, b in ((9, 17), (23, 5), (40, 31))]
    return np.stack([127.5 + 120 * wave for wave in waves], axis=-1).round().astype(np.uint8)


@pytest.mark.parametrize("name", ROWS)
def test_row(torch, picture, name):
    pytest.importorskip("torchvision")
    from torchvision.transforms import v2

    call, fixed, tolerance = ROWS[name]
    line = line_of(name)
    for draw, value in fixed.items():
        assert draw in line
        line = line.replace(draw, value)
    assert "random" not in line
    with galatea.Loader(TEXT.format(line=line)) as loader:
        loader.feed("image", [picture])
        ours = loader.next_batch()[0][0].numpy()
    planes = torch.from_numpy(picture).permute(2, 0, 1)
    theirs = eval(call, {"v2": v2, "torch": torch})(planes).numpy()
    if ours.shape[0] != theirs.shape[0]:
        theirs = theirs.transpose(1, 2, 0)
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    apart = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
    assert apart.max() <= tolerance, f"{apart.max()} apart, {np.mean(apart > tolerance):.3%}"


def test_extents_are_rounded(torch, picture):
    """The page: where the proportion is not whole, torchvision truncates, and this rounds."""
    pytest.importorskip("torchvision")
    from torchvision.transforms import v2

    planes = torch.zeros((3, 301, 403), dtype=torch.uint8)
    assert v2.Resize(256)(planes).shape == (3, 256, 342)
    with galatea.Loader(TEXT.format(line=line_of("Resize(256)"))) as loader:
        loader.feed("image", [planes.permute(1, 2, 0).numpy().copy()])
        assert loader.next_batch()[0][0].shape == (256, 343, 3)


def test_labels_are_those_of_image_folder(data):
    pytest.importorskip("torchvision")
    from torchvision import datasets
    from loader_support import RAGGED

    found = [label for _, label in datasets.ImageFolder(data).samples]
    with galatea.Loader(RAGGED, data=data) as loader:
        ours = [int(label) for batch in loader for label in batch["label"].numpy()[:, 0]]
    assert ours == found
