#!/usr/bin/env python3
"""Records what torchvision and timm make of bins and levels, as dictionaries that check_*.dali-dsl compares ours with.

Out: tables/torchvision_recorded.dali-dsl, tables/timm_recorded.dali-dsl. Needs: pip install --no-deps torchvision timm, and
numpy and pillow. Both libraries' modules are run from their files, with numpy in place of the few functions of torch that
the tables use, so that torch itself is not needed.
"""
import importlib.metadata
import importlib.util
import os
import sys
import types

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


class Tensor(np.ndarray):
    """A numpy array with the methods of torch that the tables use."""

    def round(self):
        return np.rint(self).view(Tensor)

    def int(self):
        return self.astype(np.int32)


def linspace(start, stop, steps):
    """torch.linspace on the CPU: f32, from both ends."""
    start, stop = np.float32(start), np.float32(stop)
    step = (stop - start) / np.float32(steps - 1)
    values = [start + step * np.float32(i) if i < steps // 2 else stop - step * np.float32(steps - 1 - i) for i in range(steps)]
    return np.array(values, np.float32).view(Tensor)


def fake_torch():
    torch = types.ModuleType("torch")
    torch.Tensor = Tensor
    torch.linspace = linspace
    torch.arange = lambda n: np.arange(n).astype(np.float32).view(Tensor)
    torch.tensor = lambda x: np.float32(x)
    torch.nn = types.SimpleNamespace(Module=object)
    torch.jit = types.SimpleNamespace(unused=lambda function: function)
    return torch


def load(package, path, name, neighbours=()):
    """One module of an installed package, without its package."""
    folder = importlib.util.find_spec(package).submodule_search_locations[0]
    for neighbour in neighbours:
        sys.modules[neighbour] = types.ModuleType(neighbour)
    spec = importlib.util.spec_from_file_location(name, os.path.join(folder, path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def torchvision_tables():
    sys.modules["torch"] = fake_torch()
    package = types.ModuleType("fake_transforms")
    package.__path__ = []
    package.functional = types.ModuleType("fake_transforms.functional")
    package.InterpolationMode = types.SimpleNamespace(NEAREST=0, BILINEAR=1)
    sys.modules["fake_transforms"] = package
    sys.modules["fake_transforms.functional"] = package.functional
    module = load("torchvision", "transforms/autoaugment.py", "fake_transforms.autoaugment")
    sizes = [(224, 224), (331, 662), (97, 500), (32, 32), (1, 1000)]
    out = {}
    # As methods of nothing: the tables do not depend on the object.
    spaces = {
        "auto_augment": lambda size: module.AutoAugment._augmentation_space(None, 10, size),
        "rand_augment": lambda size: module.RandAugment._augmentation_space(None, 31, size),
        "rand_augment_7": lambda size: module.RandAugment._augmentation_space(None, 7, size),
        "trivial_augment_wide": lambda size: module.TrivialAugmentWide._augmentation_space(None, 31),
        "augmix": lambda size: module.AugMix._augmentation_space(types.SimpleNamespace(all_ops=True), 10, size),
        "augmix_few": lambda size: module.AugMix._augmentation_space(types.SimpleNamespace(all_ops=False), 10, size),
    }
    for name, space in spaces.items():
        table = {}
        for op, (magnitudes, signed) in space(sizes[0]).items():
            values = None if np.ndim(magnitudes) == 0 else [float(m) for m in magnitudes]
            table[op] = (values, signed)
        translations = {}
        for size in sizes:
            if name == "trivial_augment_wide":
                continue
            found = space(size)
            translations[size] = ([int(float(m)) for m in found["TranslateX"][0]], [int(float(m)) for m in found["TranslateY"][0]])
        out[name] = (table, translations)
    policies = {}
    for policy in module.AutoAugmentPolicy:
        policies[policy.value] = [list(row) for row in module.AutoAugment._get_policies(None, policy)]
    return {"SPACES": out, "POLICIES": policies}


def deviation(op):
    """1e9 where levels are drawn uniformly."""
    return 1e9 if op.magnitude_std == float("inf") else op.magnitude_std


def timm_tables():
    for name in [name for name in sys.modules if name.startswith("torch")]:
        del sys.modules[name]
    module = load("timm", "data/auto_augment.py", "fake_auto_augment")
    module._randomly_negate = lambda value: value
    hparams = {"translate_const": 250, "translate_pct": 0.45}
    positive = {}
    negative = {}
    levels = [i / 2 for i in range(0, 25)]
    for name, function in module.LEVEL_TO_ARG.items():
        if function is not None:
            positive[name] = [function(level, hparams)[0] for level in levels]
    module._randomly_negate = lambda value: -value
    for name, function in module.LEVEL_TO_ARG.items():
        if function is not None:
            negative[name] = [function(level, hparams)[0] for level in levels]
    policies = {}
    for name in ("v0", "v0r", "original", "originalr", "3a"):
        rows = module.auto_augment_policy(name, {})
        policies[name] = [[(op.name, op.prob, op.magnitude) for op in row] for row in rows]
    sets = {"default": module._RAND_TRANSFORMS, "inc": module._RAND_INCREASING_TRANSFORMS, "3a": module._RAND_3A, "augmix": module._AUGMIX_TRANSFORMS}
    weights = {"weights": module._RAND_WEIGHTED_0, "3aw": module._RAND_WEIGHTED_3A}
    configs = {}
    for text in ("rand-m9-mstd0.5-inc1", "rand-m9-n3-mstd0.5", "rand-mstd1-tweights", "rand-m15-mmax20-p1.0", "rand-m7-mstd101-inc1", "rand-t3a-n1", "rand",
                 "rand-m9-inc0", "rand-m5-n3-t3aw", "rand-m12-mmax12-inc1", "rand-m15-mstd101", "rand-m9-mmax0", "rand-m4-tweights-inc0"):
        made = module.rand_augment_transform(text)
        op = made.ops[0]
        # No greatest level is as good as 0 to timm.
        configs[text] = (made.num_layers, op.prob, op.magnitude, deviation(op), op.magnitude_max or None, [o.name for o in made.ops])
    mixes = {}
    for text in ("augmix", "augmix-m5-w4-d2", "augmix-m3-w3-a0.5-b1", "augmix-m5-mstd1", "augmix-m5-mstd200", "augmix-m12-mstd0"):
        made = module.augment_and_mix_transform(text)
        op = made.ops[0]
        mixes[text] = (made.width, made.depth, made.alpha, op.magnitude, deviation(op))
    return {"LEVELS": levels, "POSITIVE": positive, "NEGATIVE": negative, "POLICIES": policies, "SETS": sets, "WEIGHTS": weights, "CONFIGS": configs, "MIXES": mixes}


def text(value):
    """Python text that the language reads too; floats in as many digits as they need."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{text(k)}: {text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(text(v) for v in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    return repr(value) if not isinstance(value, str) else '"' + value + '"'


def write(name, package, tables):
    version = importlib.metadata.version(package)
    with open(os.path.join(HERE, "tables", f"{name}_recorded.dali-dsl"), "w", encoding="utf-8") as file:
        file.write(f'"""Made by make_tables.py of {package} {version}."""\n')
        for key, value in tables.items():
            file.write(f"\n{key} = {text(value)}\n")


if __name__ == "__main__":
    write("torchvision", "torchvision", torchvision_tables())
    write("timm", "timm", timm_tables())
