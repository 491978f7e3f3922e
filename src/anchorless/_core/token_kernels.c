/* Loops over the tokens of documents. token_kernels.py says what each of them computes.
 *
 * Documents are the rows of a CSR matrix (indptr, indices, data). They are computed one by one, so a document gives the
 * same bits alone, in a batch or in any block. n is the number of documents, F that of topics; topics phi are (V, F): the
 * numbers of one word lie next to each other. The last arrays of a function are room for its intermediate results.
 */

#ifndef TOKEN_HELPERS
#define TOKEN_HELPERS

/* A document cannot lose more than this part of a topic's prior by leaving a token out. */
#define MIN_PRIOR_PART 0.5
/* Smaller parts of a token are left out of the products of words. */
#define MIN_TOKEN_PART 0.02
/* Up to so many tokens, Γ(n + a) / Γ(a) is a product. */
#define MAX_FACTORS 12
/* Numbers of up to 1e30 whose product has one logarithm. */
#define LOGARITHMS_AT_A_TIME 8
#define PI 3.14159265358979323846

/* The next random number in [0, 1) of a generator of NumPy. */
typedef double (*draw_uniform)(void *state);

HELPER double larger(double a, double b) { return a > b ? a : b; }

/* Return the sum of x (n,), in four parts that do not wait for each other. */
HELPER double add_up(int64_t n, const double *restrict x)
{
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    int64_t whole = n / 4 * 4;
    for (int64_t k = 0; k < whole; k += 4) {
        a += x[k];
        b += x[k + 1];
        c += x[k + 2];
        d += x[k + 3];
    }
    for (int64_t k = whole; k < n; k++)
        a += x[k];
    return (a + b) + (c + d);
}

/* Set the weights of two topics with n_j and n_k tokens in a document, and a prior alpha for both together. */
HELPER void weigh_pair(double n_j, double n_k, double alpha, const double *sizes, double *a_j, double *a_k)
{
    double total = n_j + n_k, size = sizes[0] + sizes[1];
    double part = (total + alpha) / (total + size);
    *a_j = (n_j + sizes[0]) * part;
    *a_k = (n_k + sizes[1]) * part;
}

/* Return log Γ(n + a) / Γ(a) for a whole number n. */
HELPER double log_of_rising(double a, double n)
{
    if (n > MAX_FACTORS)
        return lgamma(a + n) - lgamma(a);
    double product = 1.0;
    for (int i = 0; i < n; i++)
        product *= a + i;
    return log(product);
}

/* Return log p(tokens of each topic n (F,) | η + shift), up to a constant, of one document. */
HELPER double score_shifted(int64_t F, const double *restrict n, const double *restrict logits, double shift)
{
    double score = 0.0, size = 0.0, n_tokens = 0.0;
    for (int64_t k = 0; k < F; k++) {
        double a = exp(logits[k] + shift);
        size += a;
        n_tokens += n[k];
        if (n[k] > 0)
            score += log_of_rising(a, n[k]);
    }
    return score - log_of_rising(size, n_tokens);
}

#endif

