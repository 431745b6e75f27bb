"""Optuna's strategy: asked and told, resumed, pruned, bounded, from the command line."""

import json
import os
import subprocess
import sys

import pytest
from galatea import policy
from galatea.policy.command_line import wants_optuna
from policy_common import FLAT, NESTED, QUALITY_COMMAND, TIMEOUT, journal_lines, points, quality

optuna = pytest.importorskip("optuna", minversion="5", reason="optuna 5 is not installed")


def test_points_are_optunas_own():
    """Against a study of the same sampler that suggests by itself."""
    strategy = policy.Optuna(sampler=optuna.samplers.TPESampler(seed=9))
    found = policy.search(FLAT, quality, strategy=strategy, trials=25)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=9))
    for trial in sorted(found.trials, key=lambda trial: trial.number):
        own = study.ask()
        point = (
            own.suggest_float("augmentations.rotate.range[1]", 1, 50, log=True),
            own.suggest_categorical("policy.seq[0][0]", (0, 1)),
            own.suggest_categorical("policy.seq[0][1]", (0, 1)),
            own.suggest_int("policy.seq[1].mag.bin", 0, 10),
        )
        assert trial.point == point
        study.tell(own, trial.score)
    assert strategy.study.best_value == found.best_trial.score


def test_a_seed_is_a_search_and_learns():
    first, again, other = (
        policy.search(FLAT, quality, strategy="optuna", trials=40, seed=s) for s in (1, 1, 2)
    )
    assert points(first) == points(again) != points(other)
    early, late = (sum(t.score for t in part) for part in (first.trials[:15], first.trials[25:]))
    assert late > early


@pytest.mark.parametrize("minimize", [False, True])
def test_an_interrupted_search_goes_the_same_way(tmp_path, minimize):
    options = {"strategy": "optuna", "trials": 24, "seed": 3, "minimize": minimize}
    options |= {"prune": True, "max_microseconds": 60}
    calls = []

    def objective(document, report):
        calls.append(report.trial)
        report.takes(10 * document.data["policy"]["seq"][1][2])
        for step in range(3):
            report(quality(document) + step)
            if stops and len(calls) >= stops[0]:
                del stops[0]
                raise KeyboardInterrupt
        if report.trial == 4:
            raise RuntimeError("fails")
        return quality(document)

    stops = []
    whole = policy.search(FLAT, objective, **options)
    assert {trial.pruned for trial in whole.trials} == {True, False}
    assert any(t.failed and "microseconds" in t.failed for t in whole.trials)
    calls.clear()
    stops = [6, 16]
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            policy.search(FLAT, objective, **options, journal=tmp_path)
    parts = policy.search(FLAT, objective, **options, journal=tmp_path)
    assert points(parts) == points(whole)
    assert [(t.score, t.scores) for t in parts.trials] == [
        (t.score, t.scores) for t in whole.trials
    ]


def test_what_is_not_chosen_is_not_suggested():
    strategy = policy.Optuna()
    found = policy.search(
        NESTED, lambda document: len(document.to_json()), strategy=strategy, trials=20
    )
    study = strategy.study.trials
    for trial in found.trials:
        item = trial.point[0]
        assert len(study[trial.number].params) == 1 + (1, 2, 0)[item]
        assert set(trial.values) == set(study[trial.number].params)
    assert {trial.point[0] for trial in found.trials} == {0, 1, 2}


def test_pruners_are_asked():
    strategy = policy.Optuna(pruner=optuna.pruners.ThresholdPruner(lower=0.5))

    def objective(document, report):
        for step in range(3):
            report(1 if report.trial % 2 or step == 0 else 0)
        return report.trial

    found = policy.search(FLAT, objective, strategy=strategy, trials=6, prune=True)
    assert [trial.pruned for trial in found.trials] == [True, False] * 3
    states = [trial.state.name for trial in strategy.study.trials]
    assert states == ["PRUNED", "COMPLETE"] * 3
    assert strategy.study.trials[0].intermediate_values == {0: 1.0, 1: 0.0}
    assert strategy.study.trials[1].intermediate_values == {0: 1.0, 1: 1.0, 2: 1.0}


