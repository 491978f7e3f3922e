"""Compile the loops of `anchorless._core` for a wheel or an editable install (a build hook, see pyproject.toml).

The C compiler is $CC, or else the first of cc, gcc and clang that works. Where none does, pip installs the package
`ziglang` for the time of the build: a C compiler as a wheel. It also compiles for other platforms: see `PLATFORMS`.

In a clone, `python hatch_build.py` compiles the loops in place and installs nothing.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

SOURCES = Path(__file__).parent / "src" / "anchorless" / "_core"
#: The variable that names the platform of a wheel, if it is not this one, and what Zig calls each.
PLATFORM_VARIABLE = "ANCHORLESS_WHEEL_PLATFORM"
PLATFORMS = {
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_1_x86_64": "x86_64-linux-musl",
    "musllinux_1_1_aarch64": "aarch64-linux-musl",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
    "macosx_11_0_x86_64": "x86_64-macos.11.0",
    "win_amd64": "x86_64-windows-gnu",
}
ZIG = [sys.executable, "-m", "ziglang", "cc"]
#: Results must have the same bits on every processor: nothing is contracted, nothing reordered.
OPTIONS = ["-std=c11", "-O3", "-ffp-contract=off", "-shared"]
#: A compiler without the headers of the C library, or the stub of macOS that only asks to install one, cannot do this.
PROBE = "#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\ndouble probe(double x) { return lgamma(x); }\n"
REMEDY = (
    "Set the variable CC to a C compiler that works (Debian and Ubuntu: apt install gcc libc6-dev; macOS: xcode-select"
    " --install), or to one of the package ziglang: pip install ziglang, and CC='python -m ziglang cc'."
)


def find_compiler() -> list[str] | None:
    """Return the command of the C compiler of this machine, None if there is none that works."""
    if "CC" in os.environ:
        return shlex.split(os.environ["CC"])
    names = () if sys.platform == "win32" else ("cc", "gcc", "clang")
    return next(([name] for name in names if shutil.which(name) and is_working([name])), None)


def is_working(compiler: list[str]) -> bool:
    """Tell whether a compiler makes a library of a few lines."""
    with TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text(PROBE, encoding="utf-8")
        command = [*compiler, "-fPIC", "-shared", str(source), "-o", str(Path(folder, "probe")), "-lm"]
        return subprocess.run(command, capture_output=True).returncode == 0


def choose_command(platform: str | None) -> list[str]:
    """Return the command that compiles for a platform of `PLATFORMS`, or for this machine."""
    if platform is not None:
        if platform not in PLATFORMS:
            raise SystemExit(f"{PLATFORM_VARIABLE}={platform}, but it must be one of {', '.join(PLATFORMS)}")
        return [*ZIG, "-target", PLATFORMS[platform], "-s", *OPTIONS]
    compiler = find_compiler()
    if compiler is None and find_spec("ziglang") is None:
        raise SystemExit(f"anchorless is compiled from C, and no C compiler was found. {REMEDY}")
    # Without a word, Zig compiles for the processor of this machine only.
    return [*(compiler or [*ZIG, "-mcpu=baseline", "-s"]), *OPTIONS]


def name_library(platform: str | None = None) -> str:
    """Return the name of the library on a platform; compiled.py looks for it."""
    is_windows = sys.platform == "win32" if platform is None else platform.startswith("win")
    return "kernels.dll" if is_windows else "kernels.so"


def compile_loops(folder: Path, platform: str | None = None) -> Path:
    """Compile the loops into a folder and return the path of the library; an older one is replaced at the end."""
    files = sorted(SOURCES.glob("*.c"))
    source_hash = sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    library = folder / name_library(platform)
    position = [] if library.suffix == ".dll" else ["-fPIC"]
    with TemporaryDirectory(dir=folder, prefix=".kernels-") as beside:
        new = Path(beside, library.name)
        given = [f'-DSOURCE_HASH="{source_hash}"', str(SOURCES / "kernels.c"), "-o", str(new), "-lm"]
        command = [*choose_command(platform), *position, *given]
        try:
            run = subprocess.run(command, capture_output=True, text=True, errors="replace")
            problem = run.stderr if run.returncode else ""
        except OSError as error:
            problem = str(error)
        if problem or not new.exists():
            raise SystemExit(f"anchorless could not be compiled.\n{shlex.join(command)}\n{problem}\n{REMEDY}")
        new.replace(library)
    return library


def get_build_hook() -> type:
    """Return the build hook; hatchling is there only during a build."""
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
    from packaging.tags import platform_tags

    class CompileLoops(BuildHookInterface):
        """Compile the loops: in place for an editable install, else for the wheel."""

        def dependencies(self) -> list[str]:
            """Ask for a compiler if this machine has none."""
            is_needed = self.target_name == "wheel" and (PLATFORM_VARIABLE in os.environ or find_compiler() is None)
            return ["ziglang>=0.13"] if is_needed else []

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """Compile, add the library to the wheel and set its platform; it serves every version of Python."""
            if self.target_name != "wheel":
                return
            if version == "editable":
                compile_loops(SOURCES)
                return
            platform = os.environ.get(PLATFORM_VARIABLE)
            self._folder = TemporaryDirectory()
            library = compile_loops(Path(self._folder.name), platform)
            build_data["force_include"][str(library)] = f"anchorless/_core/{library.name}"
            general = ("manylinux", "musllinux")  # what another Linux needs is known only of those in `PLATFORMS`
            own = next(tag for tag in platform_tags() if not tag.startswith(general))
            build_data["tag"], build_data["pure_python"] = f"py3-none-{platform or own}", False

        def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
            """Remove the library, which is in the wheel now."""
            if hasattr(self, "_folder"):
                self._folder.cleanup()

    return CompileLoops


if __name__ == "__main__":
    sys.stdout.write(f"{compile_loops(SOURCES)}\n")
