"""The language of criteria: what is read, what it means, and what is refused."""

from __future__ import annotations

import ast
import pickle
import random
import re
from collections.abc import Callable
from datetime import date, datetime
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ald
from ald import ColumnError, Criterion, CriterionError, Interval, Levels, SettingError
from ald.data.columns import Column, parse_numbers
from ald.data.table import Table
from ald.groups.criterion import LEVEL_KINDS, Condition, format_bound
from ald.groups.language import parse

# Names and levels that could be taken for something else.
HOSTILE = [
    "", " ", "and", "OR", "Not", "in", "Missing", "TRUE", "everyone", "is", "null", "between", "like", "60", "-5",
    "1e5", "007", "2024-01-31", "2024-01-31 09:30:00", "a b", "a&b", "a,b", "{", "x)", '"', "'", "`", "\\", "\\n",
    '\\"', "\n", "\x00", "\x1b[31m", "\u202eabc", "\ud83d", "\ud83d\ude00", "😀", "ß", "漢字", "_x", "a-b", "a.", "1/2",
    "a+", "<b>", "2024-01-31a",
]  # fmt: skip
WORDS = st.sampled_from(HOSTILE) | st.text(max_size=6)
DAYS = st.integers(-700_000, 2_900_000).map(float)
MICROSECONDS = st.integers(-(2**53), 2**53).map(float)
FINITE = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)
BOUNDS = {"numeric": FINITE, "date": DAYS, "datetime": MICROSECONDS}


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    """Satisfiable conditions, as the language writes them: values in ascending order, missing last."""
    name, kind = draw(WORDS), draw(st.sampled_from(ald.groups.criterion.KINDS))
    missing = (None,) if draw(st.booleans()) else ()
    if kind in LEVEL_KINDS:
        levels = draw(st.lists(WORDS, min_size=0 if missing else 1, max_size=4, unique=True))
        return Levels(name, kind, (*levels, *missing), draw(st.booleans()))
    if draw(st.booleans()):
        numbers = sorted(draw(st.lists(BOUNDS[kind], min_size=2, max_size=4, unique=True)))
        words = tuple(format_bound(number, kind) for number in numbers)
        return Levels(name, kind, (*words, *missing), draw(st.booleans()))
    lower, upper = sorted(draw(st.lists(BOUNDS[kind], min_size=2, max_size=2)))
    if lower == upper:
        return Interval(name, kind, lower, upper, "both")
    closed = draw(st.sampled_from(["right", "left", "both", "neither"]))
    return Interval(name, kind, *draw(st.sampled_from([(lower, upper), (None, upper), (lower, None)])), closed)


CRITERIA = st.lists(conditions(), max_size=4, unique_by=lambda condition: condition.attribute).map(Criterion)


def table_of(criterion: Criterion) -> Table:
    """A table whose columns have the kinds and hold the levels of a criterion, and one more level each."""
    columns = {}
    for condition in criterion:
        codes, name, kind = np.zeros(1, np.uint8), condition.attribute, condition.kind
        if kind in LEVEL_KINDS:
            assert isinstance(condition, Levels)
            known = [level for level in condition.levels if level is not None]
            columns[name] = Column(name=name, kind=kind, codes=codes, levels=(*known, "".join(known) + "!"))
        else:
            columns[name] = Column(name=name, kind=kind, codes=codes, values=np.array([0.0]))
    return Table(columns=columns, n_rows=1, source="the data")


@given(CRITERIA)
def test_criteria_survive_their_text(criterion: Criterion) -> None:
    """With the data, every criterion is read back from its text as it was, whatever its names and levels hold."""
    assert parse(str(criterion), table_of(criterion)) == criterion


def without_data(condition: Condition) -> Condition:
    """The condition as its text reads without data: single values are levels."""
    if isinstance(condition, Interval) and condition.is_point:
        assert condition.lower is not None
        return Levels(condition.attribute, "nominal", (format_bound(condition.lower, condition.kind),))
    return condition