def test_microseconds_are_a_constraint():
    def cost(document):
        return 10 * document.data["policy"]["seq"][1][2]

    strategy = policy.Optuna()
    found = policy.search(
        FLAT, quality, strategy=strategy, trials=60, seed=5, max_microseconds=40, cost=cost
    )
    for trial, own in zip(found.trials, strategy.study.trials):
        assert own.constraints == {"microseconds": trial.microseconds - 40}
        assert own.state.name == ("PRUNED" if trial.failed else "COMPLETE")
    assert cost(found.best) == 40, "the greatest bin that is allowed is the best"
    # The sampler keeps away from what takes too long.
    early, late = found.trials[:10], found.trials[-30:]
    share = [sum(t.failed is not None for t in part) / len(part) for part in (early, late)]
    assert share[1] < share[0]


def test_failures_are_failures_there_too():
    def objective(document, report):
        if report.trial == 1:
            raise RuntimeError("no")
        return 1

    strategy = policy.Optuna()
    policy.search(FLAT, objective, strategy=strategy, trials=3)
    assert [t.state.name for t in strategy.study.trials] == ["COMPLETE", "FAIL", "COMPLETE"]


def test_studies_of_yours():
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="minimize", sampler=optuna.samplers.RandomSampler(seed=1))
    with pytest.raises(ValueError, match="the study is to minimize, the search to maximize"):
        policy.search(FLAT, quality, strategy=policy.Optuna(study=study), trials=2)
    found = policy.search(
        FLAT, quality, strategy=policy.Optuna(study=study), trials=5, minimize=True
    )
    assert study.best_value == found.best_trial.score and len(study.trials) == 5
    with pytest.raises(ValueError, match="a study has its sampler"):
        policy.Optuna(study=study, pruner=optuna.pruners.NopPruner())


def test_whose_search_it_is():
    for words, wanted in [
        ("policy search s.json --strategy optuna", True),
        ("--color=never policy search --strategy=optuna s.json", True),
        ("policy search s.json --strategy random --objective optuna", False),
        ("policy show optuna --strategy optuna", False),
        ("run --strategy optuna", False),
        ("", False),
    ]:
        assert wants_optuna(words.split()) is wanted, words


def run_module(*arguments, cwd, status=0):
    done = subprocess.run(
        [sys.executable, "-m", "galatea", "policy", "search", *map(str, arguments)],
        capture_output=True, text=True, timeout=TIMEOUT, cwd=cwd,
    )  # fmt: skip
    assert done.returncode == status, done.stdout + done.stderr
    return done


def test_from_the_command_line(tmp_path):
    space = tmp_path / "space.json"
    space.write_text(json.dumps({"format": "augment-policy", "version": 1, **FLAT}))
    score = tmp_path / "score.py"
    score.write_text(QUALITY_COMMAND.format(folder=os.path.dirname(__file__)))
    objective = f"{sys.executable} -S {score} {{policy}}"
    options = [space, "--objective", objective, "--seed", 4, "--json", "--strategy"]
    run_module(*options, "optuna", "--trials", 12, cwd=tmp_path)
    done = run_module(*options[:-1], "--strategy=optuna", "--trials", 14, cwd=tmp_path)
    assert "goes on after 12 trials" in done.stderr
    there = json.loads(done.stdout)
    here = policy.search(space, quality, strategy="optuna", trials=14, seed=4)
    assert [list(trial.point) for trial in here.trials] == [t["point"] for t in there["trials"]]
    assert journal_lines(tmp_path / "space-search")[0]["strategy"] == "optuna TPESampler"


def test_its_mistakes_are_the_programs(tmp_path):
    done = run_module(
        "none.json", "--objective", "x", "--strategy", "optuna", cwd=tmp_path, status=1
    )
    assert "none.json" in done.stderr and "Traceback" not in done.stderr
    usage = run_module("--strategy", "optuna", "--nonsense", cwd=tmp_path, status=2)
    assert "Traceback" not in usage.stderr


def test_without_optuna_it_says_what_to_install(tmp_path):
    (tmp_path / "optuna.py").write_text("raise ImportError('not here')\n")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(
        [sys.executable, "-m", "galatea", "policy", "search", "x.json", "--strategy", "optuna"],
        capture_output=True, text=True, timeout=TIMEOUT, env=environment,
    )  # fmt: skip
    assert done.returncode == 3 and "pip install optuna" in done.stderr
