/* Where outcomes are amounts: histograms of packed rows, association tests and best cuts.
 *
 * What ald.search.forest.association and ald.search.forest.splitting compute of ald.notions.MeanCounter, to the last bit: sums are
 * integers, and what is made of them is made in NumPy's order.
 */
#ifndef ALD_AMOUNTS_H
#define ALD_AMOUNTS_H

#include "_tests.h"

/* Codes of all attributes together that there is room for, in a histogram of amounts. */
#define MOST_AMOUNT_BINS ((int64_t)1 << 22)
/* Differences of products below this are exact modulo 2^64: see ald._core.exact. */
#define WRAPS 0x1p62
/* Rows whose moments are in the nearest cache. */
#define MOMENT_ROWS 256

INLINE int64_t
amount_of(const Work *work, const uint64_t *row)
{
    return (int32_t)(uint32_t)row[work->n_words - 1];
}

/* What some rows add. */
INLINE void
moments_of(const Work *work, const uint64_t *rows, int64_t n, Moments *out)
{
    for (int64_t i = 0; i < n; i++) {
        const uint64_t *row = rows + i * work->n_words;
        const int64_t amount = amount_of(work, row), people = (int64_t)weight_of(work, row), square = amount * amount;
        out[i] = (Moments){people, people * amount, people * (square >> WORD_BITS),
                           people * (square & (((int64_t)1 << WORD_BITS) - 1))};
    }
}

/* What some rows add in all. */
MANY_VERSIONS static void
sum_moments(const Work *work, const uint64_t *rows, int64_t n, Moments *sum)
{
    Moments total = {0};
    for (int64_t i = 0; i < n; i++) {
        Moments one;
        moments_of(work, rows + i * work->n_words, 1, &one);
        total += one;
    }
    *sum = total;
}

/* Adds what rows add to the histograms of one, two or four attributes at a time. */
#define BIN_OF(FIELD) FIELD.moments[row[FIELD.word] >> FIELD.bit & FIELD.codes]
#define ADD_MOMENTS(NAME, N, ...)                                                          \
    MANY_VERSIONS static void NAME(const Work *work, const uint64_t *rows, int64_t n, const int64_t *drawn) \
    {                                                                                      \
        const Field *const f[4] = {&work->fields[drawn[0]], &work->fields[drawn[N > 1 ? 1 : 0]], \
                                   &work->fields[drawn[N > 2 ? 2 : 0]], &work->fields[drawn[N > 2 ? 3 : 0]]}; \
        const Field a = *f[0], b = *f[1], c = *f[2], d = *f[3];                            \
        const Py_ssize_t step = work->n_words;                                             \
        const Moments *added = work->added;                                                \
        (void)b, (void)c, (void)d;                                                         \
        for (int64_t i = 0; i < n; i++) {                                                  \
            const uint64_t *row = rows + i * step;                                         \
            const Moments one = added[i];                                                  \
            __VA_ARGS__                                                                    \
        }                                                                                  \
    }
ADD_MOMENTS(add_to_one, 1, BIN_OF(a) += one;)
ADD_MOMENTS(add_to_two, 2, BIN_OF(a) += one; BIN_OF(b) += one;)
ADD_MOMENTS(add_to_four, 4, BIN_OF(a) += one; BIN_OF(b) += one; BIN_OF(c) += one; BIN_OF(d) += one;)

