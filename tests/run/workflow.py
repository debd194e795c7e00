#!/usr/bin/env python3
"""docs/regression.yml, the workflow that people copy: its `run:` steps, as a runner of GitHub would run them, in a clone
whose program measures by the fake worker; what stands in for the runner's own (sudo, meson, ninja, gh) only notes what it
was asked for, and `ninja` puts the program under test where the build would.

    tests/run/workflow.py [--program FILE] [--keep FOLDER] [NAME...]

Prints `ok NAME`, `not ok NAME: why` or `skip NAME: why` a test; status 1 when one failed."""

import json
import os
import re
import shlex
import shutil
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402
from harness import SRC, Failed, Skipped, expect, load_results  # noqa: E402
from sweep import FAKE, run_tests  # noqa: E402

WORKFLOW = os.path.join(SRC, "docs", "regression.yml")
EXPRESSIONS = {"github.base_ref || github.event.before": "main", "github.event.number": "17", "github.token": "t0k3n"}


def read_steps():
    """The steps as dictionaries of texts: as much of YAML as this file uses, and what it does not use is a failure."""
    steps, block = [], None
    with open(WORKFLOW, encoding="utf-8") as file:
        text = file.read()
    for line in text.split("    steps:\n")[1].splitlines():
        if block and line.startswith(" " * 10):
            steps[-1][block] += line[10:] + "\n"
            continue
        found = re.fullmatch(r"      (- |  )(\w[\w-]*):(?: (.*))?", line)
        if line.lstrip().startswith("#"):
            continue
        expect(found, f"a line that this reader does not know: {line}")
        if found[1] == "- ":
            steps.append({})
        value = found[3] or "|"
        block = found[2] if value == "|" else None
        steps[-1][found[2]] = "" if block else value
    return steps


def fill(text):
    def value(found):
        expect(found[1] in EXPRESSIONS, f"an expression that this test does not know: {found[1]}")
        return EXPRESSIONS[found[1]]
    return re.sub(r"\$\{\{ *(.*?) *\}\}", value, text)


STAND_INS = {
    "sudo": 'sh -n "$1"',  # packages are not installed: the script is there, and is one
    "meson": 'mkdir -p "$2"; case $3 in -*) [ -f meson.build ] ;; *) [ -f "$3/meson.build" ] ;; esac',
    "ninja": '[ "$1 $3" = "-C tilesweep" ] && ln -sf "$STAND_IN" "$2/tilesweep"',
    "gh": 'while [ "$1" != --body-file ]; do shift; done; cp "$2" "$COMMENT"',
}

# The program under test, with the specs of the clone that it was built in, measuring by the fake worker.
PROGRAM = """#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd)
verb=$1
shift
[ "$verb" = run ] && set -- --worker "$FAKE_WORKER" "$@"
TILESWEEP_DATA=$here exec {program} "$verb" "$@"
"""


