"""Audits of models give what an audit of the table made by hand gives."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import ald
from ald.errors import InputError, SettingError


def people(n: int = 1200) -> tuple[pd.DataFrame, pd.Series, pd.DataFrame]:
    """What a model sees, what was true, and what it never sees."""
    rng = np.random.default_rng(5)
    features = pd.DataFrame({"income": rng.normal(size=n).round(2), "debts": rng.integers(0, 9, n)})
    hidden = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "region": rng.choice(["north", "south", "west"], n)})
    score = features["income"] - 0.2 * features["debts"] + (hidden["sex"] == "f") * 0.8
    truth = pd.Series((score + rng.normal(size=n) > 0).astype(int), name="repaid")
    return features, truth, hidden


MODELS: dict[str, Any] = {
    "logistic": LogisticRegression(),
    "boosting": HistGradientBoostingClassifier(max_iter=20, random_state=0),
    "pipeline": make_pipeline(
        make_column_transformer((StandardScaler(), ["income"]), (OneHotEncoder(), ["debts"])), LogisticRegression()
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_audited_as_its_table(name: str) -> None:
    """The document of a model's audit is that of the table with its predictions as a column, to the byte."""
    table, y, hidden = people()
    model = MODELS[name].fit(table, y)
    by_hand = table.join(hidden).assign(prediction=model.predict(table), repaid=y)
    expected = ald.audit(by_hand, prediction="prediction", truth="repaid", notion="equalized odds", seed=3)
    found = ald.audit_model(model, table, y, sensitive_features=hidden, seed=3)
    assert found.to_json() == expected.to_json()
    assert {attribute.name for attribute in found.data_summary.attributes} == {"income", "debts", "sex", "region"}


def test_a_cutoff_is_a_probability() -> None:
    """From the cutoff on, the second class is predicted; with `favourable`, that class."""
    table, y, _ = people()
    words = y.map({0: "no", 1: "yes"})
    model = LogisticRegression().fit(table, words)
    for favourable, column in (("yes", 1), ("no", 0)):
        chosen = model.predict_proba(table)[:, column] >= 0.7
        other = "no" if favourable == "yes" else "yes"
        by_hand = table.assign(prediction=np.where(chosen, favourable, other), repaid=words)
        options = {"notion": "predictive equality", "favourable": favourable}
        expected = ald.audit(by_hand, prediction="prediction", truth="repaid", **options)
        assert ald.audit_model(model, table, words, cutoff=0.7, **options).to_json() == expected.to_json()


def test_out_of_fold_predictions_are_of_models_that_did_not_see_the_row() -> None:
    """With cv, every row is predicted by a model fitted on the other folds: a plain loop gives the same document."""
    table, y, hidden = people()
    predicted = np.full(len(table), -1)
    for fitted, judged in StratifiedKFold(4).split(table, y):
        predicted[judged] = LogisticRegression().fit(table.iloc[fitted], y.iloc[fitted]).predict(table.iloc[judged])
    by_hand = table.join(hidden).assign(prediction=predicted, repaid=y)
    expected = ald.audit(by_hand, prediction="prediction", truth="repaid", notion="accuracy")
    found = ald.audit_model(LogisticRegression(), table, y, sensitive_features=hidden, cv=4, notion="accuracy")
    assert found.to_json() == expected.to_json()


def test_people_of_one_cluster_share_a_fold() -> None:
    """With `cluster`, no row is judged by a model that saw another row of the same person."""
    table, y, hidden = people()
    person = pd.Series(np.repeat(np.arange(400), 3), name="person")
    whole = table.join(hidden).assign(person=person)
    predicted = np.full(len(table), -1)
    for fitted, judged in StratifiedGroupKFold(3).split(table, y, person):
        predicted[judged] = LogisticRegression().fit(table.iloc[fitted], y.iloc[fitted]).predict(table.iloc[judged])
    options = {"notion": "accuracy", "cluster": "person"}
    expected = ald.audit(
        whole.assign(prediction=predicted, repaid=y), prediction="prediction", truth="repaid", **options
    )
    beside = hidden.assign(person=person)
    found = ald.audit_model(LogisticRegression(), table, y, sensitive_features=beside, cv=3, **options)
    assert found.to_json() == expected.to_json()


def test_models_without_probabilities() -> None:
    """A model with predict alone is taken at its word, one with decision_function by its sign; they have no cutoff."""
    table, y, _ = people()
    machine = LinearSVC().fit(table, y)

    class Margin:
        classes_ = machine.classes_

        def decision_function(self, rows: Any) -> Any:
            return machine.decision_function(rows)

    by_hand = table.assign(prediction=machine.predict(table), repaid=y)
    expected = ald.audit(by_hand, prediction="prediction", truth="repaid", notion="equalized odds")
    for model in (machine, Margin()):
        assert ald.audit_model(model, table, y).to_json() == expected.to_json()
        with pytest.raises(SettingError, match="a cutoff needs a model with predict_proba"):
            ald.audit_model(model, table, y, cutoff=0.4)


