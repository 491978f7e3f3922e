/* Loops of the search for neighbors: each row by itself, so that no bit depends on the batch. neighbor_kernels.py says
 * what each of them computes. */

#ifndef NEIGHBOR_HELPERS
#define NEIGHBOR_HELPERS

/* Put a value and its place where they belong in the largest values so far (k,), the largest one first. */
HELPER void insert_value(int64_t k, float *restrict best, int32_t *restrict found, float value, int32_t place)
{
    int64_t at = k - 1;
    for (; at > 0 && best[at - 1] < value; at--) {
        best[at] = best[at - 1];
        found[at] = found[at - 1];
    }
    best[at] = value;
    found[at] = place;
}

#endif

LOOP(void, select_largest)(int64_t n, int64_t n_values, int64_t k, const float *restrict values, float above,
                           const int32_t *restrict places, const int64_t *restrict rows, float *restrict best,
                           int32_t *restrict found)
{
    for (int64_t i = 0; i < n; i++) {
        float *restrict own = best + rows[i] * k;
        for (int64_t column = 0; column < n_values; column++) {
            float value = values[i * n_values + column];
            if (value > own[k - 1] && value <= above)
                insert_value(k, own, found + rows[i] * k, value, places[column]);
        }
    }
}

LOOP(void, select_largest_pairs)(int64_t n, int64_t n_values, int64_t k, const float *restrict values, float above,
                                 int64_t start, float *restrict least, float *restrict best, int32_t *restrict found)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t row = start + i;
        for (int64_t j = 0; j < n_values; j++) {
            int64_t other = start + j;
            float value = values[i * n_values + j];
            if (value > above)
                continue;
            if (value > least[row]) {
                insert_value(k, best + row * k, found + row * k, value, (int32_t)other);
                least[row] = best[row * k + k - 1];
            }
            if (j >= n && value > least[other]) {
                insert_value(k, best + other * k, found + other * k, value, (int32_t)row);
                least[other] = best[other * k + k - 1];
            }
        }
    }
}

LOOP(void, compute_cosines)(int64_t n, int64_t n_candidates, int64_t n_dimensions, const float *restrict queries,
                            const float *restrict vectors, const int32_t *restrict candidates, double *restrict found)
{
    int64_t whole = n_dimensions / 4 * 4;
    for (int64_t i = 0; i < n * n_candidates; i++) {
        if (candidates[i] < 0) {
            found[i] = -INFINITY;
            continue;
        }
        const float *restrict q = queries + i / n_candidates * n_dimensions;
        const float *restrict v = vectors + candidates[i] * n_dimensions;
        double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
        for (int64_t k = 0; k < whole; k += 4) {
            a += (double)q[k] * v[k];
            b += (double)q[k + 1] * v[k + 1];
            c += (double)q[k + 2] * v[k + 2];
            d += (double)q[k + 3] * v[k + 3];
        }
        for (int64_t k = whole; k < n_dimensions; k++)
            a += (double)q[k] * v[k];
        found[i] = (a + b) + (c + d);
    }
}

LOOP(void, project_rows)(int64_t n, int64_t n_dimensions, int64_t n_axes, const float *restrict vectors,
                         const float *restrict center, const float *restrict directions, float *restrict found)
{
    for (int64_t row = 0; row < n; row++) {
        float *restrict own = found + row * n_axes;
        for (int64_t axis = 0; axis < n_axes; axis++)
            own[axis] = 0.0f;
        for (int64_t k = 0; k < n_dimensions; k++) {
            float value = vectors[row * n_dimensions + k] - center[k];
            for (int64_t axis = 0; axis < n_axes; axis++)
                own[axis] += value * directions[k * n_axes + axis];
        }
    }
}