@given(CRITERIA)
def test_texts_survive_without_data(criterion: Criterion) -> None:
    """Without data, kinds are guessed; names, levels and bounds, and so the text, are the same."""
    expected = Criterion(map(without_data, criterion))
    again = parse(str(criterion))
    assert str(again) == str(expected)
    assert parse(str(again)) == again
    for one, other in zip(again, expected, strict=True):
        assert type(one) is type(other)
        assert {**one.to_dict(), "kind": ""} == {**other.to_dict(), "kind": ""}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_words(name: str) -> None:
    """No name and no level is mistaken for anything else."""
    for level, negated in product([*HOSTILE, None], [False, True]):
        for levels in ((level,), (level, "z")):
            criterion = Criterion([Levels(name, "nominal", levels, negated)])
            assert parse(str(criterion)) == criterion
    assert parse(str(Criterion([Interval(name, "numeric", -1.0, 1.0)]))) == Criterion(
        [Interval(name, "numeric", -1, 1)]
    )


@given(WORDS, st.sampled_from("\"'`"))
def test_three_kinds_of_quotes(word: str, quote: str) -> None:
    """A word in any of the quotes is that word, if the quote and the backslash are escaped."""
    written = quote + word.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote
    assert parse(f"{written}={written}") == Criterion([Levels(word, "nominal", (word,))])


