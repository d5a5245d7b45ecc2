"""The imports of all sources against the order in docs/architecture.md, the only place that states it.

A block there lists the parts of one source tree from top to bottom. A part is a file or a folder at the top
of the tree, and uses only what stands above it. Inside a part files must not form a cycle; where indented
lines list them, they have an order too. Imports inside functions and for types count like any other.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
ARCHITECTURE = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```order (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)

Module = tuple[str, ...]
"""Where a file stands below the top of its tree: folders and name, without the ending."""
Uses = list[tuple[Module, Module]]
"""Pairs of a user and what it uses."""


def read_order(text: str) -> dict[Module, list[str]]:
    """The parts in order under the empty key; under a part the order of its files, where it is listed."""
    order: dict[Module, list[str]] = {(): []}
    for line in filter(str.strip, text.splitlines()):
        names = re.split(r"\s{2,}", line.strip())[0].replace("/", "").split()
        order.setdefault((order[()][-1],) if line.startswith(" ") else (), []).extend(names)
    return order


def find_faults(order: dict[Module, list[str]], modules: set[Module], uses: Uses, ending: str) -> list[str]:
    """A sentence for each file that is not listed, name without a file, import that goes down, and cycle."""

    def name(module: Module) -> str:
        return "/".join(module) + ending

    faults = []
    for where, names in order.items():
        depth = len(where)
        inside = {one[: depth + 1] for one in modules if one[:depth] == where and len(one) > depth}
        listed = {(*where, one) for one in names}
        faults += [f"{'/'.join(one)} is not in the order" for one in sorted(inside - listed)]
        faults += [f"{'/'.join(one)} is in the order and does not exist" for one in sorted(listed - inside)]
        place = {(*where, one): number for number, one in enumerate(names)}
        for user, used in uses:
            if place.get(user[: depth + 1], len(names)) < place.get(used[: depth + 1], -1):
                faults.append(f"{name(user)} uses {name(used)}, which stands below it in the order")
    below: dict[Module, list[Module]] = {module: [] for module in sorted(modules)}
    for user, used in uses:
        if user[0] == used[0]:
            below[user].append(used)
    faults += [" uses ".join(name(one) for one in cycle) + ": a cycle" for cycle in find_cycles(below)]
    return faults


def find_cycles(below: dict[Module, list[Module]]) -> Iterator[list[Module]]:
    """A cycle for each edge that closes one in a walk in depth."""
    done: set[Module] = set()

    def walk(path: list[Module]) -> Iterator[list[Module]]:
        for used in below[path[-1]]:
            if used in path:
                yield [*path[path.index(used) :], used]
            elif used not in done:
                yield from walk([*path, used])
        done.add(path[-1])

    for module in below:
        if module not in done:
            yield from walk([module])


def list_modules(top: Path, *patterns: str) -> dict[Module, Path]:
    files = [path for pattern in patterns for path in sorted(top.rglob(pattern))]
    return {path.relative_to(top).with_suffix("").parts: path for path in files}


def read_python(top: Path) -> tuple[set[Module], Uses]:
    """Modules and uses of a package; `__init__` is the package itself."""
    modules = list_modules(top, "*.py", "*.pyi")
    uses: Uses = []
    for module, path in modules.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            dotted = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path} has an import that begins with a dot"
                dotted = [f"{node.module}.{one.name}" for one in node.names]
            for _, *rest in (one.split(".") for one in dotted if one.split(".")[0] == top.name):
                found = [(*rest,), (*rest, "__init__"), (*rest[:-1],), (*rest[:-1], "__init__")]
                uses.append((module, next(one for one in found if one in modules)))
    return set(modules), [(user, used) for user, used in uses if user != used]


def read_rust(top: Path) -> tuple[set[Module], Uses]:
    """Modules and uses of a crate, without its tests. A folder's own file and the files in it are one."""
    modules = {
        module[:-1] if module[-1] == "mod" else module: path
        for module, path in list_modules(top, "*.rs").items()
    }
    del modules[("lib",)]
    uses: Uses = []
    for module, path in list(modules.items()):
        text = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
        for name in re.findall(r"^#\[cfg\(test\)\]\s(?:pub\S* )?mod (\w+);", text, re.MULTILINE):
            del modules[(*module, name)]
        text = re.sub(r"^#\[cfg\(test\)\]\s(?:pub\S* )?mod \w+ \{.*?^\}$", "", text, flags=re.M | re.S)
        named = re.findall(r"\bcrate::(\w+(?:::\w+)*|\{[^;]*?\};)", text)
        paths = [one for names in named for one in re.findall(r"(?:^|[{,])\s*(\w+(?:::\w+)*)", names)]
        named = re.findall(r"\bsuper::(\w+|\{[^;]*?\};)", text) if module[1:] else []
        beside = [one for names in named for one in re.findall(r"(?:^|[{,])\s*(\w+)", names)]
        paths += ["::".join((*module[:-1], one)) for one in beside]
        for one in paths:
            parts = tuple(one.split("::"))
            uses.append((module, next(parts[:end] for end in (3, 2, 1) if parts[:end] in modules)))
    return set(modules), [
        (user, used)
        for user, used in uses
        if user in modules and user != used and (user[0] != used[0] or len(user) > 1 < len(used))
    ]


