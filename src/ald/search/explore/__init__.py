"""The default search, going on from the forest: pairs, triples and sharper descriptions."""
