"""What can be estimated: the question a source, a mechanism and a rate have in common."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """One estimand; members of the registries that list its key serve it."""

    key: str
    label: str
    estimand: str
    loss: str


MEAN_FUNCTION = Task(
    key="mean_function", label="Average curve",
    estimand="the mean of the curves as a function of time",
    loss="integrated squared error over the time range")

INTERCEPT = "Intercept"  # the curve of a person with every covariate at the middle of its range

VARYING_COEFFICIENTS = Task(
    key="varying_coefficients", label="Varying coefficients",
    estimand="how the curve depends on regressors, as functions of time",
    loss="sum of the integrated squared errors of the coefficient functions")

UNIVARIATE_MEAN = Task(
    key="univariate_mean", label="Average number",
    estimand="the mean of numbers, of which each person holds some",
    loss="squared error")

WAVELET_REGRESSION = Task(
    key="wavelet_regression", label="Regression curve",
    estimand="the curve behind single readings that are spread over sites",
    loss="integrated squared error, or squared error at one point")

FUNCTIONAL_SUMMARY = Task(
    key="functional_summary", label="Summary of curves with δ = 0",
    estimand="a mean, density, covariance or regression function",
    loss="integrated squared error")

DENSITY = Task(
    key="density", label="Density",
    estimand="the density of the records on their stated range",
    loss="integrated squared error")

RISK_MINIMISATION = Task(
    key="risk_minimisation", label="Regression function",
    estimand="a function that predicts a number or a class from another, by regularised risk",
    loss="integrated squared error")

COVARIANCE = Task(
    key="covariance", label="Covariance",
    estimand="the covariance of curves as a function of two times",
    loss="integrated squared error")

SPARSE_REGRESSION = Task(
    key="sparse_regression", label="Sparse regression",
    estimand="a few coefficients among many, from data on several machines",
    loss="squared error of the coefficients")

SPARSE_MEAN = Task(
    key="sparse_mean", label="Sparse mean, nobody trusted",
    estimand="a few large means among many, from machines that trust no server",
    loss="squared error of the means")

TASKS = {task.key: task for task in (
    MEAN_FUNCTION, VARYING_COEFFICIENTS, UNIVARIATE_MEAN, WAVELET_REGRESSION, FUNCTIONAL_SUMMARY,
    DENSITY, RISK_MINIMISATION, COVARIANCE, SPARSE_REGRESSION, SPARSE_MEAN)}
