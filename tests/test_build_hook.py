"""The build hook: which compiler it uses, what it compiles, and what it says if that fails."""

import ctypes
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from anchorless._core import compiled

ROOT = Path(__file__).parents[1]


@pytest.fixture
def hook():
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def write_compiler(tmp_path, monkeypatch):
    """Write a program for each name, and let them be the only ones."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))

    def write(name, script):
        path = tmp_path / name
        path.write_text(f"#!{sys.executable}\nimport sys\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    return write


needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="programs are scripts")


@posix_only
def test_a_compiler_that_does_not_work_is_passed_over(hook, write_compiler):
    assert hook.find_compiler() is None
    write_compiler("cc", "sys.exit('xcode-select: note: no developer tools were found')")
    assert hook.find_compiler() is None
    write_compiler("gcc", "")
    assert hook.find_compiler() == ["gcc"]


def test_the_compiler_that_the_user_names_comes_first(hook, monkeypatch):
    monkeypatch.setenv("CC", "ccache 'my cc' -m64")
    assert hook.find_compiler() == ["ccache", "my cc", "-m64"]


def test_without_a_compiler_the_remedy_is_named(hook, write_compiler, monkeypatch, tmp_path):
    monkeypatch.setattr(hook, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"no C compiler was found\. .*apt install gcc.*pip install ziglang"):
        hook.compile_loops(tmp_path)


def test_without_a_compiler_that_of_zig_is_used_for_any_processor(hook, write_compiler, monkeypatch):
    monkeypatch.setattr(hook, "find_spec", lambda name: object())
    assert hook.choose_command(None)[:5] == [*hook.ZIG, "-mcpu=baseline"]


@posix_only
def test_a_compiler_that_fails_is_quoted_and_an_older_library_stays(hook, write_compiler, monkeypatch, tmp_path):
    write_compiler("broken", "sys.exit('error: no space left')")
    old = tmp_path / hook.name_library()
    old.write_text("old")
    for command in ("broken", str(tmp_path / "nowhere")):
        monkeypatch.setenv("CC", command)
        with pytest.raises(SystemExit, match=r"could not be compiled(.|\n)*Set the variable CC"):
            hook.compile_loops(tmp_path)
    assert old.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {old.name, "broken"}


@needs_compiler
def test_the_library_has_the_hash_of_the_files_it_was_compiled_from(hook, tmp_path):
    path = hook.compile_loops(tmp_path)
    assert path.name == compiled.LIBRARY.name
    library = ctypes.CDLL(str(path))
    library.hash_of_source.restype = ctypes.c_char_p
    assert library.hash_of_source().decode() == compiled.hash_source()


@needs_compiler
def test_c_files_compile_without_a_warning(tmp_path):
    source = str(compiled.FOLDER / "kernels.c")
    options = ["-std=c11", "-O1", "-fPIC", "-shared", "-Wall", "-Wextra", "-Wpedantic", "-Werror", '-DSOURCE_HASH=""']
    run = subprocess.run(["cc", *options, source, "-o", str(tmp_path / "x.so"), "-lm"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_wheels_of_other_platforms_have_their_names(hook, monkeypatch, tmp_path):
    for platform in hook.PLATFORMS:
        assert re.fullmatch(r"(manylinux_2_17|musllinux_1_1|macosx_11_0)_\w+|win_amd64", platform)
        assert hook.PLATFORMS[platform] in hook.choose_command(platform)
    assert hook.name_library("win_amd64") == "kernels.dll"
    assert hook.name_library("macosx_11_0_arm64") == "kernels.so"
    with pytest.raises(SystemExit, match="amiga, but it must be one of manylinux_2_17_x86_64"):
        hook.compile_loops(tmp_path, "amiga")


def test_nothing_is_reordered_or_contracted(hook):
    assert "-ffp-contract=off" in hook.OPTIONS
    assert not {"-ffast-math", "-Ofast", "-march=native"} & {*hook.OPTIONS}
