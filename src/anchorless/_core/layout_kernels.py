"""Compiled loops that move documents on a map: one after another, so that the result has the same bits every time."""

from __future__ import annotations

import numpy as np

from anchorless._core.token_kernels import compile_loop

#: Documents that each document of a pair is pushed from, and the strength of a push.
N_PUSHES, PUSH = 5, 3.0


@compile_loop
def move_documents(places, rows, columns, weights, n_epochs):
    """Move the documents at places (n, 2), in place: pairs attract, each document is pushed from a few others.

    A pair of half the weight moves half as often. The force between two documents at distance d is that of the kernel
    1 / (1 + d²); steps become smaller from pass to pass.
    """
    n, largest = len(places), weights.max()
    due = largest / weights
    state = np.uint64(88172645463325252)
    for epoch in range(n_epochs):
        step = 1.0 - epoch / n_epochs
        for e in range(len(rows)):
            if due[e] > epoch + 1:
                continue
            due[e] += largest / weights[e]
            i, j = rows[e], columns[e]
            x, y = places[i, 0] - places[j, 0], places[i, 1] - places[j, 1]
            force = -2.0 / (1.0 + x * x + y * y)
            x, y = step * min(4.0, max(-4.0, force * x)), step * min(4.0, max(-4.0, force * y))
            places[i, 0] += x
            places[i, 1] += y
            places[j, 0] -= x
            places[j, 1] -= y
            for side in range(2 * N_PUSHES):
                a = i if side < N_PUSHES else j
                state ^= state << np.uint64(13)
                state ^= state >> np.uint64(7)
                state ^= state << np.uint64(17)
                b = np.int64(state % np.uint64(n))
                if b == a:
                    continue
                x, y = places[a, 0] - places[b, 0], places[a, 1] - places[b, 1]
                squared = x * x + y * y
                force = 2.0 * PUSH / ((0.001 + squared) * (1.0 + squared))
                places[a, 0] += step * min(4.0, max(-4.0, force * x))
                places[a, 1] += step * min(4.0, max(-4.0, force * y))


@compile_loop
def spread_documents(places, least, n_rounds):
    """Move documents at places (n, 2) in the unit square apart, in place, if they are nearer than `least`.

    Dense groups grow until their documents can be seen, and push those around them outward. Only documents of the same
    or a neighboring cell of a grid are compared.
    """
    n = len(places)
    following = np.empty(n, dtype=np.int64)
    for _ in range(n_rounds):
        low_x, low_y = places[:, 0].min(), places[:, 1].min()
        across, down = int((places[:, 0].max() - low_x) / least) + 1, int((places[:, 1].max() - low_y) / least) + 1
        first = np.full((across, down), -1, dtype=np.int64)
        for i in range(n - 1, -1, -1):
            cx, cy = int((places[i, 0] - low_x) / least), int((places[i, 1] - low_y) / least)
            following[i] = first[cx, cy]
            first[cx, cy] = i
        moved = False
        for i in range(n):
            cx = min(max(int((places[i, 0] - low_x) / least), 0), across - 1)
            cy = min(max(int((places[i, 1] - low_y) / least), 0), down - 1)
            for a in range(max(0, cx - 1), min(across, cx + 2)):
                for b in range(max(0, cy - 1), min(down, cy + 2)):
                    j = first[a, b]
                    while j >= 0:
                        if j > i:
                            x, y = places[i, 0] - places[j, 0], places[i, 1] - places[j, 1]
                            squared = x * x + y * y
                            if 0.0 < squared < least * least:
                                part = 0.25 * (least / np.sqrt(squared) - 1.0)
                                part = min(part, 0.25 * least / np.sqrt(squared))
                                places[i, 0] += part * x
                                places[i, 1] += part * y
                                places[j, 0] -= part * x
                                places[j, 1] -= part * y
                                moved = True
                        j = following[j]
        if not moved:
            break
