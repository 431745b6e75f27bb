"""The page of `galatea serve` as people use it."""

import io
import itertools
import os
import pathlib
import shutil

import pytest
from PIL import Image

from conftest import PIPELINE, SAMPLES

DOCS = pathlib.Path(__file__).parents[2] / "docs/pictures"


def wait_for_pictures(page):
    """All pictures of the table are there, and decoded."""
    page.wait_for_function(
        """() => { const all = [...document.querySelectorAll('#pictures img')];
                   return all.length > 0 && all.every((image) => image.complete && image.naturalWidth > 0); }"""
    )


def wait_for_text(page, selector, text):
    page.wait_for_function(
        "([selector, text]) => document.querySelector(selector)?.textContent.includes(text)", arg=[selector, text]
    )


def captions(page):
    return page.locator("#pictures .cell .caption").all_text_contents()


def take_picture(page, name):
    """For docs/, where the tests are told to write what they expect."""
    if os.environ.get("GALATEA_BLESS", "0") not in ("", "0"):
        DOCS.mkdir(exist_ok=True)
        page.set_viewport_size({"width": 1000, "height": 760})
        shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        shot.quantize(128).save(DOCS / f"{name}.png", optimize=True)  # a fourth of the bytes


def set_size(page, size):
    """Of the pipeline's parameter, not of the pictures on the page."""
    field = page.locator("[data-parameter=size] input[type=number]")
    field.fill(str(size))
    field.press("Enter")


def test_pictures_have_the_pixels_that_are_shown(serve, open_page, pipeline):
    page = open_page(serve(pipeline))
    wait_for_pictures(page)
    longest = "Math.max(...[...document.querySelectorAll('#pictures img')].map((i) => Math.max(i.naturalWidth, i.naturalHeight)))"
    assert page.evaluate(longest) <= 160
    page.locator("#size").fill("256")
    page.wait_for_function(f"{longest} === 256")


def test_shows_samples_in_rows_and_variables_in_columns(serve, open_page, pipeline):
    page = open_page(serve(pipeline))
    wait_for_pictures(page)
    assert "train" in page.locator("#title").text_content()
    assert page.locator("#pictures tbody tr").count() == 4
    heads = page.locator("#pictures thead th").all_text_contents()
    assert any("decoders.image" in head for head in heads) and any("rotate" in head for head in heads)
    assert page.locator("#graph svg").count() == 1
    assert page.locator("#problems").is_hidden()
    take_picture(page, "serve")


def test_a_parameter_changes_the_pictures(serve, open_page, pipeline):
    page = open_page(serve(pipeline))
    wait_for_pictures(page)
    assert any("64x64x3" in caption for caption in captions(page))
    set_size(page, 32)
    page.wait_for_function("() => document.querySelector('#pictures').textContent.includes('32x32x3')")
    page.get_by_role("switch", name="flipped").check()
    page.wait_for_function("() => document.querySelector('#pictures thead').textContent.includes('flip')")


def test_follows_the_file_through_a_mistake(serve, open_page, pipeline):
    page = open_page(serve(pipeline))
    wait_for_pictures(page)
    right = pipeline.read_text()
    pipeline.write_text(right.replace("angle=", "angel="))
    page.wait_for_selector("#problems:not([hidden])")
    words = page.locator("#diagnostics").text_content()
    assert "error[" in words and "angel" in words and "train.dali-dsl:9" in words
    assert page.locator("#pictures img").count() > 0, "the last good pictures stay"
    take_picture(page, "serve-mistake")
    pipeline.write_text(right)
    page.wait_for_selector("#problems", state="hidden")
    wait_for_pictures(page)


def test_two_tabs_have_settings_of_their_own(serve, open_page, pipeline):
    address = serve(pipeline)
    first, second = open_page(address), open_page(address)
    wait_for_pictures(first)
    wait_for_pictures(second)
    set_size(second, 48)
    second.wait_for_function("() => document.querySelector('#pictures').textContent.includes('48x48x3')")
    assert any("64x64x3" in caption for caption in captions(first))
    pipeline.write_text(pipeline.read_text().replace("bright: float = 1.2", "bright: float = 0.5"))
    for page in (first, second):
        page.wait_for_function("() => document.querySelector('#status').textContent.includes('text 2')")


def test_a_pipeline_that_takes_long_is_given_up_for_a_later_wish(serve, open_page, pipeline):
    page = open_page(serve(pipeline))
    wait_for_pictures(page)
    set_size(page, 6000)
    page.wait_for_function("() => document.querySelector('#status').textContent === 'Working.'")
    set_size(page, 40)
    page.wait_for_function("() => document.querySelector('#pictures').textContent.includes('40x40x3')")


