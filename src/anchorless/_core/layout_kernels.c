/* Loops that move documents on a map: one after another, so that the result has the same bits every time.
 * layout_kernels.py says what each of them computes. Places (n, 2) are x and y of each document. */

#ifndef LAYOUT_HELPERS
#define LAYOUT_HELPERS

/* Documents that each document of a pair is pushed from, and the strength of a push. */
#define N_PUSHES 5
#define PUSH 3.0
/* A document moves by no more than this at a time. */
#define MAX_MOVE 4.0
/* Cells of the grid, at most. */
#define MAX_CELLS 1e9

HELPER double limit_move(double x) { return x < -MAX_MOVE ? -MAX_MOVE : x > MAX_MOVE ? MAX_MOVE : x; }

/* Return the cell of a grid with n cells that begins at `low`, the first or the last one for what lies outside. */
HELPER int64_t find_cell(double x, double low, double least, int64_t n)
{
    double cell = (x - low) / least;
    return cell > 0.0 ? (cell < n ? (int64_t)cell : n - 1) : 0;
}

#endif

/* `due` are the passes after which each pair moves next. */
LOOP(void, move_documents)(int64_t n, int64_t n_pairs, int64_t n_epochs, double *restrict places,
                           const int64_t *restrict rows, const int64_t *restrict columns,
                           const double *restrict intervals, double *restrict due)
{
    uint64_t state = 88172645463325252u;
    for (int64_t epoch = 0; epoch < n_epochs; epoch++) {
        double step = 1.0 - (double)epoch / (double)n_epochs;
        for (int64_t e = 0; e < n_pairs; e++) {
            if (due[e] > epoch + 1)
                continue;
            due[e] += intervals[e];
            double *one = places + 2 * rows[e], *other = places + 2 * columns[e];
            double x = one[0] - other[0], y = one[1] - other[1];
            double force = -2.0 / (1.0 + x * x + y * y);
            x = step * limit_move(force * x);
            y = step * limit_move(force * y);
            one[0] += x;
            one[1] += y;
            other[0] -= x;
            other[1] -= y;
            for (int side = 0; side < 2 * N_PUSHES; side++) {
                double *a = side < N_PUSHES ? one : other;
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                double *b = places + 2 * (int64_t)(state % (uint64_t)n);
                if (a == b)
                    continue;
                x = a[0] - b[0];
                y = a[1] - b[1];
                double squared = x * x + y * y;
                force = 2.0 * PUSH / ((0.001 + squared) * (1.0 + squared));
                a[0] += step * limit_move(force * x);
                a[1] += step * limit_move(force * y);
            }
        }
    }
}

/* Return 0 if there is not enough memory. */
LOOP(int, spread_documents)(int64_t n, double *restrict places, double least, int64_t n_rounds,
                            int64_t *restrict following)
{
    for (int64_t round = 0; n > 0 && round < n_rounds; round++) {
        double low_x = places[0], high_x = places[0], low_y = places[1], high_y = places[1];
        for (int64_t i = 1; i < n; i++) {
            double x = places[2 * i], y = places[2 * i + 1];
            low_x = x < low_x ? x : low_x;
            high_x = x > high_x ? x : high_x;
            low_y = y < low_y ? y : low_y;
            high_y = y > high_y ? y : high_y;
        }
        double width = (high_x - low_x) / least, height = (high_y - low_y) / least;
        if (!((width + 1.0) * (height + 1.0) <= MAX_CELLS))
            return 0;
        int64_t across = (int64_t)width + 1, down = (int64_t)height + 1;
        int64_t *restrict first = malloc((size_t)(across * down) * sizeof *first);
        if (first == NULL)
            return 0;
        for (int64_t cell = 0; cell < across * down; cell++)
            first[cell] = -1;
        for (int64_t i = n - 1; i >= 0; i--) {
            int64_t cx = find_cell(places[2 * i], low_x, least, across);
            int64_t cell = cx * down + find_cell(places[2 * i + 1], low_y, least, down);
            following[i] = first[cell];
            first[cell] = i;
        }
        int moved = 0;
        for (int64_t i = 0; i < n; i++) {
            double *here = places + 2 * i;
            int64_t cx = find_cell(here[0], low_x, least, across), cy = find_cell(here[1], low_y, least, down);
            for (int64_t a = cx > 0 ? cx - 1 : 0; a < across && a < cx + 2; a++)
                for (int64_t b = cy > 0 ? cy - 1 : 0; b < down && b < cy + 2; b++)
                    for (int64_t j = first[a * down + b]; j >= 0; j = following[j]) {
                        if (j <= i)
                            continue;
                        double *there = places + 2 * j, x = here[0] - there[0], y = here[1] - there[1];
                        double squared = x * x + y * y;
                        if (!(0.0 < squared && squared < least * least))
                            continue;
                        double part = 0.25 * (least / sqrt(squared) - 1.0), most = 0.25 * least / sqrt(squared);
                        part = most < part ? most : part;
                        here[0] += part * x;
                        here[1] += part * y;
                        there[0] -= part * x;
                        there[1] -= part * y;
                        moved = 1;
                    }
        }
        free(first);
        if (!moved)
            break;
    }
    return 1;
}
