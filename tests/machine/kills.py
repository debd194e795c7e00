#!/usr/bin/env python3
"""kill -9 of a run at random moments, spread over opening the device, proving, timing and writing; some of the resumed
runs are killed again. After each kill

    the results file is absent or whole, every line of the journal but a torn last one can be read,
    no worker is left after some seconds, nothing is lost but what was in flight,
    --resume finishes with the rows of a run that nobody killed, and measures nothing a second time.

    tests/machine/kills.py --library FILE [--program FILE] [--count N] [--seed N] [--pocl] [--keep FOLDER]

Prints a line for each kill that went wrong, and the figures; status 1 when there was one."""

import os
import random
import signal
import subprocess
import sys
import time

from machine import Machine, real, visits_in
import harness
from harness import expect, load_journal, load_results, outcome, row_name, wait_until
from sweep import SLOW_S

PHASES = ("open", "prove", "time", "write")
WORDS = ("--visits", "2", "--samples", "2", "--precision", "100%")
FAKE_WORDS = ("--quick", "-s", "TX=16,32", "-s", "TY=8")
WRITES = ("slow fsync {fsync} 300", "slow rename 1 300", "slow unlink 1 300")


class Kills:
    def __init__(self, options, folder):
        self.random = random.Random(options.seed)
        self.sweep = Machine(options, folder, "kills")
        self.pocl = options.pocl
        self.command = real(self.sweep) if self.pocl else self.sweep.command(*FAKE_WORDS, "-j", "2", worker=("--delay", "8"))
        self.figures = {"kills": 0, "journals": 0, "documents": 0, "visits kept": 0, "visits in flight": 0,
                        "visits disturbed": 0, "killed again": 0, **{phase: 0 for phase in PHASES}}

    def begin(self, resume):
        tail = list(WORDS)
        command = self.command + tail
        if resume:
            command = [self.sweep.program, "run", "--resume", self.sweep.file]
            command += [] if self.pocl else ["--worker", self.sweep.worker("--delay", "8")]
        with open(os.path.join(self.sweep.folder, "stderr"), "wb") as err:
            return subprocess.Popen(command, env=self.sweep.env, cwd=self.sweep.folder, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=err)

    def journal(self):
        """Its lines, none where there is no journal."""
        return load_journal(self.sweep.part) if os.path.exists(self.sweep.part) else []

    def phase(self):
        """As the journal tells it."""
        try:
            with open(self.sweep.part, "rb") as file:
                text = file.read()
        except OSError:
            return "open"
        return "time" if b'{"visit"' in text or b'{"sentinel"' in text else "prove" if b'{"run"' in text else "open"

    def measure(self):
        """A run that nobody kills: its rows, and when each phase begins."""
        self.sweep.empty_disk()
        self.sweep.break_by("fail none 0 0")
        begun, child, before = [0.0], self.begin(False), time.monotonic()
        while child.poll() is None:
            while PHASES.index(self.phase()) >= len(begun):
                begun.append(time.monotonic() - before)
            time.sleep(0.002)
        begun.append(time.monotonic() - before)
        self.spans = {phase: end - begin for phase, begin, end in zip(PHASES, begun, begun[1:])}
        expect(child.returncode == 0, f"exit status {child.returncode} without a kill")
        with open(os.path.join(self.sweep.folder, "uses"), encoding="ascii") as file:
            self.uses = dict(line.split() for line in file)
        self.rows = self.outcomes()

    def outcomes(self):
        return {row_name(row): outcome(row) for row in self.sweep.rows()}

    def kill(self, resume, phase):
        """Starts the run and kills it in the phase, unless it ends before. Returns its status."""
        if phase == "write":  # longer than it is, so that a kill can fall into it
            fault = self.random.choice(WRITES).format(fsync=int(self.uses["fsync"]) - self.random.randrange(2))
            self.sweep.break_by(fault)
        child = self.begin(resume)
        try:
            self.wait_for(child, phase)
        finally:
            child.kill()
            child.wait()
            self.sweep.mend()
        return child.returncode

    def wait_for(self, child, phase):
        """A moment in the phase, or the end."""
        if phase == "write":
            wait_until(lambda: os.path.exists(self.sweep.met) or child.poll() is not None, SLOW_S, "the write")
            time.sleep(self.random.uniform(0, 0.3))
        else:
            order = PHASES.index(phase)
            wait_until(lambda: PHASES.index(self.phase()) >= order or child.poll() is not None, SLOW_S, phase)
            time.sleep(self.random.uniform(0, self.spans[phase]))

    def visits(self):
        """Those that the journal holds, per configuration, each with whether it is kept as disturbed."""
        held = {}
        for line in self.journal():
            if "visit" in line:
                visit = line["visit"]
                held.setdefault(row_name(visit), []).append([visit["sample_ns"], visit.get("disturbed", False)])
            elif "drop" in line:
                del held[row_name(line["drop"])][-line["drop"]["visits"]:]
            elif "disturb" in line:
                believed = [visit for visit in held[row_name(line["disturb"])] if not visit[1]]
                for visit in believed[-line["disturb"]["visits"]:]:
                    visit[1] = True
        return held

    def judge(self):
        """What a kill left behind; True: there is a run to go on with."""
        self.sweep.expect_workers_gone()
        harness.wait_until(lambda: not harness.marked(self.sweep.disk), 5, "a process is left behind")
        if os.path.exists(self.sweep.file):
            load_results(self.sweep.file)
            self.figures["documents"] += 1
        lines = self.journal()
        self.figures["journals"] += bool(lines)
        made = self.sweep.visits_made()
        kept = sum("visit" in line for line in lines) if lines else made and visits_in(self.sweep.file)
        if not self.pocl:
            expect(kept >= made - self.killed, f"{made} visits made, {kept} in the journal, after {self.killed} kills")
            self.figures["visits in flight"] += max(0, made - kept)
        self.figures["visits kept"] += kept
        return any("run" in line for line in lines)

    def once(self, phase):
        self.sweep.empty_disk()
        self.killed, resume = 0, False
        for phase_now in [phase] + ([self.random.choice(PHASES)] if self.random.random() < 0.3 else []):
            if self.kill(resume, phase_now) != -signal.SIGKILL:
                break  # it was through
            self.killed += 1
            self.figures["kills"] += 1
            self.figures[phase_now] += 1
            self.figures["killed again"] += resume
            resume = self.judge()
            if not resume and os.path.exists(self.sweep.file):
                break  # killed after the last write
        held = self.visits()
        if resume or not os.path.exists(self.sweep.file):
            child = self.begin(resume)
            expect(child.wait(SLOW_S) == 0, f"exit status {child.returncode} of the resumed run")
        expect(not os.path.exists(self.sweep.part), "the journal is still there")
        expect(self.outcomes() == self.rows, "other rows than without a kill")
        final = {row_name(row): row["time"] for row in self.sweep.rows()}
        for name, visits in held.items():
            samples, disturbed = [visit[0] for visit in visits], sum(visit[1] for visit in visits)
            expect(final[name]["visits"][:len(visits)] == samples, f"{name}: visits of the journal are lost or made again")
            expect(final[name]["disturbed"] >= disturbed, f"{name}: {final[name]['disturbed']} visits disturbed, {disturbed} were")
            self.figures["visits disturbed"] += disturbed
        if not self.pocl:
            made, kept = self.sweep.visits_made(), visits_in(self.sweep.file)
            expect(made <= kept + self.killed, f"{made} visits made, {kept} kept: measured twice")


def main():
    options = harness.arguments(__doc__, (("--library",), {"required": True}), (("--count",), {"type": int, "default": 100}),
                                (("--seed",), {"type": int, "default": 1}), (("--pocl",), {"action": "store_true"}))
    report, begun = harness.Report(), time.monotonic()
    with harness.Folder(options.keep) as folder:
        kills = Kills(options, folder)
        try:
            kills.measure()
        except harness.Skipped as skipped:
            report.tell("skip", "kills", str(skipped))
            return 0
        except harness.Failed as failed:
            report.tell("not ok", "kills_without_a_kill", str(failed))
            return report.finish()
        number = bad = 0
        while kills.figures["kills"] < options.count:
            phase = PHASES[number % len(PHASES)]
            number += 1
            try:
                kills.once(phase)
            except harness.Failed as failed:
                bad += 1
                report.tell("not ok", f"kill_{number}_in_{phase}", str(failed))
                if bad > 5:
                    break
        figures = ", ".join(f"{count} {name}" for name, count in kills.figures.items())
        if not bad:
            report.tell("ok", "kills_pocl" if options.pocl else "kills", seen=figures)
        print(f"# seed {options.seed}: {number} runs, {figures}; {bad} wrong; {time.monotonic() - begun:.0f} s")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
