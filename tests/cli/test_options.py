"""The options of commands: their values, and config files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ald
import ald.results.finding
from ald.cli.options import split_names


class TestConfig:
    """Options in a file."""

    def test_the_command_line_wins(self, run: Any, file: Path, tmp_path: Path) -> None:
        """A file sets options, and the command line overrides them."""
        config = tmp_path / "c.toml"
        config.write_text(
            'outcome = "y"\ntrees = 9\nalpha = 1\nattributes = ["age", "sex"]\n[kinds]\nsex = ["M", "F"]\n'
        )
        result = run("audit", file, "--config", config, "--trees", "3", "--format", "json")
        expected = ald.audit(
            ald.source(file, kinds={"sex": ["M", "F"]}),
            outcome="y",
            search=ald.Search(trees=3, alpha=1),
            attributes=["age", "sex"],
        )
        assert result.out == expected.to_json()

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("outcome = ", "is not valid TOML"),
            ('outcom = "y"', "unknown option 'outcom'. Did you mean 'outcome'"),
            ('outcome = "y"\ntrees = "3"', "option 'trees' .* must be of type int, not '3'"),
            ('outcome = "y"\ntrees = true', "trees must be a whole number"),
            ('outcome = "y"\nattributes = 3', "must be of type list or str, not 3"),
            ('outcome = "y"\nattributes = [1]', "attributes must be names of columns"),
            ('outcome = "y"\n[kinds]\nage = 3', "the kind of column 'age' must be a word"),
            ('outcome = "y"\nfavourable = [1]', "option 'favourable'"),
            ("outcome = '\xff'".encode("latin-1"), "is not valid TOML"),
        ],
    )
    def test_bad_files(self, run: Any, file: Path, tmp_path: Path, text: str | bytes, problem: str) -> None:
        """A bad file ends with 2 and says what is wrong."""
        config = tmp_path / "c.toml"
        config.write_bytes(text.encode() if isinstance(text, str) else text)
        result = run("audit", file, "--config", config)
        assert (result.code, result.out) == (2, "")
        assert re.search(problem, result.err)

    def test_no_such_file(self, run: Any, file: Path, tmp_path: Path) -> None:
        """A missing file, or a folder, ends with 2."""
        assert run("audit", file, "--config", tmp_path / "none.toml").code == 2
        assert run("audit", file, "--config", tmp_path).code == 2


def test_config_file_sets_every_option(run: Any, tmp_path: Path, file: Path) -> None:
    """Threshold, repeats and search can stand in the config file like all other options."""
    config = tmp_path / "audit.toml"
    config.write_text('outcome = "y"\nthreshold = 0.05\nrepeats = 2\nsearch = "leaves"\n', encoding="utf-8")
    settings = json.loads(run("audit", file, "--config", config, "--format", "json").out)["config"]
    assert (settings["threshold"], settings["repeats"], settings["search"]) == (0.05, 2, "leaves")


@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=4))
def test_quoted_names(names: list[str]) -> None:
    """Any names can be given to --attributes in double quotes."""
    text = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    assert split_names(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b", ["a", "b"]),
        (" a , b ", ["a", "b"]),
        ("a b,,c", ["a b", "c"]),
        ("", []),
        ('" a","b,c"', [" a", "b,c"]),
        ("a\nb", ["a\nb"]),
    ],
)
def test_plain_names(text: str, names: list[str]) -> None:
    """Names are separated by commas, and spaces around them do not count."""
    assert split_names(text) == names
