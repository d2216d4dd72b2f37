"""A gate for CI: named checks of a policy, each with a verdict: fail, pass, or not enough evidence."""
