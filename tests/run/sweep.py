"""A sweep against the fake worker: what the runners of this folder share."""

import json
import os
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402
from harness import expect, load_results, wait_until  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SPEC = os.path.join(HERE, "fake.json")
FAKE = os.path.join(os.path.dirname(HERE), "fake_worker")
SLOW_S = 60  # whatever takes longer hangs


class Sweep:
    """A working folder with a log of the fake workers, and ways to run the program in it."""

    def __init__(self, options, folder, name):
        self.program = options.program
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder, exist_ok=True)
        self.log_path = os.path.join(self.folder, "jobs.log")
        self.file = os.path.join(self.folder, "r.json")
        self.part = self.file + ".part"
        self.env = harness.environment(self.folder)

    def worker(self, *options):
        return shlex.join([sys.executable, FAKE, "--log", self.log_path, *options])

    def command(self, *words, worker=(), output=True, spec=SPEC, verb="run"):
        return ([self.program, verb, "--worker", self.worker(*worker)] + ([spec] if spec else []) +
                (["-o", self.file] if output else []) + list(words))

    def run(self, *words, timeout_s=SLOW_S, **keywords):
        return harness.run(self.command(*words, **keywords), self.env, self.folder, timeout_s)

    def resume(self, *words, timeout_s=SLOW_S, worker=()):
        return self.run("--resume", self.file, *words, timeout_s=timeout_s, worker=worker, output=False, spec=None)

    def start(self, *words, **keywords):
        self.err_path = os.path.join(self.folder, "stderr")
        with open(self.err_path, "wb") as err:
            return subprocess.Popen(self.command(*words, **keywords), env=self.env, cwd=self.folder,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)

    def log(self):
        try:
            with open(self.log_path, encoding="utf-8") as file:
                # The last line may be under way: a reader sees a write page by page.
                return [json.loads(line) for line in file if line.endswith("\n")]
        except OSError:
            return []

    def forget(self):
        """The next run's log begins empty."""
        if os.path.exists(self.log_path):
            os.unlink(self.log_path)

    def jobs(self, verb, event="done"):
        return [entry for entry in self.log() if entry["do"] == verb and entry["event"] == event]

    def visits_made(self):
        """Jobs without samples are none: proofs of rows that an earlier process of a resumed run visited."""
        return sum(job["samples"] > 0 for job in self.jobs("time"))

    def rows(self):
        runs = load_results(self.file)["runs"]
        expect(len(runs) == 1, f"{len(runs)} runs in {self.file}")
        return runs[0]["rows"]

    def expect_workers_gone(self):
        pids = {entry["pid"] for entry in self.log()}
        wait_until(lambda: not any(map(harness.is_running, pids)), 3, "all workers gone")


def run_tests(doc, tests):
    """A runner's main: each test gets a Sweep of its own."""
    options = harness.arguments(doc)
    report = harness.Report(options.only)
    with harness.Folder(options.keep) as folder:
        for function in tests:
            name = function.__name__
            report.run(name, lambda function=function, name=name: function(Sweep(options, folder, name)))
    return report.finish()