#if HAS_VECTORS
/* Four attributes of rows of two words, of one person each: what a row adds is made as it is read. */
WITH_VECTORS static void
add_pairs_to_four(const Work *work, const uint64_t *rows, int64_t n, const int64_t *drawn)
{
    const Field a = work->fields[drawn[0]], b = work->fields[drawn[1]], c = work->fields[drawn[2]],
                d = work->fields[drawn[3]];
    char *const of[2][4] = {
        {(char *)a.moments, (char *)b.moments, (char *)c.moments, (char *)d.moments},
        {(char *)(a.moments + a.twin), (char *)(b.moments + b.twin), (char *)(c.moments + c.twin),
         (char *)(d.moments + d.twin)},
    };
    /* One person, the amount, the high word of its square, and the low one. */
    const __m256i unit = _mm256_setr_epi64x(1, 0, 0, 0), ones = _mm256_set1_epi64x(1);
    const __m256i shifts = _mm256_setr_epi64x(0, 0, WORD_BITS, 0);
    const __m256i wanted = _mm256_setr_epi64x(0, 0, -1, ((int64_t)1 << WORD_BITS) - 1);
#define ADD_TO(COPY, J, FIELD)                                                             \
    do {                                                                                   \
        __m256i *bin = (__m256i *)(of[COPY][J] + (word >> FIELD.down & FIELD.mask));       \
        _mm256_store_si256(bin, _mm256_add_epi64(_mm256_load_si256(bin), add));            \
    } while (0)
#define ADD_PAIR(COPY, ROW)                                                                \
    do {                                                                                   \
        const uint64_t word = (ROW)[0];                                                    \
        const __m256i amount = _mm256_set1_epi64x((long long)(ROW)[1]);                    \
        const __m256i square = _mm256_srlv_epi64(_mm256_mul_epi32(amount, amount), shifts); \
        const __m256i first = _mm256_mask_mul_epi32(unit, 2, amount, ones);                \
        const __m256i add = _mm256_ternarylogic_epi64(square, wanted, first, 0xea);        \
        ADD_TO(COPY, 0, a);                                                                \
        ADD_TO(COPY, 1, b);                                                                \
        ADD_TO(COPY, 2, c);                                                                \
        ADD_TO(COPY, 3, d);                                                                \
    } while (0)
    int64_t i = 0;
    for (; i + 2 <= n; i += 2) {
        __builtin_prefetch((const void *)((uintptr_t)(rows + 2 * i) + WORDS_AHEAD * sizeof(uint64_t)));
        ADD_PAIR(0, rows + 2 * i);
        ADD_PAIR(1, rows + 2 * i + 2);
    }
    if (i < n) {
        ADD_PAIR(0, rows + 2 * i);
    }
}
#endif

MANY_VERSIONS static void
fill_moments(const Work *work, const uint64_t *rows, int64_t n)
{
    moments_of(work, rows, n, work->added);
}

/* Adds rows to the histograms of the drawn attributes. */
static void
count_amounts_of(const Work *work, const uint64_t *rows, int64_t n, const int64_t *drawn)
{
    Py_ssize_t done = 0;
#if HAS_VECTORS
    while (vectors == ALL_VECTORS && work->n_words == 2 && work->weight_word < 0 && done + 4 <= work->n_drawn) {
        add_pairs_to_four(work, rows, n, drawn + done);
        done += 4;
    }
#endif
    for (int64_t start = 0; start < n && done < work->n_drawn; start += MOMENT_ROWS) {
        const int64_t some = n - start < MOMENT_ROWS ? n - start : MOMENT_ROWS;
        const uint64_t *block = rows + start * work->n_words;
        Py_ssize_t j = done;
        fill_moments(work, block, some);
        for (; j + 4 <= work->n_drawn; j += 4) {
            add_to_four(work, block, some, drawn + j);
        }
        for (; j + 2 <= work->n_drawn; j += 2) {
            add_to_two(work, block, some, drawn + j);
        }
        for (; j < work->n_drawn; j++) {
            add_to_one(work, block, some, drawn + j);
        }
    }
}

#if HAS_VECTORS
/* The same of eight codes at a time, as far as there are as many. Code, people and sums have room for eight more. Returns
 * how many codes were looked at. */
