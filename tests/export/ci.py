"""`compare --format junit` as Jenkins and GitLab read it, `--format github` as the runner of GitHub Actions does."""

import json
import re
import xml.etree.ElementTree

from harness import expect, parse

# What breaks out of XML, of a workflow command, or of a line.
NASTY = "\x1b[31m<G>&\"'\r\n::error::pwned %0A, a:b,c=d ]]> \ufffe\uffff \u00e9"


def nights(place, *words):
    """BASE, and a NEW with two slow-downs (one in the gate) and a failure outside of it."""
    device = "device.name=" + json.dumps(NASTY)
    base = place.night("base.json", "--seed", "1", "--started", "2026-11-29T01:00:00Z", "--set", device)
    fresh = place.night("new.json", "--seed", "2", "--set", device,
                        "--slow", "POINTS=5 W=4096 H=4096 naive TX=64 TY=8=1.2",
                        "--slow", "POINTS=9 W=4096 H=4096 naive TX=32 TY=4=1.3",
                        "--status", "POINTS=5 W=4096 H=4096 local TX=16 TY=8 PAD=0=wrong:mismatch",
                        "--status", "POINTS=5 W=4096 H=4096 local TX=16 TY=4 PAD=0=skipped:budget", *words)
    return base, fresh


def compare(place, form, *words, status=1):
    return place.run("compare", "--format", form, *words, "base.json", "new.json").expect_status(status).out


# ---- JUnit ----

def counts_of(element):
    return tuple(int(element.get(name)) for name in ("tests", "failures", "errors", "skipped"))


def seen_in(suite):
    cases = suite.findall("testcase")
    return (len(cases), sum(case.find("failure") is not None for case in cases),
            sum(case.find("error") is not None for case in cases),
            sum(case.find("skipped") is not None for case in cases))


def read_junit(text):
    """suite, class, name -> "passed", "failure" or "skipped", with all that readers rely on."""
    root = xml.etree.ElementTree.fromstring(text.encode("utf-8"))
    expect(root.tag == "testsuites", root.tag)
    suites = root.findall("testsuite")
    expect(len(suites) == len(root) and suites, "testsuites holds something else")
    read = {}
    for suite in suites:
        expect(suite.get("name"), "a suite without a name")
        expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp", "2000-01-01T00:00:00")),
               suite.get("timestamp"))
        expect(counts_of(suite) == seen_in(suite), f"{counts_of(suite)} told, {seen_in(suite)} there")
        expect([child.tag for child in suite] == ["testcase"] * len(suite.findall("testcase")) + ["system-out"],
               "the order of a suite's elements")
        for case in suite.findall("testcase"):
            expect(float(case.get("time")) >= 0, case.get("time"))
            expect(case.get("classname") and case.get("name"), "a test case without a name")
            marks = [child.tag for child in case if child.tag != "system-out"]
            expect(marks in ([], ["failure"], ["skipped"]), marks)
            for child in case:
                expect(child.tag == "system-out" or child.get("message"), "a mark without a message")
                expect(child.tag != "failure" or child.get("type"), "a failure without a type")
            key = suite.get("name"), case.get("classname"), case.get("name")
            expect(key not in read, f"twice: {key}")
            read[key] = marks[0] if marks else "passed"
    totals = tuple(map(sum, zip(*map(counts_of, suites))))
    expect(counts_of(root) == totals, f"{counts_of(root)} told, {totals} in the suites")
    return read


def junit_says_what_json_says(place):
    nights(place)
    read = read_junit(compare(place, "junit"))
    document = parse(compare(place, "json"))
    expect(len(read) == len(document["rows"]), f"{len(read)} test cases, {len(document['rows'])} rows")
    for row in document["rows"]:
        case = " ".join(f"{name}={value}" for part in ("problem", "size") for name, value in row[part].items())
        name = " ".join([row["variant"], *(f"{name}={value}" for name, value in row["params"].items())])
        got = next(mark for key, mark in read.items() if key[1:] == (f"laplacian.{case}", name))
        wanted = ("failure" if row["fails"] else
                  "passed" if row["verdict"] in ("same", "faster", "appeared", "fixed") else "skipped")
        expect(got == wanted, f"{case} {name} ({row['verdict']}): {got}, expected {wanted}")
    expect(sorted(set(read.values())) == ["failure", "passed", "skipped"], "the nights show too little")


