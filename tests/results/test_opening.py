"""Documents of any kind."""

from __future__ import annotations

import pytest

import ald
from ald.errors import InputError
from ald.results.opening import open_document
from tests.results.test_comparison import scored
from tests.tables import people
from tests.watching.test_watching import decisions


def test_every_kind_is_read_by_what_wrote_it() -> None:
    """An audit, a comparison and a watch are read as what they are."""
    results = [
        ald.audit(people(), outcome="y", search=ald.Search(trees=2)),
        ald.compare(scored(1000), predictions=["old", "new"], truth="repaid"),
        ald.watch(decisions(n=60), by="month", named_groups="sex = f", outcome="approved"),
    ]
    for result in results:
        found = open_document(result.to_json())
        assert type(found) is type(result)
        assert found == result


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 1, "kind": "other"}', '{"schema": 1, "kind": []}'])
def test_what_is_no_document(text: str) -> None:
    """Anything else is an error."""
    with pytest.raises(InputError):
        open_document(text)


def test_an_audit_is_not_read_from_other_documents() -> None:
    """Who reads the document of a comparison as an audit is told what it is."""
    text = ald.compare(scored(1000), predictions=["old", "new"], truth="repaid").to_json()
    with pytest.raises(InputError, match="not the document of an audit: `kind` is 'comparison'"):
        ald.Audit.from_json(text)