def write_script(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


class Runner:
    """A clone of a repository with a branch `main`, and the machine that the workflow runs on."""

    def __init__(self, sweep, change):
        if not shutil.which("git"):
            raise Skipped("no git in PATH")
        self.folder, tools = sweep.folder, os.path.join(sweep.folder, "tools")
        self.origin, self.clone = os.path.join(self.folder, "origin"), os.path.join(self.folder, "clone")
        self.comment, self.summary = os.path.join(self.folder, "comment"), os.path.join(self.folder, "summary")
        os.makedirs(tools)
        self.env = dict(sweep.env, PATH=f"{tools}:{os.environ['PATH']}", GITHUB_SHA="5ha", GITHUB_STEP_SUMMARY=self.summary,
                        FAKE_WORKER=shlex.join([sys.executable, FAKE]), STAND_IN=os.path.join(tools, "tilesweep"),
                        ASKED=os.path.join(self.folder, "asked"), COMMENT=self.comment, HOME=self.folder,
                        GIT_CONFIG_NOSYSTEM="1", GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@t", GIT_COMMITTER_NAME="t",
                        GIT_COMMITTER_EMAIL="t@t")
        for name, body in STAND_INS.items():
            write_script(os.path.join(tools, name), f'#!/bin/sh\necho {name} "$@" >> "$ASKED"\n{body}\n')
        write_script(self.env["STAND_IN"], PROGRAM.format(program=shlex.quote(sweep.program)))
        for name in ("bench", "kernels", "scripts"):
            shutil.copytree(os.path.join(SRC, name), os.path.join(self.origin, name))
        shutil.copy(os.path.join(SRC, "meson.build"), self.origin)
        self.git("init", "-q", "-b", "main", ".")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "base")
        harness.run(["git", "clone", "-q", f"file://{self.origin}", self.clone], self.env, self.folder).expect_status(0)
        change(self)

    def git(self, *words):
        harness.run(["git", *words], self.env, self.origin).expect_status(0)

    def edit(self, benchmark, variant, options):
        """What the pull request does: other build options of a variant."""
        path = os.path.join(self.clone, "bench", benchmark + ".json")
        with open(path, encoding="utf-8") as file:
            spec = json.load(file)
        (found,) = (item for item in spec["variants"] if item["name"] == variant)
        found["options"] = f"{spec['options']} {options}"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(spec, file)

    def run(self):
        """All steps; (status of the job, {name: Ended})."""
        ended, status = {}, 0
        for step in read_steps():
            condition = step.get("if", "success()")
            expect(condition in ("success()", "always()", "always() && github.event_name == 'pull_request'"), condition)
            if "run" not in step or (status and not condition.startswith("always()")):
                continue
            name = step.get("name", step["run"])
            env = dict(self.env, **{key: fill(value) for key, value in re.findall(r"(\w+): (.*)\n", step.get("env", ""))})
            script = os.path.join(self.folder, "step")
            write_script(script, fill(step["run"]))
            ended[name] = harness.run(["bash", "-e", script], env, self.clone)
            status = status or ended[name].status
        return status, ended

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()


def passes(sweep):
    """A pull request that changes nothing."""
    runner = Runner(sweep, lambda runner: None)
    status, ended = runner.run()
    expect(status == 0, f"status {status}: {[(name, step.err[-300:]) for name, step in ended.items() if step.status]}")
    expect(set(ended) == {"Set up", "Build the base", "Measure both in turn, three times", "Compare", "Comment"}, f"{set(ended)}")
    for side in ("base", "new"):
        for i in "123":
            (run,) = load_results(os.path.join(runner.clone, f"{side}-{i}.json"))["runs"]
            expect(run["seed"] == int(i) and {row["benchmark"] for row in run["rows"]} == {"laplacian", "transpose"}, "the runs")
            expect(run["context"] == ({"commit": "5ha"} if side == "new" else {}), f"{run['context']}")
    comment = runner.read(runner.comment)
    expect("nothing worse" in comment and comment == runner.read(runner.summary), comment)
    asked = runner.read(runner.env["ASKED"]).splitlines()
    expect(asked[0] == "sudo scripts/setup" and asked[-1].startswith("gh pr comment 17 ") and len(asked) == 6, f"{asked}")


def finds_what_is_slower(sweep):
    runner = Runner(sweep, lambda runner: runner.edit("laplacian", "naive", "-DPAD=4"))  # the fake worker takes longer
    status, ended = runner.run()
    expect(status == 1 and ended["Compare"].status == 1, f"{ {name: step.status for name, step in ended.items()} }")
    expect("::error" in ended["Compare"].out and "naive" in ended["Compare"].out, ended["Compare"].out)
    expect("**slower** | laplacian POINTS=5 W=4096 H=4096 naive" in runner.read(runner.comment), runner.read(runner.comment)[:900])


def tells_what_is_broken(sweep):
    """`run` itself ends with 1: the comparison and the comment are made all the same."""
    runner = Runner(sweep, lambda runner: runner.edit("laplacian", "local", "-DFAULT=wrong"))
    status, ended = runner.run()
    if "Compare" not in ended:
        raise Failed(f"not compared: {[(name, step.err[-200:]) for name, step in ended.items() if step.status]}")
    expect(status == 1 and ended["Compare"].status == 1, f"{ {name: step.status for name, step in ended.items()} }")
    expect("failed" in runner.read(runner.comment) and "::error" in ended["Compare"].out, runner.read(runner.comment))


TESTS = (passes, finds_what_is_slower, tells_what_is_broken)


if __name__ == "__main__":
    sys.exit(run_tests(__doc__, TESTS))
