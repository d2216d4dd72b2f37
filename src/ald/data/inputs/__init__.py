"""LOAD: files, databases, DataFrames and dictionaries of arrays become tables of columns."""
