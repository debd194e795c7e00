"""What the test runners in Python share: their output, the program under test, documents and their schemas,
processes.

A runner makes a Report, gives each test a name, and ends with sys.exit(report.finish()). A test is `ok NAME`, `not ok
NAME: why` or `skip NAME: why`."""

import argparse
import glob
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

try:
    import jsonschema
except ImportError:  # the system's python3 has it where another one comes first in PATH
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3"] + sys.argv)
    jsonschema = None  # on a machine without package rights: documents are read strictly, and that is all

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.dirname(HERE)
DOCS = os.path.join(SRC, "docs")

STATUSES = ("ok", "skipped", "build-failed", "launch-failed", "wrong", "timeout", "crashed")


class Failed(Exception):
    """The test failed; the text says why, in one line."""


class Skipped(Exception):
    """The test cannot run here; the text says why."""


def expect(condition, why):
    if not condition:
        raise Failed(why)


def script(name):
    """scripts/NAME as a module."""
    sys.dont_write_bytecode = True  # no scripts/NAMEc
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), os.path.join(SRC, "scripts", name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class Report:
    table = None  # --table: a file that gets `NAME<tab>RESULT<tab>WHAT WAS SEEN` of each test

    def __init__(self, only=()):
        self.only = only
        self.counts = {"ok": 0, "not ok": 0, "skip": 0}

    def tell(self, result, name, why="", seen=""):
        self.counts[result] += 1
        if self.table:
            with open(self.table, "a", encoding="utf-8") as file:
                file.write(f"{name}\t{result}\t{re.sub(r'[^ -~]+', ' ', seen or why)[:300]}\n")
        why = ": " + re.sub(r"\s*\n\s*", " | ", why.strip()) if why else ""
        print(f"{result} {name}{why}", flush=True)

    def run(self, name, test, *arguments):
        """Calls the test; what it raises decides, what it returns is what was seen. Names in `only` are parts of names that are wanted."""
        if self.only and not any(part in name for part in self.only):
            return
        try:
            seen = test(*arguments)
        except Failed as failed:
            self.tell("not ok", name, str(failed))
        except Skipped as skipped:
            self.tell("skip", name, str(skipped))
        except Exception:  # a defect of the test is a failure of the test, not the end of the runner
            self.tell("not ok", name, "".join(traceback.format_exc().strip().splitlines(True)[-4:]))
        else:
            self.tell("ok", name, seen=seen if isinstance(seen, str) else "")

    def finish(self):
        print("# {ok} ok, {not ok} not ok, {skip} skipped".format(**self.counts), flush=True)
        return 1 if self.counts["not ok"] or not self.counts["ok"] else 0


def arguments(doc, *options):
    """--program, NAME... and the runner's own options as (names, keywords) pairs."""
    parser = argparse.ArgumentParser(description=doc.split("\n\n")[0])
    parser.add_argument("--program", default=os.path.join(SRC, "build", "tilesweep"))
    parser.add_argument("--table", metavar="FILE", help="append NAME, RESULT and what was seen of each test")
    parser.add_argument("--keep", metavar="FOLDER", help="work there and leave everything behind")
    for names, keywords in options:
        parser.add_argument(*names, **keywords)
    parser.add_argument("only", nargs="*", metavar="NAME", help="run the tests whose name has this part")
    parsed = parser.parse_args()
    parsed.program = os.path.abspath(parsed.program)
    Report.table = parsed.table and os.path.abspath(parsed.table)
    if not os.access(parsed.program, os.X_OK):
        parser.error(f"{parsed.program}: no program there; give --program")
    return parsed


class Folder:
    """A working folder: temporary, or the one given and then kept."""

    def __init__(self, keep):
        self.keep = keep
        self.path = os.path.abspath(keep) if keep else tempfile.mkdtemp(prefix="tilesweep-test-")
        os.makedirs(self.path, exist_ok=True)

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        if not self.keep:
            shutil.rmtree(self.path, ignore_errors=True)


# ---- the program ----

# Locks are shared between all users of a device on purpose; tests must not wait for each other, so each runner has
# folders of its own for everything that the program finds by the environment.
def environment(folder, **more):
    env = dict(os.environ, LC_ALL="C", NO_COLOR="1", TMPDIR=folder, XDG_CACHE_HOME=folder,
               OCL_ICD_VENDORS=os.path.join(folder, "no-icd"), POCL_CACHE_DIR=os.path.join(folder, "pocl-cache"),
               TILESWEEP_LOCKS=os.path.join(folder, "locks"))
    for name in ("OCL_ICD_VENDORS", "POCL_CACHE_DIR", "TILESWEEP_LOCKS"):
        os.makedirs(env[name], exist_ok=True)
    env.update(more)
    return env


class Ended:
    def __init__(self, status, out, err, took_s):
        self.status, self.out, self.err, self.took_s = status, out, err, took_s

    def expect_status(self, *wanted):
        if self.status not in wanted:
            raise Failed(f"exit status {self.status}, expected {' or '.join(map(str, wanted))}; "
                         f"standard error: {self.err[-1500:]}")
        return self


def run(command, env, cwd, timeout_s=120):
    """Runs to the end and returns an Ended; one that does not end is killed, with what a shell started, and fails the test."""
    before = time.monotonic()
    child = subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = child.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        err = child.communicate()[1].decode("utf-8", "backslashreplace")
        raise Failed(f"did not end within {timeout_s} s: {' '.join(command)}; {err[-500:]}")
    except KeyboardInterrupt:  # the terminal sends it to the runner's session alone
        os.killpg(child.pid, signal.SIGKILL)
        raise
    return Ended(child.returncode, out.decode("utf-8", "backslashreplace"), err.decode("utf-8", "backslashreplace"),
                 time.monotonic() - before)


def is_running(pid):
    """A zombie that nobody reaps is not running."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


def marked(mark):
    """Process ids whose environment holds the mark."""
    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        pid = path.split("/")[2]
        try:
            with open(path, "rb") as file:
                if mark.encode() in file.read() and is_running(pid):
                    found.append(pid)
        except OSError:
            pass
    return found


def wait_until(condition, timeout_s, what, step_s=0.01):
    end = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"not within {timeout_s} s: {what}")
        time.sleep(step_s)


class Promised:
    """A wall time that the program promises, held against what the machine has to give meanwhile:

        with Promised(3, folder) as promise:
            child.send_signal(number)
            child.wait(60)
        promise.expect_kept("to end")

    A control runs beside it the whole time, and does what an ending program does: a shell is started, a file is written
    and forced to the disk, 20 ms are slept. What the slowest of these took beyond its sleep, ten times over (a program that ends
    starts, awaits and writes about so often), is the machine's and is allowed on top: 0.1 s on an idle one."""

    STEPS, NAP_S = 10, 0.02

    def __init__(self, promised_s, folder):
        self.promised_s = promised_s
        self.path = os.path.join(folder, "control")
        self.late_s = self.took_s = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.control, daemon=True)

    def control(self):
        while True:
            begun = time.monotonic()
            subprocess.run(["/bin/sh", "-c", f"sleep {self.NAP_S}"], check=False, stdin=subprocess.DEVNULL)
            with open(self.path, "wb") as file:
                file.write(b"x" * 65536)
                file.flush()
                os.fsync(file.fileno())
            self.late_s = max(self.late_s, time.monotonic() - begun - self.NAP_S)
            if self.over.wait(0.05):
                return

    def __enter__(self):
        self.begun = time.monotonic()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.took_s = time.monotonic() - self.begun
        self.over.set()
        self.thread.join()
        os.unlink(self.path)

    def expect_kept(self, what):
        allowed_s = self.promised_s + self.STEPS * self.late_s
        expect(self.took_s < allowed_s, f"took {self.took_s:.1f} s {what}: promised are {self.promised_s:g} s, and a machine "
                                        f"whose control is {self.late_s:.2f} s late makes it {allowed_s:.1f} s")