def test_a_sample_that_fails_is_a_row_that_says_so(serve, open_page, pipeline):
    data = pipeline.parent / "damaged"
    (data / "a").mkdir(parents=True)
    good = next(path for path in sorted(SAMPLES.rglob("*.jpg")))
    shutil.copy(good, data / "a/0.jpg")
    (data / "a/1.jpg").write_bytes(good.read_bytes()[:200])
    pipeline.write_text(PIPELINE.replace('"photos"', '"damaged"'))
    page = open_page(serve(pipeline))
    page.wait_for_selector("#pictures .failure")
    assert "1.jpg" in page.locator("#pictures tbody").text_content()
    assert "error[" in page.locator(".failure").text_content()


def test_data_that_vanishes_and_comes_back(serve, open_page, pipeline):
    data = pipeline.parent / "photos"
    page = open_page(serve(pipeline))
    wait_for_pictures(page)
    data.rename(pipeline.parent / "elsewhere")
    page.get_by_role("button", name="Draw again").click()
    page.wait_for_selector("#problems:not([hidden])")
    assert "photos" in page.locator("#diagnostics").text_content()
    (pipeline.parent / "elsewhere").rename(data)
    page.get_by_role("button", name="Draw again").click()
    page.wait_for_selector("#problems", state="hidden")
    wait_for_pictures(page)


def test_a_sample_is_traced(serve, open_page, pipeline):
    page = open_page(serve(pipeline))
    wait_for_pictures(page)
    page.locator("#pictures .cell").first.click()
    page.get_by_role("button", name="Trace").click()
    wait_for_text(page, "#trace-text", "line    9  rotate")
    assert "drawn" in page.locator("#trace-text").text_content()


def are_apart(first, second):
    """Whether two boxes lie beside each other, or one below the other."""
    def ends_before(one, other, at, extent):
        return one[at] + one[extent] <= other[at] + 1

    return any(ends_before(*pair, *axis) for pair in ((first, second), (second, first)) for axis in (("x", "width"), ("y", "height")))


CROPPED = PIPELINE.replace(
    "fn.resize(image, size=[size, size])", "fn.crop(image, crop=[64, 80], crop_pos_x=0.0, crop_pos_y=0.0)"
)


def test_what_is_decoded_is_drawn_on_the_whole_picture(serve, open_page, pipeline):
    pipeline.write_text(CROPPED)
    page = open_page(serve(pipeline))
    wait_for_pictures(page)
    page.get_by_role("button", name="Measure").click()
    page.wait_for_selector(".picture .window")
    words = page.locator(".picture svg").first.get_attribute("aria-label")
    assert words == "only columns 0 to 79 and rows 0 to 63 are made"
    assert page.locator(".picture .window").count() == 4
    drawing = page.locator("#graph svg")
    assert "decoders.image, line 7 with only what" in drawing.get_attribute("aria-label")
    # A resize may ask for a window, too; where that is all of the picture, nothing is said of it.
    pipeline.write_text(PIPELINE)
    page.wait_for_function("() => document.querySelector('#pictures thead').textContent.includes('resize')")
    page.get_by_role("button", name="Measure").click()
    wait_for_text(page, "#times", "samples; decoding takes")
    assert "only what" not in drawing.get_attribute("aria-label")
    assert page.locator(".picture .window").count() == 0
    pipeline.write_text(CROPPED)
    page.wait_for_function("() => document.querySelector('#pictures thead').textContent.includes('crop')")
    wait_for_pictures(page)
    page.get_by_role("button", name="Measure").click()
    page.wait_for_selector(".picture .window")
    page.evaluate("document.querySelector('.picture').scrollIntoView({block: 'center'})")
    take_picture(page, "serve-windows")


def test_names_are_texts(serve, open_page, with_policy):
    """Of files, folders, the pipeline, an operation, and what stands in a diagnostic."""
    mark = "<img src=x onerror=document.title='taken'>"
    folder = with_policy.parent
    data = folder / "named"
    (data / f"{mark}a").mkdir(parents=True)
    good = next(path for path in sorted(SAMPLES.rglob("*.jpg")))
    shutil.copy(good, data / f"{mark}a" / f"{mark}.jpg")
    (data / f"{mark}a" / f"{mark}wrong.jpg").write_text("no picture")
    file = folder / f"{mark}.dali-dsl"
    text = with_policy.read_text().replace('"photos"', '"named"').replace("batch_size=4", 'batch_size=4, on_error="skip"')
    file.write_text(text.replace('"policy.json"', f'"{mark}.json"'))
    document = folder / f"{mark}.json"
    document.write_text((folder / "policy.json").read_text())
    page = open_page(serve(file))
    wait_for_pictures(page)
    page.locator("#pictures .cell").first.click()
    page.wait_for_selector("#details:not([hidden])")
    page.locator("#trace").click()
    wait_for_text(page, "#trace-text", mark)
    for selector in ("#title", "#pictures tbody", "#pictures .failure", "#policy-document"):
        wait_for_text(page, selector, mark)
    page.locator("#policy-text").fill(document.read_text().replace('"rotate"', f'"{mark}"'))
    wait_for_text(page, "#policy-problem", mark)
    file.write_text(file.read_text().replace("fn.resize", f'"{mark}" + fn.resize'))
    wait_for_text(page, "#diagnostics", mark)
    assert page.locator("img[src=x]").count() == 0
    assert page.title() == "galatea serve"


