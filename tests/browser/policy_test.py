"""The page's part about policies."""

import json

from page_test import take_picture, wait_for_pictures


def show(page):
    wait_for_pictures(page)
    page.wait_for_selector("#policy-text")
    page.wait_for_function("() => document.querySelectorAll('.bar-row').length === 3")


def wait_for_status(page, words):
    """What the page says of the document holds these words."""
    page.wait_for_function(
        "(words) => document.querySelector('#policy-status').textContent.includes(words)", arg=words
    )


def drag(page, label, to):
    """Takes the bar's handle to a part of its length."""
    bar = page.get_by_label(label)
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    value, most = float(bar.input_value()), float(bar.get_attribute("max"))
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8 + (box["width"] - 16) * value / most, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 8 + (box["width"] - 16) * to, middle, steps=5)
    page.mouse.up()


def test_a_weight_is_dragged_and_saved_only_by_the_button(serve, open_page, with_policy):
    document = with_policy.parent / "policy.json"
    before = document.read_text()
    page = open_page(serve(with_policy))
    show(page)
    save = page.get_by_role("button", name="Save")
    assert save.is_disabled()
    drag(page, "weight of rotate", 1.0)
    page.wait_for_function("() => !document.querySelector('#policy-save').disabled")
    assert document.read_text() == before, "nothing is written before the button is pressed"
    save.click()
    wait_for_status(page, "Saved.")
    weights = json.loads(document.read_text())["policy"]["weights"]
    assert weights[0] > 1.5 * weights[1] and weights[0] > weights[2]
    assert save.is_disabled()


def test_a_file_that_changed_meanwhile_is_not_overwritten(serve, open_page, with_policy):
    document = with_policy.parent / "policy.json"
    page = open_page(serve(with_policy))
    show(page)
    drag(page, "weight of posterize", 0.0)
    page.wait_for_function("() => !document.querySelector('#policy-save').disabled")
    other = document.read_text().replace('"bins": 11', '"bins": 21')
    document.write_text(other)
    page.get_by_role("button", name="Save").click()
    wait_for_status(page, "changed meanwhile")
    assert document.read_text() == other
    page.get_by_role("button", name="Back to the file").click()
    page.wait_for_function("() => document.querySelector('#policy-text').value.includes('21')")


def test_a_file_that_changes_under_what_is_written_is_told_at_once(serve, open_page, with_policy):
    document = with_policy.parent / "policy.json"
    address = serve(with_policy)
    first, second = open_page(address), open_page(address)
    for page in (first, second):
        show(page)
    mine = first.locator("#policy-text").input_value().replace('"bins": 11', '"bins": 21')
    first.locator("#policy-text").fill(mine)
    drag(second, "weight of rotate", 1.0)
    second.wait_for_function("() => !document.querySelector('#policy-save').disabled")
    second.get_by_role("button", name="Save").click()
    wait_for_status(first, "changed meanwhile")
    assert first.locator("#policy-text").input_value() == mine, "what was written is not lost"
    saved = document.read_text()
    first.get_by_role("button", name="Save").click()
    wait_for_status(first, "Not saved")
    assert document.read_text() == saved
    first.get_by_role("button", name="Back to the file").click()
    wait_for_status(first, "As the file.")
    assert first.locator("#policy-text").input_value() == saved


def test_what_is_not_saved_of_a_document_comes_back_with_it(serve, open_page, with_policy):
    other = with_policy.parent / "other.json"
    other.write_text((with_policy.parent / "policy.json").read_text())
    second = 'policy.load("other.json")(policy.load("policy.json")(image))'
    with_policy.write_text(with_policy.read_text().replace('policy.load("policy.json")(image)', second))
    page = open_page(serve(with_policy))
    show(page)
    text, choose = page.locator("#policy-text"), page.locator("#policy-document")
    assert choose.locator("option").count() == 2
    mine = text.input_value().replace('"bins": 11', '"bins": 21')
    text.fill(mine)
    choose.select_option(index=1)
    wait_for_status(page, "As the file.")
    assert '"bins": 11' in text.input_value()
    choose.select_option(index=0)
    wait_for_status(page, "Changed")
    assert text.input_value() == mine
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.close(run_before_unload=True)
    if not page.is_closed():
        page.wait_for_event("close")
    assert asked == ["beforeunload"], "the browser asks before it closes the page"


def test_the_grid_shows_operations_magnitudes_and_costs(serve, open_page, with_policy):
    page = open_page(serve(with_policy))
    show(page)
    page.get_by_role("button", name="Show operations").click()
    page.wait_for_selector("#policy-cost")
    assert "a sample" in page.locator("#policy-cost").text_content()
    rows = page.locator("#policy-grid tr")
    assert rows.count() == 4
    page.wait_for_function("() => [...document.querySelectorAll('#policy-grid img')].every((image) => image.complete && image.naturalWidth === 160)")
    assert page.locator("#policy-grid img").count() == 1 + 3 * 5
    assert "30" in rows.nth(1).text_content()
    page.locator("#policy").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('#policy').scrollIntoView()")
    take_picture(page, "serve-policy")


def test_a_document_that_is_wrong_says_why_and_is_not_saved(serve, open_page, with_policy):
    page = open_page(serve(with_policy))
    show(page)
    text = page.locator("#policy-text")
    text.fill(text.input_value().replace('"rotate"', '"rotat"', 1))
    page.wait_for_selector("#policy-problem:not([hidden])")
    assert "error[" in page.locator("#policy-problem").text_content()
    assert page.get_by_role("button", name="Save").is_disabled()
    page.get_by_role("button", name="Back to the file").click()
    page.wait_for_selector("#policy-problem", state="hidden")


def test_a_policy_alone_is_shown_on_drawn_pictures(serve, open_page, with_policy):
    document = with_policy.parent / "policy.json"
    page = open_page(serve(document))
    show(page)
    assert "policy.json" in page.locator("#title").text_content()
    page.wait_for_selector("#policy-cost")
    assert page.locator("#policy-grid tr").count() == 4, "without a click"
    heads = page.locator("#pictures thead th").all_text_contents()
    assert "before the policy" in heads[1] and "draw 1" in heads[2]
    boxes = [page.locator(part).bounding_box()["y"] for part in ("#policy", "#pictures")]
    assert boxes[0] < boxes[1]
    take_picture(page, "serve-policy-alone")
    text = page.locator("#policy-text")
    text.fill(text.input_value().replace('"posterize": {', '"cut": {"op": "posterize", ').replace('["rotate", "brightness", "posterize"]', '["rotate", "brightness", "cut"]'))
    page.wait_for_function("() => [...document.querySelectorAll('#policy-grid th')].some((head) => head.textContent.includes('cut'))")
    page.get_by_role("button", name="Save").click()
    page.wait_for_function("() => document.querySelector('#status').textContent.includes('text 2')")
