#!/usr/bin/env python3
"""Files and surroundings that mean harm, or only are unlucky. No device is needed.

    tests/hostile/run.py [--program FILE] [--keep FOLDER] [NAME...]

Data: whatever a results file, a journal or a spec holds, no command is run, nothing is written outside of the output
folder, and neither gnuplot nor a browser executes anything; no input makes the program loop or allocate without bound.
Surroundings: closed standard streams, decimal commas, odd time zones, no HOME, no TMPDIR, little memory, few
descriptors. Prints `ok NAME`, `not ok NAME: why` or `skip NAME: why` a test; status 1 when one failed."""

import html.parser
import json
import os
import resource
import shlex
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402
from harness import Failed, expect, load_results  # noqa: E402

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORDED = os.path.join(TESTS, "data", "results", "names.json")
FAKE = os.path.join(TESTS, "fake_worker")
SPEC = os.path.join(TESTS, "run", "fake.json")
SLOW_S = 120
# What a sanitizer's shadow memory and many descriptors do not admit is tried without one.
SANITIZED = "ASAN_OPTIONS" in os.environ or "UBSAN_OPTIONS" in os.environ

# Each would leave a file named PWNED, break out of its quotes, or read as markup somewhere.
WORDS = {
    "quotes": "a\"b'c\"'",
    "backquotes": "`touch PWNED`",
    "dollar": "$(touch PWNED)${HOME}",
    "system": "\"; system(\"touch PWNED\"); print \"",
    "pipe": "|touch PWNED",
    "pipe_file": "< touch PWNED",
    "shell": "'; touch PWNED; '",
    "bang": "x\n!touch PWNED\nx",
    "gnuplot": "x\nset print '|touch PWNED'\nprint 1\n",
    "enhanced": "{/Symbol a}_{b}^{c}@x&{d}~e{.3f}",
    "format": "%s%n%1$s%99999d%.99999f%",
    "up": "../../../PWNED",
    "absolute": "/tmp/PWNED/x",
    "dots": "..",
    "dash": "--persist -e 'x'",
    "script": "</title></script><script>document.title='PWNED'</script>",
    "attribute": "\" onerror=\"alert(1)\" x=\"",
    "image": "<img src=x onerror=alert(1)>",
    "comment": "--><!-- ]]> <![CDATA[ <?php ?>",
    "url": "javascript:alert(1)",
    "escapes": "\\n\\042\\\\\\",
    "tabs": "a\tb\t\tc",
    "hash": "# - ?",
    "controls": "\x01\x1b[2J\x1b]0;PWNED\x07\x7f",
    "right_to_left": "\u202e\u2066abc\u200b",
    "no_character": "\ufffe\uffff",
    "long": "x" * 300,
    "long_wide": "\u4e2d" * 300,
    "blank": " ",
    "empty": "",
}


class Page(html.parser.HTMLParser):
    """Refuses whatever a browser would run or fetch."""

    def __init__(self, text):
        super().__init__()
        self.links = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        expect(tag not in ("script", "iframe", "object", "embed", "base", "form", "link"), f"<{tag}> on the page")
        for key, value in attributes:
            expect(not key.startswith("on"), f"{key}={value!r} in <{tag}>")
            if key in ("src", "href"):
                expect(":" not in value and not value.startswith(("/", "..")), f"{key}={value!r}")
                self.links.append(value)


def tree(folder):
    """Every file and folder below, relative."""
    found = set()
    for base, folders, files in os.walk(folder):
        found |= {os.path.relpath(os.path.join(base, name), folder) for name in folders + files}
    return found


