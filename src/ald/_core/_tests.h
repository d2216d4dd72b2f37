/* Association tests and best cuts of the attributes of a node, from its histograms.
 *
 * What ald.search.forest.association and ald.search.forest.splitting compute, to the last bit: sums of integers are exact, and sums
 * of floating-point numbers are taken in NumPy's order.
 */
#ifndef ALD_TESTS_H
#define ALD_TESTS_H

#include "_counting.h"
#include "_sums.h"
#include <math.h>

#define TIE 1e-9
#define NOISE 1e-18
/* Up to this many levels present all partitions are looked at where the order by means is not enough; with several rates,
 * where there is no such order, always. */
#define ENUMERATED_LEVELS 20
#define ENUMERATED_LEVELS_SEVERAL_RATES 12
#define MOST_RATES 64

enum { NONE = 0, FOUND = 1, ASK = 2 };

/* As numpy.add.reduceat gives it for one segment. */
INLINE double
segment_sum(const double *v, int64_t n)
{
    return n == 0 ? 0.0 : n == 1 ? v[0] : v[0] + pairwise(v + 1, n - 1);
}

/* Integers below 2^53 are added exactly in any order, and therefore side by side. */
#define SIDE_BY_SIDE 16

INLINE double
total_of(const double *count, int64_t n)
{
    double sum = 0.0;
    int64_t e = 0;
    if (n >= SIDE_BY_SIDE) {
        double parts[SIDE_BY_SIDE] = {0};
        for (; e + SIDE_BY_SIDE <= n; e += SIDE_BY_SIDE) {
            for (int j = 0; j < SIDE_BY_SIDE; j++) {
                parts[j] += count[e + j];
            }
        }
        for (int j = 0; j < SIDE_BY_SIDE; j++) {
            sum += parts[j];
        }
    }
    for (; e < n; e++) {
        sum += count[e];
    }
    return sum;
}

/* Running sums of integers: of four quarters first, whose sums are then added. */
INLINE void
running_sums(double *v, int64_t n)
{
    const int64_t quarter = n / 4;
    double *second = v + quarter, *third = second + quarter, *fourth = third + quarter;
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    for (int64_t e = 0; e < quarter; e++) {
        a += v[e];
        b += second[e];
        c += third[e];
        d += fourth[e];
        v[e] = a;
        second[e] = b;
        third[e] = c;
        fourth[e] = d;
    }
    b += a;
    c += b;
    d += c;
    for (int64_t e = 0; e < quarter; e++) {
        second[e] += a;
        third[e] += b;
        fourth[e] += c;
    }
    for (int64_t e = 4 * quarter; e < n; e++) {
        d += v[e];
        v[e] = d;
    }
}

/* The largest of some numbers, and of 0. */
INLINE double
largest_of(const double *v, int64_t n)
{
    double largest = 0.0;
    int64_t e = 0;
    if (n >= SIDE_BY_SIDE) {
        double parts[SIDE_BY_SIDE] = {0};
        for (; e + SIDE_BY_SIDE <= n; e += SIDE_BY_SIDE) {
            for (int j = 0; j < SIDE_BY_SIDE; j++) {
                parts[j] = v[e + j] > parts[j] ? v[e + j] : parts[j];
            }
        }
        for (int j = 0; j < SIDE_BY_SIDE; j++) {
            largest = parts[j] > largest ? parts[j] : largest;
        }
    }
    for (; e < n; e++) {
        largest = v[e] > largest ? v[e] : largest;
    }
    return largest;
}

/* The people of some cells, per code that occurs, and their total. */
INLINE double
add_cells(const Work *work, int64_t cells, int64_t n, double *out)
{
    int first = 1;
    for (Py_ssize_t c = 0; c < work->n_cells; c++) {
        if (!(cells >> c & 1)) {
            continue;
        }
        const double *count = work->count + c * work->capacity;
        if (first) {
            memcpy(out, count, (size_t)n * sizeof(double));
        }
        else {
            for (int64_t e = 0; e < n; e++) {
                out[e] += count[e];
            }
        }
        first = 0;
    }
    return total_of(out, n);
}

/* hit * bases - base * hits, exactly, then rounded. */
INLINE double
cross_product(double hit, double base, double hits, double bases, int small)
{
    return small ? hit * bases - base * hits
                 : (double)((int64_t)hit * (int64_t)bases - (int64_t)base * (int64_t)hits);
}

/* Up to so many people the products of two counts are exact in floating point. */
#define SMALL ((double)(1 << 26))