PEOPLE: dict[str, Any] = {
    "age": [61, 30.5, None],
    "sex": ["F", "M", None],
    "member": [True, False, None],
    "grade": pd.Categorical(["B", "D", None], ["A", "B", "C", "D"], ordered=True),
    "hired": [date(2024, 1, 31), date(2023, 1, 1), None],
    "seen": [datetime(2024, 1, 31, 9, 30), datetime(2024, 1, 31), None],
    "size": ["60", "7.50", "007"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("sex == 'F' and age > 60", "age > 60 and sex = F"),
        ("sex=F&age>60", "age > 60 and sex = F"),
        ("sex = F && age > 60", "age > 60 and sex = F"),
        ("  ( (sex = `F`) AND ((age > 6e1)) )\n", "age > 60 and sex = F"),
        ("sex <> F", "sex != F"),
        ("sex ≠ F", "sex != F"),
        ("sex NOT IN (F)", "sex != F"),
        ("sex in [F]", "sex = F"),
        ("sex in ('F', missing)", "sex in {F, missing}"),
        ("sex in {M, F, M}", "sex in {F, M}"),
        ("sex not in {F}", "sex != F"),
        ("sex Is Not Null", "sex is not missing"),
        ("sex = missing", "sex is missing"),
        ("sex != missing", "sex is not missing"),
        ("age ≥ 30 and age ≤ 60", "30 <= age <= 60"),
        ("60 < age", "age > 60"),
        ("60 >= age", "age <= 60"),
        ("40 > age >= 30", "30 <= age < 40"),
        ("'30' < age <= \"40\"", "30 < age <= 40"),
        ("age > 30 and age >= 30 and age < 90 and age <= 90 and age < 95", "30 < age < 90"),
        ("age > -.5 and age < +1.50e+1", "-0.5 < age < 15"),
        ("age = 60.0", "age = 60"),
        ("age >= 60 and age <= 60", "age = 60"),
        ("age = -0", "age = 0"),
        ("age != 60", "age != 60"),
        ("age in {2.50, 1, 1.0}", "age in {1, 2.5}"),
        ("age in {1}", "age = 1"),
        ("age in {30, 40, 50, missing} and age > 35", "age in {40, 50}"),
        ("age in {30, 40} and age != 30", "age = 40"),
        ("age in {30, missing} and age != 40", "age = 30"),
        ("age in {30, missing} and age is missing", "age is missing"),
        ("age not in {1, 2} and age != 3", "age not in {1, 2, 3}"),
        ("age >= 30 and age != 30 and age is not missing", "age > 30"),
        ("age <= 30 and age not in {30, 99}", "age < 30"),
        ("age is not missing", "age is not missing"),
        ("hired > '2024-01-31'", "hired > 2024-01-31"),
        ("hired == 2024-01-31", "hired = 2024-01-31"),
        ("hired >= 2024-01-31 00:00 and hired < 2024-02-01", "2024-01-31 <= hired < 2024-02-01"),
        ("hired in {2024-01-31, 2023-01-01}", "hired in {2023-01-01, 2024-01-31}"),
        ("seen > 2024-01-31", "seen > 2024-01-31"),
        ("seen <= 2024-01-31T09:30", "seen <= 2024-01-31 09:30:00"),
        ("seen <= 2024-01-31 10:30:00.5+01:00", "seen <= 2024-01-31 09:30:00.500000"),
        ("seen = 2024-01-31 09:30:00Z", "seen = 2024-01-31 09:30:00"),
        ("member = true", 'member = "True"'),
        ("member != FALSE", 'member != "False"'),
        ("grade > B", "grade = D"),
        ("grade <= D", "grade in {B, D}"),
        ("B <= grade < D", "grade = B"),
        ("grade >= B and grade != B", "grade = D"),
        ("size = 60.0", "size = 60"),
        ("size = 7.5", "size = 7.50"),
        ("everyone", "everyone"),
        ("(Everyone)", "everyone"),
        ("everyone and sex = F", "sex = F"),
    ],
)
def test_what_can_be_written(text: str, same: str) -> None:
    """The same thing can be said in several ways; the kinds are those of the columns."""
    criterion = parse(text, PEOPLE)
    assert str(criterion) == same
    kinds = {"age": "numeric", "hired": "date", "seen": "datetime", "member": "boolean", "grade": "ordinal"}
    assert all(condition.kind == kinds.get(condition.attribute, "nominal") for condition in criterion)
    assert parse(str(criterion), PEOPLE) == criterion


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("x > 60", Interval("x", "numeric", 60.0)),
        ("x >= 2024-01-31", Interval("x", "datetime", 1706659200e6, None, "left")),
        ("x = 60", Levels("x", "nominal", ("60",))),
        ("x = 60.0", Levels("x", "nominal", ("60.0",))),
        ("x in {b, a, b}", Levels("x", "nominal", ("b", "a"))),
        ("x = true", Levels("x", "boolean", ("True",))),
        ("x in {TRUE, false, missing}", Levels("x", "boolean", ("True", "False", None))),
        ("x in {true, maybe}", Levels("x", "nominal", ("true", "maybe"))),
        ("x = 'true'", Levels("x", "nominal", ("true",))),
        ("x in {1, 2, 3} and x > 1", Levels("x", "numeric", ("2", "3"))),
        ("x > 1 and x = 2", Interval("x", "numeric", 2.0, 2.0, "both")),
        ("x = null", Levels("x", "nominal", ("null",))),
    ],
)
def test_kinds_without_data(text: str, condition: Condition) -> None:
    """Without data, what is compared by size is a number or a time, and all else a level as it is written."""
    assert Criterion.parse(text) == Criterion([condition])


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("", 0, "nothing is written"),
        ("   ", 0, "nothing is written"),
        ("sex", 3, "found the end where an operator"),
        ("sex =", 5, "found the end where a value was expected"),
        ("sex F", 4, "found `F` where an operator (such as =, !=, <, >=, in, is) after `sex` was expected"),
        ("= F", 0, "found `=` where a condition such as `age > 60` was expected"),
        ("sex = F and", 11, "found the end where a condition"),
        ("and sex = F", 0, "found `and` where a condition"),
        ("sex = F age > 6", 8, "found `age` where `and` or the end was expected"),
        ("(sex = F age > 6", 9, "found `age` where `and`, `)` or the end was expected"),
        ("(sex = F", 0, "this parenthesis is not closed"),
        ("sex = F)", 7, "found `)`"),
        ("()", 1, "found `)` where a condition"),
        ("sex in F", 7, "found `F` where values in braces"),
        ("sex in {F, M", 12, "found the end where `,` or `}` was expected"),
        ("sex in {F, M]", 12, "found `]` where `,` or `}` was expected"),
        ("sex in {}", 7, "these braces are empty"),
        ("sex in {F,}", 10, "found `}` where a value was expected"),
        ("sex not F", 8, "found `F` where `in` after `not` was expected"),
        ("sex is F", 7, "to compare with a value, write = instead"),
        ("sex is not F", 11, "to compare with a value, write != instead"),
        ("sex = F or sex = M", 8, "write `race in {A, B}`"),
        ("sex = F | sex = M", 8, "write `race in {A, B}`"),
        ("not (sex = F)", 0, "write `sex != F`"),
        ("~(sex = F)", 0, "write `sex != F`"),
        ("sex = F and not age > 3", 12, "write `sex != F`"),
        ("age * 2 > 3", 4, "does not calculate"),
        ("age > 3 + 4", 8, "does not calculate"),
        ("age > - 4", 6, "does not calculate"),
        ("len(sex) = 1", 3, "calls no functions"),
        ("age between 3 and 4", 4, "write `30 <= age <= 40`"),
        ("sex like 'F%'", 4, "name the levels"),
        ("age =< 3", 4, "write `<=` instead"),
        ("age => 3", 4, "write `>=` instead"),
        ("state = OR", 8, 'of this name in quotes, "OR"'),
        ("state in {IN}", 10, 'of this name in quotes, "IN"'),
        ("true = 1", 0, 'of this name in quotes, "true"'),
        ("3 < missing < 4", 4, 'of this name in quotes, "missing"'),
        ("3 < age > 4", 8, "reads like `30 <= age < 40`"),
        ("3 = age < 4", 8, "reads like `30 <= age < 40`"),
        ("1 < 2 < age < 4", 12, "reads like `30 <= age < 40`"),
        ("sex = 'F", 6, "a second ' is missing"),
        (r'sex = "a\q"', 8, "unknown escape"),
        (r'sex = "a\x1"', 8, "unknown escape"),
        (r'sex = "\U00110000"', 7, "unknown escape"),
        ("sex = “F”", 6, "unexpected '“'"),
        ("sex = F;", 7, "unexpected ';'"),
        ("sex = F\x00", 7, r"unexpected '\\x00'"),
        ("age > 1e999", 6, "too large"),
        ("age > inf", 6, "found `inf` where a number or a date was expected"),
        ("age > ٣", 6, "where a number or a date was expected"),
        ("age > 1_000", 6, "where a number or a date was expected"),
        ("age > missing", 6, "where a number or a date was expected"),
        ("age > '3' and age < 2024-01-31", 20, "compared with a number and with a date"),
        ("age > 3 and age = F", 18, "found `F` where a number was expected"),
        ("hired > 2024-02-30", 8, "there is no such datetime"),
        ("sex = F and sex = M", 12, "these conditions contradict each other: no value of sex satisfies all of them"),
        ("sex is missing and sex != M", 19, "contradict"),
        ("5 < age < 3", 4, "this condition contradicts itself: no value of age satisfies it"),
        ("age > 5 and age <= 5", 12, "contradict"),
        ("age >= 5 and age <= 5 and age != 5", 26, "contradict"),
        ("age > 30 and age != 40", 13, "a range with a gap"),
    ],
)
def test_mistakes(text: str, position: int, problem: str) -> None:
    """A text that is no criterion is an error that says what is wrong, what to write instead, and where."""
    with pytest.raises(CriterionError, match=re.escape(problem)) as caught:
        parse(text)
    assert (caught.value.text, caught.value.position) == (text, position)


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("sex = f", 6, "sex has no level `f`. Did you mean 'F'? Available: 'F', 'M'."),
        ("sex != X", 7, "sex has no level `X`"),
        ("sex = null", 6, "Rows without a value: `sex is missing`."),
        ("sex > F", 6, "sex holds words whose order is not known: name levels, as in `sex in {F, M}`"),
        ("member < true", 9, "order is not known"),
        ("member = yes", 9, "member has no level `yes`"),
        ("sex = true", 6, "sex has no level `true`"),
        ("age = old", 6, "found `old` where a number was expected (the column holds values of kind numeric)"),
        ("age > 2024-01-31", 6, "where a number was expected"),
        ("hired > 2024", 8, "where a date such as 2024-12-31 was expected"),
        ("hired > 2024-01-31 09:30", 8, "hired holds dates without times"),
        ("seen > yesterday", 7, "where a time such as 2024-12-31 09:30:00 was expected"),
        ("hired = 2024-02-30", 8, "there is no such date"),
        ("grade > E", 8, "grade has no level `E`"),
        ("grade > D", 0, "this condition contradicts itself"),
        ("grade > missing", 8, "a missing value has no place in the order"),
        ("member != true and member != false", 19, "contradict"),
        ("size = 7", 7, "size has no level `7`"),
        ("size = 60 and size = 7.50", 14, "contradict"),
    ],
)
def test_mistakes_about_the_data(text: str, position: int, problem: str) -> None:
    """Values that the data cannot have are errors with a position, too."""
    with pytest.raises(CriterionError, match=re.escape(problem)) as caught:
        parse(text, PEOPLE)
    assert caught.value.position == position


