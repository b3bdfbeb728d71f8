"""Runs a test again in an environment of its own that has packages from PyPI, made once; skips the test where pip cannot bring them."""
import importlib.util
import os
import subprocess
import sys
import venv
from pathlib import Path

SKIPPED = 77


def need(folder, **packages):
    """packages: what is imported = what pip installs. folder: of the environment."""
    if all(importlib.util.find_spec(name) for name in packages):
        return
    python = Path(folder, "bin", "python3")
    if Path(sys.prefix) == Path(folder).resolve():
        sys.exit(f"{folder} lacks one of {' '.join(packages)} though pip was content")
    if not python.exists():
        venv.create(folder, with_pip=True)
    # The packages of this Python, such as NumPy, stay in reach, behind those installed here.
    site = Path(folder, "lib", f"python{sys.version_info.major}.{sys.version_info.minor}", "site-packages")
    (site / "zz_outer.pth").write_text("\n".join(place for place in sys.path if place.endswith("-packages")) + "\n")
    done = subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input", *packages.values()],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        print(f"skipped: pip cannot install {' '.join(packages.values())}: {done.stdout.strip()[-300:]}")
        sys.exit(SKIPPED)
    os.execv(python, [str(python), *sys.argv])
