"""American and British spelling: `favorable` is accepted wherever `favourable` is."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ald.errors import SettingError

Options = ParamSpec("Options")
Result = TypeVar("Result")


def british(options: dict[str, Any]) -> dict[str, Any]:
    """The options with `favorable` under the name `favourable`."""
    if "favorable" not in options:
        return options
    if "favourable" in options:
        raise SettingError("give favourable or favorable, not both")
    return {"favourable" if name == "favorable" else name: value for name, value in options.items()}


def either_spelling(function: Callable[Options, Result]) -> Callable[Options, Result]:
    """The function, which also takes `favorable=...`."""

    @wraps(function)
    def call(*args: Options.args, **kwargs: Options.kwargs) -> Result:
        return function(*args, **british(kwargs))

    return call
