"""Least squares of shares on a design, with covariances that hold for documents correlated within clusters.

With residuals E and the design X (N, P) in the coordinates Z = XM^½ in which ZᵀZ = I, the covariance is

    Σ_g s_g s_gᵀ,  s_g = (I − B_g)^(−½) Z_gᵀE_g,  B_g = Z_gᵀZ_g

over clusters g of documents: the bias-reduced estimate CR2 of Bell and McCaffrey (2002), or HC2 where each document is
its own cluster. Student's t has the degrees of freedom that they give for independent residuals of equal variance.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from anchorless._corpus.documents import Array
from anchorless._corpus.sparse import split_range

#: Documents with the spread of all documents that count beside those of a group. (With none, 90% intervals of groups of
#: two to five planted documents contained 26 to 84% of the means, with six 92 to 97%.)
COMMON_DOCUMENTS = 6.0
#: Rows of the design that are multiplied at the same time, divided by the square of the columns.
ENTRIES_AT_A_TIME = 2**21
#: Smallest eigenvalue of I − B_g: a cluster that alone determines a coefficient has zero.
LEAST_EIGENVALUE = 1e-6


class Leverage(NamedTuple):
    """B_g of some clusters, their rows, and where each cluster begins among them."""

    rows: slice
    starts: Any  # (n,)
    values: Array  # (n, P), eigenvalues of I − B_g
    vectors: Array  # (n, P, P)


class Clusters:
    """A design whose rows are ordered by cluster."""

    def __init__(self, X: Array, codes: Any = None) -> None:
        # Clusters of one document where there are no codes.
        self.order = np.arange(len(X)) if codes is None else np.argsort(codes, kind="stable")
        ordered = self.order if codes is None else codes[self.order]
        self.starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        self.inverse = np.linalg.inv(X.T @ X)
        self.root = np.linalg.cholesky(self.inverse)  # (P, P), root · rootᵀ = (XᵀX)⁻¹
        self.Z = X[self.order] @ self.root

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.starts)

    def iter_leverage(self) -> Iterator[Leverage]:
        """Yield B_g of runs of clusters."""
        P, stops = self.Z.shape[1], np.append(self.starts[1:], len(self.Z))
        limit, first = max(1, ENTRIES_AT_A_TIME // P**2), 0
        while first < len(stops):
            begin = self.starts[first]
            last = max(first + 1, int(np.searchsorted(stops, begin + limit, side="right")))
            rows = slice(int(begin), int(stops[last - 1]))
            starts = self.starts[first:last] - begin
            values, vectors = np.linalg.eigh(np.eye(P) - multiply_by_cluster(self.Z[rows], starts))
            yield Leverage(rows, starts, np.maximum(values, LEAST_EIGENVALUE), vectors)
            first = last

    def find_determined(self) -> Array | None:
        """Return the coefficients (P,) that one cluster alone determines, up to their scale; None if there are none."""
        for some in self.iter_leverage():
            least = int(np.argmin(some.values[:, 0]))
            if some.values[least, 0] <= LEAST_EIGENVALUE:
                return np.asarray(self.root @ some.vectors[least, :, 0])
        return None

    def compute_covariance(self, responses: Array, positions: Any = None) -> Array:
        """Return the covariances (T, P, P) of the coefficients of each of T responses.

        They may be on disk. Row d of the design belongs to row d of the responses, or to row `positions[d]`.
        """
        P, T = self.Z.shape[1], responses.shape[1]
        order = self.order if positions is None else positions[self.order]
        total, fitted = np.zeros((T, P, P)), np.zeros((P, T))
        for rows in split_range(len(self.Z), max(1, ENTRIES_AT_A_TIME // P**2)):
            fitted += self.Z[rows].T @ responses[order[rows]]
        for some in self.iter_leverage():
            Z = self.Z[some.rows]
            E = responses[order[some.rows]] - Z @ fitted
            for t in range(T):
                scores = np.add.reduceat(Z * E[:, t, None], some.starts, axis=0)
                rotated = np.einsum("gpi,gp->gi", some.vectors, scores) / np.sqrt(some.values)
                adjusted = np.einsum("gpi,gi->gp", some.vectors, rotated)
                total[t] += adjusted.T @ adjusted
        return self.root @ total @ self.root.T

    def compute_freedom(self, contrasts: Array) -> Array:
        """Return the degrees of freedom (C,) of the variances of contrasts (C, P) of the coefficients.

        With u = rootᵀc, the variance is a quadratic form of the residuals whose matrix over clusters is
        diag(d) − RRᵀ, d_g = uᵀB_g(I − B_g)⁻¹u, R_g = B_g(I − B_g)^(−½)u. They are (tr)² / tr of the square.
        """
        U, P = contrasts @ self.root, self.Z.shape[1]
        sums, squares, inner = np.zeros(len(U)), np.zeros(len(U)), np.zeros((len(U), P, P))
        for some in self.iter_leverage():
            rotated = np.einsum("gpi,cp->gci", some.vectors, U)
            part = 1.0 - some.values  # eigenvalues of B_g
            d = np.einsum("gci,gi->gc", rotated**2, part / some.values)
            R = rotated * (part / np.sqrt(some.values))[:, None, :]
            lengths = (R**2).sum(axis=2)
            sums += (d - lengths).sum(axis=0)
            squares += (d**2 - 2 * d * lengths).sum(axis=0)
            R = np.einsum("gpi,gci->gcp", some.vectors, R)
            inner += np.einsum("gcp,gcq->cpq", R, R)
        squares += (inner**2).sum(axis=(1, 2))
        found = np.divide(sums**2, squares, out=np.ones_like(sums), where=squares > 1e-300)
        return np.maximum(found, 1.0)

    def compute_joint_freedom(self, contrasts: Array) -> float:
        """Return the degrees of freedom of the covariance of several contrasts (C, P) taken together.

        In coordinates in which it should be the identity, the covariance is compared with a Wishart distribution that
        has the same total variance: C(C + 1) / Σ var (Zhang 2012; Pustejovsky and Tipton 2018). With one contrast it
        is `compute_freedom`. The smallest of single contrasts would be too small: one coefficient of a curve may
        depend on few documents, such as the largest values of a skewed column.
        """
        values, vectors = np.linalg.eigh(contrasts @ self.inverse @ contrasts.T)
        kept = values > LEAST_EIGENVALUE * values[-1]
        U = (vectors[:, kept] / np.sqrt(values[kept])).T @ contrasts @ self.root
        n, P, total = len(U), self.Z.shape[1], 0.0
        inner = np.zeros((n, P, n, P))
        for some in self.iter_leverage():
            rotated = np.einsum("gpi,cp->gci", some.vectors, U)
            part = 1.0 - some.values
            D = np.einsum("gci,gi,gdi->gcd", rotated, part / some.values, rotated)
            R = np.einsum("gpi,gci->gcp", some.vectors, rotated * (part / np.sqrt(some.values))[:, None, :])
            RR = np.einsum("gcp,gdp->gcd", R, R)
            of_D, of_R = np.einsum("gcc->g", D), np.einsum("gcc->g", RR)
            total += float((of_D**2 - 2 * of_D * of_R).sum() + (D**2 - 2 * D * RR).sum())
            inner += np.einsum("gcp,gdq->cpdq", R, R)
        total += float((inner**2).sum() + (inner * inner.transpose(2, 1, 0, 3)).sum())
        return max(1.0, n * (n + 1) / total)


def multiply_by_cluster(Z: Array, starts: Any) -> Array:
    """Return ZᵀZ of each cluster, (n, P, P), for rows (N, P) of clusters that begin at `starts`."""
    if len(starts) == 1:
        return (Z.T @ Z)[None]
    return np.add.reduceat(Z[:, :, None] * Z[:, None, :], starts, axis=0)


def pool_variances(variances: Array, freedom: Array, common: Array) -> tuple[Array, Array]:
    """Return variances of the means of groups, of which a part is the common one, and their degrees of freedom.

    The documents of a small group may be alike by chance. By their own variance alone, two of them would be certain.
    """
    part = COMMON_DOCUMENTS / (freedom + COMMON_DOCUMENTS)
    return variances + part * (common - variances), freedom + COMMON_DOCUMENTS


def combine_freedom(variances: Array, freedom: Array) -> Array:
    """Return the degrees of freedom of sums of variances (n, …), each with its own, by Satterthwaite's rule."""
    total, weighted = variances.sum(axis=0), (variances**2 / freedom).sum(axis=0)
    return np.divide(total**2, weighted, out=np.ones_like(total), where=weighted > 0)
