"""Rounds, ratios, peers that answer requests: who fails is out with the reason, the others go on."""

import contextlib
import io
import json
import unittest
from types import SimpleNamespace
from unittest import mock

import contest
import harness
import photo_bench
import report
from support import BenchTest

COUNTS = """
import pathlib, sys
log = pathlib.Path(sys.argv[1])
with log.open("a") as file:
    file.write(sys.argv[2])
round_number = log.read_text().count(sys.argv[2])
print('{"samples": %d, "seconds": 2, "cpu_seconds": 1}' % (100 * round_number * int(sys.argv[3])))
"""
ANSWERS = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request == "crash":
        print("cannot go on", file=sys.stderr)
        sys.exit(7)
    if request == "hang":
        import time
        time.sleep(600)
    if request == "refuse":
        print(json.dumps({"failed": "not spelled: hue"}), flush=True)
    elif request == "babble":
        print("hello", flush=True)
    else:
        print(json.dumps({"samples": request, "seconds": 1, "difference": {"mean": 0.25, "largest": 3}}), flush=True)
"""


class Rounds(BenchTest):
    def counting(self, name, factor):
        return contest.Contestant(name, [*self.script(COUNTS), self.folder / "log", name, factor])

    def test_everyone_takes_turns(self):
        a, b = self.counting("a", 1), self.counting("b", 3)
        contest.run_rounds([a, b], 3, quiet=True)
        self.assertEqual((self.folder / "log").read_text(), "ababab")
        self.assertEqual(a.rates, [50, 100, 150])
        self.assertEqual(a.cpu, [0.01, 0.005, 1 / 300])
        self.assertEqual((a.rate, a.cpu_ms), (100, 5))
        self.assertEqual(contest.ratio(b, a), {"median": 3, "min": 3, "max": 3})

    def test_numbers_of_threads_take_turns_within_a_round(self):
        heats = [photo_bench.Heat(threads, self.counting(f"l{threads}", 1), self.counting(f"o{threads}", factor), [])
                 for threads, factor in ((1, 1), (2, 3))]
        context = SimpleNamespace(args=SimpleNamespace(rounds=2, timeout=60, batch_size=64, epochs=1))
        photo_bench.compete(context, heats)
        self.assertEqual((self.folder / "log").read_text(), "l1l2o1o2" * 2)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            gains = photo_bench.scaling(*heats)
            entries = photo_bench.show(context, "two files", heats[1])
        self.assertEqual(gains["l1"]["median"], 1)
        self.assertEqual(gains["o1"]["median"], 3)
        self.assertIn("2 threads by 1", printed.getvalue())
        self.assertEqual(entries[1]["of_limit"]["median"], 3)
        heats[0].ours.skipped = "it crashed"
        with self.assertRaisesRegex(harness.Failure, "it crashed"):
            photo_bench.compete(context, heats)

    def test_ratios_are_taken_within_a_round(self):
        a, b = contest.Contestant("a", rates=[10, 40, 90]), contest.Contestant("b", rates=[10, 10, 30])
        self.assertEqual(contest.ratio(a, b), {"median": 3, "min": 1, "max": 4})
        b.skipped = "gone"
        self.assertIsNone(contest.ratio(a, b))

    def test_who_fails_is_out_and_the_others_go_on(self):
        bad = contest.Contestant("bad", self.script("raise SystemExit('library is missing')"), is_peer=True)
        silly = contest.Contestant("silly", self.script("print('{}')"), is_peer=True)
        slow = contest.Contestant("slow", self.script("import time; time.sleep(600)"), is_peer=True)
        zero = contest.Contestant("zero", self.script("print('{\"samples\": 1, \"seconds\": 0}')"), is_peer=True)
        empty = contest.Contestant("empty", self.script("print('{\"samples\": 0, \"seconds\": 2, \"cpu_seconds\": 1}')"), is_peer=True)
        ours, limit = self.counting("galatea", 1), self.counting("limit", 2)
        everyone = [limit, bad, silly, slow, zero, empty, ours]
        call = harness.call

        def patient(command, timeout):
            """Of those that end no machine is too slow to see it."""
            self.assertEqual(timeout, 1)
            return call(command, timeout if command is slow.command else 600)

        with mock.patch.object(harness, "call", patient):
            contest.run_rounds(everyone, 2, timeout=1, quiet=True)
        self.assertEqual(len(ours.rates), 2)
        self.assertIn("library is missing", bad.skipped)
        self.assertIn("without samples and seconds", silly.skipped)
        self.assertIn("did not end within 1 seconds", slow.skipped)
        self.assertIn("without samples and seconds", zero.skipped)
        self.assertIn("empty made no sample", empty.skipped)
        self.assertEqual(empty.rates, [])
        rows, entries = report.standings(everyone, limit, ours)
        self.assertEqual([row[1] for row in rows[1:]], ["150", *["SKIPPED"] * 5, "75"])
        self.assertEqual(rows[-1][3], "0.50 (0.50 - 0.50)")
        self.assertEqual([entry["name"] for entry in entries if "skipped" in entry], ["bad", "silly", "slow", "zero", "empty"])
        json.dumps(entries)

    def test_differences_stand_beside_the_times(self):
        peer = contest.Contestant("peer", is_peer=True, rates=[5.0], difference={"mean": 0.25, "largest": 3})
        ours = contest.Contestant("galatea", rates=[10.0])
        rows, entries = report.standings([ours, peer], None, ours)
        self.assertEqual(rows[2], ["peer", "5", "", "", "2.00 (2.00 - 2.00)", "0.250, 3.0"])
        self.assertEqual(entries[1]["ours_by_it"]["median"], 2)


class Servers(BenchTest):
    def setUp(self):
        super().setUp()
        self.server = contest.Server(self.script(ANSWERS))
        self.addCleanup(self.server.close)

    def test_one_process_answers_all(self):
        self.assertEqual(self.server.ask(3)["samples"], 3)
        process = self.server.process
        self.assertEqual(self.server.ask(4)["samples"], 4)
        self.assertIs(self.server.process, process)
        self.server.close()
        self.assertIsNotNone(process.returncode)
        self.assertEqual(list(harness.OUT.iterdir()), [])

    def test_after_a_crash_a_new_one_is_started(self):
        self.server.ask(1)
        with self.assertRaisesRegex(harness.Failure, "ended with status 7: cannot go on"):
            self.server.ask("crash")
        self.assertEqual(self.server.ask(2)["samples"], 2)

    def test_a_refusal_is_no_crash(self):
        with self.assertRaisesRegex(harness.Failure, "^not spelled: hue$"):
            self.server.ask("refuse")
        process = self.server.process
        self.assertEqual(self.server.ask(2)["samples"], 2)
        self.assertIs(self.server.process, process)

    def test_who_does_not_answer_is_ended(self):
        with self.assertRaisesRegex(harness.Failure, "did not answer within 1 seconds"):
            self.server.ask("hang", timeout=1)
        self.assertEqual(self.server.ask(5, timeout=600)["samples"], 5)

    def test_what_is_no_json_is_a_failure(self):
        with self.assertRaisesRegex(harness.Failure, "no JSON: hello"):
            self.server.ask("babble")

    def test_a_command_that_is_not_there(self):
        peer = contest.Contestant("peer", server=contest.Server([self.folder / "python"]), request=1, is_peer=True)
        contest.run_rounds([peer], 2, quiet=True)
        self.assertIn("cannot be started", peer.skipped)

    def test_a_contestant_asks_its_server(self):
        peer = contest.Contestant("peer", server=self.server, request=7, is_peer=True)
        contest.run_rounds([peer], 2, quiet=True)
        self.assertEqual((peer.rates, peer.difference["largest"]), ([7, 7], 3))


if __name__ == "__main__":
    unittest.main()
