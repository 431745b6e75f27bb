"""Searches by Python callables: the same as the command line's, resumed, pruned, bounded, failed."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import galatea
import pytest
from galatea import policy
from policy_common import FLAT, NESTED, QUALITY_COMMAND, TIMEOUT, journal_lines, points, quality
from policy_common import galatea as command


@pytest.mark.parametrize(
    "strategy, options",
    [
        ("random", {}),
        ("grid", {"levels": 3}),
        ("evolution", {"population": 4, "ahead": 2}),
    ],
)
def test_the_command_line_finds_the_same(tmp_path, strategy, options):
    space = tmp_path / "space.json"
    space.write_text(json.dumps({"format": "augment-policy", "version": 1, **FLAT}))
    score = tmp_path / "score.py"
    score.write_text(QUALITY_COMMAND.format(folder=os.path.dirname(__file__)))
    words = [f"--{name}={value}" for name, value in options.items()]
    there = json.loads(
        command(
            "policy", "search", space, "--objective", f"{sys.executable} -S {score} {{policy}}",
            "--strategy", strategy, "--trials", 12, "--seed", 7, "--json", *words,
            "--output", tmp_path / "best.json",
        )
    )  # fmt: skip
    here = policy.search(space, quality, strategy=strategy, trials=12, seed=7, **options)
    assert [(t.number, list(t.point), t.score) for t in here.trials] == [
        (t["trial"], t["point"], t["score"]) for t in there["trials"]
    ]
    assert here.best_trial.number == there["best"]
    assert here.best.to_json() == (tmp_path / "best.json").read_text()
    assert len(here.trials) == 12 and len(set(points(here))) > 5


def test_a_seed_is_a_search():
    first, again, other = (policy.search(FLAT, quality, trials=20, seed=s) for s in (1, 1, 2))
    assert points(first) == points(again) != points(other)
    assert first.best_trial.score == max(map(quality, (t.document for t in first.trials)))
    assert first.best == policy.load(first.best) and quality(first.best) == first.best_trial.score


def test_evolution_is_better_than_chance():
    evolved = policy.search(FLAT, quality, trials=60, seed=3)
    drawn = policy.search(FLAT, quality, trials=60, seed=3, strategy="random")
    mean = [sum(t.score for t in r.trials[30:]) / 30 for r in (evolved, drawn)]
    assert mean[0] > mean[1]


def test_less_is_better_where_it_is_told():
    found = policy.search(FLAT, quality, trials=10, minimize=True)
    scores = [trial.score for trial in found.ranking()]
    assert scores == sorted(scores) and found.best_trial.score == scores[0]


def test_halving_and_populations_tell_of_budgets_and_states():
    seen = []

    def train(document, report):
        before = 0.0
        if report.parent:
            before = float((pathlib.Path(report.parent) / "score").read_text())
        assert os.listdir(report.state) == []
        score = before + quality(document)
        (pathlib.Path(report.state) / "score").write_text(str(score))
        seen.append((report.trial, report.budget, report.step))
        return score

    halved = policy.search(FLAT, train, strategy="halving", population=9, budget=9, eta=3)
    assert [budget for _, budget, _ in seen] == [1.0] * 9 + [3.0] * 3 + [9.0]
    assert halved.best_trial.budget == 9 and len(halved.schedule) == 3
    seen.clear()
    grown = policy.search(FLAT, train, strategy="population", population=4, trials=12)
    assert [step for *_, step in seen] == [0] * 4 + [1] * 4 + [2] * 4
    total = sum(quality(document) for document in grown.schedule)
    assert grown.best_trial.score == pytest.approx(total)


def test_the_journal_is_gone_on_with(tmp_path):
    whole = policy.search(FLAT, quality, trials=14, seed=5)
    calls = []

    def few(document, report):
        calls.append(report.trial)
        if len(calls) in (4, 9):
            signal.raise_signal(signal.SIGINT)  # Ctrl-C
        return quality(document)

    folder = tmp_path / "run"
    for trials in (14, 14):
        with pytest.raises(KeyboardInterrupt):
            policy.search(FLAT, few, trials=trials, seed=5, journal=folder)
    few_more = policy.search(FLAT, few, trials=14, seed=5, journal=folder)
    assert points(few_more) == points(whole)
    assert [t.score for t in few_more.trials] == [t.score for t in whole.trials]
    assert len(calls) == 14 + 2, "only what was interrupted is run again"
    # All of it is there already.
    again = policy.search(FLAT, few, trials=14, seed=5, journal=folder)
    assert len(calls) == 16 and again.best == whole.best
    more = policy.search(FLAT, few, trials=15, seed=5, journal=folder)
    assert len(calls) == 17 and len(more.trials) == 15


def test_another_searchs_journal_is_refused(tmp_path):
    policy.search(FLAT, quality, trials=2, journal=tmp_path)
    for other in ({"seed": 1}, {"strategy": "random"}, {"prune": True}, {"minimize": True}):
        with pytest.raises(galatea.UserError, match="is of another search") as caught:
            policy.search(FLAT, quality, trials=2, journal=tmp_path, **other)
        assert caught.value.code == "G1017"
    with pytest.raises(galatea.UserError, match="its objective is another"):
        policy.search(FLAT, lambda document: 1, trials=2, journal=tmp_path)


def test_a_killed_search_goes_on(tmp_path):
    """Killed without a chance to say anything; what it had forked holds all that was open."""
    script = tmp_path / "search.py"
    script.write_text(textwrap.dedent("""
            import os, sys, time
            sys.path.insert(0, sys.argv[2])
            from galatea import policy
            from policy_common import FLAT, quality, points

            def score(document, report):
                if report.trial == int(sys.argv[3]):
                    child = os.fork()
                    if child == 0:
                        time.sleep(600)
                    with open(sys.argv[4], "a") as file:
                        print(child, file=file)
                    os.kill(os.getpid(), 9)
                return quality(document)

            found = policy.search(FLAT, score, trials=9, seed=2, journal=sys.argv[1])
            print(points(found))
            """))
    run = [sys.executable, script, tmp_path / "run", os.path.dirname(__file__)]
    children = tmp_path / "children"
    try:
        for killer in ("3", "7"):
            killed = subprocess.run([*run, killer, children], timeout=TIMEOUT)
            assert killed.returncode == -signal.SIGKILL
        done = subprocess.run(
            [*run, "99", children], timeout=TIMEOUT, capture_output=True, text=True
        )
    finally:
        for child in children.read_text().split() if children.exists() else ():
            os.kill(int(child), signal.SIGKILL)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(points(policy.search(FLAT, quality, trials=9, seed=2)))
    ended = [line["trial"] for line in journal_lines(tmp_path / "run") if "seconds" in line]
    assert sorted(ended) == list(range(9)) and len(ended) == 9


def failing(document, report):
    if report.trial == 2:
        raise RuntimeError("no memory left")
    return {3: float("nan"), 4: "high", 5: None, 6: True, 7: float("inf")}.get(report.trial, 1)


def test_failures_are_recorded_and_the_search_goes_on():
    found = policy.search(FLAT, failing, strategy="random", trials=9)
    why = {trial.number: trial.failed for trial in found.trials if trial.failed}
    line = failing.__code__.co_firstlineno
    assert sorted(why) == [2, 3, 4, 5, 6, 7]
    for text in why.values():
        assert text.startswith(f"the Python callable 'failing' ({__file__}:{line}) failed: ")
    assert f"RuntimeError: no memory left, at {__file__}:{line + 2}" in why[2]
    assert why[3].endswith("returned: nan, which is no score; scores are finite numbers")
    assert "returned: 'high' of type str; scores are numbers" in why[4]
    assert "returned: None of type NoneType" in why[5]
    assert "returned: True of type bool" in why[6]
    assert "returned: inf" in why[7]
    assert repr(found) == "<galatea.policy.Result: 9 trials, 6 failed, 0 pruned; best score 1>"


def test_or_it_stops(tmp_path):
    with pytest.raises(policy.ObjectiveError, match="no memory left") as caught:
        policy.search(FLAT, failing, strategy="random", trials=9, on_error="stop", journal=tmp_path)
    assert isinstance(caught.value.__cause__, RuntimeError)
    last = journal_lines(tmp_path)[-1]
    assert last["trial"] == 2 and "no memory left" in last["failed"]
    # The same call goes on behind it.
    found = policy.search(FLAT, failing, strategy="random", trials=3, journal=tmp_path)
    assert [trial.number for trial in found.trials] == [0, 1, 2]


def test_a_search_without_a_score_has_no_best():
    def nothing(document):
        raise ValueError("never")

    found = policy.search(FLAT, nothing, trials=2)
    assert [trial.score for trial in found.trials] == [None, None] and found.ranking() == []
    with pytest.raises(ValueError, match="no trial gave a score: .*never"):
        found.best
    assert "no score" in repr(found) and "no score" in found._repr_html_()


def steady(document, report):
    """Eight tell 10, 20, 30; then one tells little, and one is a generator's work below."""
    for step in range(1, 4):
        report(step * (1 if report.trial == 8 else 10))
    return quality(document)


