"""The grammar: a text becomes statements about named attributes, whatever the data.

criterion   condition {and condition}            parentheses around any of them; `everyone` for no condition
condition   NAME = VALUE                         also == != <> < <= > >=
            VALUE < NAME                         where VALUE is a number or a date, and NAME is not
            VALUE < NAME <= VALUE                also with <= and <, or with > and >=
            NAME [not] in {VALUE, VALUE}         also [...] and (...)
            NAME is [not] missing                also null
"""

from __future__ import annotations

from dataclasses import dataclass

from ald.errors import CriterionError
from ald.groups.language.tokens import MOMENT, NUMBER, Reader, Token

# Words that `ald.groups.criterion.quote` puts in quotes: without quotes they are never names, and not always values.
_NO_NAMES = ("and", "or", "not", "in", "missing", "true", "false")
_NO_VALUES = ("and", "or", "not", "in")

_OPERATORS = {"=": "=", "==": "=", "!=": "!=", "<>": "!=", "≠": "!=", "<": "<", "<=": "<=", "≤": "<=", ">": ">",
              ">=": ">=", "≥": ">="}  # fmt: skip
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_BRACKETS = {"{": "}", "[": "]", "(": ")"}

_ADVICE_OR = (
    "a criterion has no `or`: for several levels of one attribute write `race in {A, B}`; other alternatives are "
    "groups of their own"
)
_ADVICE_NOT = "a criterion has no `not (...)`: write `sex != F`, `race not in {A, B}` or `age <= 60` instead"
_ADVICE_ARITHMETIC = "a criterion does not calculate: compare an attribute with a value, as in `age > 60`"
_ADVICE = {
    ("or", "|", "||"): _ADVICE_OR,
    ("not", "!", "~"): _ADVICE_NOT,
    ("+", "-", "*", "/", "%", "^", "**"): _ADVICE_ARITHMETIC,
    ("=<",): "write `<=` instead of `=<`",
    ("=>",): "write `>=` instead of `=>`",
    ("between",): "write `30 <= age <= 40` instead of `between`",
    ("like", "contains", "matches"): "criteria compare whole values: name the levels, as in `race in {A, B}`",
}