WITH_VECTORS static int64_t
compact_eight_amounts(const Work *work, const Moments *bins, int64_t size, int64_t *n, Moments *total)
{
    const __m512i firsts = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13);
    const __m512i lows = _mm512_setr_epi64(0, 1, 2, 3, 8, 9, 10, 11), highs = _mm512_setr_epi64(4, 5, 6, 7, 12, 13, 14, 15);
    __m512i codes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), sum = _mm512_setzero_si512();
    int64_t found = 0, value = 0;
    for (; value + 8 <= size; value += 8) {
        __m512i two[4];
        for (int j = 0; j < 4; j++) {
            two[j] = _mm512_loadu_si512(bins + value + 2 * j);
        }
        const __m512i low = _mm512_permutex2var_epi64(two[0], firsts, two[1]);
        const __m512i high = _mm512_permutex2var_epi64(two[2], firsts, two[3]);
        const __m512i people = _mm512_permutex2var_epi64(low, lows, high);
        const __m512i sums = _mm512_permutex2var_epi64(low, highs, high);
        const __mmask8 some = _mm512_test_epi64_mask(people, people);
        sum = _mm512_add_epi64(sum, _mm512_add_epi64(_mm512_add_epi64(two[0], two[1]), _mm512_add_epi64(two[2], two[3])));
        _mm512_storeu_si512(work->code + found, _mm512_maskz_compress_epi64(some, codes));
        _mm512_storeu_si512(work->people + found, _mm512_maskz_compress_epi64(some, people));
        _mm512_storeu_si512(work->sum + found, _mm512_maskz_compress_epi64(some, sums));
        codes = _mm512_add_epi64(codes, _mm512_set1_epi64(8));
        found += __builtin_popcount(some);
    }
    _mm256_storeu_si256((__m256i *)total,
                        _mm256_add_epi64(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64(sum, 1)));
    *n = found;
    return value;
}
#endif

/* The codes that occur, ascending, with their people and sums, and the moments of all. Missing values are set aside; the
 * histogram keeps the rest. Returns the number of codes. */
INLINE int64_t
compact_amounts(const Work *work, const Field *field, const uint64_t *rows, int64_t n, Moments *all, Moments *missing)
{
    Moments *bins = field->moments, total = {0};
    int64_t *code = work->code, *people = work->people, *sum = work->sum, found = 0;
    for (int64_t value = 0; value < field->twin; value++) {
        bins[value] += bins[value + field->twin];
        bins[value + field->twin] = total;
    }
    *missing = bins[field->size];
    bins[field->size] = total;
    if (8 * n < field->size) {
        /* Few rows: the codes that occur are found without looking at those that do not. */
        uint64_t *seen = work->seen;
        for (int64_t i = 0; i < n; i++) {
            const uint64_t value = rows[i * work->n_words + field->word] >> field->bit & field->codes;
            if (value < (uint64_t)field->size) {
                seen[value >> 6] |= (uint64_t)1 << (value & 63);
            }
        }
        for (int64_t at = 0; at <= field->size >> 6; at++) {
            uint64_t bits = seen[at];
            seen[at] = 0;
            while (bits) {
                const int64_t value = at * 64 + __builtin_ctzll(bits);
                bits &= bits - 1;
                const Moments bin = bins[value];
                total += bin;
                code[found] = value;
                people[found] = bin[PEOPLE];
                sum[found] = bin[SUM];
                found++;
            }
        }
    }
    else {
        int64_t value = 0;
#if HAS_VECTORS
        if (vectors == ALL_VECTORS) {
            value = compact_eight_amounts(work, bins, field->size, &found, &total);
        }
#endif
        for (; value < field->size; value++) {
            const Moments bin = bins[value];
            total += bin;
            code[found] = value;
            people[found] = bin[PEOPLE];
            sum[found] = bin[SUM];
            found += bin[PEOPLE] != 0;
        }
    }
    *all = total;
    return found;
}

/* Empties a histogram of which n codes occur. */
INLINE void
clear_amounts(const Work *work, const Field *field, int64_t n)
{
    if (4 * n > field->size) {
        memset(field->moments, 0, (size_t)field->size * sizeof(Moments));
        return;
    }
    for (int64_t e = 0; e < n; e++) {
        field->moments[work->code[e]] = (Moments){0};
    }
}

