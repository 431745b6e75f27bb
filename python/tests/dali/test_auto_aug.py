"""Augmentations and policies made in Python: what is drawn, and what recorded cases cannot say."""

import collections
import json
from pathlib import Path

import numpy as np
import pytest

from galatea.dali import fn, pipeline_def, types
from galatea.dali.auto_aug import augmentations as a
from galatea.dali.auto_aug.auto_augment import apply_auto_augment, get_image_net_policy
from galatea.dali.auto_aug.core import Policy, augmentation, select, signed_bin
from galatea.dali.auto_aug.rand_augment import apply_rand_augment, get_rand_augment_suite
from galatea.dali.auto_aug.trivial_augment import apply_trivial_augment

SAMPLES = 1200


@pytest.mark.parametrize("name", ["shear_x", "shear_y"])
def test_warps_are_within_one_level_of_dali(name, server):
    recorded = json.loads((Path(__file__).parent / "recorded.json").read_text())["cases"]
    case = f"auto_aug.picture[{name}]"
    ours = server.run(case)["value"]
    pairs = [
        (np.array(mine["values"]), np.array(other["values"]))
        for one, two in zip(ours, recorded[case]["value"])
        for mine, other in zip(one[0][0]["samples"], two[0][0]["samples"])
    ]
    assert len(pairs) == 6
    assert max(np.abs(mine - other).max() for mine, other in pairs) == 1
    assert sum((mine != other).mean() for mine, other in pairs) / len(pairs) < 0.05


def mark(digit, **options):
    """An augmentation that appends `digit` and its parameter to what a sample went through."""

    @augmentation(name=f"mark_{digit}", **options)
    def mark(data, parameter):
        if parameter is None:
            return data * 10 + digit
        return data * 10 + digit + 1000000 * fn.cast(parameter, dtype=types.INT32)

    return mark


