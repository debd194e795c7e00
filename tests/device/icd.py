#!/usr/bin/env python3
"""ICD files as people have them: none, twice the same driver, a library that is gone, a platform without devices, a cache
that cannot be written. What works is used, what does not is named, with a hint for a newcomer.

    tests/device/icd.py [--program FILE] [--keep FOLDER] [NAME...]

Prints `ok NAME`, `not ok NAME: why` or `skip NAME: why` a test; status 1 when one failed."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import devices  # noqa: E402
import harness  # noqa: E402
from harness import Skipped, expect, load_results  # noqa: E402

GOOD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bad", "required_size.json")
HINTS = ("clinfo -l", "pocl-opencl-icd", "RUSTICL_ENABLE", "OCL_ICD_VENDORS", "POCL_CACHE_DIR")


class Place:
    def __init__(self, options, folder, name):
        self.program, self.folder = options.program, os.path.join(folder, name)
        os.makedirs(self.folder)
        if devices.missing("pocl"):
            raise Skipped(devices.missing("pocl"))
        self.env = devices.environment("pocl", self.folder)
        self.vendors = self.env["OCL_ICD_VENDORS"]
        self.library = devices.library("pocl").strip()

    def icd(self, name, library):
        with open(os.path.join(self.vendors, name), "w", encoding="utf-8") as file:
            file.write(library + "\n")

    def devices(self):
        """`devices --json` as a document."""
        ended = harness.run([self.program, "devices", "--json"], self.env, self.folder).expect_status(0)
        document = harness.parse(ended.out)
        harness.check("devices", document, "devices --json")
        return document

    def run(self, *words):
        path = os.path.join(self.folder, "r.json")
        ended = harness.run([self.program, "run", GOOD, "--variant", "good", "--visits", "1", "--samples", "1", "-o", path,
                             *words], self.env, self.folder)
        return ended, load_results(path)["runs"] if ended.status == 0 else []


def expect_newcomer_helped(ended):
    missing = [hint for hint in HINTS if hint not in ended.err]
    expect(not missing, f"no word of {missing}: {ended.err}")


def none(place):
    os.unlink(os.path.join(place.vendors, "pocl.icd"))
    for command in (["devices"], ["run", GOOD]):
        ended = harness.run([place.program, *command], place.env, place.folder).expect_status(3)
        expect("CL_PLATFORM_NOT_FOUND_KHR" in ended.err, ended.err)
        expect_newcomer_helped(ended)


def library_gone(place):
    """Beside a good driver it is no matter; alone it is no device."""
    place.icd("gone.icd", "/nonexistent/libgone.so")
    ended, runs = place.run()
    ended.expect_status(0)
    expect(len(runs) == 1, f"{len(runs)} runs")
    os.unlink(os.path.join(place.vendors, "pocl.icd"))
    expect_newcomer_helped(place.run()[0].expect_status(3))


def twins(place):
    """The same driver in two files: the ids are stable, it is measured once, and one warning says so."""
    alone = [entry["device"]["id"] for entry in place.devices()["devices"]]
    place.icd("twin.icd", place.library)
    ids = [entry["device"]["id"] for entry in place.devices()["devices"]]
    if len(ids) == len(alone):
        raise Skipped("this loader lists a driver once, however many files name it")
    expect(set(ids) == set(alone), f"ids {ids}, alone {alone}")
    ended, runs = place.run("-d", "all")
    ended.expect_status(0)
    expect(len(runs) == len(alone), f"{len(runs)} runs of {len(alone)} devices")
    expect(ended.err.count("two ICD files") == 1, ended.err)


def platform_without_devices(place):
    """rusticl has none until it is told which drivers to use: said where nothing else is there, no matter where something is."""
    if devices.missing("rusticl"):
        raise Skipped(devices.missing("rusticl"))
    place.env.pop("RUSTICL_ENABLE", None)
    place.icd("rusticl.icd", devices.library("rusticl").strip())
    ended, runs = place.run()
    ended.expect_status(0)
    expect(len(runs) == 1, f"{len(runs)} runs")
    faults = place.devices()["faults"]
    expect(any("RUSTICL_ENABLE=llvmpipe" in fault["text"] for fault in faults), f"{faults}")
    os.unlink(os.path.join(place.vendors, "pocl.icd"))
    ended = place.run()[0].expect_status(3)
    expect("rusticl" in ended.err and "RUSTICL_ENABLE=llvmpipe (or" in ended.err, ended.err)
    expect_newcomer_helped(ended)


def cache_not_writable(place):
    """PoCL without its cache: the run goes on, or says that no device is usable and what may help."""
    for folder in ("/proc/nowhere", "/dev/null"):
        place.env["POCL_CACHE_DIR"] = folder
        ended, runs = place.run()
        ended.expect_status(0, 3)
        if ended.status == 3:
            expect("hint: " in ended.err and "POCL_CACHE_DIR" in ended.err, ended.err)
        else:
            expect(all(row["status"] == "ok" for row in runs[0]["rows"]), "rows without a time")


def main():
    options = harness.arguments(__doc__)
    report = harness.Report(options.only)
    with harness.Folder(options.keep) as folder:
        for function in (none, library_gone, twins, platform_without_devices, cache_not_writable):
            name = function.__name__
            report.run("icd_" + name, lambda function=function, name=name: function(Place(options, folder, name)))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