LOOP(void, sweep_documents)(int64_t n, int64_t F, int64_t n_columns, int64_t n_priors, int64_t n_pairs,
                            const int64_t *restrict indptr, const int32_t *restrict indices,
                            const double *restrict data, const double *restrict counts, const double *restrict before,
                            const double *restrict added, const double *restrict sizes,
                            const double *restrict topic_sizes, const double *restrict sums,
                            const double *restrict alpha, const int64_t *restrict pairs,
                            const double *restrict pair_sizes, double *restrict found, double *restrict words,
                            double *restrict room)
{
    double *restrict A = room, *restrict B = room + F, *restrict R = room + 2 * F, *restrict step = room + 3 * F;
    for (int64_t d = 0; d < n; d++) {
        const double *restrict count = counts + d * n_columns, *restrict prior = alpha + (n_priors > 1 ? d * F : 0);
        double *restrict new = found + d * n_columns;
        double weight = count[F];
        for (int64_t k = 0; k < F; k++) {
            new[k] = 0.0;
            A[k] = count[k] + prior[k];
        }
        for (int64_t i = 0; i < n_pairs; i++) {
            int64_t j = pairs[2 * i], k = pairs[2 * i + 1];
            weigh_pair(count[j], count[k], prior[j] + prior[k], pair_sizes + 2 * i, &A[j], &A[k]);
        }
        for (int64_t entry = indptr[d]; entry < indptr[d + 1]; entry++) {
            int64_t w = indices[entry];
            const double *restrict tokens = before + w * F;
            double *restrict word = words + w * F;
            double least = added[w], size = sizes[w];
            for (int64_t k = 0; k < F; k++) {
                step[k] = 1.0 / ((topic_sizes[k] + size) * sums[k]);
                B[k] = (tokens[k] + least) * step[k];
                R[k] = A[k] * B[k];
            }
            double total = 1.0 / add_up(F, R);
            for (int64_t k = 0; k < F; k++) {
                double own = R[k] * total;
                double b = B[k] - own * step[k], least_b = least * step[k]; /* what is left without any token */
                R[k] = larger(A[k] - own, MIN_PRIOR_PART * prior[k]) * larger(b, least_b);
            }
            for (int64_t i = 0; i < n_pairs; i++) {
                int64_t j = pairs[2 * i], k = pairs[2 * i + 1];
                double own_j = A[j] * B[j] * total, own_k = A[k] * B[k] * total, a_j, a_k;
                double n_j = larger(count[j] - own_j, 0.0), n_k = larger(count[k] - own_k, 0.0);
                weigh_pair(n_j, n_k, prior[j] + prior[k], pair_sizes + 2 * i, &a_j, &a_k);
                R[j] = a_j * larger(B[j] - own_j * step[j], least * step[j]);
                R[k] = a_k * larger(B[k] - own_k * step[k], least * step[k]);
            }
            double rest = data[entry] / add_up(F, R);
            for (int64_t k = 0; k < F; k++) {
                new[k] += R[k] * rest;
                word[k] += R[k] * rest * weight;
            }
        }
    }
}

LOOP(void, count_topics)(int64_t n, int64_t F, int64_t n_priors, int64_t n_steps, const int64_t *restrict indptr,
                         const int32_t *restrict indices, const double *restrict data, const double *restrict phi,
                         const double *restrict alpha, double *restrict found, double *restrict room)
{
    double *restrict A = room, *restrict R = room + F, *restrict total = room + 2 * F;
    for (int64_t d = 0; d < n; d++) {
        const double *restrict prior = alpha + (n_priors > 1 ? d * F : 0);
        double *restrict count = found + d * F;
        for (int64_t k = 0; k < F; k++)
            count[k] = 0.0;
        for (int64_t step = 0; step < n_steps; step++) {
            for (int64_t k = 0; k < F; k++) {
                A[k] = count[k] + prior[k];
                total[k] = 0.0;
            }
            for (int64_t entry = indptr[d]; entry < indptr[d + 1]; entry++) {
                const double *restrict B = phi + indices[entry] * F;
                for (int64_t k = 0; k < F; k++)
                    R[k] = A[k] * B[k];
                double z = add_up(F, R);
                /* A word without a token in the corpus has probability zero in every topic and tells nothing. */
                double ratio = z > 0 ? data[entry] / z : 0.0;
                for (int64_t k = 0; k < F; k++)
                    total[k] += ratio * B[k];
            }
            for (int64_t k = 0; k < F; k++)
                count[k] = A[k] * total[k];
        }
    }
}

