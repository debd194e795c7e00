#!/usr/bin/env python3
"""laplacian's variant shuffle on sub-groups made of threads, since no device of a test machine has any: right for
every size of sub-group, and all of one take part in each shuffle.

    tests/device/subgroups.py [--program FILE] [--keep FOLDER] [NAME...]

clang compiles the kernel for the processor, subgroups.c is the device; skipped where there is no clang."""

import glob
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402
from harness import expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(harness.SRC, "kernels")

# Axes, and sizes of sub-groups: rows of a work-group, several rows, parts of them, what divides nothing, single ones.
CASES = {
    "rows": ({"TX": 16, "TY": 2, "VEC": 4, "ROWS": 1, "POINTS": 9}, (16, 32, 8, 5, 1)),
    "vectors_of_2": ({"TX": 8, "TY": 3, "VEC": 2, "ROWS": 4, "POINTS": 9}, (8, 24)),
    "scalars": ({"TX": 8, "TY": 3, "VEC": 1, "ROWS": 2, "POINTS": 9}, (8, 7)),
    "five_points": ({"TX": 32, "TY": 1, "VEC": 4, "ROWS": 2, "POINTS": 5}, (32, 16)),
}


def clang():
    found = [shutil.which("clang"), *glob.glob("/usr/bin/clang-[0-9]*")]
    if not any(found):
        raise harness.Skipped("no clang")
    return next(filter(None, found))


def shuffled(folder, axes, sizes):
    env = harness.environment(folder)
    compiler = clang()
    defines = [f"-D{name}={value}" for name, value in axes.items()]
    kernel, program = os.path.join(folder, "kernel.o"), os.path.join(folder, "subgroups")
    harness.run([compiler, "-x", "cl", "-cl-std=CL3.0", "-Xclang", "-finclude-default-header",
                 "-Dcl_khr_subgroup_shuffle=1", "-w", "-O2", "-I" + KERNELS, *defines, "-DVARIANT_shuffle", "-c",
                 os.path.join(KERNELS, "laplacian.cl"), "-o", kernel], env, folder).expect_status(0)
    harness.run([compiler, "-w", "-O1", *defines, os.path.join(HERE, "subgroups.c"), kernel, "-o", program, "-lpthread",
                 "-lm"], env, folder).expect_status(0)
    for size in sizes:
        ended = harness.run([program, str(size)], env, folder)
        expect(ended.status == 0, f"sub-groups of {size}: status {ended.status}: {ended.out}{ended.err}")


def main():
    options = harness.arguments(__doc__)
    report = harness.Report(options.only)
    with harness.Folder(options.keep) as folder:
        for name, case in CASES.items():
            report.run("subgroups_" + name, shuffled, folder, *case)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
