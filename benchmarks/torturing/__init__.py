"""What `make torture` tries: the checks of benchmarks/torture.py."""