/* The codes that occur of one attribute, missing values last, and their moments. Returns the number of codes. */
static int64_t
collect_amounts(const Work *work, const uint64_t *rows, int64_t n, int64_t attribute, uint32_t *codes, int64_t *counts)
{
    const Field *field = &work->fields[attribute];
    Moments all, missing;
    count_amounts_of(work, rows, n, &attribute);
    int64_t found = compact_amounts(work, field, rows, n, &all, &missing);
    for (int64_t e = 0; e < found; e++) {
        codes[e] = (uint32_t)work->code[e];
        memcpy(counts + e * MOMENTS, &field->moments[work->code[e]], sizeof(Moments));
    }
    clear_amounts(work, field, found);
    if (missing[PEOPLE]) {
        codes[found] = (uint32_t)field->size;
        memcpy(counts + found * MOMENTS, &missing, sizeof(Moments));
        found++;
    }
    return found;
}

/* Sums and products that wrap around as NumPy's do. */
#define WRAPPED(...) ((int64_t)(__VA_ARGS__))

/* part * everyone - people * whole: as ald._core.exact.cross_product_of_sums. */
INLINE double
cross_of_sums(int64_t part, int64_t people, int64_t whole, int64_t everyone)
{
    const double estimate = (double)part * (double)everyone - (double)people * (double)whole;
    const int64_t exact = WRAPPED((uint64_t)part * (uint64_t)everyone - (uint64_t)people * (uint64_t)whole);
    return fabs(estimate) < WRAPS ? (double)exact : estimate;
}

/* Whether all differences of products of sums of some of these amounts are below that: no sum is larger than the root of
 * people times sum of squares. */
INLINE int
never_wraps(const Moments *of)
{
    const double people = (double)(*of)[PEOPLE];
    const double squares = ldexp((double)(*of)[HIGH], WORD_BITS) + (double)(*of)[LOW];
    return people * sqrt(people * squares) < WRAPS / 4;
}

/* The same of every code, or of everyone up to it. */
INLINE void
cross_all(const int64_t *sum, const int64_t *people, int64_t n, int64_t total, int64_t everyone, int small, double *cross)
{
    for (int64_t e = 0; small && e < n; e++) {
        cross[e] = (double)(sum[e] * everyone - people[e] * total);
    }
    for (int64_t e = 0; !small && e < n; e++) {
        cross[e] = cross_of_sums(sum[e], people[e], total, everyone);
    }
}

/* people^2 times the variance: as ald._core.exact.scatter. */
static double
scatter(const Moments *of)
{
    const int64_t n = (*of)[PEOPLE], high = (*of)[HIGH], low = (*of)[LOW], twice = n > 0 ? 2 * n : 1;
    const uint64_t people = (uint64_t)n, total = (uint64_t)(*of)[SUM];
    const int64_t above = WRAPPED(2 * total + people), centre = above / twice - (above % twice < 0);
    const int64_t rest = WRAPPED(total - people * (uint64_t)centre), both = WRAPPED(total + (uint64_t)rest);
    const double estimate = ldexp((double)high, WORD_BITS) + (double)low - (double)centre * (double)both;
    const int64_t wrapped =
        WRAPPED(((uint64_t)high << WORD_BITS) + (uint64_t)low - (uint64_t)centre * (uint64_t)both);
    const double around = estimate < WRAPS ? (double)wrapped : estimate;
    return (double)n * around - (double)rest * (double)rest;
}