/* `parts` is (entries of the longest document, F). */
LOOP(void, count_topics_of_others)(int64_t n, int64_t F, int64_t n_priors, int64_t n_steps,
                                   const int64_t *restrict indptr, const int32_t *restrict indices,
                                   const double *restrict data, const double *restrict phi,
                                   const double *restrict alpha, double *restrict found, double *restrict parts,
                                   double *restrict room)
{
    double *restrict R = room, *restrict total = room + F;
    for (int64_t d = 0; d < n; d++) {
        const double *restrict prior = alpha + (n_priors > 1 ? d * F : 0);
        double *restrict count = found + d * F;
        int64_t n_entries = indptr[d + 1] - indptr[d];
        for (int64_t k = 0; k < F; k++)
            count[k] = 0.0;
        for (int64_t i = 0; i < n_entries * F; i++)
            parts[i] = 0.0;
        for (int64_t step = 0; step < n_steps; step++) {
            for (int64_t k = 0; k < F; k++)
                total[k] = 0.0;
            for (int64_t i = 0; i < n_entries; i++) {
                int64_t entry = indptr[d] + i;
                const double *restrict B = phi + indices[entry] * F;
                double *restrict own = parts + i * F;
                for (int64_t k = 0; k < F; k++)
                    R[k] = (larger(count[k] - own[k], 0.0) + prior[k]) * B[k];
                double z = add_up(F, R);
                double scale = z > 0 ? 1.0 / z : 0.0;
                for (int64_t k = 0; k < F; k++) {
                    own[k] = R[k] * scale;
                    total[k] += data[entry] * own[k];
                }
            }
            for (int64_t k = 0; k < F; k++)
                count[k] = total[k];
        }
    }
}

LOOP(void, mix_topics)(int64_t n, int64_t F, const int64_t *restrict indptr, const int32_t *restrict indices,
                       const double *restrict shares, const double *restrict phi, double *restrict mixed,
                       double *restrict squares, double *restrict R)
{
    for (int64_t d = 0; d < n; d++) {
        for (int64_t entry = indptr[d]; entry < indptr[d + 1]; entry++) {
            const double *restrict B = phi + indices[entry] * F;
            for (int64_t k = 0; k < F; k++)
                R[k] = shares[d * F + k] * B[k];
            double z = add_up(F, R);
            for (int64_t k = 0; k < F; k++)
                R[k] *= R[k];
            mixed[entry] = z;
            squares[entry] = z > 0 ? add_up(F, R) / (z * z) : 0.0;
        }
    }
}

/* pairs is (F, n_paired, n_paired); size, values and chosen have room for the entries of the longest document. */
LOOP(void, pair_words)(int64_t n, int64_t F, int64_t n_columns, int64_t n_paired, const int64_t *restrict indptr,
                       const int32_t *restrict indices, const double *restrict data, const double *restrict counts,
                       const double *restrict phi, const double *restrict alpha, const int32_t *restrict place,
                       double *restrict pairs, double *restrict noise, double *restrict R, double *restrict size,
                       double *restrict values, int64_t *restrict chosen)
{
    for (int64_t d = 0; d < n; d++) {
        const double *restrict count = counts + d * n_columns;
        if (count[F] == 0)
            continue;
        int64_t first = indptr[d], n_entries = indptr[d + 1] - first;
        for (int64_t e = 0; e < n_entries; e++) {
            const double *restrict B = phi + indices[first + e] * F;
            for (int64_t k = 0; k < F; k++)
                R[k] = (count[k] + alpha[k]) * B[k];
            double z = add_up(F, R);
            size[e] = z > 0 ? data[first + e] / z : 0.0;
        }
        for (int64_t k = 0; k < F; k++) {
            if (count[k] <= 1.0)
                continue;
            int64_t n_chosen = 0;
            double total = 0.0;
            for (int64_t e = 0; e < n_entries; e++) {
                int64_t at = indices[first + e] * F + k;
                double value = (count[k] + alpha[k]) * phi[at] * size[e];
                if (place[at] >= 0 && value > MIN_TOKEN_PART) {
                    chosen[n_chosen] = place[at];
                    values[n_chosen++] = value;
                    total += value;
                }
            }
            if (total <= 1.0)
                continue;
            noise[k] += (total - 1.0) / total;
            double *restrict own = pairs + k * n_paired * n_paired;
            for (int64_t i = 0; i < n_chosen; i++) {
                int64_t row = chosen[i];
                own[row * n_paired + row] += values[i];
                for (int64_t j = 0; j < i; j++) {
                    int64_t column = chosen[j], high = row > column ? row : column, low = row + column - high;
                    own[high * n_paired + low] += values[i] * values[j] / total;
                }
            }
        }
    }
}