def test_unknown_columns() -> None:
    """An unknown column is what it is everywhere: a ColumnError with the nearest name."""
    with pytest.raises(ColumnError, match=r"there is no column 'aeg'.*Did you mean 'age'"):
        Criterion.parse("sex = F and aeg > 3", PEOPLE)


def test_data_of_any_kind(tmp_path: Path) -> None:
    """The data may be a file, a frame or a dictionary; for everyone it is not even read."""
    pd.DataFrame({"age": [1, 2], "sex": ["F", "M"]}).to_csv(tmp_path / "people.csv", index=False)
    expected = Criterion([Interval("age", "numeric", 1.0, 1.0, "both"), Levels("sex", "nominal", ("F",))])
    for data in (str(tmp_path / "people.csv"), pd.read_csv(tmp_path / "people.csv"), {"age": [1], "sex": ["F"]}):
        assert Criterion.parse("sex = F and age = 1", data) == expected
    assert Criterion.parse("everyone", tmp_path / "nothing.csv") == Criterion([])


@pytest.mark.parametrize("text", [None, 1, b"sex = F", ["sex = F"], Criterion([])])
def test_criteria_are_texts(text: Any) -> None:
    """Anything but a text is a SettingError."""
    with pytest.raises(SettingError, match="a criterion must be a text such as 'sex = F and age > 60', not"):
        parse(text)


