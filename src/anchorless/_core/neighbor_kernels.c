/* Loops of the search for neighbors: each row by itself, so that no bit depends on the batch. neighbor_kernels.py says
 * what each of them computes. */

#ifndef NEIGHBOR_HELPERS
#define NEIGHBOR_HELPERS

/* Values that are compared with their limits at once: one bit for each. */
#define N_COMPARED 32
/* Columns whose largest values are updated for all rows before the next ones: these lists stay in the cache. */
#define N_TILED 512

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

/* Return which of n values are above a limit, or above their own limits, as bits. Without own limits, give NULL. */
HELPER uint32_t compare_values(int64_t n, const float *restrict values, float limit, const float *restrict own)
{
    if (n < N_COMPARED)
        return ((uint32_t)1 << n) - 1; /* any of them: the caller looks again */
    uint32_t bits = 0;
    for (int i = 0; i < N_COMPARED; i++) {
        float least = own && own[i] < limit ? own[i] : limit;
        bits |= values[i] > least ? (uint32_t)1 << i : 0;
    }
    return bits;
}

/* Return the product of two vectors (n,): products of float32 numbers are exact, and the sum has eight parts. */
HELPER double multiply_vectors(int64_t n, const float *restrict x, const float *restrict y)
{
    double parts[8] = {0.0};
    int64_t whole = n / 8 * 8;
    for (int64_t k = 0; k < whole; k += 8)
        for (int i = 0; i < 8; i++)
            parts[i] += (double)x[k + i] * y[k + i];
    for (int64_t k = whole; k < n; k++)
        parts[0] += (double)x[k] * y[k];
    return ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
}

#endif

LOOP(void, select_largest)(int64_t n, int64_t n_values, int64_t k, const float *restrict values, float above,
                           const int32_t *restrict places, const int64_t *restrict rows, float *restrict best,
                           int32_t *restrict found)
{
    for (int64_t i = 0; i < n; i++) {
        float *restrict own = best + rows[i] * k;
        for (int64_t first = 0; first < n_values; first += N_COMPARED) {
            const float *restrict given = values + i * n_values + first;
            uint32_t bits = compare_values(n_values - first, given, own[k - 1], 0);
            for (; bits; bits &= bits - 1) {
                int64_t at = __builtin_ctz(bits);
                if (given[at] > own[k - 1] && given[at] <= above)
                    insert_value(k, own, found + rows[i] * k, given[at], places[first + at]);
            }
        }
    }
}

LOOP(void, select_largest_pairs)(int64_t n, int64_t n_values, int64_t k, const float *restrict values, float above,
                                 int64_t start, float *restrict least, float *restrict best, int32_t *restrict found)
{
    for (int64_t tile = 0; tile < n_values; tile += N_TILED) {
        int64_t end = tile + N_TILED < n_values ? tile + N_TILED : n_values;
        for (int64_t i = 0; i < n; i++) {
            int64_t row = start + i;
            for (int64_t first = tile; first < end; first += N_COMPARED) {
                const float *restrict given = values + i * n_values + first;
                uint32_t bits = compare_values(end - first, given, least[row], least + start + first);
                for (; bits; bits &= bits - 1) {
                    int64_t at = __builtin_ctz(bits), other = start + first + at;
                    float value = given[at];
                    if (value > above)
                        continue;
                    if (value > least[row]) {
                        insert_value(k, best + row * k, found + row * k, value, (int32_t)other);
                        least[row] = best[row * k + k - 1];
                    }
                    if (first + at >= n && value > least[other]) {
                        insert_value(k, best + other * k, found + other * k, value, (int32_t)row);
                        least[other] = best[other * k + k - 1];
                    }
                }
            }
        }
    }
}

LOOP(void, rank_candidates)(int64_t n, int64_t n_candidates, int64_t n_neighbors, int64_t n_dimensions,
                            const float *restrict queries, const float *restrict vectors,
                            const int32_t *restrict candidates, double above, int32_t *restrict found,
                            double *restrict cosines)
{
    for (int64_t row = 0; row < n; row++) {
        int32_t *restrict places = found + row * n_neighbors;
        double *restrict best = cosines + row * n_neighbors;
        int64_t n_found = 0;
        for (int64_t i = 0; i < n_candidates; i++) {
            int32_t place = candidates[row * n_candidates + i];
            if (place < 0)
                continue;
            double cosine = multiply_vectors(n_dimensions, queries + row * n_dimensions, vectors + place * n_dimensions);
            if (cosine > above)
                continue;
            int64_t at = n_found;
            while (at > 0 && (best[at - 1] < cosine || (best[at - 1] == cosine && places[at - 1] > place)))
                at--;
            if (at == n_neighbors)
                continue;
            n_found += n_found < n_neighbors;
            for (int64_t j = n_found - 1; j > at; j--) {
                best[j] = best[j - 1];
                places[j] = places[j - 1];
            }
            best[at] = cosine;
            places[at] = place;
        }
        for (int64_t j = n_found; j < n_neighbors; j++) {
            best[j] = 0.0;
            places[j] = -1;
        }
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