LOOP(void, draw_topics)(int64_t n, int64_t F, const int64_t *restrict indptr, const int32_t *restrict indices,
                        const double *restrict data, const double *restrict mixtures, const double *restrict phi,
                        draw_uniform draw, void *state, double *restrict counts, double *restrict words,
                        double *restrict sums)
{
    for (int64_t d = 0; d < n; d++) {
        double *restrict count = counts + d * F;
        for (int64_t k = 0; k < F; k++)
            count[k] = 0.0;
        for (int64_t entry = indptr[d]; entry < indptr[d + 1]; entry++) {
            int64_t at = indices[entry] * F;
            double total = 0.0;
            for (int64_t k = 0; k < F; k++) {
                total += mixtures[d * F + k] * phi[at + k];
                sums[k] = total;
            }
            for (int64_t i = 0; i < (int64_t)data[entry]; i++) {
                double limit = draw(state) * total;
                int64_t topic = 0; /* the first one whose sum is larger, found without a branch */
                for (int64_t k = 0; k < F - 1; k++)
                    topic += sums[k] <= limit;
                count[topic] += 1.0;
                words[at + topic] += 1.0;
            }
        }
    }
}

LOOP(double, log_rising)(double a, double n) { return log_of_rising(a, n); }

LOOP(double, score_logits)(int64_t F, const double *restrict n, const double *restrict logits)
{
    return score_shifted(F, n, logits, 0.0);
}

LOOP(double, compare_logits)(int64_t n, int64_t F, const double *restrict counts, const double *restrict logits,
                             double shift)
{
    double gain = 0.0;
    for (int64_t d = 0; d < n; d++) {
        const double *restrict count = counts + d * F, *restrict own = logits + d * F;
        gain += score_shifted(F, count, own, shift) - score_shifted(F, count, own, 0.0);
    }
    return gain;
}

LOOP(void, draw_logits)(int64_t n, int64_t F, const double *restrict counts, double *restrict logits,
                        const double *restrict mean, const double *restrict other, draw_uniform draw, void *state,
                        double *restrict new)
{
    for (int64_t d = 0; d < n; d++) {
        const double *restrict count = counts + d * F, *restrict move = other + d * F;
        double *restrict own = logits + d * F;
        double limit = score_shifted(F, count, own, 0.0) + log(1.0 - draw(state));
        double angle = 2 * PI * draw(state), low = angle - 2 * PI, high = angle;
        while (fabs(angle) > 1e-9) { /* zero is η itself: rounding must not go on for ever */
            double c = cos(angle), s = sin(angle);
            for (int64_t k = 0; k < F; k++)
                new[k] = mean[k] + (own[k] - mean[k]) * c + move[k] * s;
            if (score_shifted(F, count, new, 0.0) > limit) {
                for (int64_t k = 0; k < F; k++)
                    own[k] = new[k];
                break;
            }
            if (angle < 0)
                low = angle;
            else
                high = angle;
            angle = low + (high - low) * draw(state);
        }
    }
}

LOOP(double, score_shape)(int64_t n_words, int64_t F, const double *restrict words, const double *restrict totals,
                          const double *restrict p, double shape)
{
    double score = 0.0;
    for (int64_t w = 0; w < n_words; w++) {
        double rate = shape / p[w], product = 1.0;
        for (int64_t k = 0; k < F; k++) {
            double n = words[w * F + k];
            if (n > 0)
                score += log_of_rising(shape, n) - n * log(rate + totals[k]);
            product *= 1.0 + totals[k] / rate;
            if (k % LOGARITHMS_AT_A_TIME == 0) {
                score -= shape * log(product);
                product = 1.0;
            }
        }
        score -= shape * log(product);
    }
    return score;
}