def test_the_worse_half_is_pruned(tmp_path):
    found = policy.search(FLAT, steady, strategy="random", trials=10, prune=True, journal=tmp_path)
    pruned = [trial for trial in found.trials if trial.pruned]
    assert [(trial.number, trial.scores) for trial in pruned] == [(8, (1.0,))]
    assert pruned[0].score is None and "pruned: it reported 1 after 1 score" in pruned[0].failed
    assert found.trials[0].scores == (10.0, 20.0, 30.0)
    line = next(line for line in journal_lines(tmp_path) if line.get("pruned"))
    assert (line["trial"], line["scores"]) == (8, [1.0])


def test_pruning_is_off_unless_it_is_wanted():
    found = policy.search(FLAT, steady, strategy="random", trials=10)
    assert not any(trial.pruned for trial in found.trials)
    assert found.trials[8].scores == (1.0, 2.0, 3.0)


def test_generators_report_what_they_yield():
    closed = []

    def halves(document, report):
        try:
            yield 1 if report.trial == 8 else 10
            yield 20
            if report.trial == 1:
                return 77
        finally:
            closed.append(report.trial)

    found = policy.search(FLAT, halves, strategy="random", trials=9, prune=True)
    assert [trial.score for trial in found.trials] == [20, 77, *[20] * 6, None]
    assert found.trials[8].pruned and closed == list(range(9))