NESTED = """from galatea import fn, pipeline_def


@pipeline_def(batch_size=4, num_threads=1, seed=3)
def nested(data: str = "photos"):
    encoded, label = fn.readers.file(file_root=data)
    image = fn.resize(fn.decoders.image(encoded), size=[64, 64])
    kind = fn.random.choice(3)
    if kind == 0:
        image = fn.flip(image)
    elif kind == 1:
        image = fn.brightness(image, brightness=0.5)
    else:
        image = fn.brightness(image, brightness=1.5)
    return image, kind
"""


def test_lanes_lie_in_lanes_and_count_their_samples(serve, open_page, pipeline):
    pipeline.write_text(NESTED)
    page = open_page(serve(pipeline))
    wait_for_pictures(page)
    page.locator("#samples").fill("12")
    page.locator("#samples").press("Enter")
    page.wait_for_function("() => document.querySelectorAll('#pictures tbody tr').length === 12")
    kinds = page.locator("#pictures tbody tr td:last-child .words").all_text_contents()
    words = page.locator("#graph svg").get_attribute("aria-label")
    assert f"line 9, if true: {kinds.count('0')} of 12 samples: flip, line 10" in words
    assert f"line 11, if true: {kinds.count('1')} of 12 samples: brightness, line 12" in words
    assert f"line 11, if false: {kinds.count('2')} of 12 samples: brightness, line 14" in words
    lanes = [lane.bounding_box() for lane in page.locator("#graph .lane:not(.arm)").all()]
    for first, second in itertools.combinations(lanes, 2):
        assert are_apart(first, second)
    arms = page.locator("#graph .lane.arm").all()
    (frame,) = [arm.bounding_box() for arm in arms if arm.get_attribute("width")]

    def is_inside(box):
        return box["x"] > frame["x"] and box["x"] + box["width"] < frame["x"] + frame["width"]

    assert sum(map(is_inside, lanes)) == 4, "the arm, its two arms, where they meet"


@pytest.mark.parametrize("width", [1280, 480, 320])
def test_nothing_lies_outside_or_over_another(serve, open_page, with_policy, width):
    page = open_page(serve(with_policy))
    page.set_viewport_size({"width": width, "height": 900})
    wait_for_pictures(page)
    page.get_by_role("button", name="Show operations").click()
    page.wait_for_selector("#policy-cost")
    page.get_by_role("button", name="Measure").click()
    page.wait_for_selector("#times table")
    page.locator("#pictures .cell").first.click()
    page.wait_for_selector("#details:not([hidden])")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    boxes = [part.bounding_box() for part in page.locator("header, form, main > section").all() if part.is_visible()]
    for first, second in itertools.combinations(boxes, 2):
        assert are_apart(first, second)
    shot = Image.open(io.BytesIO(page.locator("#pictures").screenshot())).convert("RGB")
    assert len(shot.getcolors(shot.width * shot.height)) > 1000, "photographs have many colours"