def test_an_array_has_the_names_that_the_model_knows() -> None:
    """The columns of an array are named as the model was fitted on, or by their place."""
    table, y, _ = people()
    named = LogisticRegression().fit(table, y)
    found = ald.audit_model(LogisticRegression().fit(table.to_numpy(), y), table.to_numpy(), y.to_numpy())
    assert [attribute.name for attribute in found.data_summary.attributes] == ["x0", "x1"]
    with pytest.warns(UserWarning, match="feature names"):
        found = ald.audit_model(named, table.to_numpy(), y.to_numpy())
    assert [attribute.name for attribute in found.data_summary.attributes] == ["income", "debts"]


def test_a_model_that_is_not_fitted() -> None:
    """A model that is not fitted is refused with both ways out; one that fails is named with its reason."""
    table, y, hidden = people(100)
    with pytest.raises(InputError, match=r"not fitted: fit it first, or give cv=5"):
        ald.audit_model(LogisticRegression(), table, y)
    with pytest.raises(InputError, match="the model could not predict: ValueError"):
        ald.audit_model(LogisticRegression().fit(table, y), hidden, y)
    with pytest.raises(InputError, match="fitted and predict out of fold: ValueError"):
        ald.audit_model(LogisticRegression(), hidden, y, cv=3)
    with pytest.raises(InputError, match="object has none of them"):
        ald.audit_model(object(), table, y)


def test_the_truth_belongs_to_the_rows() -> None:
    """A truth of another length or index, or none, is refused with the reason."""
    table, y, _ = people(100)
    model = LogisticRegression().fit(table, y)
    with pytest.raises(InputError, match="y has 99 values, and the model's table has 100 rows"):
        ald.audit_model(model, table, y[:99])
    with pytest.raises(InputError, match="y has another index"):
        ald.audit_model(model, table, y[::-1])
    with pytest.raises(InputError, match="y must hold what was true"):
        ald.audit_model(model, table, None)


@pytest.mark.parametrize("cutoff", [0, 1, True, "half", float("nan")])
def test_a_cutoff_is_between_0_and_1(cutoff: Any) -> None:
    """Anything else is refused."""
    table, y, _ = people(100)
    with pytest.raises(SettingError, match="cutoff must be a probability"):
        ald.audit_model(LogisticRegression().fit(table, y), table, y, cutoff=cutoff)


def test_an_unknown_option_is_refused_with_the_nearest() -> None:
    """Options are those of ald.audit without those that the model fills."""
    table, y, _ = people(100)
    model = LogisticRegression().fit(table, y)
    with pytest.raises(SettingError, match=r"no option 'atributes'.*attributes"):
        ald.audit_model(model, table, y, atributes=["income"])
    with pytest.raises(SettingError, match="no option 'outcome'"):
        ald.audit_model(model, table, y, outcome="income")


def wages(n: int = 1200) -> tuple[pd.DataFrame, pd.Series, pd.DataFrame]:
    """What a model of wages sees, the wage, and what it never sees: women earn less."""
    rng = np.random.default_rng(6)
    features = pd.DataFrame({"years": rng.integers(0, 40, n), "school": rng.integers(8, 18, n)})
    hidden = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "region": rng.choice(["north", "south"], n)})
    wage = 2000 + 20 * features["years"] + 50 * features["school"] - 300 * (hidden["sex"] == "f")
    return features, (wage + rng.normal(0, 300, n)).round(2).rename("wage (EUR)"), hidden


@pytest.mark.parametrize("notion", [None, "residual", "absolute error", "squared error"])
def test_errors_of_a_model_of_numbers_are_audited_as_amounts(notion: str | None) -> None:
    """The audit is that of a column with what was true less what was predicted, or a loss, in the unit of y."""
    table, y, hidden = wages()
    model = LinearRegression().fit(table, y)
    off = y - model.predict(table)
    name, error = {
        "absolute error": ("absolute error of wage (EUR)", off.abs()),
        "squared error": ("squared error of wage", off**2),
    }.get(notion or "", ("residual of wage (EUR)", off))
    expected = ald.audit(table.join(hidden).assign(**{name: error}), outcome=name, seed=3)
    found = ald.audit_model(model, table, y, sensitive_features=hidden, notion=notion, seed=3)
    assert found.to_json() == expected.to_json()
    if notion is None:
        assert str(found.groups[0].criterion) == "sex = f"


