"""The compiled loops again, as plain Python: slow, and with additions in the same order, so that all bits agree."""

import math

import numpy as np


def add_up(x):
    """Return the sum in four parts."""
    whole = len(x) // 4 * 4
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for k in range(0, whole, 4):
        a, b, c, d = a + x[k], b + x[k + 1], c + x[k + 2], d + x[k + 3]
    for value in x[whole:]:
        a += value
    return (a + b) + (c + d)


def list_entries(indptr, indices):
    """Yield the document, the number and the word of each entry."""
    for d in range(len(indptr) - 1):
        for entry in range(indptr[d], indptr[d + 1]):
            yield d, entry, indices[entry]


def choose_prior(alpha, d):
    """Return the prior of a document."""
    return alpha[d if len(alpha) > 1 else 0]


def weigh_pairs(A, count, prior, pairs, sizes):
    """Set the weights of paired topics, given their tokens."""
    for (j, k), (s, t) in zip(pairs, sizes, strict=True):
        total = count[j] + count[k]
        part = (total + (prior[j] + prior[k])) / (total + (s + t))
        A[j], A[k] = (count[j] + s) * part, (count[k] + t) * part


def sweep_documents(
    indptr, indices, data, counts, before, added, sizes, topic_sizes, sums, alpha, pairs, pair_sizes, found, words
):
    F = alpha.shape[1]
    paired = pairs.ravel()
    found[:, :F] = 0.0
    for d, entry, w in list_entries(indptr, indices):
        prior, count = choose_prior(alpha, d), counts[d, :F]
        A = count + prior
        weigh_pairs(A, count, prior, pairs, pair_sizes)
        step = 1.0 / ((topic_sizes + sizes[w]) * sums)
        B = (before[w] + added[w]) * step
        own = A * B * (1.0 / add_up(A * B))
        rest = np.maximum(A - own, 0.5 * prior)
        left = rest.copy()
        weigh_pairs(left, np.maximum(count - own, 0.0), prior, pairs, pair_sizes)
        rest[paired] = left[paired]
        R = rest * np.maximum(B - own * step, added[w] * step)
        R *= data[entry] / add_up(R)
        found[d, :F] += R
        words[w] += R * counts[d, F]


def count_topics(indptr, indices, data, phi, alpha, n_steps, found):
    found[:] = 0.0
    for _ in range(n_steps):
        A, total = found + alpha, np.zeros_like(found)
        for d, entry, w in list_entries(indptr, indices):
            z = add_up(A[d] * phi[w])
            total[d] += (data[entry] / z if z > 0 else 0.0) * phi[w]
        found[:] = A * total


def count_topics_of_others(indptr, indices, data, phi, alpha, n_steps, found):
    parts = np.zeros((len(indices), phi.shape[1]))
    found[:] = 0.0
    for _ in range(n_steps):
        total = np.zeros_like(found)
        for d, entry, w in list_entries(indptr, indices):
            R = (np.maximum(found[d] - parts[entry], 0.0) + choose_prior(alpha, d)) * phi[w]
            z = add_up(R)
            parts[entry] = R * (1.0 / z if z > 0 else 0.0)
            total[d] += data[entry] * parts[entry]
        found[:] = total


def mix_topics(indptr, indices, shares, phi, mixed, squares):
    for d, entry, w in list_entries(indptr, indices):
        R = shares[d] * phi[w]
        mixed[entry] = z = add_up(R)
        squares[entry] = add_up(R * R) / (z * z) if z > 0 else 0.0


def pair_words(indptr, indices, data, counts, phi, alpha, place, pairs, noise):
    F = len(alpha)
    for d in np.flatnonzero(counts[:, F]):
        entries = range(indptr[d], indptr[d + 1])
        z = [add_up((counts[d, :F] + alpha) * phi[indices[e]]) for e in entries]
        size = [data[e] / total if total > 0 else 0.0 for e, total in zip(entries, z, strict=True)]
        for k in np.flatnonzero(counts[d, :F] > 1.0):
            values = {}
            for e, s in zip(entries, size, strict=True):
                value = (counts[d, k] + alpha[k]) * phi[indices[e], k] * s
                if place[indices[e], k] >= 0 and value > 0.02:
                    values[place[indices[e], k]] = value
            n = 0.0
            for value in values.values():
                n += value
            if n <= 1.0:
                continue
            noise[k] += (n - 1.0) / n
            for i, value in values.items():
                pairs[k, i, i] += value
            for i, j in ((i, j) for i in values for j in values if i > j):
                pairs[k, i, j] += values[i] * values[j] / n


def draw_topics(indptr, indices, data, mixtures, phi, rng, counts, words):
    counts[:] = 0.0
    for d, entry, w in list_entries(indptr, indices):
        sums = np.add.accumulate(mixtures[d] * phi[w])
        for _ in range(int(data[entry])):
            topic = min(np.searchsorted(sums, rng.random() * sums[-1], side="right"), len(sums) - 1)
            counts[d, topic] += 1.0
            words[w, topic] += 1.0


def log_rising(a, n):
    return math.lgamma(a + n) - math.lgamma(a)