/* Scores shifted and scaled to [0, 1] within the node, as ald.search.forest.association.scaled does. */
INLINE void
scale_scores(const Work *work, const Field *field, int64_t n, double *x)
{
    const double *scores = field->scores;
    const int64_t *code = work->code;
    double low = n ? scores[code[0]] : 0.0, high = n ? scores[code[n - 1]] : 0.0, width = high - low;
    if (n && code[n - 1] - code[0] == n - 1) {
        memcpy(x, scores + code[0], (size_t)n * sizeof(double));
    }
    else {
        for (int64_t e = 0; e < n; e++) {
            x[e] = scores[code[e]];
        }
    }
    if (isinf(width)) {
        for (int64_t e = 0; e < n; e++) {
            x[e] = (x[e] / 2 - low / 2) / (high / 2 - low / 2);
        }
    }
    else if (width > 0) {
        for (int64_t e = 0; e < n; e++) {
            x[e] = (x[e] - low) / width;
        }
    }
    else {
        memset(x, 0, (size_t)n * sizeof(double));
    }
}

/* The association of an attribute with one rate: see ald.search.forest.association.associate. Returns the statistic. */
INLINE double
associate(const Work *work, const Field *field, int64_t n, double hits, double bases, int64_t *df)
{
    const double *hit = work->hit, *base = work->base;
    const int small = bases <= SMALL;
    double *v = work->v, *x = work->x, statistic;
    int64_t present = 0;
    for (int64_t e = 0; e < n; e++) {
        present += base[e] > 0;
    }
    *df = 0;
    if (present < 2 || hits <= 0 || hits >= bases) {
        return 0.0;
    }
    *df = field->nominal ? present - 1 : 1;
    if (field->nominal) {
        for (int64_t e = 0; e < n; e++) {
            const double cross = cross_product(hit[e], base[e], hits, bases, small);
            v[e] = base[e] > 0 ? cross * cross / base[e] : 0.0;
        }
        statistic = segment_sum(v, n);
    }
    else {
        for (int64_t e = 0; e < n; e++) {
            v[e] = base[e] * x[e];
        }
        const double mean = segment_sum(v, n) / bases;
        for (int64_t e = 0; e < n; e++) {
            x[e] = x[e] - mean;
        }
        for (int64_t e = 0; e < n; e++) {
            v[e] = cross_product(hit[e], base[e], hits, bases, small) * x[e];
        }
        const double sums = segment_sum(v, n);
        for (int64_t e = 0; e < n; e++) {
            v[e] = base[e] * x[e] * x[e];
        }
        statistic = sums * sums / segment_sum(v, n);
    }
    statistic = statistic / (hits * (bases - hits)) * (bases - 1.0) / bases;
    return statistic >= NOISE ? statistic : 0.0;
}

/* Adds the two-sample statistic of every cut to cut[]: hit and base become running sums. */
INLINE void
add_two_sample(const Work *work, int64_t n, double hits, double bases, int first)
{
    double *hit = work->hit, *base = work->base, *cut = work->cut;
    const int small = bases <= SMALL;
    running_sums(hit, n);
    running_sums(base, n);
    const double margin = hits * (bases - hits), most = bases - 1;
    for (int64_t e = 0; e < n; e++) {
        const double cross = cross_product(hit[e], base[e], hits, bases, small);
        const double scale = margin * (base[e] * (bases - base[e]));
        const double value = scale > 0 ? cross * cross / scale * most : 0.0;
        cut[e] = first ? value : cut[e] + value;
    }
}

/* What is found out about an attribute in a node. */
typedef struct {
    double *statistic;
    int64_t *df;
    Py_ssize_t n_requests;
    uint8_t *state;
    int64_t *cut;
    uint64_t *left_bits, *present_bits;
    int64_t *left, *observed;
} Found;

/* The best admissible cut of the codes in their present order: its last position on the left, or -1. */
INLINE int64_t
best_cut(const Work *work, int64_t n, int64_t n_observed, int64_t min_bucket, double *best, double *unrestricted)
{
    const double *cut = work->cut;
    double *left = work->v;
    add_cells(work, -1, n, left);
    running_sums(left, n);
    /* Every code has someone, so that these numbers ascend. */
    const double least = (double)min_bucket, most = (double)(n_observed - min_bucket);
    int64_t from = 0, to = n;
    while (from < n && left[from] < least) {
        from++;
    }
    while (to > from && left[to - 1] > most) {
        to--;
    }
    *unrestricted = largest_of(cut, n - 1);
    *best = largest_of(cut + from, to - from);
    if (*best <= 0) {
        return -1;
    }
    const double threshold = *best - TIE * *best;
    for (int64_t e = from; e < to; e++) {
        if (cut[e] > 0 && cut[e] >= threshold) {
            return e;
        }
    }
    return -1;
}