@dataclass(frozen=True, kw_only=True)
class Membership:
    """The attribute is (negated: is not) one of these values."""

    name: Token
    values: tuple[Token, ...]
    negated: bool


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The attribute is below or above some values: pairs of `<`, `<=`, `>` or `>=` and a value."""

    name: Token
    bounds: tuple[tuple[str, Token], ...]


Statement = Membership | Limits


def is_missing(value: Token) -> bool:
    """Whether a value stands for "missing"."""
    return value.says("missing")


def is_measure(value: Token) -> bool:
    """Whether a value reads as a number, a date or a time."""
    return bool(NUMBER.fullmatch(value.text) or MOMENT.fullmatch(value.text))


def statements(text: str) -> list[Statement]:
    """The statements of a text, in its order."""
    reader = Reader(text)
    if reader.token.form == "end":
        raise reader.error("nothing is written: a criterion reads like `sex = F and age > 60`, or `everyone`", 0)
    found: list[Statement] = []
    opened: list[Token] = []
    while True:
        while reader.token.says("("):
            opened.append(reader.take())
        found += _condition(reader)
        while opened and reader.token.says(")"):
            reader.take()
            opened.pop()
        if reader.token.form == "end":
            break
        if not reader.token.says("and", "&", "&&"):
            raise _unexpected(reader, "`and`, `)` or the end" if opened else "`and` or the end")
        reader.take()
    if opened:
        raise reader.error("this parenthesis is not closed", opened[-1])
    return found


def _condition(reader: Reader) -> list[Statement]:
    first = reader.token
    if not first.is_operand or first.says(*_NO_VALUES):
        raise _unexpected(reader, "a condition such as `age > 60`")
    reader.take()
    follower = reader.token
    if first.says("everyone") and (follower.form == "end" or follower.says(")", "and", "&", "&&")):
        return []
    if follower.text in _OPERATORS and follower.form == "symbol":
        return [_comparison(reader, first)]
    name = _name(reader, first)
    if follower.says("is"):
        return [_is_missing(reader, name)]
    if follower.says("in"):
        reader.take()
        return [Membership(name=name, values=_values(reader), negated=False)]
    if follower.says("not"):
        reader.take()
        if not reader.token.says("in"):
            raise _unexpected(reader, "`in` after `not`")
        reader.take()
        return [Membership(name=name, values=_values(reader), negated=True)]
    if follower.says("("):
        raise reader.error(f"a criterion calls no functions, and {name} stands before a parenthesis", follower)
    raise _unexpected(reader, f"an operator (such as =, !=, <, >=, in, is) after {name}")


def _comparison(reader: Reader, first: Token) -> Statement:
    operators = [reader.take()]
    operands = [first, _value(reader)]
    while reader.token.form == "symbol" and reader.token.text in _OPERATORS:
        operators.append(reader.take())
        operands.append(_value(reader))
    signs = [_OPERATORS[operator.text] for operator in operators]
    if len(signs) == 1:
        sign = signs[0]
        left, right = operands
        if sign in _FLIPPED and is_measure(left) and not is_measure(right):
            return Limits(name=_name(reader, right), bounds=((_FLIPPED[sign], left),))
        name = _name(reader, left)
        if sign in _FLIPPED:
            return Limits(name=name, bounds=((sign, right),))
        return Membership(name=name, values=(right,), negated=sign == "!=")
    if len(signs) > 2 or not (set(signs) <= {"<", "<="} or set(signs) <= {">", ">="}):
        at = operators[2] if len(signs) > 2 else operators[1]
        raise reader.error("a chain of comparisons reads like `30 <= age < 40`, both signs in one direction", at)
    lower, name, upper = operands
    return Limits(name=_name(reader, name), bounds=((_FLIPPED[signs[0]], lower), (signs[1], upper)))


def _is_missing(reader: Reader, name: Token) -> Membership:
    reader.take()
    negated = reader.token.says("not")
    if negated:
        reader.take()
    if not reader.token.says("missing", "null"):
        sign = "!=" if negated else "="
        raise _unexpected(reader, f"`missing` or `null` (to compare with a value, write {sign} instead)")
    value = reader.take()
    missing = Token(form="word", text="missing", position=value.position)
    return Membership(name=name, values=(missing,), negated=negated)


def _values(reader: Reader) -> tuple[Token, ...]:
    """Values between brackets."""
    bracket = reader.token
    if not bracket.says(*_BRACKETS):
        raise _unexpected(reader, "values in braces, as in `{A, B}`,")
    reader.take()
    end = _BRACKETS[bracket.text]
    if reader.token.says(end):
        raise reader.error("these braces are empty: name at least one value, as in `{A, B}`", bracket)
    values = [_value(reader)]
    while reader.token.says(","):
        reader.take()
        values.append(_value(reader))
    if not reader.token.says(end):
        raise _unexpected(reader, f"`,` or `{end}`")
    reader.take()
    return tuple(values)


def _value(reader: Reader) -> Token:
    token = reader.token
    if token.says(*_NO_VALUES):
        raise reader.error(
            f'found {token} where a value was expected; put a value of this name in quotes, "{token.text}"', token
        )
    if not token.is_operand:
        raise _unexpected(reader, "a value")
    return reader.take()


def _name(reader: Reader, token: Token) -> Token:
    if token.says(*_NO_NAMES):
        raise reader.error(f'{token} is not a name: put an attribute of this name in quotes, "{token.text}"', token)
    return token


def _unexpected(reader: Reader, expected: str) -> CriterionError:
    """The error about the token in view, with advice where it is known from other languages."""
    token = reader.token
    advice = next((advice for words, advice in _ADVICE.items() if token.says(*words)), None)
    return reader.error(advice or f"found {token} where {expected} was expected", token)
