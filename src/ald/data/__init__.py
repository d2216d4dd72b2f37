"""LOAD and SPLIT: sources become columns, columns become coded audit data, and that becomes two halves."""