def test_messages_show_the_place() -> None:
    """The mark stands below the mistake, also behind wide characters and escapes."""
    with pytest.raises(CriterionError) as caught:
        parse("'漢\x1b' = 1 oder")
    assert str(caught.value).splitlines()[1:] == [r"  '漢\x1b' = 1 oder", "               ^"]


def test_messages_are_short() -> None:
    """Of a long text only the surroundings of the mistake are shown, on one line without control characters."""
    text = "x\n= 1 and " + "a" * 50_000 + " = 1 or\x1b " + "b" * 50_000
    with pytest.raises(CriterionError) as caught:
        parse(text)
    _, shown, mark = str(caught.value).splitlines()
    assert len(shown) < 120
    assert shown[mark.index("^") :].startswith(r"or\x1b bbb")
    assert shown.startswith("  ...aaa")
    assert shown.endswith("bbb...")


def test_errors_can_be_pickled() -> None:
    """An error survives the way from another process."""
    again = pickle.loads(pickle.dumps(CriterionError("message", "text", 2)))
    assert (str(again), again.text, again.position) == ("message", "text", 2)


# Random data with missing values, and conditions as (text, pandas mask, SQL), each written independently.


def frame(rng: np.random.Generator, n: int = 80) -> pd.DataFrame:
    def with_gaps(values: Any) -> pd.Series[Any]:
        return pd.Series(values).mask(pd.Series(rng.random(n) < 0.2))

    seconds = pd.to_timedelta(rng.integers(0, 4 * 86_400, n), unit="s")
    return pd.DataFrame(
        {
            "age": with_gaps(rng.integers(0, 8, n).astype(float)),
            "score": with_gaps(rng.integers(-4, 4, n) / 4),
            "race": with_gaps(rng.choice(["White", "Black", "a & b", 'say "hi"'], n)),
            "grade": with_gaps(pd.Categorical(rng.choice(list("ABCD"), n), list("ABCD"), ordered=True)),
            "member": with_gaps(pd.array(rng.random(n) < 0.5, dtype="boolean")),
            "hired": with_gaps(pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 6, n), unit="D")),
            "seen": with_gaps(pd.Timestamp("2024-01-01") + seconds),
        }
    )