def test_reports_are_numbers():
    def words(document, report):
        report("good")

    (trial,) = policy.search(FLAT, words, trials=1).trials
    assert "reported: 'good' of type str" in trial.failed
    assert trial.failed.endswith(f", at {__file__}:{words.__code__.co_firstlineno + 1}")


def test_halving_prunes_by_itself():
    with pytest.raises(galatea.UserError, match="`--prune` is for trials that spend alike"):
        policy.search(FLAT, steady, strategy="halving", prune=True)


def cost(document):
    """Microseconds by the bin: 0, 10, …, 100."""
    return 10 * document.data["policy"]["seq"][1][2]


def test_policies_that_take_too_long_are_not_tried():
    tried = []

    def objective(document):
        tried.append(cost(document))
        return quality(document)

    found = policy.search(FLAT, objective, trials=40, seed=1, max_microseconds=60, cost=cost)
    assert max(tried) <= 60 and len(tried) < 40
    for trial in found.trials:
        assert trial.microseconds == cost(trial.document)
        assert (trial.failed is None) == (trial.microseconds <= 60), trial.failed
    slow = next(trial for trial in found.trials if trial.failed)
    assert slow.failed.startswith(f"it takes {slow.microseconds:.0f} microseconds a sample, more")
    assert cost(found.best) <= 60


