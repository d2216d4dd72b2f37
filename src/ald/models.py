"""Audits of models: what they predict for people, beside what was true of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, cast

import numpy as np

from ald._core.arrays import AnyArray, FloatArray
from ald._core.spelling import either_spelling
from ald.auditing import audit, audit_with
from ald.data.asked import parse_unit
from ald.data.columns import as_word
from ald.data.inputs.people import People, people_of, rows_of
from ald.data.scores import PER_ROW
from ald.errors import InputError, SettingError, nearest, needed_extra
from ald.notions import SCORE_NOTIONS, Mean, Notion, get_notion
from ald.options.objects import options_of
from ald.results.audit import Audit

CUTOFF = 0.5
# What is asked of a model that predicts numbers.
ERRORS = tuple(name for name, notion in SCORE_NOTIONS.items() if cast(Mean, notion.rates[0]).of_number)
_PROBABILITY = "predicted probability"
# A number that is cut into yes and no.
_COMPARISONS = (">", "<")


@either_spelling
def audit_model(
    estimator: Any,
    X: Any,  # noqa: N803 - as in scikit-learn
    y: Any,
    *,
    sensitive_features: Any = None,
    notion: str | Notion | Sequence[str | Notion] | None = None,
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
    notion: "equalized odds", unless another is named. One of scores, such as "calibration", is asked of the predicted
        probabilities of the favourable class, or else the second one. Of a model that predicts numbers "residual" (what
        was true less what it predicted, the default), "absolute error" or "squared error" is compared.
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
    model = _Model(
        estimator=estimator,
        table=people.model_input,
        truth=y,
        cv=cv,
        groups=_groups(people, options.get("cluster")) if cv is not None else None,
        favourable=options.get("favourable"),
    )
    named_error = isinstance(notion, str) and notion in ERRORS
    if cutoff != CUTOFF and (_is_of_score(notion) or named_error):
        raise SettingError(f"a cutoff makes yes and no of probabilities, which {notion!r} is not about: leave it out")
    asked: dict[str, Any] = {"truth": y}
    if _is_of_score(notion) and not _predicts_numbers(model):
        asked |= {"data": _with(people.columns, _PROBABILITY, _probabilities(model)), "score": _PROBABILITY}
    elif named_error or _predicts_numbers(model):
        name, errors = _errors(model, "residual" if notion is None else notion)
        asked = {"data": _with(people.columns, name, errors), "outcome": name}
        notion = None
    else:
        asked |= {"data": people.columns, "prediction": _predict(model, cutoff)}
        notion = "equalized odds" if notion is None else notion
    return audit_with(options_of({**asked, **({} if notion is None else {"notion": notion}), **options}))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Model:
    """A model, what it predicts from, what was true, and how folds are made."""

    estimator: Any
    table: Any
    truth: Any
    cv: Any
    groups: Any
    favourable: Any

    @property
    def name(self) -> str:
        return type(self.estimator).__name__

    def output(self, method: str) -> AnyArray:
        """What this method gives for every row."""
        if self.cv is None:
            return np.asarray(_output(self.estimator, method, self.table))
        return np.asarray(_out_of_fold(self, method))

    @property
    def classes(self) -> list[Any]:
        """The classes in the order of the model's columns: its own, or those of folds, which know what is in y."""
        own = None if self.cv is not None else getattr(self.estimator, "classes_", None)
        return list(np.unique(np.asarray(self.truth)) if own is None else own)

    @property
    def is_regressor(self) -> bool:
        """Whether it says that it predicts numbers, as scikit-learn's estimators do."""
        tags = getattr(self.estimator, "__sklearn_tags__", None)
        told = getattr(self.estimator, "_estimator_type", None) if tags is None else tags().estimator_type
        return bool(told == "regressor")


def _with(columns: Mapping[str, Any], name: str, values: AnyArray) -> dict[str, Any]:
    if name in columns:
        raise InputError(f"there is a column {name!r} already, and that is what is audited: rename the column")
    return {**columns, name: values}


def _is_of_score(notion: Any) -> bool:
    """Whether this asks something of a score."""
    if not isinstance(notion, (str, Notion)) or notion in ERRORS:
        return False
    rate = get_notion(notion).rates[0]
    return isinstance(rate, Mean) and rate.of_score and not rate.of_number


def _numbers(values: Any) -> FloatArray | None:
    """The values as numbers, if that is what they are; yes and no are none."""
    found = np.asarray(values)
    if found.dtype.kind not in "iuf":
        return None
    return found.astype(float)


def _predicts_numbers(model: _Model) -> bool:
    """Whether the model predicts numbers, and nobody says where these are cut.

    Where a model does not say what it is, numbers are what y never has.
    """
    cut = isinstance(model.favourable, str) and model.favourable.lstrip().startswith(_COMPARISONS)
    if cut or model.is_regressor or any(map(partial(hasattr, model.estimator), ("predict_proba", "decision_function"))):
        return model.is_regressor and not cut
    truth = _numbers(model.truth)
    if truth is None or not hasattr(model.estimator, "predict") or len(np.unique(truth)) <= 2:
        return False
    predicted = _numbers(model.output("predict"))
    return predicted is not None and not np.isin(predicted, truth).all()


