"""Audits of models: what they predict for people, beside what was true of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np

from ald._core.arrays import AnyArray
from ald._core.spelling import either_spelling
from ald.auditing import audit, audit_with
from ald.data.columns import as_word
from ald.data.inputs.people import People, people_of, rows_of
from ald.errors import InputError, SettingError, nearest, needed_extra
from ald.notions import Notion
from ald.options.objects import options_of
from ald.results.audit import Audit

CUTOFF = 0.5


@either_spelling
def audit_model(
    estimator: Any,
    X: Any,  # noqa: N803 - as in scikit-learn
    y: Any,
    *,
    sensitive_features: Any = None,
    notion: str | Notion | Sequence[str | Notion] = "equalized odds",
    cutoff: float = CUTOFF,
    cv: Any = None,
    **options: Any,
) -> Audit:
    """An audit of what a model predicts: `ald.audit` of the table with its predictions and the truth as columns.

    estimator: anything with `predict`, `predict_proba` or `decision_function`, scikit-learn's pipelines included.
    X, y: what the model predicts from, and what was true, in the order of its rows.
    sensitive_features: columns that the model never sees and that may describe groups too: a DataFrame, Series,
        dictionary or array, aligned by index where both are of pandas; or names of columns of X, which the model then
        does not get.
    cutoff: the probability from which on the favourable class, or else the second one, is predicted.
    cv: predict out of fold, so that nobody is judged by a model that has seen them: a number of folds, or what
        scikit-learn's `cross_val_predict` takes. The people of one `cluster` then share a fold. Without it the model
        must be fitted, and people on whom it was fitted make it look better than it is.
    All other options are those of `ald.audit`: `attributes` says which of these columns may describe groups.

    >>> import ald
    >>> class Rule:
    ...     def predict(self, X):
    ...         return [int(x > 5) for x in X["score"]]
    >>> people = {"score": [*range(10)] * 40, "sex": ["f", "m"] * 200}
    >>> truth = [int(score > 4) for score in people["score"]]
    >>> ald.audit_model(Rule(), people, truth, notion="accuracy").data_summary.rows
    400
    """
    taken = {"data", "outcome", "prediction", "truth", "split"}
    known = [parameter for parameter in signature(audit).parameters if parameter not in taken - {"split"}]
    for option in options:
        if option not in known:
            raise SettingError(f"ald.audit_model has no option {option!r}. {nearest(option, known)}")
    names = getattr(estimator, "feature_names_in_", None)
    people = people_of(X, sensitive_features, names)
    _check_truth(y, people)
    groups = _groups(people, options.get("cluster")) if cv is not None else None
    predicted = _predict(estimator, people.model_input, y, cutoff, cv, groups, options.get("favourable"))
    return audit_with(
        options_of({"data": people.columns, "prediction": predicted, "truth": y, "notion": notion, **options})
    )


def _check_truth(y: Any, people: People) -> None:
    if not hasattr(y, "__len__") or isinstance(y, (str, bytes, Mapping)):
        raise InputError(f"y must hold what was true, one value for each row, not {type(y).__name__}")
    n = rows_of(people.model_input)
    if len(y) != n:
        raise InputError(f"y has {len(y):,} values, and the model's table has {n:,} rows")
    own = getattr(y, "index", None) if hasattr(y, "iloc") else None
    if own is not None and people.index is not None and not people.index.equals(own):
        raise InputError(
            "y has another index than the model's table, so it is not clear which row each value belongs to: give "
            "y.loc[X.index] if the same rows are meant, or y.to_numpy() if the order is the same"
        )


def _groups(people: People, cluster: Any) -> Any:
    """The values of the cluster column: who has several rows is in one fold."""
    if cluster is None:
        return None
    if cluster not in people.columns:
        raise InputError(f"there is no column {cluster!r} to keep in one fold. {nearest(str(cluster), people.columns)}")
    return people.columns[cluster]


def _predict(estimator: Any, table: Any, y: Any, cutoff: float, cv: Any, groups: Any, favourable: Any) -> AnyArray:
    """What the model predicts for every row."""
    if isinstance(cutoff, bool) or not isinstance(cutoff, (int, float)) or not 0 < cutoff < 1:
        raise SettingError(f"cutoff must be a probability between 0 and 1, not {cutoff!r}")
    method = next((one for one in ("predict_proba", "predict", "decision_function") if hasattr(estimator, one)), None)
    if method is None:
        raise InputError(
            f"a model has predict, predict_proba or decision_function; {type(estimator).__name__} has none of them"
        )
    if method != "predict_proba" and cutoff != CUTOFF:
        raise SettingError(
            f"a cutoff needs a model with predict_proba, and {type(estimator).__name__} has none: leave it out"
        )
    output = np.asarray(_output(estimator, method, table) if cv is None else _out_of_fold(estimator, method, table, y,
                                                                                       cv, groups))  # fmt: skip
    classes = _classes(estimator, y, cv)
    if method == "predict":
        return output
    if method == "decision_function":
        if output.ndim != 1:
            raise InputError("a model with decision_function alone must have two classes")
        return np.asarray(classes)[(output > 0).astype(np.int64)]
    if output.ndim != 2 or output.shape[1] != len(classes):
        raise InputError(
            f"predict_proba must give one probability for each of {len(classes)} classes; it has the shape "
            f"{output.shape}"
        )
    if len(classes) != 2:
        if cutoff != CUTOFF:
            raise SettingError(f"a cutoff is for two classes, and the model has {len(classes)}: leave it out")
        return np.asarray(np.asarray(classes)[output.argmax(axis=1)])
    words = [as_word(one) for one in classes]
    positive = words.index(as_word(favourable)) if favourable is not None and as_word(favourable) in words else 1
    return np.asarray(np.asarray(classes)[np.where(output[:, positive] >= cutoff, positive, 1 - positive)])


def _classes(estimator: Any, y: Any, cv: Any) -> list[Any]:
    """The classes in the order of the model's columns: its own, or those of folds, which know what is in y."""
    own = None if cv is not None else getattr(estimator, "classes_", None)
    return list(np.unique(np.asarray(y)) if own is None else own)


def _output(estimator: Any, method: str, table: Any) -> Any:
    try:
        return getattr(estimator, method)(table)
    except Exception as error:
        if type(error).__name__ == "NotFittedError":
            raise InputError(
                "the model is not fitted: fit it first, or give cv=5 for predictions out of fold"
            ) from None
        raise InputError(f"the model could not predict: {type(error).__name__}: {error}") from error


def _out_of_fold(estimator: Any, method: str, table: Any, y: Any, cv: Any, groups: Any) -> Any:
    try:
        from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
    except ModuleNotFoundError:
        raise needed_extra("predictions out of fold", "baselines") from None
    folds = StratifiedGroupKFold(cv) if groups is not None and isinstance(cv, int) else cv
    try:
        return cross_val_predict(estimator, table, np.asarray(y), cv=folds, method=method, groups=groups)
    except Exception as error:
        raise InputError(
            f"the model could not be fitted and predict out of fold: {type(error).__name__}: {error}"
        ) from error