/* The association of an attribute with the amounts. Returns the statistic. */
INLINE double
associate_amounts(const Work *work, const Field *field, int64_t n, int64_t total, int64_t everyone, double margin,
                  int small, int64_t *df)
{
    const int64_t *people = work->people;
    const double bases = (double)everyone;
    double *v = work->v, *x = work->x, *cross = work->cut, statistic;
    *df = 0;
    if (n < 2 || !(margin > 0)) {
        return 0.0;
    }
    *df = field->nominal ? n - 1 : 1;
    cross_all(work->sum, people, n, total, everyone, small, cross);
    if (field->nominal) {
        for (int64_t e = 0; e < n; e++) {
            v[e] = cross[e] * cross[e] / (double)people[e];
        }
        statistic = segment_sum(v, n);
    }
    else {
        scale_scores(work, field, n, x);
        for (int64_t e = 0; e < n; e++) {
            v[e] = (double)people[e] * x[e];
        }
        const double mean = segment_sum(v, n) / bases;
        for (int64_t e = 0; e < n; e++) {
            x[e] = x[e] - mean;
            v[e] = cross[e] * x[e];
        }
        const double sums = segment_sum(v, n);
        for (int64_t e = 0; e < n; e++) {
            v[e] = (double)people[e] * x[e] * x[e];
        }
        statistic = sums * sums / segment_sum(v, n);
    }
    statistic = statistic / margin * (bases - 1.0) / bases;
    return statistic >= NOISE ? statistic : 0.0;
}

/* The two-sample statistic of a part. */
INLINE double
two_samples(int64_t sum, int64_t people, int64_t total, int64_t everyone, double margin)
{
    const double cross = cross_of_sums(sum, people, total, everyone);
    const double scale = margin * ((double)people * (double)(everyone - people));
    return scale > 0 ? cross * cross / scale * (double)(everyone - 1) : 0.0;
}

/* The best admissible cut of the codes in their present order: its last position on the left, or -1. People and sums
 * become running sums. */
