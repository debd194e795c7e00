"""The drivers that tests run on, each seen alone: its ICD file or library, and what it takes to switch it on."""

import os
import shutil

import harness

VENDORS = "/etc/OpenCL/vendors"

# icd: its usual file; library: where containers come without NVIDIA's.
DEVICES = {
    "pocl": {"icd": "pocl.icd", "environment": {}},
    "rusticl": {"icd": "rusticl.icd", "environment": {"RUSTICL_ENABLE": "llvmpipe"}},
    "nvidia": {"icd": "nvidia.icd", "environment": {}, "library": "libnvidia-opencl.so.1"},
}
LIBRARY_FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/nvidia/lib64")


def library(name):
    """What the ICD file says, else the path of the library; None: not here."""
    icd = os.path.join(VENDORS, DEVICES[name]["icd"])
    if os.path.exists(icd):
        with open(icd, encoding="utf-8") as source:
            return source.read()
    paths = (os.path.join(folder, DEVICES[name].get("library", "/")) for folder in LIBRARY_FOLDERS)
    return next((path for path in paths if os.path.isfile(path)), None)


def missing(name):
    """Why it cannot be tested here, or None."""
    return None if library(name) else f"no {DEVICES[name]['icd']} in {VENDORS}"


def environment(name, folder, **more):
    """harness.environment with that driver and no other."""
    vendors = os.path.join(folder, "vendors")
    shutil.rmtree(vendors, ignore_errors=True)
    os.makedirs(vendors)
    with open(os.path.join(vendors, DEVICES[name]["icd"]), "w", encoding="utf-8") as target:
        target.write(library(name))
    return harness.environment(folder, OCL_ICD_VENDORS=vendors, **DEVICES[name]["environment"], **more)