def junit_of_several_devices(place):
    nights(place)
    for side, name in (("base", "base.json"), ("new", "new.json")):
        with open(place.path(name), encoding="utf-8") as file:
            document = json.load(file)
        other = json.loads(json.dumps(document["runs"][0]))
        other["device"]["name"], other["id"] = "Another <GPU>", side
        document["runs"].append(other)
        place.write(name, document)
    read = read_junit(compare(place, "junit"))
    expect(len({key[0] for key in read}) == 2, "a suite for each device")
    expect(len({key[1:] for key in read}) == len(read), "a name is shared by two devices")


def junit_fails_where_the_night_is_blind(place):
    nights(place)
    read = read_junit(compare(place, "junit", "--require-power", "0.1%"))
    expect(read["power", "power", "require-power"] == "failure", "a blind night passed")
    read = read_junit(compare(place, "junit", "--require-power", "50%"))
    expect(read["power", "power", "require-power"] == "passed", "a night that sees failed")


# ---- GitHub ----

COMMAND = re.compile(r"^::(error|warning|notice) (\S[^:]*)::(.*)$")  # as the runner takes a line apart


def decoded(text, further=()):
    for code, char in (*further, ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, char)
    return text


def read_github(text):
    """[(kind, title, message)]; every line is a command."""
    commands = []
    expect(text.endswith("\n"), "the last line has no end")
    for line in text[:-1].split("\n"):
        match = COMMAND.match(line)
        expect(match, f"no command: {line[:200]!r}")
        kind, words, message = match.groups()
        properties = dict(word.split("=", 1) for word in words.split(","))
        expect(list(properties) == ["title"], properties)
        commands.append((kind, decoded(properties["title"], (("%3A", ":"), ("%2C", ","))), decoded(message)))
    return commands


def github_tells_the_worst_first(place):
    nights(place)
    commands = read_github(compare(place, "github"))
    kinds = [kind for kind, _, _ in commands]
    expect(kinds[0] == "error" and kinds[-1] == "notice", kinds)
    expect(commands[0][1] == "failed: laplacian POINTS=5 W=4096 H=4096 local TX=16 TY=8 PAD=0", commands[0][1])
    expect("counts: fails in NEW alone" in commands[0][2], commands[0][2])
    expect(commands[1][1] == "slower: laplacian POINTS=5 W=4096 H=4096 naive TX=64 TY=8", commands[1][1])
    expect("95 %: 1." in commands[1][2] and "counts: best of its case in BASE" in commands[1][2], commands[1][2])
    expect(kinds.count("error") == 2 and kinds.count("warning") == 1, kinds)
    expect(commands[-1][1] == "tilesweep: FAIL: 2 findings among 5 configurations of --gate best", commands[-1][1])
    expect("\nPower: " in commands[-1][2] and "pwned %0A, a:b,c=d" in commands[-1][2], commands[-1][2])


def github_shows_ten_of_a_kind(place):
    nights(place, "--shift", "1.3", "--set", 'device.driver="2"')
    commands = read_github(compare(place, "github", "--gate", "all", "--require-power", "0.1%"))
    for kind in ("error", "warning", "notice"):
        count = sum(command[0] == kind for command in commands)
        expect(count <= 10, f"{count} of {kind}: GitHub drops those after the tenth")
    expect([command[1] for command in commands if command[0] == "error"][-1] == "blind", "the blind night is not told")
    expect("more are not shown here: compare -v" in commands[-1][2], commands[-1][2])
    everything = read_github(compare(place, "github", "--gate", "all", "-v"))
    expect(len(everything) == 91, f"{len(everything)} commands with -v, expected 90 rows and a summary")


def github_passes(place):
    nights(place)
    text = place.run("compare", "--format", "github", "base.json", "base.json").expect_status(0).out
    commands = read_github(text)
    expect([command[0] for command in commands] == ["notice"], commands)
    expect("PASS" in commands[0][1], commands[0][1])


TESTS = {test.__name__: test for test in (
    junit_says_what_json_says, junit_of_several_devices, junit_fails_where_the_night_is_blind,
    github_tells_the_worst_first, github_shows_ten_of_a_kind, github_passes)}
