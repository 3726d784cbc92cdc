"""The rules of the house: layers, names, the mirror of tests, documented codes, nothing of one machine."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpdecl.diagnostics import CODES
from tests import errors_page

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = REPOSITORY / "mcpdecl"
TESTS = REPOSITORY / "tests"

WITHOUT_MIRROR = {
    "__main__.py": "starts the command line; tests/walks start it",
    "protocol/plans.py": "values without behaviour",
}
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "shared", "manager", "managers", "misc"}

INDEX_HOSTS = ("pypi" + ".org", "files.python" + "hosted", "registry.npm" + "js", "registry.yarn" + "pkg")
MACHINE_PATHS = re.compile(r"(?<![\w.{}-])/(?:work|root|home|Users|tmp|private)/[\w.-]+")
IN_TESTS = re.compile(r"(?<![\w.{}-])/(?:work|root)/[\w.-]+")  # tests may speak of made-up places
TEXT_FILES = {".py", ".md", ".toml", ".yaml", ".yml", ".json", ".j2", ".txt", ".cfg", ".sh", ""}

MODULES = sorted(PACKAGE.rglob("*.py"))


def of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def committed() -> list[Path]:
    """Files under version control, and those that could be: what git ignores is nobody's business."""
    try:
        words = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
        found = subprocess.run(words, cwd=REPOSITORY, capture_output=True, check=True, text=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [REPOSITORY / name for name in found if name and (REPOSITORY / name).is_file()]


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def has_code(path: Path) -> bool:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(isinstance(node, kinds) for node in ast.walk(tree(path)))


# --- layers and names --------------------------------------------------------------------------------------------


def test_each_layer_imports_only_layers_below_it() -> None:
    linter = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([linter, "--no-cache"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_file_has_a_name_that_says_nothing() -> None:
    assert [of(p) for p in MODULES if p.stem in BANNED_NAMES or p.parent.name in BANNED_NAMES] == []


def test_the_protocol_awaits_nothing() -> None:
    kinds = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)
    places = [
        f"{of(path)}:{node.lineno}"
        for path in sorted((PACKAGE / "protocol").rglob("*.py"))
        for node in ast.walk(tree(path))
        if isinstance(node, kinds)
    ]
    assert places == []


# --- words -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", MODULES, ids=of)
def test_a_module_says_what_it_knows(path: Path) -> None:
    text = " ".join((ast.get_docstring(tree(path)) or "").split())
    assert text, "a module opens with a sentence on what it is for"
    if has_code(path) and path.name not in ("__init__.py", "__main__.py"):
        assert "Knows:" in text and "Does not know:" in text, text


def public(node: ast.AST, inside: str = "") -> Iterator[tuple[int, str, ast.AST]]:
    """Public functions and classes of a module, and public methods of public classes."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or child.name.startswith("_"):
            continue
        yield child.lineno, f"{inside}{child.name}", child
        if isinstance(child, ast.ClassDef):
            yield from public(child, f"{child.name}.")


@pytest.mark.parametrize("path", MODULES, ids=of)
def test_what_is_public_is_documented(path: Path) -> None:
    silent = [
        f"{of(path)}:{line} {name}"
        for line, name, node in public(tree(path))
        if not ast.get_docstring(node)  # type: ignore[arg-type]
    ]
    assert silent == []


# --- tests -------------------------------------------------------------------------------------------------------


def mirror(path: Path) -> Path:
    relative = path.relative_to(PACKAGE)
    if path.name == "__init__.py":
        folder = relative.parent
        return TESTS / folder / f"test_{folder.name}.py" if folder.parts else TESTS / "test_package.py"
    return TESTS / relative.parent / f"test_{relative.name}"


@pytest.mark.parametrize("path", [p for p in MODULES if has_code(p)], ids=of)
def test_a_module_has_its_test(path: Path) -> None:
    if of(path) in WITHOUT_MIRROR:
        assert not mirror(path).exists(), "this exception is not needed any more"
        return
    if path.name == "__init__.py":
        beside = mirror(path).parent.parent / f"test_{path.parent.name}.py"  # tests/test_x.py for mcpdecl/x/
        assert mirror(path).exists() or beside.exists(), f"{mirror(path)} is missing"
        return
    assert mirror(path).exists(), f"{mirror(path).relative_to(REPOSITORY)} is missing"


def test_no_exception_is_stale() -> None:
    assert [name for name in WITHOUT_MIRROR if not (PACKAGE / name).exists()] == []


# --- codes -------------------------------------------------------------------------------------------------------


def literals() -> set[str]:
    """Every text constant in the package, the table of codes apart."""
    return {
        node.value
        for path in MODULES
        if path.name != "diagnostics.py"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_every_code_is_used() -> None:
    assert sorted(set(CODES) - literals()) == []


@pytest.mark.parametrize("name", sorted(CODES))
def test_a_code_is_well_formed(name: str) -> None:
    code = CODES[name]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert code.title and code.example and not code.title.endswith(".")
    assert code.example == code.example.strip()
    if code.rpc is not None:
        assert code.severity == "error" and code.status >= 200


def test_the_page_of_errors_is_complete() -> None:
    page = (REPOSITORY / "docs" / "errors.md").read_text("utf-8")
    assert page == errors_page.page(), "run: python -m tests.errors_page > docs/errors.md"


# --- nothing of one machine --------------------------------------------------------------------------------------


def test_no_file_names_an_index_or_a_machine() -> None:
    places: list[str] = []
    for path in committed():
        if path.suffix not in TEXT_FILES or path == Path(__file__):
            continue
        name = path.relative_to(REPOSITORY).as_posix()
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1):
            hosts = [host for host in INDEX_HOSTS if host in line]
            paths = (IN_TESTS if name.startswith("tests/") else MACHINE_PATHS).findall(line)
            places += [f"{name}:{number}: {what}" for what in (*hosts, *paths)]
    assert places == []


def test_no_lock_of_an_index_is_committed() -> None:
    locks = {"uv.lock", "package-lock.json", "poetry.lock", "yarn.lock", "pnpm-lock.yaml"}
    assert [p.name for p in committed() if p.name in locks] == []