# ---- documents ----

def refuse(word):
    raise ValueError(f"{word} is no JSON")


def unique(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        raise ValueError(f"a key twice in {sorted(keys)}")
    return dict(pairs)


def parse(text):
    """Strict: Python's reader takes NaN, Infinity and repeated keys."""
    return json.loads(text, parse_constant=refuse, object_pairs_hook=unique)


def validator(kind):
    """Of docs/KIND.schema.json, which may refer to its neighbours."""
    if kind not in validator.made:
        with open(os.path.join(DOCS, f"{kind}.schema.json"), encoding="utf-8") as file:
            schema = json.load(file)
        maker = jsonschema.validators.validator_for(schema)
        maker.check_schema(schema)
        resolver = jsonschema.RefResolver(base_uri=f"file://{DOCS}/{kind}.schema.json", referrer=schema)
        validator.made[kind] = maker(schema, resolver=resolver)
    return validator.made[kind]


validator.made = {}


def check(kind, document, name):
    if not jsonschema:
        return
    error = next(iter(sorted(validator(kind).iter_errors(document), key=lambda e: list(map(str, e.absolute_path)))),
                 None)
    if error:
        deepest = jsonschema.exceptions.best_match([error])
        place = ".".join(map(str, deepest.absolute_path))
        raise Failed(f"{name}: {place}: {deepest.message[:300]} (docs/{kind}.schema.json)")


def load_results(path):
    """A results document, strict JSON, right by its schema, its counts those of its rows."""
    try:
        with open(path, "rb") as file:
            document = parse(file.read().decode("utf-8"))
    except (OSError, ValueError) as error:
        raise Failed(f"{path}: {error}") from error
    check("results", document, path)
    for run_ in document["runs"]:
        counted = {}
        for row in run_["rows"]:
            counted[row["status"]] = counted.get(row["status"], 0) + 1
        told = {key: value for key, value in run_["counts"].items() if key in STATUSES}
        expect(told == counted, f"{path}: counts say {told}, rows are {counted}")
    return document


def load_journal(path):
    """The objects of a journal; only a line without its newline may be torn, and is left out."""
    with open(path, "rb") as file:
        whole, _, _ = file.read().rpartition(b"\n")
    lines = []
    for number, line in enumerate(whole.split(b"\n") if whole else [], 1):
        try:
            lines.append(parse(line.decode("utf-8")))
        except ValueError as error:
            raise Failed(f"{path}:{number}: {error}") from error
        check("journal", lines[-1], f"{path}:{number}")
    return lines


def reason_codes():
    """{"skipped:budget", ...}: all of docs/results.schema.json, but for the names of OpenCL's errors."""
    with open(os.path.join(DOCS, "results.schema.json"), encoding="utf-8") as file:
        rules = json.load(file)["$defs"]["row"]["allOf"]
    codes = set()
    for rule in rules:
        status = rule["if"]["properties"]["status"].get("const", "ok")
        known = rule["then"]["properties"]["reason"].get("properties", {}).get("code", {}).get("enum", [])
        codes |= {f"{status}:{code}" for code in known}
    return codes


def outcome(row):
    """"ok", or "wrong:mismatch"."""
    return row["status"] if row["status"] == "ok" else f"{row['status']}:{row['reason']['code']}"


def row_name(row):
    words = [row["variant"]]
    for part in ("problem", "params", "size"):
        words += [f"{name}={value}" for name, value in row[part].items()]
    return " ".join(words)
