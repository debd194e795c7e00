#!/usr/bin/env python3
"""What other programs read of ours, read as they do: `export` by each consumer's published structure, `compare
--format junit|github` as Jenkins, GitLab and GitHub take it apart. No device is needed.

    tests/export/run.py [--program FILE] [--keep FOLDER] [NAME...]

Prints `ok NAME`, `not ok NAME: why` or `skip NAME: why` a test; status 1 when one failed."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402
import bench  # noqa: E402
import ci  # noqa: E402
import merging  # noqa: E402
import table  # noqa: E402
import tuner  # noqa: E402

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Place:
    """A folder of one test, with the program in it."""

    def __init__(self, options, folder, name):
        self.program = options.program
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder)
        self.env = harness.environment(self.folder)

    def run(self, *words, **more):
        return harness.run([self.program, *words], dict(self.env, **more), self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, document):
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump(document, file)
        return self.path(name)

    def night(self, name, *words):
        """A made-up run of tests/data/compare/night.py."""
        script = os.path.join(TESTS, "data", "compare", "night.py")
        subprocess.run([sys.executable, script, self.path(name), *words], check=True)
        return self.path(name)


def main():
    options = harness.arguments(__doc__)
    report = harness.Report(options.only)
    with harness.Folder(options.keep) as folder:
        for module in (table, bench, tuner, merging, ci):
            for name, test in module.TESTS.items():
                name = f"{module.__name__}/{name}"
                report.run(f"export/{name}", lambda: test(Place(options, folder, name)))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
