#!/usr/bin/env python3
"""Walks the blocks of tests/cli/*.txt: command, expected standard output, standard error, status.

    tests/cli/run.py [--bless] [--program FILE] [TOPIC.txt...]

A block begins with `$ ` and ends at an empty line or the next block:

    # a comment
    $ tilesweep list nosuch          the command, run by /bin/sh; `| ` lines continue it (here documents)
    > a line of standard output
    >~ a regular expression for a whole line of it
    >... any number of lines
    ! a line of standard error       !~ and !... likewise
    = 2                              the status; 0 when left out

The blocks of a topic share one fresh working folder, and run in order. In outputs the folder reads {tmp} and
the source tree {src}; commands find them as $TMP and $SRC. No OpenCL platform is visible
(OCL_ICD_VENDORS=/nonexistent). Prints `ok NAME` or `not ok NAME: why` a block; status 1 when one failed.
--bless rewrites what was expected by what came, but keeps patterns that matched."""

import argparse
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402

SLOWNESS = 30 if "TILESWEEP_UNDER_VALGRIND" in os.environ else 1  # as the set-up's timeout_multiplier


class Block:
    def __init__(self, line):
        self.line = line
        self.command = []
        self.stdout = []  # (kind, text): kind "" literal, "~" pattern, "..." any lines
        self.stderr = []
        self.status = 0


def parse(text):
    """A list of Blocks and plain strings (comments, empty lines), in order."""
    parts, block = [], None
    for number, line in enumerate(text.split("\n"), 1):
        mark = line[:1]
        if line.startswith("$ "):
            block = Block(number)
            block.command.append(line[2:])
            parts.append(block)
        elif block and mark == "|":
            block.command.append(line[2:])
        elif block and mark in (">", "!"):
            expected = block.stdout if mark == ">" else block.stderr
            rest = line[1:]
            if rest.startswith("..."):
                expected.append(("...", ""))
            elif rest.startswith("~ "):
                expected.append(("~", rest[2:]))
            else:
                expected.append(("", rest[1:]))
        elif block and mark == "=":
            block.status = int(line[2:])
        elif not line or mark == "#":
            block = None
            parts.append(line)
        else:
            raise SystemExit(f"line {number}: no part of a block: {line}")
    return parts


def lines_of(text, tmp):
    text = text.replace(tmp, "{tmp}").replace(SRC, "{src}")
    lines = text.split("\n")
    # A last line without newline is told apart.
    return lines[:-1] if lines[-1] == "" else lines[:-1] + [lines[-1] + "{no newline}"]


def matches(expected, lines):
    """Do all lines match the expectation, in order?"""
    if not expected:
        return not lines
    kind, text = expected[0]
    if kind == "...":
        return any(matches(expected[1:], lines[i:]) for i in range(len(lines) + 1))
    if not lines:
        return False
    hit = re.fullmatch(text, lines[0]) if kind == "~" else text == lines[0]
    return bool(hit) and matches(expected[1:], lines[1:])


def show(mark, expected):
    for kind, text in expected:
        if kind == "...":
            yield mark + "..."
        elif kind == "~":
            yield mark + "~ " + text
        else:
            yield (mark + " " + text).rstrip(" ") if not text else mark + " " + text


def write(parts):
    out = []
    for part in parts:
        if isinstance(part, str):
            out.append(part)
            continue
        out.append("$ " + part.command[0])
        out.extend("| " + line if line else "|" for line in part.command[1:])
        out.extend(show(">", part.stdout))
        out.extend(show("!", part.stderr))
        if part.status:
            out.append(f"= {part.status}")
    return "\n".join(out)


def complaint(name, expected, lines):
    got = " / ".join(lines[:6]) or "nothing"
    want = " / ".join(show("", expected)).strip() or "nothing"
    return f"{name}: expected {want[:300]}, got {got[:300]}"


def run_block(block, env, tmp, bless):
    """None when all is as expected, else why not."""
    command = "\n".join(block.command)
    try:
        ended = harness.run(["/bin/sh", "-c", command], env, tmp, 60 * SLOWNESS)
    except harness.Failed as failed:
        return str(failed)
    out, talk = lines_of(ended.out, tmp), lines_of(ended.err, tmp)
    why = []
    if not matches(block.stdout, out):
        why.append(complaint("stdout", block.stdout, out))
        if bless:
            block.stdout = [("", line) for line in out]
    if not matches(block.stderr, talk):
        why.append(complaint("stderr", block.stderr, talk))
        if bless:
            block.stderr = [("", line) for line in talk]
    if block.status != ended.status:
        why.append(f"status: expected {block.status}, got {ended.status}")
        if bless:
            block.status = ended.status
    return "; ".join(why) or None


def environment(program, tmp):
    env = {
        "PATH": os.path.dirname(program) + ":/usr/bin:/bin",
        "HOME": tmp,
        "TMP": tmp,
        "SRC": SRC,
        "LC_ALL": "C",
        "OCL_ICD_VENDORS": "/nonexistent",
    }
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
        if name in os.environ:
            env[name] = os.environ[name]
    return env


def run_topic(path, program, bless):
    topic = os.path.splitext(os.path.basename(path))[0]
    with open(path, encoding="utf-8") as file:
        parts = parse(file.read())
    failed = 0
    with tempfile.TemporaryDirectory(prefix="tilesweep-cli-") as tmp:
        env = environment(program, tmp)
        for block in (part for part in parts if isinstance(part, Block)):
            name = f"cli/{topic}:{block.line} {block.command[0][:70]}"
            why = run_block(block, env, tmp, bless)
            failed += why is not None
            print(f"not ok {name}: {why}" if why else f"ok {name}", flush=True)
    if bless and failed:
        with open(path, "w", encoding="utf-8") as file:
            file.write(write(parts))
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--program", default=os.path.join(SRC, "build", "tilesweep"))
    parser.add_argument("topics", nargs="*")
    args = parser.parse_args()
    program = os.path.abspath(args.program)
    if not os.access(program, os.X_OK):
        print(f"not ok cli: no program at {program}; build it or name it by --program")
        return 1
    topics = args.topics or sorted(os.path.join(HERE, name) for name in os.listdir(HERE)
                                   if name.endswith(".txt"))
    failed = sum([run_topic(path, program, args.bless) for path in topics])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
