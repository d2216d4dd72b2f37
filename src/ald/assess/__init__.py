"""ASSESS: every candidate is tested on D2, which the search never saw."""