Case = tuple[str, Callable[[pd.DataFrame], Any], str]


def cases(rng: np.random.Generator) -> list[Case]:
    """One random condition per attribute and form."""
    a, b = sorted(rng.choice(8, 2, replace=False).tolist())
    s = rng.integers(-4, 4) / 4
    day = f"2024-01-0{rng.integers(1, 6)}"
    moment = f"2024-01-0{rng.integers(1, 4)} {rng.integers(10, 24)}:30:00"
    g, h = sorted(rng.choice(list("ABCD"), 2, replace=False).tolist())
    return [
        (f"age > {a}", lambda df: df.age > a, f"age > {a}"),
        (f"age >= {a}.0", lambda df: df.age >= a, f"age >= {a}"),
        (f"{a} <= age < {b}", lambda df: (df.age >= a) & (df.age < b), f"age >= {a} and age < {b}"),
        (f"{b} >= age > {a}", lambda df: (df.age > a) & (df.age <= b), f"age > {a} and age <= {b}"),
        (f"age = {a}", lambda df: df.age == a, f"age = {a}"),
        (f"age != {a}", lambda df: (df.age != a) & df.age.notna(), f"age <> {a}"),
        (f"age in {{{a}, {b}}}", lambda df: df.age.isin([a, b]), f"age in ({a}, {b})"),
        (f"age not in ({a}, {b})", lambda df: ~df.age.isin([a, b]) & df.age.notna(), f"age not in ({a}, {b})"),
        (f"age > {a} and age <= {b}", lambda df: (df.age > a) & (df.age <= b), f"age > {a} and age <= {b}"),
        (f"age in {{{a}, {b}, missing}}", lambda df: df.age.isin([a, b]) | df.age.isna(),
         f"age in ({a}, {b}) or age is null"),
        (f"score < {s}", lambda df: df.score < s, f"score < {s}"),
        (f"score = {s:g}", lambda df: df.score == s, f"score = {s}"),
        ("score is missing", lambda df: df.score.isna(), "score is null"),
        ("score is not null", lambda df: df.score.notna(), "score is not null"),
        ("race = White", lambda df: df.race == "White", "race = 'White'"),
        ("race != White", lambda df: (df.race != "White") & df.race.notna(), "race <> 'White'"),
        ('race in {"a & b", "say \\"hi\\""}', lambda df: df.race.isin(["a & b", 'say "hi"']),
         "race in ('a & b', 'say \"hi\"')"),
        ("race not in {Black, 'a & b'}", lambda df: ~df.race.isin(["Black", "a & b"]) & df.race.notna(),
         "race not in ('Black', 'a & b')"),
        ("race in {White, missing}", lambda df: (df.race == "White") | df.race.isna(),
         "race = 'White' or race is null"),
        (f"grade >= {h}", lambda df: df.grade >= h, f"grade >= '{h}'"),
        (f"{g} <= grade < {h}", lambda df: (df.grade >= g) & (df.grade < h), f"grade >= '{g}' and grade < '{h}'"),
        ("member = true", lambda df: df.member.fillna(False), "member"),
        ("member != True", lambda df: ~df.member.fillna(True), "not member"),
        (f"hired > {day}", lambda df: df.hired > day, f"hired > DATE '{day}'"),
        (f"hired <= '{day}'", lambda df: df.hired <= day, f"hired <= DATE '{day}'"),
        (f"hired = {day}", lambda df: df.hired == day, f"hired = DATE '{day}'"),
        (f"seen > {day}", lambda df: df.seen > day, f"seen > TIMESTAMP '{day}'"),
        (f"{day} < seen <= 2024-01-09", lambda df: (df.seen > day) & (df.seen <= "2024-01-09"),
         f"seen > TIMESTAMP '{day}' and seen <= TIMESTAMP '2024-01-09'"),
        (f"seen >= {moment}", lambda df: df.seen >= moment, f"seen >= TIMESTAMP '{moment}'"),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_masks_are_those_of_pandas_and_duckdb(seed: int) -> None:
    """Conditions, and conjunctions of them, hold for the rows that pandas and DuckDB select."""
    rng = np.random.default_rng(seed)
    df = frame(rng)
    known = cases(rng)
    chosen = [[case] for case in known]
    by_attribute: dict[str, list[Case]] = {}
    for case in known:
        by_attribute.setdefault(next(name for name in df.columns if name in case[0]), []).append(case)
    for _ in range(20):
        names = rng.choice(list(by_attribute), rng.integers(2, 5), replace=False)
        chosen.append([by_attribute[name][rng.integers(len(by_attribute[name]))] for name in names])
    connection = duckdb.connect()
    connection.register("people", df.assign(row=range(len(df))))
    for conjunction in chosen:
        text = " and ".join(case[0] for case in conjunction)
        criterion = parse(text, df)
        mask = criterion.mask(df)
        expected = np.logical_and.reduce([np.asarray(case[1](df), dtype=bool) for case in conjunction])
        np.testing.assert_array_equal(mask, expected, err_msg=text)
        where = " and ".join(f"({case[2]})" for case in conjunction)
        selected = connection.execute(f"select row from people where {where} order by row").fetchnumpy()["row"]
        np.testing.assert_array_equal(np.flatnonzero(mask), selected, err_msg=text)
        if "grade" not in text:
            np.testing.assert_array_equal(parse(text).mask(df), mask, err_msg=text)
        np.testing.assert_array_equal(parse(str(criterion), df).mask(df), mask, err_msg=text)


# Malformed texts.

VALID = [
    "sex == 'F' and age > 60",
    '"my age" <= -1.5e3 & race in {"a & b", White, missing}',
    "(30 <= age < 40) and (sex != M)",
    "race not in [A, B] and hired >= 2024-01-31 and seen < 2024-01-31 09:30:00",
    r"""`x y` is not missing and "say \"hi\" \x1b\u202e" = 'it\'s'""",
    "everyone",
]
PIECES = [
    "age", "sex", "F", "60", "-5", "1e999", "2024-01-31", "2024-13-31", "09:30:00", "'F'", '"a b"', "`x`", "'", '"',
    "`", "\\", "\\x", "and", "or", "not", "in", "is", "missing", "null", "true", "everyone", "between", "=", "==",
    "!=", "<>", "<", "<=", ">", ">=", "≤", "≠", "&", "&&", "|", "!", "~", "+", "*", "**", "/", "%", "^", "(", ")",
    "{", "}", "[", "]", ",", ".", ";", ":", "@", "$", "#", "?", "_", "\x00", "\n", "\t", "\u202e", "\ud800", "😀", "漢",
    "٣", "½", "lambda", "__import__('os')", "f(x)", "0x1F", "nan", "inf", "1_0", "--", "//", "",
]  # fmt: skip


def malformed(chance: random.Random) -> str:
    """A valid text with some mistakes, or a soup of tokens."""
    if chance.random() < 0.4:
        return chance.choice(["", " "]).join(chance.choices(PIECES, k=chance.randrange(12)))
    text = chance.choice(VALID)
    for _ in range(chance.randrange(1, 4)):
        i, j = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        change = chance.randrange(4)
        if change == 0:
            text = text[:i] + text[i + 1 :]
        elif change == 1:
            text = text[:i] + chance.choice(PIECES) + text[i:]
        elif change == 2:
            text = text[:i] + text[j:]
        else:
            text = text[:i] + text[j : j + 1] + text[i + 1 : j] + text[i : i + 1] + text[j + 1 :]
    return text


def attempt(text: str, data: Any = None) -> Criterion | CriterionError | ColumnError:
    """The criterion, or the error that the language may raise; any other one fails the test."""
    try:
        return parse(text, data)
    except (CriterionError, ColumnError) as error:
        return error


def test_ten_thousand_malformed_texts() -> None:
    """Each gives a CriterionError with a position in the text; those that are valid after all are read back."""
    chance = random.Random(1)
    wrong: set[str] = set()
    while len(wrong) < 10_000:
        text = malformed(chance)
        outcome = attempt(text)
        if isinstance(outcome, Criterion):
            assert str(parse(str(outcome))) == str(outcome)
            continue
        wrong.add(text)
        assert isinstance(outcome, CriterionError)
        assert outcome.text == text
        assert 0 <= outcome.position <= len(text)
        problem, _, mark = str(outcome).rsplit("\n", 2)
        assert problem
        assert mark.endswith("^")
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800]", str(outcome))