/* Orders the codes by a key, the first ones first among equals. */
INLINE void
order_by(const Work *work, double *key, int64_t n)
{
    for (int64_t e = 1; e < n; e++) {
        for (int64_t at = e; at > 0 && key[at - 1] > key[at]; at--) {
#define SWAP(TYPE, ARRAY)                                                                  \
    do {                                                                                   \
        const TYPE other = (ARRAY)[at];                                                    \
        (ARRAY)[at] = (ARRAY)[at - 1];                                                     \
        (ARRAY)[at - 1] = other;                                                           \
    } while (0)
            SWAP(double, key);
            SWAP(int64_t, work->code);
            SWAP(double, work->hit);
            SWAP(double, work->base);
            for (Py_ssize_t c = 0; c < work->n_cells; c++) {
                SWAP(double, work->count + c * work->capacity);
            }
        }
    }
}

INLINE void
order_by_mean(const Work *work, int64_t n)
{
    double *mean = work->v;
    for (int64_t e = 0; e < n; e++) {
        mean[e] = work->hit[e] / (work->base[e] > 1 ? work->base[e] : 1);
    }
    order_by(work, mean, n);
}

INLINE void
order_by_code(const Work *work, int64_t n)
{
    double *code = work->v;
    for (int64_t e = 0; e < n; e++) {
        code[e] = (double)work->code[e];
    }
    order_by(work, code, n);
}

/* The people of a node on the right of a partition of its levels. */
typedef struct {
    double people, hit[MOST_RATES], base[MOST_RATES];
} RightSide;

INLINE double
two_sample(const Work *work, const RightSide *right, const double *hits, const double *bases)
{
    double sum = 0.0;
    for (Py_ssize_t r = 0; r < work->n_rates; r++) {
        const double cross = cross_product(right->hit[r], right->base[r], hits[r], bases[r], bases[r] <= SMALL);
        const double scale = hits[r] * (bases[r] - hits[r]) * (right->base[r] * (bases[r] - right->base[r]));
        const double value = scale > 0 ? cross * cross / scale * (bases[r] - 1) : 0.0;
        sum = r == 0 ? value : sum + value;
    }
    return sum;
}

/* The best admissible partition of the levels, which are in the order of their codes, and its statistic: bit l says that
 * level l + 1 goes right; 0: there is none. Partitions are visited so that one level moves at a time, twice: for the
 * largest statistic, and for the first partition within the tie tolerance of it. */
static uint64_t
best_partition(const Work *work, int64_t n, double n_observed, int64_t min_bucket, const double *hits,
               const double *bases, double *best)
{
    uint64_t chosen = 0;
    *best = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        RightSide right;
        memset(&right, 0, sizeof(right));
        uint64_t partition = 0;
        for (uint64_t step = 1; step < (uint64_t)1 << (n - 1); step++) {
            const int level = __builtin_ctzll(step);
            partition ^= (uint64_t)1 << level;
            const double sign = partition >> level & 1 ? 1.0 : -1.0;
            for (Py_ssize_t c = 0; c < work->n_cells; c++) {
                const double moved = sign * work->count[c * work->capacity + level + 1];
                right.people += moved;
                for (Py_ssize_t r = 0; r < work->n_rates; r++) {
                    right.hit[r] += work->hits[r] >> c & 1 ? moved : 0.0;
                    right.base[r] += work->bases[r] >> c & 1 ? moved : 0.0;
                }
            }
            if (right.people < (double)min_bucket || n_observed - right.people < (double)min_bucket) {
                continue;
            }
            const double value = two_sample(work, &right, hits, bases);
            if (pass == 0) {
                *best = value > *best ? value : *best;
            }
            else if (value > 0 && value >= *best - TIE * *best && (chosen == 0 || partition < chosen)) {
                chosen = partition;
            }
        }
        if (*best <= 0) {
            return 0;
        }
    }
    return chosen;
}

