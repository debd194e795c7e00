#!/usr/bin/env python3
"""scripts/peers on PoCL: what it measures follows its schema, and a library that computes something else is no peer.

    tests/device/peers.py --program FILE [--keep FOLDER] [NAME...]

The libraries here are made of Python; no other is needed."""

import contextlib
import io
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import devices  # noqa: E402
import harness  # noqa: E402
from harness import expect  # noqa: E402

SCRIPT = os.path.join(harness.SRC, "scripts", "peers")
AXES = ("TX=16", "TY=4", "BM=64", "BN=64", "BK=128", "WM=8", "WN=16,32", "VEC=16")
FEW = [word for axis in AXES for word in ("--set", axis)]


class Lazy:
    """Libraries that write nothing. CLBlast's C is the buffer that ours has filled."""

    @staticmethod
    def CLBlastSgemm(*_):
        return 0

    @staticmethod
    def cblas_sgemm(*_):
        pass


class Right:
    @staticmethod
    def cblas_sgemm(_, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
        for y in range(m):
            for x in range(n):
                c[y * ldc + x] = sum((a[i * lda + y] if ta == 112 else a[y * lda + i]) *
                                     (b[x * ldb + i] if tb == 112 else b[i * ldb + x]) for i in range(k))


def statistics_and_words():
    peers = harness.script("peers")
    got = peers.median_interval(range(1, 16))
    expect(got == {"low": 4, "mid": 8, "high": 12}, f"15 values: {got}")  # 96.5 %, the least from 95 on
    got = peers.median_interval(range(1, 7))
    expect(got == {"low": 1, "mid": 3.5, "high": 6}, f"6 values: {got}")
    try:
        expect(False, f"5 values: {peers.median_interval(range(5))}")
    except ValueError:
        pass
    expect(peers.sizes("7,64x32x16") == [(7, 7, 7), (64, 32, 16)], "sizes")


def numbers_that_tf32_rounds():
    """Whole, of more bits than TF32 keeps, and no two rows equal."""
    peers = harness.script("peers")
    product = peers.Product(40, 30, 1009, 0)
    product.fill()
    a = list(product.a)
    expect(all(value == int(value) for value in a) and max(map(abs, a)) > 4000, f"A up to {max(a)}")
    expect(any(abs(value) > 2048 and value % 2 for value in a), "A has no value that TF32 rounds")
    expect(set(product.b) == {-1, 0, 1}, f"B has {set(product.b)}")
    rows = {tuple(a[y * 1009:(y + 1) * 1009]) for y in range(40)}
    expect(len(rows) == 40, f"{len(rows)} different rows of 40")


def lazy_libraries(program, folder, env):
    """Among them one whose result lies there already."""
    peers = harness.script("peers")
    os.environ.update(env)
    for trans in (0, 2):  # 1: peers_whole
        product = peers.Product(9, 7, 5, trans)
        row, run = peers.best_row(program, None, product, AXES)
        device = peers.Device(peers.device_index(program, run))
        with contextlib.redirect_stdout(io.StringIO()):
            found = peers.compare(device, row, product, {"CLBlast": Lazy, "OpenBLAS": Right}, 6)
        expect(found["wrong"] == ["CLBlast"], f"wrong: {found['wrong']}")
        expect(list(found["ours_over"]) == ["OpenBLAS"], f"ratios: {found['ours_over']}")
        expect(all(len(times) == 6 for times in found["call_ns"].values()), f"times {found['call_ns']}")
        with contextlib.redirect_stdout(io.StringIO()):
            found = peers.compare(device, row, product, {"OpenBLAS": Lazy}, 6)
        expect(found["wrong"] == ["OpenBLAS"] and not found["ours_over"], f"{found['wrong']}, {found['ours_over']}")


def whole(program, folder, env):
    path = os.path.join(folder, "peers.json")
    harness.run([SCRIPT, "--program", program, "--size", "33x17x65", "--trans", "1", "--rounds", "6", "-o", path, *FEW], env,
                folder, 300).expect_status(0)
    with open(path, encoding="utf-8") as file:
        document = harness.parse(file.read())
    harness.check("peers", document, path)
    expect([product["trans"] for product in document["products"]] == [1], "products")
    expect(not [name for name in os.listdir(folder) if name.endswith(".tmp")], "a part is left")


def mistakes(program, folder, env):
    kept = os.path.join(folder, "kept.json")
    with open(kept, "w", encoding="utf-8") as file:
        file.write("an earlier record")
    for words, status, says in ((["-o", "no/such/folder.json"], 4, "scripts/peers: no/such/folder.json: No such file or directory"),
                                (["--device", "nosuch", "-o", kept], 2, "tilesweep: -d nosuch: no such device")):
        ended = harness.run([SCRIPT, "--program", program, "--size", "8", *words, *FEW], env, folder, 120)
        ended.expect_status(status)
        with open(kept, encoding="utf-8") as file:
            expect(file.read() == "an earlier record", f"{words}: the file that was there is gone")
        expect(says in ended.err and "Traceback" not in ended.err, f"{words}: {ended.err}")


def main():
    options = harness.arguments(__doc__)
    report = harness.Report(options.only)
    program = os.path.abspath(options.program)
    with harness.Folder(options.keep) as folder:
        env = devices.environment("pocl", folder)
        report.run("peers_statistics_and_words", statistics_and_words)
        report.run("peers_numbers_that_tf32_rounds", numbers_that_tf32_rounds)
        report.run("peers_lazy_libraries", lazy_libraries, program, folder, env)
        report.run("peers_whole", whole, program, folder, env)
        report.run("peers_mistakes", mistakes, program, folder, env)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