INLINE int64_t
best_cut_of_amounts(const Work *work, int64_t n, int64_t total, int64_t everyone, double margin, int small,
                    int64_t min_bucket, double *best, double *unrestricted)
{
    int64_t *people = work->people, *sum = work->sum, n_left = 0, sum_left = 0;
    double *cut = work->cut;
    for (int64_t e = 0; e < n; e++) {
        people[e] = n_left += people[e];
        sum[e] = sum_left += sum[e];
    }
    cross_all(sum, people, n, total, everyone, small, cut);
    const double most = (double)(everyone - 1);
    for (int64_t e = 0; e < n; e++) {
        /* As `two_samples`, without a division by zero: nobody may be on the right. */
        const double scale = margin * ((double)people[e] * (double)(everyone - people[e]));
        const double value = cut[e] * cut[e] / (scale > 0 ? scale : 1.0) * most;
        cut[e] = scale > 0 ? value : 0.0;
    }
    /* Every code has someone, so that these numbers ascend. */
    int64_t from = 0, to = n;
    while (from < n && people[from] < min_bucket) {
        from++;
    }
    while (to > from && everyone - people[to - 1] < min_bucket) {
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

/* Orders the codes by their means, the first ones first among equals. */
INLINE void
order_amounts(const Work *work, int64_t n)
{
    double *mean = work->v;
    int64_t *code = work->code, *people = work->people, *sum = work->sum;
    for (int64_t e = 0; e < n; e++) {
        const double own = (double)sum[e] / (double)people[e];
        const int64_t of_code = code[e], of_people = people[e], of_sum = sum[e];
        int64_t at = e;
        for (; at > 0 && mean[at - 1] > own; at--) {
            mean[at] = mean[at - 1];
            code[at] = code[at - 1];
            people[at] = people[at - 1];
            sum[at] = sum[at - 1];
        }
        mean[at] = own;
        code[at] = of_code;
        people[at] = of_people;
        sum[at] = of_sum;
    }
}

/* The best admissible partition of the levels that occur, as `best_partition` finds it. present: their codes, as bits. */
static uint64_t
best_partition_of_amounts(const Field *field, uint64_t present, int64_t total, int64_t everyone, double margin,
                          int64_t min_bucket, double *best)
{
    int64_t people[ENUMERATED_LEVELS], sum[ENUMERATED_LEVELS];
    int n = 0;
    for (uint64_t bits = present; bits; bits &= bits - 1, n++) {
        const Moments bin = field->moments[__builtin_ctzll(bits)];
        people[n] = bin[PEOPLE];
        sum[n] = bin[SUM];
    }
    uint64_t chosen = 0;
    *best = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        int64_t right = 0, sum_right = 0;
        uint64_t partition = 0;
        for (uint64_t step = 1; step < (uint64_t)1 << (n - 1); step++) {
            const int level = __builtin_ctzll(step);
            partition ^= (uint64_t)1 << level;
            const int64_t sign = partition >> level & 1 ? 1 : -1;
            right += sign * people[level + 1];
            sum_right += sign * sum[level + 1];
            if (right < min_bucket || everyone - right < min_bucket) {
                continue;
            }
            const double value = two_samples(sum_right, right, total, everyone, margin);
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
split_amounts(const Work *work, const Field *field, int64_t n, const Moments *all, double margin, int small,
              int64_t min_bucket, const Found *found, Py_ssize_t request)
{
    const int64_t everyone = (*all)[PEOPLE], total = (*all)[SUM];
    uint64_t present = 0, left_bits = 0;
    if (field->nominal) {
        if (field->size >= MOST_BITS) {
            found->state[request] = ASK;
            return;
        }
        for (int64_t e = 0; e < n; e++) {
            present |= (uint64_t)1 << work->code[e];
        }
        order_amounts(work, n);
    }
    double best, unrestricted;
    const int64_t last = best_cut_of_amounts(work, n, total, everyone, margin, small, min_bucket, &best, &unrestricted);
    int is_found = last >= 0;
    for (int64_t e = 0; field->nominal && e <= last; e++) {
        left_bits |= (uint64_t)1 << work->code[e];
    }
    if (field->nominal && n <= ENUMERATED_LEVELS && !(best >= unrestricted * (1 - TIE))) {
        /* The order of means does not contain the best partition: all are looked at. */
        double value;
        const uint64_t partition = best_partition_of_amounts(field, present, total, everyone, margin, min_bucket, &value);
        if (partition && value > best * (1 + TIE)) {
            is_found = 1;
            left_bits = 0;
            int e = 0;
            for (uint64_t bits = present; bits; bits &= bits - 1, e++) {
                left_bits |= e == 0 || !(partition >> (e - 1) & 1) ? bits & -bits : 0;
            }
        }
    }
    if (!is_found) {
        return;
    }
    /* The first level present names the left side. */
    if (field->nominal && !(left_bits & (present & -present))) {
        left_bits = present & ~left_bits;
    }
    Moments left = {0};
    for (uint64_t bits = left_bits; bits; bits &= bits - 1) {
        left += field->moments[__builtin_ctzll(bits)];
    }
    for (int64_t e = 0; !field->nominal && e <= last; e++) {
        left += field->moments[work->code[e]];
    }
    memcpy(found->left + request * MOMENTS, &left, sizeof(left));
    found->cut[request] = field->nominal ? -1 : work->code[last];
    found->left_bits[request] = left_bits;
    found->present_bits[request] = present;
    found->state[request] = FOUND;
}

/* Counts, tests and cuts the drawn attributes of one node. */
INLINE void
test_amounts(const Work *work, const uint64_t *rows, int64_t n, const int64_t *drawn, int64_t min_bucket,
             const Found *found, Py_ssize_t request)
{
    count_amounts_of(work, rows, n, drawn);
    for (Py_ssize_t j = 0; j < work->n_drawn; j++, request++) {
        const Field *field = &work->fields[drawn[j]];
        Moments all, missing;
        const int64_t codes = compact_amounts(work, field, rows, n, &all, &missing);
        memcpy(found->observed + request * MOMENTS, &all, sizeof(all));
        found->state[request] = NONE;
        const double margin = scatter(&all);
        const int small = never_wraps(&all);
        int64_t df;
        const double statistic = associate_amounts(work, field, codes, all[SUM], all[PEOPLE], margin, small, &df);
        found->statistic[request] = statistic;
        found->df[request] = df;
        if (df > 0 && !(df < work->n_critical && statistic < work->critical[df])) {
            split_amounts(work, field, codes, &all, margin, small, min_bucket, found, request);
        }
        clear_amounts(work, field, codes);
    }
}

#endif