def violations_of(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="SKIPPED: axe-playwright-python is not installed")
    found = axe.Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(serve, open_page, with_policy, scheme):
    """In each state that the page has, one behind the other."""
    page = open_page(serve(with_policy))
    page.emulate_media(color_scheme=scheme)
    found = {"while it loads": violations_of(page)}
    wait_for_pictures(page)
    page.get_by_role("button", name="Show operations").click()
    page.wait_for_selector("#policy-cost")
    page.get_by_role("button", name="Measure").click()
    page.wait_for_selector("#times table")
    found["with a policy and times"] = violations_of(page)
    if shots := os.environ.get("GALATEA_SCREENSHOTS"):
        page.screenshot(path=f"{shots}/{scheme}.png", full_page=True)
    page.locator("#pictures .cell").first.click()
    page.wait_for_selector("#details:not([hidden])")
    page.locator("#trace").click()
    wait_for_text(page, "#trace-text", "decoders.image")
    page.locator("#arithmetic").check()
    found["with a value, a trace and all of the graph"] = violations_of(page)
    page.locator("#compare").check()
    page.wait_for_selector(".picture .other")
    found["with two settings"] = violations_of(page)
    page.locator("#policy-text").fill("{")
    page.wait_for_selector("#policy-problem:not([hidden])")
    found["with a document that is wrong"] = violations_of(page)
    page.locator("#policy-reload").click()
    page.set_viewport_size({"width": 320, "height": 640})
    found["on a narrow screen"] = violations_of(page)
    text = with_policy.read_text()
    with_policy.write_text(text.replace("fn.resize", "fn.resise"))
    wait_for_text(page, "#diagnostics", "resise")
    found["with an error"] = violations_of(page)
    (with_policy.parent / "photos").unlink()
    with_policy.write_text(text)
    wait_for_text(page, "#diagnostics", "photos")
    found["without data"] = violations_of(page)
    assert {state: wrong for state, wrong in found.items() if wrong} == {}


NOISY = """from galatea import fn, pipeline_def, types


@pipeline_def(batch_size=2, num_threads=1, seed=3, on_error="skip")
def noisy(data: str = "mixed", flipped: bool = False, gain: float = 0.5, kind: int = 0):
    encoded, label = fn.readers.file(file_root=data)
    image = fn.resize(fn.decoders.image(encoded), size=[64, 64])
    sound = fn.cast(fn.reshape(image, shape=[-1]), dtype=types.FLOAT)
    if fn.random.coin_flip() == 1:
        image = fn.flip(image)
    return image, fn.spectrogram(sound, window_length=64), label
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_arms_failures_and_controls(serve, open_page, pipeline, scheme):
    data = pipeline.parent / "mixed"
    (data / "a").mkdir(parents=True)
    shutil.copy(next(path for path in sorted(SAMPLES.rglob("*.jpg"))), data / "a" / "1.jpg")
    (data / "a" / "0.jpg").write_text("no picture")
    pipeline.write_text(NOISY)
    page = open_page(serve(pipeline))
    page.emulate_media(color_scheme=scheme)
    page.wait_for_selector("#pictures .failure")
    wait_for_pictures(page)
    assert violations_of(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_beside_a_policy_alone(serve, open_page, with_policy, scheme):
    page = open_page(serve(with_policy.parent / "policy.json"))
    page.emulate_media(color_scheme=scheme)
    page.wait_for_selector("#policy-cost")
    wait_for_pictures(page)
    assert violations_of(page) == []


def test_all_controls_are_reached_by_keyboard(serve, open_page, with_policy):
    page = open_page(serve(with_policy))
    wait_for_pictures(page)
    page.wait_for_selector("#policy-text")
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert {"first", "samples", "again", "draw", "seed", "compare", "cell", "measure", "policy-make", "policy-text"} <= reached


def outline_of_focus(page):
    """Width of the ring around what has the focus; sliders and buttons alike have one."""
    return page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth) || 0")


def test_the_keyboard_alone_does_all(serve, open_page, with_policy):
    page = open_page(serve(with_policy))
    wait_for_pictures(page)
    page.wait_for_selector("#policy-text")

    def tab_to(what):
        for _ in range(120):
            page.keyboard.press("Tab")
            if page.evaluate("(what) => document.activeElement.matches(what)", what):
                assert outline_of_focus(page) >= 2, f"one sees that {what} has the focus"
                return
        raise AssertionError(f"{what} is not reached")

    tab_to("#size")
    page.keyboard.press("ArrowRight")
    assert page.locator("#size").input_value() == "176"
    tab_to("#again")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#draw').value === '1'")
    wait_for_text(page, "#status", "4 samples")
    wait_for_pictures(page)
    tab_to("#compare")
    page.keyboard.press("Space")
    page.wait_for_selector(".picture .other")
    tab_to("#divide")
    page.keyboard.press("End")
    assert page.locator("#divide").input_value() == "100"
    tab_to(".cell")
    page.keyboard.press("Enter")
    page.wait_for_selector("#details:not([hidden])")
    page.locator("#divide").focus()
    tab_to("#trace")
    page.keyboard.press("Enter")
    wait_for_text(page, "#trace-text", "decoders.image")
    tab_to("#policy .bar-row input")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => !document.querySelector('#policy-save').disabled")
    tab_to("#policy-save")
    page.keyboard.press("Enter")
    wait_for_text(page, "#policy-status", "Saved")
    tab_to("#measure")
    page.keyboard.press("Enter")
    page.wait_for_selector("#times table")
