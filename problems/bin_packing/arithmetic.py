"""A rule as arithmetic: straight-line instructions that a loop of ours interprets, so that no candidate code runs.

Most rules are expressions over the item, the room and the histogram. Those are translated here; all else (loops,
other functions, strings, attributes) gives None and runs in the sandbox. Numbers mean what they mean in Python: an
operation that would raise, or leave the integers that a double holds, yields NaN, and a NaN that Python would have met
sends the rule to the sandbox, which tells the real failure.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from problems.bin_packing.statements import Unsupported, assignment, bound, is_idle, is_plain_type
from utils.syntax import parse

OPS = tuple(
    "const item room hist hist_range opened neg abs not add sub mul div floordiv mod pow lt le gt ge eq ne and or "  # noqa: SIM905
    "select min max exp log sqrt trunc floor ceil check".split()
)
CODE = {name: number for number, name in enumerate(OPS)}
EXACT = 2**53
_BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow",
}  # fmt: skip
_COMPARE = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
_MATH = {"exp": "exp", "log": "log", "sqrt": "sqrt", "floor": "floor", "ceil": "ceil"}
_LIMIT = 400
"""Instructions; a longer program is not worth interpreting."""


@dataclass(frozen=True, slots=True)
class Program:
    """Instructions in order; instruction i writes register i.

    `ops`: (operation, a, b, c), operands are registers (or a constant's index for `const`). `constants`: doubles. The
    score is register `result`.
    """

    ops: tuple[tuple[int, int, int, int], ...]
    constants: tuple[float, ...]
    result: int


def translate(code: str, function: str = "score_bin") -> Program | None:
    """The program of a rule with the parameters (item, room) or (item, room, histogram), or None."""
    try:
        tree = parse(code)
        builder = _Builder()
        found = None
        for statement in tree.body:
            builder.has_math |= isinstance(statement, ast.Import)
            if isinstance(statement, ast.FunctionDef) and statement.name == function and found is None:
                found = statement
            elif not is_idle(statement) and not builder.global_constant(statement, but=(function, "math")):
                return None
        return builder.function(found) if found is not None else None
    except (Unsupported, SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


@dataclass(slots=True)
class _Value:
    register: int
    kind: str
    """int, float, bool, or mixed (an int or a float, known only as it runs). Only an int may index the histogram."""


@dataclass(slots=True)
class _Flow:
    """What holds at a place of the function: variables, and the condition under which it is reached (None: always)."""

    names: dict[str, _Value]
    reached: int | None
    ended: bool = False


@dataclass(slots=True)
class _Builder:
    ops: list[tuple[int, int, int, int]] = field(default_factory=list)
    constants: list[float] = field(default_factory=list)
    known: dict[tuple[int, int, int, int], int] = field(default_factory=dict)
    names: dict[str, _Value] = field(default_factory=dict)
    histogram: str = ""
    result: int = -1
    has_math: bool = False
    """It was imported: without that Python knows no `math`, whatever the sandbox has loaded."""
    own: frozenset[str] = frozenset()
    """Parameters, and what the function binds anywhere: such a name is its own everywhere in it, before that too."""

    # -------------------------------------------------------- instructions

    def emit(self, name: str, a: int = 0, b: int = 0, c: int = 0) -> int:
        key = (CODE[name], a, b, c)
        if key not in self.known:
            if len(self.ops) >= _LIMIT:
                raise Unsupported
            self.known[key] = len(self.ops)
            self.ops.append(key)
        return self.known[key]

    def constant(self, value: float) -> int:
        if value not in self.constants:
            self.constants.append(value)
        return self.emit("const", self.constants.index(value))

    # -------------------------------------------------------- statements

    def global_constant(self, statement: ast.stmt, but: tuple[str, ...]) -> bool:
        if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
            return False
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or not isinstance(statement.value, ast.Constant | ast.UnaryOp):
            return False
        if target.id in but:
            return False
        self.names[target.id] = self.expression(statement.value, self.names)
        return True

    def function(self, node: ast.FunctionDef) -> Program:
        arguments = node.args
        if arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg or arguments.defaults:
            raise Unsupported
        parameters = [argument.arg for argument in arguments.args]
        if len(parameters) not in (2, 3) or node.decorator_list or len(set(parameters)) < len(parameters):
            raise Unsupported
        if not all(map(is_plain_type, (*(argument.annotation for argument in arguments.args), node.returns))):
            raise Unsupported  # Python evaluates it, and may not know a name in it
        imported, assigned = bound(node)
        if "math" in (*parameters, *assigned) or assigned & set(parameters[2:]):
            raise Unsupported
        self.own = frozenset((*parameters, *assigned))
        self.has_math &= not imported
        names = {name: value for name, value in self.names.items() if name not in assigned}
        names[parameters[0]] = _Value(self.emit("item"), "int")
        names[parameters[1]] = _Value(self.emit("room"), "int")
        if len(parameters) == 3:
            self.histogram = parameters[2]
            names.pop(self.histogram, None)
        flow = self.block(node.body, _Flow(names, None))
        if not flow.ended:
            raise Unsupported  # it may return None: the sandbox tells
        return Program(tuple(self.ops), tuple(self.constants), self.result)

    def block(self, statements: list[ast.stmt], flow: _Flow) -> _Flow:
        for statement in statements:
            if flow.ended:
                raise Unsupported  # what is never reached may still make a name local, or the function a generator
            flow = self.statement(statement, flow)
        return flow

    def statement(self, node: ast.stmt, flow: _Flow) -> _Flow:
        if isinstance(node, ast.Pass) or is_idle(node):
            if isinstance(node, ast.Import) and flow.reached is not None:
                raise Unsupported  # elsewhere the name is not bound
            self.has_math |= isinstance(node, ast.Import)
            return flow
        if isinstance(node, ast.Return) and node.value is not None:
            returned = self.checked(node.value, flow)
            self.result = returned if self.result < 0 else self.merge(flow, returned)
            return _Flow(flow.names, flow.reached, ended=True)
        if isinstance(node, ast.If):
            return self.branch(node, flow)
        name, expression = assignment(node)
        value = self.expression(expression, flow.names)
        self.check(value.register, flow)
        return _Flow({**flow.names, name: value}, flow.reached)

    def merge(self, flow: _Flow, value: int) -> int:
        """An earlier return keeps its result where its condition held; this one is reached only elsewhere."""
        return value if flow.reached is None else self.emit("select", flow.reached, value, self.result)

    def branch(self, node: ast.If, flow: _Flow) -> _Flow:
        test = self.condition(node.test, flow.names)
        self.check(test, flow)
        when, unless = self.both(flow.reached, test), self.both(flow.reached, self.emit("not", test))
        yes = self.block(node.body, _Flow(dict(flow.names), when))
        no = self.block(node.orelse, _Flow(dict(flow.names), unless))
        if yes.ended and no.ended:
            return _Flow(flow.names, flow.reached, ended=True)
        if yes.ended or no.ended:
            left = no if yes.ended else yes
            return _Flow(left.names, left.reached)
        names = {}
        for name in yes.names.keys() & no.names.keys():
            a, b = yes.names[name], no.names[name]
            same = a.register == b.register
            names[name] = a if same else _Value(self.emit("select", test, a.register, b.register), _kind(a, b))
        whole = yes.reached == when and no.reached == unless
        return _Flow(names, flow.reached if whole else self.either(yes.reached, no.reached))

    def both(self, a: int | None, b: int) -> int:
        return b if a is None else self.emit("and", a, b)

    def either(self, a: int | None, b: int | None) -> int | None:
        return None if a is None or b is None else self.emit("or", a, b)

    def checked(self, node: ast.expr, flow: _Flow) -> int:
        register = self.expression(node, flow.names).register
        self.check(register, flow)
        return register

    def check(self, register: int, flow: _Flow) -> None:
        """Python would evaluate this here: a NaN is a failure, under the condition that the place is reached."""
        always = flow.reached if flow.reached is not None else self.constant(1.0)
        self.emit("check", register, always)

    # -------------------------------------------------------- expressions

    def condition(self, node: ast.expr, names: dict[str, _Value]) -> int:
        value = self.expression(node, names)
        if value.kind == "bool":
            return value.register
        return self.emit("ne", value.register, self.constant(0.0))

    def expression(self, node: ast.expr, names: dict[str, _Value]) -> _Value:
        if isinstance(node, ast.Constant):
            return self.literal(node)
        if isinstance(node, ast.Name) and node.id in names:
            return names[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return self.binary(node, names)
        if isinstance(node, ast.UnaryOp):
            return self.unary(node, names)
        if isinstance(node, ast.Compare):
            return self.compare(node, names)
        if isinstance(node, ast.BoolOp):
            parts = [self.expression(part, names) for part in node.values]
            if any(part.kind != "bool" for part in parts):
                raise Unsupported
            register = parts[0].register
            for part in parts[1:]:
                register = self.emit("and" if isinstance(node.op, ast.And) else "or", register, part.register)
            return _Value(register, "bool")
        if isinstance(node, ast.IfExp):
            test = self.condition(node.test, names)
            a, b = self.expression(node.body, names), self.expression(node.orelse, names)
            return _Value(self.emit("select", test, a.register, b.register), _kind(a, b))
        if isinstance(node, ast.Subscript):
            return self.subscript(node, names)
        if isinstance(node, ast.Call):
            return self.call(node, names)
        raise Unsupported

    def literal(self, node: ast.Constant) -> _Value:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float) or abs(node.value) >= EXACT:
            raise Unsupported
        return _Value(self.constant(float(node.value)), "int" if isinstance(node.value, int) else "float")

    def binary(self, node: ast.BinOp, names: dict[str, _Value]) -> _Value:
        a, b = self.expression(node.left, names), self.expression(node.right, names)
        name = _BINARY[type(node.op)]
        kind = "float" if "float" in (a.kind, b.kind) or name == "div" else _kind(a, b)
        if name == "pow" and kind != "float":
            power = node.right
            if kind == "mixed" or not (isinstance(power, ast.Constant) and isinstance(power.value, int)):
                raise Unsupported  # an integer or a float, by the exponent's sign
        if kind == "bool":
            kind = "int"
        return _Value(self.emit(name, a.register, b.register, int(kind != "float")), kind)

    def unary(self, node: ast.UnaryOp, names: dict[str, _Value]) -> _Value:
        if isinstance(node.op, ast.Not):
            return _Value(self.emit("not", self.condition(node.operand, names)), "bool")
        value = self.expression(node.operand, names)
        if isinstance(node.op, ast.USub):
            return _Value(self.emit("neg", value.register), "int" if value.kind == "bool" else value.kind)
        if isinstance(node.op, ast.UAdd) and value.kind != "bool":
            return value
        raise Unsupported

    def compare(self, node: ast.Compare, names: dict[str, _Value]) -> _Value:
        values = [self.expression(part, names).register for part in (node.left, *node.comparators)]
        register = -1
        for op, a, b in zip(node.ops, values, values[1:], strict=False):
            if type(op) not in _COMPARE:
                raise Unsupported
            test = self.emit(_COMPARE[type(op)], a, b)
            register = test if register < 0 else self.emit("and", register, test)
        return _Value(register, "bool")

    def subscript(self, node: ast.Subscript, names: dict[str, _Value]) -> _Value:
        if not (isinstance(node.value, ast.Name) and self.histogram and node.value.id == self.histogram):
            raise Unsupported
        index = self.expression(node.slice, names)
        if index.kind not in ("int", "bool"):
            raise Unsupported
        return _Value(self.emit("hist", index.register), "int")

    def call(self, node: ast.Call, names: dict[str, _Value]) -> _Value:
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise Unsupported
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            is_known = node.func.value.id == "math" and self.has_math and node.func.attr in _MATH
            if not is_known or len(node.args) != 1:
                raise Unsupported
            value = self.expression(node.args[0], names)
            kind = "int" if node.func.attr in ("floor", "ceil") else "float"
            return _Value(self.emit(_MATH[node.func.attr], value.register), kind)
        if not isinstance(node.func, ast.Name) or node.func.id in names or node.func.id in self.own:
            raise Unsupported
        return self.builtin(node.func.id, node.args, names)

    def builtin(self, name: str, args: list[ast.expr], names: dict[str, _Value]) -> _Value:
        if name == "sum" and len(args) == 1:
            return self.total(args[0], names)
        values = [self.expression(argument, names) for argument in args]
        if name in ("min", "max") and len(values) > 1:
            joined = values[0]
            for value in values[1:]:
                joined = _Value(self.emit(name, joined.register, value.register), _kind(joined, value))
            return joined
        if len(values) == 1 and name == "abs":
            kind = "int" if values[0].kind == "bool" else values[0].kind
            return _Value(self.emit("abs", values[0].register), kind)
        if len(values) == 1 and name == "int":
            return _Value(self.emit("trunc", values[0].register), "int")
        if len(values) == 1 and name == "float":
            return _Value(values[0].register, "float")
        raise Unsupported

    def total(self, node: ast.expr, names: dict[str, _Value]) -> _Value:
        """sum(histogram) and sum(histogram[a:b])."""
        if isinstance(node, ast.Name) and self.histogram and node.id == self.histogram:
            return _Value(self.emit("opened"), "int")
        if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and node.slice.step is None):
            raise Unsupported
        if not (isinstance(node.value, ast.Name) and self.histogram and node.value.id == self.histogram):
            raise Unsupported
        ends = []
        for end, default in ((node.slice.lower, 0), (node.slice.upper, EXACT - 1)):
            value = self.expression(end, names) if end is not None else _Value(self.constant(float(default)), "int")
            if value.kind not in ("int", "bool"):
                raise Unsupported
            ends.append(value.register)
        return _Value(self.emit("hist_range", *ends), "int")


def _kind(a: _Value, b: _Value) -> str:
    """What may come of either value."""
    kinds = {a.kind, b.kind}
    if len(kinds) == 1:
        return a.kind
    return "int" if kinds == {"int", "bool"} else "mixed"
