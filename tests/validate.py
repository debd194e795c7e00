#!/usr/bin/env python3
"""Is a document strict JSON, and does it follow docs/KIND.schema.json?

    tests/validate.py KIND FILE...      FILE -: standard input

Prints nothing when all is well; else why not, and status 1."""

import sys

import harness


def main():
    if len(sys.argv) < 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    for path in sys.argv[2:]:
        try:
            with open(0 if path == "-" else path, "rb") as file:
                document = harness.parse(file.read().decode("utf-8"))
            harness.check(sys.argv[1], document, path)
        except (OSError, ValueError, harness.Failed) as error:
            print(f"{path}: {error}" if not isinstance(error, harness.Failed) else error)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