class Place:
    """A folder to work in, with an environment."""

    def __init__(self, options, folder, name):
        self.program = options.program
        self.root = os.path.join(folder, name)
        self.folder = os.path.join(self.root, "a", "b", "c")  # room to see what a name with `../` makes above it
        os.makedirs(self.folder)
        self.env = harness.environment(os.path.join(folder, "env"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, document):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(document if isinstance(document, str) else json.dumps(document, ensure_ascii=False))
        return self.path(name)

    def run(self, *words, env=None, limit=None, timeout_s=SLOW_S, redirect=""):
        """limit: (resource, soft limit) of the program; redirect: the shell's, as `<&-`."""
        command = [self.program, *words]
        if redirect:
            command = ["/bin/sh", "-c", f"exec \"$@\" {redirect}", "sh", *command]
        before = (lambda: resource.setrlimit(limit[0], (limit[1], limit[1]))) if limit else None
        try:
            done = subprocess.run(command, cwd=self.folder, env=self.env if env is None else env, preexec_fn=before,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            raise Failed(f"did not end within {timeout_s} s: {words}") from None
        return harness.Ended(done.returncode, done.stdout.decode("utf-8", "backslashreplace"),
                             done.stderr.decode("utf-8", "backslashreplace"), 0)

    def sweep(self, *words, **more):
        worker = shlex.join([sys.executable, FAKE])
        return self.run("run", "--worker", worker, SPEC, "-s", "TX=8", "-s", "TY=8", "-s", "FAULT=none", "--size",
                        "N=4096", "--visits", "2", "--samples", "2", "-j", "2", *words, **more)


# ---- data ----

def spoil(document, word):
    """The word in every text of a results file that has no fixed form."""
    (run,) = document["runs"]
    run["id"] = run["started"] = word
    run["context"] = {word or "k": word}
    run["host"] = {"name": word, "os": word, "cpu": word}
    run["environment"] = {word or "k": word}
    run["tool"] = {"version": word, "revision": word}
    run["specs"] = [{"name": word, "digest": word}]
    run["platform"].update(name=word, version=word)
    run["device"].update(name=word or "D", vendor=word, driver=word, version=word, family=word, extensions=word, id=word)
    run["clock"]["warnings"] = [word, word]
    for row in run["rows"]:
        row["benchmark"] = word or "b"
        row["variant"] += word
        for part in ("params", "problem"):
            row[part] = {name + word: value for name, value in row[part].items()}
            row[part]["WORD" + word] = word
        row["talk"] = word
        row["build"].update(options=word, log=word * 3)
        if row["status"] != "ok":
            row["reason"] = {"code": word, "text": word * 3}
    run["rows"][-1].update(status="crashed", reason={"code": word, "text": word}, time=None)
    return document


def report_runs_nothing(place, word):
    with open(RECORDED, encoding="utf-8") as file:
        path = place.write("r.json", spoil(json.load(file), word))
    before = tree(place.root)
    ended = place.run("report", path, "-o", place.path("out")).expect_status(0)
    inside = os.path.relpath(place.folder, place.root) + os.sep
    strays = [name for name in tree(place.root) - before if not (name + "/").startswith(inside + "out/")]
    expect(not strays and not os.path.exists("/tmp/PWNED"), f"written outside of the folder: {strays}")
    made = {name.removeprefix(inside) for name in tree(place.root) - before}
    expect(not any("PWNED" in os.path.basename(name) and "touch" not in name and name.endswith("PWNED")
                   for name in made), f"a command ran: {made}")
    with open(place.path("out/index.html"), encoding="utf-8") as file:
        page = file.read()
    for link in Page(page).links:
        expect(link.startswith("#") or os.path.isfile(place.path(os.path.join("out", link))), f"a link to {link}")
    pictures = [name for name in made if name.endswith(".svg")]
    for name in pictures:
        for element in xml.etree.ElementTree.parse(place.path(name)).iter():
            expect("script" not in element.tag and not any(key.startswith("on") for key in element.attrib), name)
    controls = [char for char in ended.out + ended.err if ord(char) < 32 and char not in "\n\t"]
    expect(not controls, f"control bytes on the terminal: {controls}")


def hostile_folder(place):
    """The output folder's own name is no command either."""
    for name in ("`touch PWNED`", "$(touch PWNED)", "a'b\"c", "-e x", "x\ny", "%s%n"):
        place.run("report", RECORDED, "-o", place.path(name)).expect_status(0)
        expect(os.path.isfile(os.path.join(place.path(name), "index.html")), f"no page in {name!r}")
    expect("PWNED" not in os.listdir(place.folder), "a command ran")


def resume_runs_no_command(place):
    """options.worker of a results file is told, not run."""
    place.sweep("-o", place.path("r.json")).expect_status(0, 1)
    with open(place.path("r.json"), encoding="utf-8") as file:
        document = json.load(file)
    (run,) = document["runs"]
    run.update(interrupted=True, finished=None)
    run["options"].update(worker="touch PWNED; false", setup="touch PWNED", cleanup="touch PWNED")
    place.write("r.json", document)
    ended = place.run("run", "--resume", place.path("r.json")).expect_status(2)
    expect("options.worker" in ended.err and "touch PWNED; false" in ended.err, ended.err)
    run["options"]["worker"] = None
    place.write("r.json", document)
    place.run("run", "--resume", place.path("r.json")).expect_status(0, 1, 2, 3)
    expect("PWNED" not in os.listdir(place.folder), "a command ran")


def damaged_files_are_named(place):
    """Each command that reads a file: exit 2, the file, the place; nothing is written."""
    with open(RECORDED, encoding="utf-8") as file:
        good = file.read()
    cases = {
        "cut.json": good[:len(good) // 2], "empty.json": "", "folder.json": None, "after.json": good + "x",
        "deep.json": "[" * 2000, "repeated.json": good.replace("{", "{\"runs\":1,", 1),
        "newer.json": good.replace("results/1", "results/2"), "binary.json": "\x00\x01\x02",
        "status.json": good.replace("\"status\": \"ok\"", "\"status\": \"fine\"", 1),
        "type.json": good.replace("\"staged\": ", "\"staged\": \"yes\", \"was\": ", 1),
    }
    for name, text in cases.items():
        path = place.path(name)
        if text is None:
            os.makedirs(path)
        else:
            place.write(name, text)
        for words in (("report", path, "-o", place.path("out")), ("run", "--resume", path), ("list", path),
                      ("export", path, "--format", "csv"), ("merge", path, "-o", place.path("out"))):
            ended = place.run(*words).expect_status(2)
            expect(name in ended.err and "Traceback" not in ended.err and len(ended.err) < 2000, ended.err)
    expect("newer" in place.run("report", place.path("newer.json"), "-o", "out").err, "a newer schema is not told")
    expect(not os.path.exists(place.path("out")), "a folder was made for nothing")


def spec(**changes):
    document = {
        "schema": "tilesweep.spec/1", "name": "s", "sources": ["k.cl"], "reference": {"variant": "v"},
        "sizes": [{"N": 64}], "check_sizes": [{"N": 3}],
        "args": [{"name": "a", "kind": "out", "type": "float", "shape": ["N"]}],
        "variants": [{"name": "v", "kernel": "k", "baseline": True}], "global": ["N"], "local": [1],
    }
    document.update(changes)
    return document


def expressions_are_bounded(place):
    """Deep nesting, long text, huge axes: an answer soon, and little memory."""
    place.write("k.cl", "__kernel void k(__global float *a) { a[get_global_id(0)] = 1; }\n")
    axis = list(range(1, 10001))
    variant = {"name": "v", "kernel": "k", "baseline": True, "params": ["A", "B"]}
    deep = "(" * 100 + "N" + ")" * 100
    cases = {
        "nested": (spec(**{"global": [deep]}), "nested deeper"),
        "brackets": (spec(**{"global": ["(" * 2000]}), "nested deeper"),
        "long": (spec(**{"global": ["N" + "+N" * 5000]}), "4096"),
        "overflow": (spec(**{"global": ["N*9223372036854775807"]}), "overflows"),
        "axis": (spec(params={"A": list(range(20000))}), "10000"),
        "axes": (spec(params={"A": axis, "B": axis}, variants=[variant], where=["0"]), "2*10^7"),
        "million": (spec(params={"A": axis, "B": list(range(150))}, variants=[variant]), "10^6"),
        "problem": (spec(problem={"P": axis, "Q": axis}, where=["0"]), "2*10^7"),
        "array": (spec(args=[{"name": "a", "kind": "out", "type": "float", "shape": ["N*4611686018427387904"]}]), "N"),
    }
    limit = None if SANITIZED else (resource.RLIMIT_AS, 4 << 30)
    for name, (document, wanted) in cases.items():
        ended = place.run("list", place.write(name + ".json", document), limit=limit).expect_status(2)
        expect(name + ".json" in ended.err and wanted in ended.err, f"{name}: {ended.err}")
    many = spec(params={"A": axis, "B": list(range(99))}, variants=[variant])
    place.run("list", place.write("many.json", many), limit=limit).expect_status(0)


def includes_are_bounded(place):
    """A source that includes itself, a chain too deep, one that doubles at every step."""
    place.write("self.cl", "#include \"self.cl\"\n")
    for i in range(40):
        place.write(f"chain{i}.h", f"#include \"chain{i + 1}.h\"\n" * 2)
    place.write("chain40.h", "x\n" * 1000)
    for name, source in (("self", "self.cl"), ("chain", "chain0.h"), ("bomb", "chain20.h")):
        ended = place.run("list", place.write(name + ".json", spec(sources=[source]))).expect_status(2)
        expect(name + ".json" in ended.err, ended.err)


# ---- surroundings ----

# Commands that need no device, with the statuses that are right when nothing is wrong with the surroundings.
def quiet_commands(place):
    return [("--version",), ("list",), ("list", "--json"), ("list", SPEC), ("run", "--help"),
            ("export", RECORDED, "--format", "csv"), ("merge", RECORDED, "-o", "-"),
            ("report", RECORDED, "-o", place.path("out"))]


def everywhere(place, **more):
    for words in quiet_commands(place):
        place.run(*words, **more).expect_status(0)
    ended = place.sweep("-o", place.path("r.json"), **more).expect_status(0)
    rows = [row for run in load_results(place.path("r.json"))["runs"] for row in run["rows"]]
    expect(len(rows) >= 2 and all(row["status"] == "ok" and row["time"] for row in rows), f"{len(rows)} rows")
    return ended


def closed_streams(place, which):
    """A closed stdout is told where output was lost; nothing ends up in a file of ours."""
    redirect = {"stdin": "<&-", "stdout": ">&-", "stderr": "2>&-", "all": "<&- >&- 2>&-"}[which]
    lost = which in ("stdout", "all")
    for words in quiet_commands(place):
        ended = place.run(*words, redirect=redirect)
        # report's page and run's document go to files: what is lost is only talk.
        expect(ended.status in ((0, 4) if words[0] == "report" else (4,) if lost else (0,)), f"{words}: {ended.status}")
    ended = place.sweep("-o", place.path("r.json"), redirect=redirect)
    expect(ended.status in ((0, 4) if lost else (0,)), f"run: {ended.status}: {ended.err}")
    document = load_results(place.path("r.json"))
    expect(document["runs"][0]["finished"], "not finished")
    for name in tree(place.path("out")):
        if name.endswith((".html", ".svg", ".tsv")):
            with open(place.path(os.path.join("out", name)), encoding="utf-8") as file:
                expect("tilesweep:" not in file.read(), f"talk in {name}")


def decimal_commas(place):
    """A locale made here, so that it is there: numbers in JSON, tables and figures keep their points."""
    folder = place.path("locale")
    os.makedirs(folder)
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", "--no-archive",
                           os.path.join(folder, "de_DE.UTF-8")], capture_output=True)
    expect(os.path.isdir(os.path.join(folder, "de_DE.UTF-8")), f"localedef: {made.stderr[:300]}")
    env = dict(place.env, LC_ALL="de_DE.UTF-8", LANG="de_DE.UTF-8", LOCPATH=folder)
    there = subprocess.run(["printf", "%.1f", "0,5"], env=env, capture_output=True)
    expect(there.stdout == b"0,5", f"the locale has no effect: {there}")
    everywhere(place, env=env)
    place.run("report", RECORDED, "-o", place.path("plain")).expect_status(0)
    for name in sorted(tree(place.path("plain"))):
        if name.endswith((".tsv", ".svg")):
            texts = []
            for folder in ("plain", "out"):
                with open(place.path(os.path.join(folder, name)), encoding="utf-8") as file:
                    texts.append(file.read())
            expect(texts[0] == texts[1], f"{name} is another one under de_DE")
    for form in ("csv", "google-benchmark", "action"):
        words = ("export", RECORDED, "--format", form)
        expect(place.run(*words, env=env).out == place.run(*words).out, f"{form} is another one under de_DE")


def time_zones(place):
    for zone in ("America/St_Johns", "Pacific/Kiritimati", "nonsense", ":/etc/passwd", "<+99>-99"):
        place.sweep("-o", place.path("r.json"), env=dict(place.env, TZ=zone)).expect_status(0)
        started = load_results(place.path("r.json"))["runs"][0]["started"]
        expect(started.endswith("Z") and abs(harness_age_s(started)) < 3600, f"TZ={zone}: {started}")


def harness_age_s(stamp):
    import calendar
    import time
    return time.time() - calendar.timegm(time.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ"))


def bare_environment(place):
    """Neither HOME nor TMPDIR nor anything but PATH; or folders that are not there."""
    everywhere(place, env={"PATH": "/usr/bin:/bin", "OCL_ICD_VENDORS": place.env["OCL_ICD_VENDORS"]})
    everywhere(place, env=dict(place.env, HOME="/nonexistent", TMPDIR="/nonexistent", XDG_CACHE_HOME="/nonexistent",
                               XDG_RUNTIME_DIR="/nonexistent", TERM="nonsense", COLUMNS="-1"))


def few_descriptors(place):
    everywhere(place, limit=(resource.RLIMIT_NOFILE, 32))


def little_memory(place):
    """Enough for the work; then so little that it must fail, and says so."""
    everywhere(place, limit=(resource.RLIMIT_AS, 1 << 30))
    axis = list(range(1, 10001))
    variant = {"name": "v", "kernel": "k", "baseline": True, "params": ["A", "B"]}
    place.write("k.cl", "__kernel void k(__global float *a) { a[get_global_id(0)] = 1; }\n")
    path = place.write("many.json", spec(params={"A": axis, "B": list(range(99))}, variants=[variant]))
    ended = place.run("list", path, limit=(resource.RLIMIT_AS, 100 << 20)).expect_status(4)
    expect("out of memory" in ended.err, ended.err)
    # In the middle of a run: it still cleans up, and tells where its journal is.
    cleaned = place.path("cleaned")
    ended = place.run("run", path, "-q", "-o", place.path("r.json"), "--worker", shlex.join([sys.executable, FAKE]), "--yes",
                      "--setup", "true", "--cleanup", f"touch {shlex.quote(cleaned)}",
                      limit=(resource.RLIMIT_AS, 200 << 20)).expect_status(4)
    expect("out of memory" in ended.err and "what was measured is in" in ended.err, ended.err)
    expect(os.path.exists(cleaned), "not cleaned up")


def main():
    options = harness.arguments(__doc__)
    report = harness.Report(options.only)
    with harness.Folder(options.keep) as folder:
        def test(function, *arguments):
            name = "_".join([function.__name__, *arguments[:1]])
            words = [WORDS[word] for word in arguments] if function is report_runs_nothing else arguments
            report.run("hostile/" + name, lambda: function(Place(options, folder, name), *words))

        for word in WORDS:
            test(report_runs_nothing, word)
        for function in (hostile_folder, resume_runs_no_command, damaged_files_are_named, expressions_are_bounded,
                         includes_are_bounded, decimal_commas, time_zones, bare_environment, few_descriptors):
            test(function)
        for which in ("stdin", "stdout", "stderr", "all"):
            test(closed_streams, which)
        if SANITIZED:
            report.tell("skip", "hostile/little_memory", "a sanitizer's shadow does not fit")
        else:
            test(little_memory)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