@pytest.mark.parametrize("has_cluster", [False, True])
def test_numbers_are_predicted_out_of_fold(has_cluster: bool) -> None:
    """Residuals of people whom the model has not seen; the rows of a person share a fold."""
    table, y, hidden = wages()
    hidden["person"] = np.arange(len(y)) // 2
    groups = hidden["person"] if has_cluster else None
    cv = GroupKFold(4) if has_cluster else KFold(4)
    off = y - cross_val_predict(LinearRegression(), table, y, cv=cv, groups=groups)
    options: dict[str, Any] = {"cluster": "person"} if has_cluster else {"exclude": "person"}
    data = table.join(hidden).assign(**{"residual of wage (EUR)": off})
    expected = ald.audit(data, outcome="residual of wage (EUR)", **options)
    found = ald.audit_model(LinearRegression(), table, y, sensitive_features=hidden, cv=4, **options)
    assert found.to_json() == expected.to_json()


@pytest.mark.parametrize("notion", ["calibration", "Brier score", "log loss", "mean score"])
def test_probabilities_are_audited_as_scores(notion: str) -> None:
    """The audit is that of the table with the probability of the second class, or the favourable one, as a score."""
    table, y, hidden = people()
    words = y.map({0: "no", 1: "yes"})
    model = LogisticRegression().fit(table, words)
    for favourable, column in (("yes", 1), ("no", 0)):
        data = table.join(hidden).assign(repaid=words)
        data["predicted probability"] = model.predict_proba(table)[:, column]
        asked: dict[str, Any] = {"favourable": favourable, "notion": notion}
        asked = asked if notion != "mean score" else {"notion": notion, "favourable": favourable}
        expected = ald.audit(data, score="predicted probability", truth="repaid", **asked)
        found = ald.audit_model(model, table, words, sensitive_features=hidden, **asked)
        assert found.to_json() == expected.to_json()


def test_a_model_that_does_not_say_what_it_is_predicts_numbers_that_y_never_has() -> None:
    """Any object with predict may predict numbers; whole classes stay classes."""
    table, y, hidden = wages()

    class Rule:
        def predict(self, table: pd.DataFrame) -> Any:
            return 2000.5 + 20 * table["years"]

    found = ald.audit_model(Rule(), table, y, sensitive_features=hidden)
    assert found.config.outcomes == ("residual of wage (EUR)",)

    class Stars:
        def predict(self, table: pd.DataFrame) -> Any:
            return 1 + table["years"] % 3

    stars = (1 + (table["years"] + (y > 3000)) % 3).rename("stars")
    classes = ald.audit_model(Stars(), table, stars, sensitive_features=hidden, notion="accuracy")
    assert classes.config.classes == ("1", "2", "3")


def test_what_does_not_go_together_is_refused_by_name() -> None:
    """Notions of numbers, of probabilities and of classes each need a model that has them; errors say what helps."""
    table, y, hidden = wages()
    truth = (y > 3000).astype(int)
    line, logistic = LinearRegression().fit(table, y), LogisticRegression(max_iter=2000).fit(table, truth)
    for model, of, options, message in (
        (line, y, {"notion": "calibration"}, "LinearRegression predicts numbers, and 'calibration' is not about these"),
        (line, y, {"notion": "accuracy"}, "notion is one of 'residual', 'absolute error', 'squared error'"),
        (line, y, {"notion": ["residual", "squared error"]}, "notion is one of 'residual'"),
        (line, truth, {}, "favourable='>= 0.5' cuts both"),
        (line, y, {"notion": "residual", "cutoff": 0.4}, "a cutoff makes yes and no of probabilities"),
        (logistic, truth, {"notion": "residual"}, "predicts classes. Of its probabilities 'calibration'"),
        (logistic, truth, {"notion": "calibration", "cutoff": 0.4}, "a cutoff makes yes and no"),
        (LinearSVC().fit(table, truth), truth, {"notion": "calibration"}, "LinearSVC has no predict_proba"),
    ):
        with pytest.raises((InputError, SettingError), match=re.escape(message)):
            ald.audit_model(model, table, of, sensitive_features=hidden, **options)
    three = pd.cut(y, 3, labels=["a", "b", "c"]).astype(str)
    model = LogisticRegression(max_iter=2000).fit(table, three)
    with pytest.raises(SettingError, match="has 3 classes: say whose probability is audited, such as favourable='a'"):
        ald.audit_model(model, table, three, notion="calibration")
    assert ald.audit_model(model, table, three, notion="calibration", favourable="b").config.score is not None
    cut = ald.audit_model(line, table, y, sensitive_features=hidden, favourable=">= 3000")
    assert cut.config.prediction == "prediction"
