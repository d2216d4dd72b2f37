"""Settings of all tests: Hypothesis gives the same examples in every run and keeps no files."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "ald",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("ald")