def read_typescript(top: Path) -> tuple[set[Module], Uses]:
    """Modules and uses of the page."""
    modules = list_modules(top, "*.ts")
    uses: Uses = []
    for module, path in modules.items():
        text = path.read_text(encoding="utf-8")
        for given in re.findall(r"""\b(?:from|import)\s*\(?\s*["'](\.[^"']*)["']""", text):
            used = (path.parent / given).resolve().relative_to(top.resolve())
            if used.suffix in ("", ".js", ".ts"):
                uses.append((module, used.with_suffix("").parts))
    return set(modules), uses


READERS = {
    "python/anabranch": (read_python, ".py"),
    "crates/core/src": (read_rust, ".rs"),
    "web/src": (read_typescript, ".ts"),
}


@pytest.mark.parametrize("tree", READERS)
def test_imports_follow_the_order_of_the_architecture_page(tree: str) -> None:
    orders = dict(BLOCK.findall(ARCHITECTURE))
    assert set(orders) == set(READERS)
    read, ending = READERS[tree]
    modules, uses = read(REPOSITORY / tree)
    assert len(uses) > len(modules)
    faults = find_faults(read_order(orders[tree]), modules, list(dict.fromkeys(uses)), ending)
    assert not faults, "\n".join([f"Against the order of {tree} in docs/architecture.md:", *faults])


def names_of_types(node: ast.stmt) -> list[str]:
    """The class or the aliases that a statement defines."""
    if isinstance(node, ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return [name for name in names if name[0].isupper() and not name.isupper()]


def test_a_name_stands_for_one_type() -> None:
    homes: dict[str, list[str]] = {}
    for module, path in list_modules(REPOSITORY / "python/anabranch", "*.py", "*.pyi").items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            for name in names_of_types(node):
                homes.setdefault(name, []).append("/".join(module))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_faults_are_found() -> None:
    order = read_order("low/    a line\nmiddle high  two parts\n  one two  files of the last part\n")
    a, b, one, two = ("middle", "a"), ("middle", "b"), ("high", "one"), ("high", "two")
    modules: set[Module] = {("low",), a, b, one, two}
    sound: Uses = [(a, ("low",)), (two, one), (one, b)]
    assert find_faults(order, modules, sound, ".x") == []
    assert find_faults(order, modules | {("new",)}, sound, ".x") == ["new is not in the order"]
    assert find_faults(order, modules - {one}, sound[:1], ".x") == [
        "high/one is in the order and does not exist"
    ]
    assert find_faults(order, modules, [(("low",), a), (one, two)], ".x") == [
        "low.x uses middle/a.x, which stands below it in the order",
        "high/one.x uses high/two.x, which stands below it in the order",
    ]
    assert find_faults(order, modules, [(a, b), (b, a)], ".x") == [
        "middle/a.x uses middle/b.x uses middle/a.x: a cycle"
    ]
