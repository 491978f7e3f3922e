"""Associations without most of their noise: few pairs of topics are related, the others only share what is left.

Proportions are θ_k = g_k / Σ_l g_l. If two of the g are related, documents with the one topic have the other, too, and
less of everything else: *all* pairs of these topics have an association, though no others are related. To first order,
a covariance beyond the closure null is S_jk − m_j d_k − m_k d_j, where S are the relations of the g, m the mean
proportions, and d what the relations of a topic take from the others: proportions sum to one, so every row of a
covariance has the sum zero. S is moved towards zero as far as the relations of all pairs suggest that it is noise, and
d follows from it. If the associations themselves were moved towards zero, those of unrelated pairs would be too small
by what a related pair makes of them.
"""

from __future__ import annotations

import numpy as np

from anchorless._corpus.documents import Array

#: Standard deviations of the components of the prior of relations, in units of their median noise.
PRIOR_SPREADS = np.array([0.0, *2.0 ** np.arange(-4, 7)])
#: How often d is found anew, and the steps in which the parts of the components are found each time.
ROUNDS, PRIOR_STEPS = 3, 70
#: Median of the absolute values of a standard normal variable.
NORMAL_MEDIAN = 0.6745
#: What is added to the equations for d: those of two topics are the same one twice.
RIDGE = 1e-9
#: Errors below this part of the median error count as that.
LEAST_ERROR = 1e-3


def shrink_excess(excess: Array, error: Array, mean: Array, variance: Array, most: float = 1.0) -> Array:
    """Return the expected covariances beyond the null (F, F), given these with errors (F, F); zero on the diagonal.

    The topics have these mean proportions and variances (F,). Those without a variance have no covariance. Errors may
    be up to `most` times as large, if half of the pairs say so.
    """
    first, second = np.triu_indices(len(variance), 1)
    scale = np.sqrt(variance[first] * variance[second])
    known = scale > 0
    first, second, scale = first[known], second[known], scale[known]
    errors = error[first, second] / np.maximum(scale, np.finfo(float).tiny)
    result, typical = np.zeros_like(excess), float(np.median(errors)) if len(scale) else 0.0
    if typical <= 0:
        result[first, second] = result[second, first] = excess[first, second]
        return result
    errors = np.maximum(errors, LEAST_ERROR * typical)
    # A variance that is far too small, as that of one topic among hundreds with few tokens, takes an association
    # beyond one with a small relative error: at the bound, its error decides.
    values = np.clip(excess[first, second] / scale, -1.0, 1.0)
    taken, parts = np.zeros(len(scale)), np.full(len(PRIOR_SPREADS), 1.0 / len(PRIOR_SPREADS))
    for _ in range(ROUNDS):
        parts, relations = fit_prior(values + taken, errors, parts, most)
        result[first, second] = result[second, first] = scale * relations
        taken = find_taken(result, mean)[first, second] / scale
    result[first, second] = result[second, first] = scale * (relations - taken)
    return result


def find_taken(relations: Array, mean: Array) -> Array:
    """Return m_j d_k + m_k d_j (F, F) for relations S (F, F), with d such that S minus this has rows of sum zero."""
    equations = np.diag(1.0 + RIDGE - 2.0 * mean) + mean[:, None]
    taken = np.outer(mean, np.linalg.solve(equations, relations.sum(axis=1)))
    return np.asarray(taken + taken.T)


def fit_prior(values: Array, errors: Array, parts: Array, most: float = 1.0) -> tuple[Array, Array]:
    """Return the parts (C,) of a prior of numbers (n,) with normal errors (n,), and what is then expected of these.

    It is a mixture of normal distributions around zero, with parts that make the values most probable: if most numbers
    are noise, these become small, and large ones stay (adaptive shrinkage, Stephens 2017). If the median number is
    larger than noise explains, errors are that much larger, but no more than `most` times.
    """
    errors = errors * np.clip(np.median(abs(values) / errors) / NORMAL_MEDIAN, 1.0, most)
    of_components = (np.median(errors) * PRIOR_SPREADS[:, None]) ** 2
    variance = of_components + errors**2
    log_density = -0.5 * (values**2 / variance + np.log(variance))
    density = np.exp(log_density - log_density.max(axis=0))
    for _ in range(PRIOR_STEPS):
        component = parts[:, None] * density
        component /= component.sum(axis=0)
        parts = component.mean(axis=1)
    return parts, np.asarray(values * (component * of_components / variance).sum(axis=0))
