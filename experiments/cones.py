"""Cones of three topics, sliced at the plane 1ᵀx = 1: rows of C, their cone, its dual, and the cones K and K*.

K = {x : ‖x‖ ≤ 1ᵀx} and its dual K* = {x : √(F−1)·‖x‖ ≤ 1ᵀx} are discs in the slice, around its center 1/F.
C is sufficiently scattered (Assumption 2 of the paper) if cone(Cᵀ)* = {x : Cx ≥ 0} lies in K and touches its
boundary along the axes only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

#: Points of the slice: x = 1/3 + B p, with B (3, 2) orthonormal and orthogonal to 1.
B = np.array([[-1.0, 1.0, 0.0], [-1.0, -1.0, 2.0]]).T / np.sqrt([2.0, 6.0])
CENTRE = np.full(3, 1.0 / 3.0)
#: Radii of the slices of K and K* for F = 3: the circle around the triangle and the one in it.
RADIUS_K = np.sqrt(2.0 / 3.0)
RADIUS_DUAL_K = np.sqrt(1.0 / 6.0)
TOLERANCE = 1e-9


def in_K(X: Any) -> Any:
    """Return for each row x of X whether ‖x‖ ≤ 1ᵀx, to rounding."""
    return np.linalg.norm(X, axis=-1) <= X.sum(axis=-1) + TOLERANCE


def in_dual_K(X: Any) -> Any:
    """Return for each row x of X, of F entries, whether √(F−1)·‖x‖ ≤ 1ᵀx, to rounding."""
    return np.sqrt(X.shape[-1] - 1.0) * np.linalg.norm(X, axis=-1) <= X.sum(axis=-1) + TOLERANCE


def to_slice(X: Any) -> Any:
    """Return rows of positive sum, scaled to sum one, as points of the slice, (n, 2)."""
    return (X / X.sum(axis=1, keepdims=True) - CENTRE) @ B


def from_slice(points: Any) -> Any:
    """Return points of the slice in three dimensions; each sums to one."""
    return CENTRE + points @ B.T


def cone_polygon(C: Any) -> Any:
    """Return the vertices of cone(Cᵀ) in the slice, counterclockwise, (n, 2). Rows of C are not all in one plane."""
    points = to_slice(np.asarray(C, dtype=np.float64))
    return points[ConvexHull(points).vertices]


def facet_normals(C: Any) -> Any:
    """Return n with cone(Cᵀ) = {x : n x ≥ 0 for every row n}: the extreme rays of the dual cone, (m, 3)."""
    # Facets of the hull are a·p + b ≤ 0. With p = Bᵀx and 1 = 1ᵀx on the slice, that is (−Ba − b·1)ᵀx ≥ 0.
    equations = np.unique(ConvexHull(cone_polygon(C)).equations.round(12), axis=0)
    return -equations[:, :2] @ B.T - equations[:, 2:]


def dual_polygon(C: Any) -> Any:
    """Return the vertices of cone(Cᵀ)* = {x : Cx ≥ 0} in the slice, counterclockwise, (m, 2).

    The slice is bounded only if the center is inside cone(Cᵀ).
    """
    normals = facet_normals(C)
    if normals.sum(axis=1).min() <= TOLERANCE:
        raise ValueError("the center is not inside the cone of the rows, so the slice of its dual is unbounded")
    points = to_slice(normals)
    return points[np.argsort(np.arctan2(points[:, 1], points[:, 0]))]


def contains(C: Any, X: Any) -> Any:
    """Return for each row of X whether it is in cone(Cᵀ), to rounding."""
    return (X @ facet_normals(C).T).min(axis=1) >= -TOLERANCE


def is_separable(C: Any) -> bool:
    """Return whether cone(Cᵀ) is the orthant: every topic has an anchor word."""
    return bool(contains(C, np.eye(3)).all())


def is_sufficiently_scattered(C: Any) -> bool:
    """Return whether cone(Cᵀ)* is in K and touches its boundary along the axes only."""
    if facet_normals(C).sum(axis=1).min() <= TOLERANCE:
        return False
    rays = from_slice(dual_polygon(C))
    touching = rays[np.linalg.norm(rays, axis=1) >= 1.0 - 1e-6]
    on_an_axis = touching.max(axis=1) >= 1.0 - 1e-6
    return bool(in_K(rays).all() and on_an_axis.all())


def example_rows(kind: str, n_inside: int = 25) -> Any:
    """Return rows of C that are "separable", "scattered" or "not scattered", (n, 3), with more rows inside.

    Separable: the axes are among them. The others have six corners (1−t, t, 0), ..., in all orders: their cone
    contains K* if and only if t ≤ 1/3.
    """
    t = {"separable": 0.0, "scattered": 0.22, "not scattered": 0.42}[kind]
    corners = np.array([np.roll(row, k) for row in ([1 - t, t, 0], [1 - t, 0, t]) for k in range(3)])
    mixing = np.random.default_rng(0).dirichlet(np.full(len(corners), 0.6), n_inside)
    return np.vstack([np.unique(corners, axis=0), mixing @ corners])