def test_the_objective_may_tell_what_a_policy_takes():
    def tells(document, report):
        report.takes(cost(document))
        return quality(document)

    found = policy.search(FLAT, tells, trials=20, strategy="random", max_microseconds=50)
    assert {trial.failed is None for trial in found.trials} == {True, False}
    assert all((t.microseconds <= 50) == (t.failed is None) for t in found.trials)
    silent = policy.search(FLAT, quality, trials=2, max_microseconds=50)
    assert all("it did not tell what its policy takes" in trial.failed for trial in silent.trials)


def test_a_cost_that_fails_is_named():
    def broken(document):
        raise OSError("no pictures")

    (trial,) = policy.search(FLAT, quality, trials=1, max_microseconds=5, cost=broken).trials
    assert "broken" in trial.failed and "no pictures" in trial.failed


class Corners:
    """A strategy of the user's: the least and the greatest values, and nothing else."""

    name = "corners"

    def __init__(self):
        self.told = []

    def begin(self, parameters, greeting):
        self.parameters = parameters
        self.greeting = greeting

    def ask(self, number):
        if number == 2:
            return None
        return {each.path: (each.low, each.high)[number] for each in self.parameters}

    def tell(self, trial):
        self.told.append((trial.number, trial.score))


def test_a_strategy_may_be_an_object(tmp_path):
    corners = Corners()
    found = policy.search(FLAT, quality, strategy=corners, trials=9, seed=4, journal=tmp_path)
    assert points(found) == [(1.0, 0, 0, 0), (50.0, 1, 1, 10)]
    assert corners.told == [(0, -0.9), (1, 6.0)] and corners.greeting["seed"] == 4
    assert journal_lines(tmp_path)[0]["strategy"] == "corners"
    again = Corners()
    policy.search(FLAT, quality, strategy=again, trials=9, seed=4, journal=tmp_path)
    assert again.told == corners.told, "it is told of what the journal has"


def test_a_strategys_mistakes_are_raised():
    class Wrong(Corners):
        def ask(self, number):
            return [99, 0, 0, 0]

    with pytest.raises(ValueError, match=r"99 is no value of augmentations.rotate.range\[1\]"):
        policy.search(FLAT, quality, strategy=Wrong())

    class Raises(Corners):
        def tell(self, trial):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        policy.search(FLAT, quality, strategy=Raises())


def test_choices_within_choices_are_searched():
    def first(document):
        step = document.data["policy"]["seq"][0]
        return step[2] if step[0] == "rotate" and step[1] == 1 and step[2] is not None else -1

    found = policy.search(NESTED, first, trials=80, seed=1)
    assert found.best.data["policy"]["seq"] == [["rotate", 1, 10]]
    for trial in found.trials:
        inner = [path for path in trial.values if "#" in path]
        item = trial.point[0]
        assert len(inner) == (1, 2, 0)[item] and all(f"#{item}" in path for path in inner)


def test_results_are_shown_and_saved(tmp_path):
    found = policy.search(FLAT, quality, trials=12)
    found.save(tmp_path / "best.json")
    assert policy.load(tmp_path / "best.json") == found.best
    found.save_report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!") and "rotate" in page
    assert found.table().splitlines()[0] == repr(found)[len("<galatea.policy.Result: ") : -1]
    assert len(found.table(3).splitlines()) == 4 and str(found) == found.table()
    html = found._repr_html_()
    assert html.count("<tr>") == 11 and "augmentations.rotate.range[1]" in html


def test_arguments_are_checked_first():
    for arguments, error, words in [
        ({"strategy": "hill"}, ValueError, "there is no strategy 'hill'"),
        ({"strategy": 3}, TypeError, "an object with ask and tell; int has"),
        ({"on_error": "ignore"}, ValueError, "on_error is 'ignore'"),
        ({"cost": cost}, ValueError, "give that, too"),
        ({"populations": 3}, TypeError, "no option 'populations'"),
        ({"trials": 0}, galatea.UserError, "--trials"),
    ]:
        with pytest.raises(error, match=words):
            policy.search(FLAT, quality, **arguments)
    with pytest.raises(TypeError, match="the objective is a callable, not str"):
        policy.search(FLAT, "train.py")
