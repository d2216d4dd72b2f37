"""What everything stands on and nothing of the method is in: array types, threads, compiled kernels, the version."""
