"""Search and test on the same people: what the search finds is held against what it finds in shuffled outcomes."""