def score_logits(n, logits):
    a = np.exp(logits)
    score = sum(log_rising(size, tokens) for size, tokens in zip(a, n, strict=True))
    return score - log_rising(a.sum(), n.sum())


def compare_logits(counts, logits, shift):
    return sum(score_logits(n, e + shift) - score_logits(n, e) for n, e in zip(counts, logits, strict=True))


def draw_logits(counts, logits, mean, other, rng):
    for d, n in enumerate(counts):
        limit = score_logits(n, logits[d]) + np.log(1.0 - rng.random())
        angle = 2 * np.pi * rng.random()
        low, high = angle - 2 * np.pi, angle
        while abs(angle) > 1e-9:
            new = mean + (logits[d] - mean) * np.cos(angle) + other[d] * np.sin(angle)
            if score_logits(n, new) > limit:
                logits[d] = new
                break
            low, high = (angle, high) if angle < 0 else (low, angle)
            angle = low + (high - low) * rng.random()


def score_shape(words, totals, p, shape):
    rate = (shape / p)[:, None]
    rising = np.array([[log_rising(shape, n) for n in row] for row in words])
    return float((rising - words * np.log(rate + totals) - shape * np.log1p(totals / rate)).sum())


def select_largest(values, above, places, rows, best, found):
    for i, row in enumerate(rows):
        known = [(-value, order) for order, value in enumerate(best[row])]
        new = [(-value, len(known) + order) for order, value in enumerate(values[i]) if value <= above]
        at = [*found[row], *places]
        kept = sorted(pair for pair in known + new if pair[0] < np.inf)[: best.shape[1]]
        for k, (value, order) in enumerate(kept):
            best[row, k], found[row, k] = -value, at[order]


def select_largest_pairs(values, above, start, least, best, found):
    n, n_values = values.shape
    for i in range(n):
        columns = np.arange(start, start + n_values, dtype=np.int32)
        select_largest(values[i : i + 1], above, columns, [start + i], best, found)
        for j in range(n, n_values):
            here = np.array([start + i], dtype=np.int32)
            select_largest(values[i : i + 1, j : j + 1], above, here, [start + j], best, found)
    least[:] = best[:, -1]


def rank_candidates(queries, vectors, candidates, above, found, cosines):
    found[:], cosines[:] = -1, 0.0
    for i, row in enumerate(candidates):
        there = sorted(int(place) for place in row if place >= 0)
        known = [
            (-add_eight(queries[i].astype(np.float64) * vectors[place].astype(np.float64)), place) for place in there
        ]
        for k, (cosine, place) in enumerate(sorted(pair for pair in known if -pair[0] <= above)[: found.shape[1]]):
            found[i, k], cosines[i, k] = place, -cosine


def add_eight(x):
    """Return the sum of x in eight parts."""
    whole = len(x) // 8 * 8
    parts = [0.0] * 8
    for k in range(whole):
        parts[k % 8] += x[k]
    for value in x[whole:]:
        parts[0] += value
    return ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]))


def project_rows(vectors, center, directions, found):
    found[:] = 0.0
    for row, vector in enumerate(vectors):
        for value, along in zip(vector - center, directions, strict=True):
            found[row] += value * along


def move_documents(places, rows, columns, weights, n_epochs):
    n, state = len(places), 88172645463325252
    due = weights.max() / weights
    for epoch in range(n_epochs):
        step = 1.0 - epoch / n_epochs
        for e, (i, j) in enumerate(zip(rows, columns, strict=True)):
            if due[e] > epoch + 1:
                continue
            due[e] += weights.max() / weights[e]
            x = places[i] - places[j]
            move = step * np.clip(-2.0 / (1.0 + x[0] * x[0] + x[1] * x[1]) * x, -4.0, 4.0)
            places[i] += move
            places[j] -= move
            for a in (i,) * 5 + (j,) * 5:
                for shift in (13, -7, 17):
                    state ^= (state << shift if shift > 0 else state >> -shift) & (2**64 - 1)
                if state % n != a:
                    x = places[a] - places[state % n]
                    squared = x[0] * x[0] + x[1] * x[1]
                    places[a] += step * np.clip(6.0 / ((0.001 + squared) * (1.0 + squared)) * x, -4.0, 4.0)


def spread_documents(places, least, n_rounds):
    """Move each pair that is too near; pairs of the same or neighboring cells, cell by cell, as the places change."""
    for _ in range(n_rounds):
        low = places.min(axis=0)
        size = ((places.max(axis=0) - low) / least).astype(int) + 1
        first = ((places - low) / least).astype(int)
        moved = False
        for i in range(len(places)):
            cell = np.clip(((places[i] - low) / least).astype(int), 0, size - 1)
            near = np.flatnonzero((abs(first - cell) <= 1).all(axis=1) & (np.arange(len(places)) > i))
            for j in sorted(near, key=lambda j: (*first[j], j)):
                x = places[i] - places[j]
                squared = x[0] * x[0] + x[1] * x[1]
                if 0.0 < squared < least * least:
                    part = min(0.25 * (least / np.sqrt(squared) - 1.0), 0.25 * least / np.sqrt(squared))
                    places[i] += part * x
                    places[j] -= part * x
                    moved = True
        if not moved:
            break