def went_through(apply, samples=SAMPLES, **options):
    """What samples that begin with 0 became."""
    definition = pipeline_def(
        batch_size=100, num_threads=1, device_id=None, seed=4, enable_conditionals=True, **options
    )

    @definition
    def pipe():
        return apply(fn.external_source(source=lambda: np.zeros(100, np.int32)))

    made = pipe()
    return [int(x) for _ in range(samples // 100) for x in made.run()[0].as_array()]


def assert_uniform(found, kinds):
    """Every kind is there, and as often as the others: within five deviations of the mean."""
    counts = collections.Counter(found)
    assert set(counts) == set(kinds)
    mean = len(found) / len(counts)
    spread = (mean * (1 - 1 / len(counts))) ** 0.5
    assert all(abs(count - mean) < 5 * spread for count in counts.values()), counts


def test_rand_augment_draws_with_replacement():
    suite = [mark(1), mark(2), mark(3)]
    found = went_through(lambda x: apply_rand_augment(suite, x, n=2, m=0))
    assert_uniform(found, [10 * i + j for i in (1, 2, 3) for j in (1, 2, 3)])


def test_rand_augment_negates_each_step_by_itself():
    suite = [mark(1, mag_range=(0, 10), randomly_negate=True)]
    found = went_through(lambda x: apply_rand_augment(suite, x, n=2, m=1, num_magnitude_bins=11))
    assert_uniform(
        found, [(1 + one * 1000000) * 10 + 1 + two * 1000000 for one in (1, -1) for two in (1, -1)]
    )


def test_trivial_augment_draws_augmentation_and_magnitude():
    suite = [mark(1, mag_range=(0, 4)), mark(2)]
    found = went_through(lambda x: apply_trivial_augment(suite, x, num_magnitude_bins=5))
    assert_uniform([x % 10 for x in found], [1, 2])
    assert_uniform([x // 1000000 for x in found if x % 10 == 1], range(5))


def test_a_policy_draws_a_row_and_whether_steps_run():
    one, two, three = mark(1), mark(2), mark(3, mag_range=(0, 10))
    mine = Policy("mine", 11, [[(one, 1.0, None), (two, 0.5, None)], [(three, 1.0, 7)]])
    found = went_through(lambda x: apply_auto_augment(mine, x))
    assert_uniform([x == 7000003 for x in found], [True, False])
    assert_uniform([x for x in found if x != 7000003], [1, 12])


def test_policies_never_run_what_has_no_probability():
    with pytest.warns(UserWarning, match="never runs"):
        mine = Policy("mine", 11, [[(mark(1), 0, None), (mark(2), 1, None)]])
    assert set(went_through(lambda x: apply_auto_augment(mine, x), 100)) == {2}


def test_a_seed_is_that_of_all_draws():
    suite = [mark(1), mark(2), mark(3)]
    both = [
        went_through(lambda x: apply_rand_augment(suite, x, n=3, m=0, seed=seed), 200)
        for seed in (7, 7, 8)
    ]
    assert both[0] == both[1] != both[2]


def test_an_unsigned_bin_draws_its_sign_and_says_so():
    one = mark(1, mag_range=(0, 10), randomly_negate=True)
    with pytest.warns(UserWarning, match="its bin has no sign"):
        found = went_through(lambda x: one(x, magnitude_bin=3, num_magnitude_bins=11))
    assert_uniform(found, [3000001, -2999999])


def images():
    rng = np.random.default_rng(3)
    return [rng.integers(0, 256, (8, 9, 3)).astype(np.uint8) for _ in range(4)]


def pictures(body, debug=False, **options):
    definition = pipeline_def(
        batch_size=4,
        num_threads=1,
        device_id=None,
        seed=6,
        enable_conditionals=True,
        debug=debug,
        **options,
    )

    @definition
    def pipe():
        return body(fn.external_source(source=images, layout="HWC"))

    made = pipe()
    return [np.array(x) for _ in range(2) for x in made.run()[0]]


def test_whole_suites_and_policies_run():
    suite = get_rand_augment_suite(use_shape=True)
    for body in (
        lambda x: apply_rand_augment(suite, x, n=1, m=9, shape=[8, 9], fill_value=0),
        lambda x: apply_auto_augment(get_image_net_policy(), x, interp_type=types.INTERP_NN),
    ):
        found = pictures(body)
        assert all(x.shape == (8, 9, 3) and x.dtype == np.uint8 for x in found)
        assert any(not np.array_equal(x, y) for x, y in zip(found, images() * 2))


def test_debug_mode_gives_the_same():
    @augmentation(mag_range=(0, 30), randomly_negate=True)
    def lighten_dark(data, amount):
        if fn.reductions.mean(data) < 128:
            data = fn.cast_like(data + amount, data)
        return data

    suite = [lighten_dark, a.invert, a.posterize, a.solarize]

    def body(x):
        return apply_rand_augment(suite, x, n=2, m=9)

    for mine, other in zip(pictures(body, debug=True), pictures(body)):
        assert np.array_equal(mine, other)


def test_functions_of_python_are_augmentations():
    seen = []

    @augmentation(mag_range=(0, 10))
    def noted(data, amount):
        def note(array, number):
            seen.append(float(number))
            return 255 - array

        return fn.python_function(data, amount, function=note, output_layouts="HWC")

    found = pictures(lambda x: apply_rand_augment([noted, a.identity], x, n=1, m=3))
    changed = [not np.array_equal(x, y) for x, y in zip(found, images() * 2)]
    assert 0 < sum(changed) < 8 and set(seen) == {np.float32(10 * 3 / 30)}
    for x, y, is_changed in zip(found, images() * 2, changed):
        assert np.array_equal(x, 255 - y if is_changed else y)


# Errors.


def test_errors_say_what_to_do():
    def call(apply, match):
        with pytest.raises(Exception, match=match):
            pictures(apply)

    suite = [a.translate_x, a.rotate]
    call(lambda x: apply_rand_augment(suite, x, n=1, m=3), "give `shape=` to apply_rand_augment")
    call(lambda x: apply_rand_augment(suite, x, 1, 3, shap=3), "`shap`, which no augmentation")
    call(lambda x: a.rotate(x, magnitude_bin=11, num_magnitude_bins=11), "no magnitude bin 11")
    call(
        lambda x: a.solarize_add.augmentation((0, 200))(x, magnitude_bin=9, num_magnitude_bins=10),
        "less than 128, not 200",
    )
    call(lambda x: select([], fn.random.coin_flip(), x), "nothing to select from")
    call(lambda x: signed_bin("3"), "no data node|is a number or a data node")
    call(lambda x: signed_bin(3, fn.random.coin_flip(), seed=3), "`random_sign` is one")
    with pytest.raises(Exception, match="takes 1"):
        augmentation(lambda data: data)
    with pytest.raises(Exception, match="'cpu', 'gpu' or 'auto'"):
        augmentation(lambda data, _: data, param_device="tpu")
