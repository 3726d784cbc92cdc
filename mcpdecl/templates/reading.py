"""What a Jinja template reads, and how its syntax tree is made safe to run.

Knows: Jinja's nodes and scopes. Does not know: values, files, or what names mean. Importing it imports Jinja.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

from mcpdecl.templates.values import TemplateFault

Path = tuple[str, ...]
Names = frozenset[str]
GLOBALS: Names = frozenset({"range", "dict", "cycler", "joiner", "namespace"})
COUNTED, CHARGED, JOINED = " counted", " charged", " joined"  # names of filters that no template can write


class Reader:
    """Collects the free names of one tree. ``of_file`` gives those of a template file that it includes."""

    def __init__(self, of_file: Callable[[str], Iterable[Path]]) -> None:
        self.found: set[Path] = set()
        self._of_file = of_file

    def visit(self, node: nodes.Node, bound: set[str]) -> None:
        """Visit a node; names that it binds for what follows are added to ``bound``."""
        visit = getattr(self, f"_{type(node).__name__.lower()}", None)
        if visit is not None:
            visit(node, bound)
        else:
            for child in node.iter_child_nodes():
                self.visit(child, bound)

    def _all(self, found: Iterable[nodes.Node | None], bound: set[str]) -> None:
        for node in found:
            if node is not None:
                self.visit(node, bound)

    # expressions

    def _name(self, node: nodes.Name, bound: set[str]) -> None:
        if node.ctx == "load" and node.name not in bound:
            self.found.add((node.name,))

    def _getattr(self, node: nodes.Getattr, bound: set[str]) -> None:
        path = _path(node)
        if path is None:
            self.visit(node.node, bound)
        elif path[0] not in bound:
            self.found.add(path)

    def _getitem(self, node: nodes.Getitem, bound: set[str]) -> None:
        if _path(node) is None:
            self._all((node.node, node.arg), bound)
        else:
            self._getattr(node, bound)  # type: ignore[arg-type]

    def _call(self, node: nodes.Call, bound: set[str]) -> None:
        callee = node.node
        if isinstance(callee, nodes.Getattr):
            self.visit(callee.node, bound)
        elif not (isinstance(callee, nodes.Name) and callee.name in GLOBALS):
            self.visit(callee, bound)
        self._all((*node.args, *node.kwargs, node.dyn_args, node.dyn_kwargs), bound)

    # statements

    def _for(self, node: nodes.For, bound: set[str]) -> None:
        self.visit(node.iter, bound)
        inner = bound | _targets(node.target) | {"loop"}
        self._all((node.test,), set(inner))
        self._all(node.body, set(inner))
        self._all(node.else_, set(bound))

    def _if(self, node: nodes.If, bound: set[str]) -> None:
        self._all((node.test, *(e.test for e in node.elif_)), bound)
        ends: list[set[str]] = []
        for branch in (node.body, *(e.body for e in node.elif_), node.else_):
            end = set(bound)
            self._all(branch, end)
            ends.append(end)
        # What only some branches set is read from outside after the others.
        bound |= set.intersection(*ends)

    def _assign(self, node: nodes.Assign, bound: set[str]) -> None:
        self.visit(node.node, bound)
        self.visit(node.target, bound)
        bound |= _targets(node.target)

    def _assignblock(self, node: nodes.AssignBlock, bound: set[str]) -> None:
        self._all((node.filter,), bound)
        self._all(node.body, set(bound))
        bound |= _targets(node.target)

    def _nsref(self, node: nodes.NSRef, bound: set[str]) -> None:
        if node.name not in bound:
            self.found.add((node.name,))

    def _with(self, node: nodes.With, bound: set[str]) -> None:
        self._all(node.values, bound)
        self._all(node.body, bound.union(*map(_targets, node.targets)))

    def _macro(self, node: nodes.Macro, bound: set[str]) -> None:
        bound.add(node.name)
        self._body_of_macro(node, bound)

    def _callblock(self, node: nodes.CallBlock, bound: set[str]) -> None:
        self.visit(node.call, bound)
        self._body_of_macro(node, bound)

    def _body_of_macro(self, node: nodes.Macro | nodes.CallBlock, bound: set[str]) -> None:
        self._all(node.defaults, bound)
        names = {a.name for a in node.args} | {"caller", "varargs", "kwargs"}
        self._all(node.body, bound | names)

    def _scoped(self, node: nodes.Node, bound: set[str]) -> None:
        inner = set(bound)
        for child in node.iter_child_nodes():
            self.visit(child, inner)

    _scope = _filterblock = _scopedevalcontextmodifier = _scoped

    def _block(self, node: nodes.Block, bound: set[str]) -> None:
        self._all(node.body, bound | {"self", "super"})

    # other files

    def _include(self, node: nodes.Include, bound: set[str]) -> None:
        self._take(node.template, node.with_context, bound, node.ignore_missing)

    def _extends(self, node: nodes.Extends, bound: set[str]) -> None:
        self._take(node.template, True, bound)

    def _import(self, node: nodes.Import, bound: set[str]) -> None:
        self._take(node.template, node.with_context, bound)
        bound.add(node.target)

    def _fromimport(self, node: nodes.FromImport, bound: set[str]) -> None:
        self._take(node.template, node.with_context, bound)
        bound |= {name[1] if isinstance(name, tuple) else name for name in node.names}

    def _take(self, named: nodes.Expr, context: bool, bound: set[str], optional: bool = False) -> None:
        for name in _file_names(named):
            try:
                paths = self._of_file(name)
            except TemplateFault as fault:
                if optional:
                    continue
                raise TemplateFault(fault.message, named.lineno - 1) from None
            if context:
                self.found |= {p for p in paths if p[0] not in bound}


def _file_names(named: nodes.Expr) -> list[str]:
    if isinstance(named, nodes.Const) and isinstance(named.value, str):
        return [named.value]
    if isinstance(named, (nodes.List, nodes.Tuple)):
        return [name for item in named.items for name in _file_names(item)]
    raise TemplateFault(
        "A template is included by its literal name, so that it is there before a call.", named.lineno - 1
    )


def _path(node: nodes.Node) -> Path | None:
    """The static path of ``a.b['c']``, or None."""
    if isinstance(node, nodes.Name):
        return (node.name,)
    if isinstance(node, nodes.Getattr):
        base, last = _path(node.node), node.attr
    elif isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
        base, last = _path(node.node), node.arg.value
    else:
        return None
    return None if base is None else (*base, last)


def _targets(node: nodes.Node) -> set[str]:
    if isinstance(node, nodes.Name):
        return {node.name}
    return {name.name for name in node.find_all(nodes.Name)} if isinstance(node, nodes.Tuple) else set()


class Guard(NodeTransformer):
    """Puts counters into loops and macros, and what is absent where Jinja has an undefined value of its own."""

    def visit_For(self, node: nodes.For) -> nodes.For:
        """Count every turn, with the text that a turn makes."""
        self.generic_visit(node)
        node.iter = _filtered(node.iter, COUNTED, nodes.Const(_text_in(node.body)))
        return node

    def visit_Macro(self, node: nodes.Macro) -> nodes.Macro:
        """Count the text of a macro whenever it is called."""
        self.generic_visit(node)
        node.body.insert(0, _charge(node))
        return node

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.CallBlock:
        """Count the text of the block whenever the macro calls it."""
        self.generic_visit(node)
        node.body.insert(0, _charge(node))
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Expr:
        """Put texts together within bounds."""
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), JOINED)

    def visit_CondExpr(self, node: nodes.CondExpr) -> nodes.CondExpr:
        """An ``if`` without ``else`` is absent."""
        self.generic_visit(node)
        if node.expr2 is None:
            node.expr2 = nodes.EnvironmentAttribute("absent", lineno=node.lineno)
        return node


def guarded(tree: nodes.Template, environment: Any) -> nodes.Template:
    """The tree with counters in it. Changes the tree that it is given."""
    safe: nodes.Template = Guard().visit(tree)
    safe.body.insert(0, _charge(safe))
    safe.set_environment(environment)
    return safe


def _charge(node: Any) -> nodes.ExprStmt:
    cost = nodes.Const(_text_in(node.body), lineno=node.lineno)
    return nodes.ExprStmt(_filtered(cost, CHARGED), lineno=node.lineno)


def _filtered(node: Any, name: str, *args: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, list(args), [], None, None, lineno=node.lineno)


def _text_in(body: Iterable[nodes.Node]) -> int:
    return sum(len(data.data) for node in body for data in node.find_all(nodes.TemplateData))
