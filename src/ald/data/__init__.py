"""LOAD and SPLIT: tables become coded audit data, and that becomes two halves."""
