"""What a finding says of data."""

from __future__ import annotations

import ald


def test_a_finding_is_a_sensitive_feature() -> None:
    """Per row it says the group in words, or everyone else; nobody without a value is in the group."""
    found = ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes", attributes="department")
    group = found.groups[0]
    assert str(group.criterion) == "department in {A, B}"
    values = group.as_sensitive_feature({"department": ["B", "C", None, "A"]})
    assert values.tolist() == ["department in {A, B}", "everyone else", "everyone else", "department in {A, B}"]