def _errors(model: _Model, notion: Any) -> tuple[str, FloatArray]:
    """What is asked of a model that predicts numbers, row by row, and its name."""
    if not isinstance(notion, str) or notion not in ERRORS:
        asked = notion.name if isinstance(notion, Notion) else notion
        raise SettingError(
            f"{model.name} predicts numbers, and {asked!r} is not about these: notion is one of "
            f"{', '.join(map(repr, ERRORS))}. To audit the predictions themselves: ald.audit(people, "
            "outcome=model.predict(X)); to cut them and the truth in two: favourable='>= ...'."
        )
    if not model.is_regressor and (
        hasattr(model.estimator, "predict_proba") or not hasattr(model.estimator, "predict")
    ):
        raise SettingError(
            f"the notion {notion!r} is for models that predict numbers, and {model.name} predicts classes. Of its "
            "probabilities 'calibration', 'Brier score' or 'log loss' may be asked."
        )
    truth, predicted = _numbers(model.truth), _numbers(model.output("predict"))
    if truth is None or predicted is None or len(np.unique(truth[np.isfinite(truth)])) <= 2:
        raise InputError(
            f"{model.name} predicts numbers, and y must hold numbers, more than two different ones. If y is yes or no, "
            "say from which number on a prediction is yes: favourable='>= 0.5' cuts both."
        )
    if predicted.shape != truth.shape:
        raise InputError(
            f"{model.name} predicts {predicted.shape[1] if predicted.ndim == 2 else predicted.ndim} numbers for each "
            "person, and one is audited: audit a column at a time"
        )
    what = parse_unit(str(getattr(model.truth, "name", None) or "y"))
    unit = f" ({what[1]})" if what[1] and notion != "squared error" else ""
    return f"{notion} of {what[0]}{unit}", PER_ROW[notion.replace(" ", "_")](predicted, truth)


def _probabilities(model: _Model) -> AnyArray:
    """The probability of the favourable class, or else of the second of two."""
    if not hasattr(model.estimator, "predict_proba"):
        raise InputError(
            f"probabilities are what is asked about, and {model.name} has no predict_proba: give a model that has, "
            "such as scikit-learn's CalibratedClassifierCV of it, or another notion"
        )
    output, classes = model.output("predict_proba"), model.classes
    _check_probabilities(output, classes)
    words = [as_word(one) for one in classes]
    if len(classes) != 2 and (model.favourable is None or as_word(model.favourable) not in words):
        raise SettingError(
            f"the model has {len(classes)} classes: say whose probability is audited, such as favourable={words[0]!r}"
        )
    return np.asarray(output[:, _positive(model.favourable, words)])


def _positive(favourable: Any, words: list[str]) -> int:
    return words.index(as_word(favourable)) if favourable is not None and as_word(favourable) in words else 1


def _check_probabilities(output: AnyArray, classes: list[Any]) -> None:
    if output.ndim != 2 or output.shape[1] != len(classes):
        raise InputError(
            f"predict_proba must give one probability for each of {len(classes)} classes; it has the shape "
            f"{output.shape}"
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


def _predict(model: _Model, cutoff: float) -> AnyArray:
    """What the model predicts for every row."""
    if isinstance(cutoff, bool) or not isinstance(cutoff, (int, float)) or not 0 < cutoff < 1:
        raise SettingError(f"cutoff must be a probability between 0 and 1, not {cutoff!r}")
    methods = ("predict_proba", "predict", "decision_function")
    method = next((one for one in methods if hasattr(model.estimator, one)), None)
    if method is None:
        raise InputError(f"a model has predict, predict_proba or decision_function; {model.name} has none of them")
    if method != "predict_proba" and cutoff != CUTOFF:
        raise SettingError(f"a cutoff needs a model with predict_proba, and {model.name} has none: leave it out")
    output, classes = model.output(method), model.classes
    if method == "predict":
        return output
    if method == "decision_function":
        if output.ndim != 1:
            raise InputError("a model with decision_function alone must have two classes")
        return np.asarray(classes)[(output > 0).astype(np.int64)]
    _check_probabilities(output, classes)
    if len(classes) != 2:
        if cutoff != CUTOFF:
            raise SettingError(f"a cutoff is for two classes, and the model has {len(classes)}: leave it out")
        return np.asarray(np.asarray(classes)[output.argmax(axis=1)])
    positive = _positive(model.favourable, [as_word(one) for one in classes])
    return np.asarray(np.asarray(classes)[np.where(output[:, positive] >= cutoff, positive, 1 - positive)])


def _output(estimator: Any, method: str, table: Any) -> Any:
    try:
        return getattr(estimator, method)(table)
    except Exception as error:
        if type(error).__name__ == "NotFittedError":
            raise InputError(
                "the model is not fitted: fit it first, or give cv=5 for predictions out of fold"
            ) from None
        raise InputError(f"the model could not predict: {type(error).__name__}: {error}") from error


def _out_of_fold(model: _Model, method: str) -> Any:
    try:
        from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, cross_val_predict
    except ModuleNotFoundError:
        raise needed_extra("predictions out of fold", "baselines") from None
    folds = model.cv
    if model.groups is not None and isinstance(folds, int):
        folds = GroupKFold(folds) if model.is_regressor else StratifiedGroupKFold(folds)
    truth = np.asarray(model.truth)
    try:
        return cross_val_predict(model.estimator, model.table, truth, cv=folds, method=method, groups=model.groups)
    except Exception as error:
        raise InputError(
            f"the model could not be fitted and predict out of fold: {type(error).__name__}: {error}"
        ) from error