INLINE void
split(const Work *work, const Field *field, int64_t n, int64_t min_bucket, const double *hits, const double *bases,
      const Found *found, Py_ssize_t request)
{
    const int64_t *observed = found->observed + request * work->n_cells;
    const int several = work->n_rates > 1;
    int64_t n_observed = 0;
    for (Py_ssize_t c = 0; c < work->n_cells; c++) {
        n_observed += observed[c];
    }
    uint64_t present = 0, left_bits = 0;
    const int64_t lowest = n ? work->code[0] : 0;
    if (field->nominal) {
        if (field->size >= MOST_BITS || (several && n > ENUMERATED_LEVELS_SEVERAL_RATES)) {
            found->state[request] = ASK;
            return;
        }
        for (int64_t e = 0; e < n; e++) {
            present |= (uint64_t)1 << work->code[e];
        }
    }
    double best = 0.0, unrestricted = INFINITY;
    int64_t last = -1;
    if (!(field->nominal && several)) {
        if (field->nominal) {
            order_by_mean(work, n);
        }
        for (Py_ssize_t r = 0; r < work->n_rates; r++) {
            if (several) {
                add_cells(work, work->hits[r], n, work->hit);
                add_cells(work, work->bases[r], n, work->base);
            }
            add_two_sample(work, n, hits[r], bases[r], r == 0);
        }
        last = best_cut(work, n, n_observed, min_bucket, &best, &unrestricted);
        for (int64_t e = 0; field->nominal && e <= last; e++) {
            left_bits |= (uint64_t)1 << work->code[e];
        }
    }
    int is_found = last >= 0;
    if (field->nominal && n <= ENUMERATED_LEVELS && !(best >= unrestricted * (1 - TIE))) {
        /* The order of means does not contain the best partition: all are looked at. */
        double value;
        order_by_code(work, n);
        const uint64_t partition = best_partition(work, n, (double)n_observed, min_bucket, hits, bases, &value);
        if (partition && value > best * (1 + TIE)) {
            is_found = 1;
            left_bits = 0;
            for (int64_t e = 0; e < n; e++) {
                left_bits |= (uint64_t)(e == 0 || !(partition >> (e - 1) & 1)) << work->code[e];
            }
        }
    }
    if (!is_found) {
        return;
    }
    /* The first level present names the left side. */
    if (field->nominal && !(left_bits >> lowest & 1)) {
        left_bits = present & ~left_bits;
    }
    found->cut[request] = field->nominal ? -1 : work->code[last];
    int64_t *left = found->left + request * work->n_cells;
    for (Py_ssize_t c = 0; c < work->n_cells; c++) {
        const double *count = work->count + c * work->capacity;
        left[c] = field->nominal ? 0 : (int64_t)total_of(count, last + 1);
        for (int64_t e = 0; field->nominal && e < n; e++) {
            left[c] += left_bits >> work->code[e] & 1 ? (int64_t)count[e] : 0;
        }
    }
    found->left_bits[request] = left_bits;
    found->present_bits[request] = present;
    found->state[request] = FOUND;
}

/* Counts, tests and cuts the drawn attributes of one node. */
INLINE void
test_node(const Work *work, const uint64_t *rows, int64_t n, const int64_t *drawn, int64_t min_bucket,
          const Found *found, Py_ssize_t request)
{
    count_rows(work, rows, n, drawn);
    double hits[MOST_RATES], bases[MOST_RATES];
    for (Py_ssize_t j = 0; j < work->n_drawn; j++, request++) {
        const Field *field = &work->fields[drawn[j]];
        int64_t missing[LANES];
        const int64_t codes = compact(work, field, rows, n, missing);
        for (Py_ssize_t c = 0; c < work->n_cells; c++) {
            found->observed[request * work->n_cells + c] = (int64_t)total_of(work->count + c * work->capacity, codes);
        }
        found->state[request] = NONE;
        double total = 0.0;
        int64_t degrees = 0;
        for (Py_ssize_t r = 0; r < work->n_rates; r++) {
            hits[r] = add_cells(work, work->hits[r], codes, work->hit);
            bases[r] = add_cells(work, work->bases[r], codes, work->base);
            if (!field->nominal) {
                scale_scores(work, field, codes, work->x);
            }
            int64_t df;
            const double statistic = associate(work, field, codes, hits[r], bases[r], &df);
            found->statistic[r * found->n_requests + request] = statistic;
            found->df[r * found->n_requests + request] = df;
            total += statistic;
            degrees += df;
        }
        if (degrees == 0) {
            continue;
        }
        if (work->disjoint && degrees < work->n_critical && total < work->critical[degrees]) {
            continue;
        }
        split(work, field, codes, min_bucket, hits, bases, found, request);
    }
}

#endif