def test_malformed_texts_about_data() -> None:
    """With the data, an unknown column is the only other error."""
    chance = random.Random(2)
    outcomes = {type(attempt(malformed(chance), PEOPLE)) for _ in range(2_000)}
    assert outcomes == {Criterion, CriterionError, ColumnError}


@given(st.text())
def test_any_text(text: str) -> None:
    """Any text at all is a criterion or a CriterionError."""
    outcome = attempt(text)
    assert isinstance(outcome, Criterion) or (
        isinstance(outcome, CriterionError) and 0 <= outcome.position <= len(text)
    )


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "(" * 50_000 + "x = 1" + ")" * 50_000,
        "x = 1 and " * 10_000 + "x = 1",
        " and ".join(f"x != {i}" for i in range(10_000)),
        " and ".join(f"x > {i}" for i in range(10_000)),
        " and ".join(f"x{i} > 1" for i in range(10_000)),
        " and ".join(f"x in {{{i}, {i + 1}, y}}" for i in range(5_000)),
        "x in {" + ", ".join(map(str, range(16_000))) + "}",
        "x > " + "9" * 100_000,
        "x > 0." + "9" * 100_000,
        "x = '" + "a" * 100_000,
        "x = '" + "\\\\" * 50_000 + "'",
        "x = '" + "\\" * 99_999,
        "x < " * 25_000,
        " " * 100_000,
        "a" * 100_000,
        "'" * 100_000,
        "2024-01-31 " * 9_000,
        "-" * 100_000,
        "x = " + "ab-" * 30_000,
    ],
    ids=lambda text: text[:16],
)
def test_long_texts(text: str) -> None:
    """A text of 100,000 characters is read, or refused with a short message: nothing recurses or grows with it."""
    for data in (None, {"x": ["1", "2"]}):
        outcome = attempt(text, data)
        assert isinstance(outcome, Criterion) or len(str(outcome)) < 1000


def test_nothing_is_evaluated() -> None:
    """The modules of the language call nothing that runs or looks up what a text says."""
    import ald.groups.language

    for path in Path(ald.groups.language.__file__).parent.glob("*.py"):
        calls = [node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
        names = {func.id for func in calls if isinstance(func, ast.Name)}
        assert names.isdisjoint(
            {"eval", "exec", "compile", "getattr", "__import__", "globals", "locals", "vars", "open"}
        )


@pytest.mark.parametrize(
    "text",
    ["__import__('os').getcwd() = 1", "x = __import__('os')", "@x > 1", "x.__class__() = 1", "x = {1}", "x = f'{y}'"],
)
def test_code_is_refused(text: str) -> None:
    """Python that evaluators of expressions would run is no criterion."""
    with pytest.raises(CriterionError):
        parse(text)


def test_columns_of_words_that_are_numbers() -> None:
    """The numbers of the language are numbers of the data: what one reads, the other does."""
    for word in ("60", "-1.5", "+2", ".5", "5.", "1e3", "1E-3"):
        numbers = parse_numbers([word])
        assert numbers is not None
        condition = parse(f"x >= {word}").conditions[0]
        assert isinstance(condition, Interval)
        assert condition.lower == numbers[0]
