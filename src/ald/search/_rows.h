/* Packed rows: their fields, how they are counted, and how they part.
 *
 * A row is one or more words of 64 bits. The lowest bits of every word hold the confusion cell, the others the codes
 * of some attributes, so that a code and its cell are one index into a histogram. The rows of a node lie side by side.
 */
#ifndef ALD_ROWS_H
#define ALD_ROWS_H

#include "_buffers.h"

/* Unordered attributes with at most this many codes have their sides as bits of a word. */
#define MOST_BITS 64
#define BLOCK 1024

/* Neighbouring rows go to different copies of a narrow histogram: there they often meet in a bin, and an addition would
 * have to wait for the one before it. */
#define COPIES 4
#define NARROW 128

/* Inner loops are compiled for newer processors too; the same arithmetic, the same results. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define MANY_VERSIONS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MANY_VERSIONS
#endif
#define INLINE static inline __attribute__((always_inline))

typedef struct {
    Py_ssize_t word;
    unsigned down;         /* shift a word down by this, and mask it: the code above the bits of the cell */
    uint64_t mask;
    unsigned bit;          /* where the code begins, and the bits that it has */
    uint64_t codes;
    int64_t size;          /* `size` itself is the code of missing values */
    int nominal, narrow;
    const double *scores;
    int64_t *histogram;    /* and COPIES - 1 more, NARROW apart, of narrow ones */
} Field;

/* What does not change from node to node, and room to work in. */
typedef struct {
    Py_ssize_t n_words, n_cells, n_rates, n_drawn;
    int cell_bits;
    uint64_t cell_mask;
    Field *fields;
    const int64_t *hits, *bases; /* per rate its cells, as bits */
    const double *critical;      /* per df: statistics below it are not significant; NULL: not known */
    Py_ssize_t n_critical;
    int disjoint;
    int64_t *histograms;
    uint64_t *seen;    /* codes that occur, as bits */
    int64_t *code;     /* the codes that occur, then per cell how many people they have: integers, exactly */
    double *count;
    double *hit, *base;
    double *x, *v, *cut;
    int64_t capacity;
} Work;

static void
free_work(Work *work)
{
    free(work->fields);
    free(work->histograms);
    free(work->seen);
    free(work->code);
    free(work->count);
    free(work->hit);
    free(work->base);
    free(work->x);
    free(work->v);
    free(work->cut);
}

/* The bits of an attribute's codes, up to that of missing values. */
static unsigned
field_width(int64_t size)
{
    unsigned bits = 0;
    while ((size >> bits) > 0) {
        bits++;
    }
    return bits;
}

/* The bins of an attribute's histogram, with its copies. */
static int64_t
room_of(int64_t size, int cell_bits)
{
    const int64_t bins = (size + 1) << cell_bits;
    return bins <= NARROW ? COPIES * NARROW : bins;
}

/* Fields and room; 0 if there is no memory. Arrays: word, shift, size, nominal, scores. */
static int
make_work(Work *work, const Buffer *b)
{
    const Py_ssize_t k = length(&b[0]);
    const int64_t *word = b[0].view.buf, *shift = b[1].view.buf, *size = b[2].view.buf;
    const uint8_t *nominal = b[3].view.buf;
    const double *scores = b[4].view.buf;
    int64_t bins = 0, largest = 0;
    for (Py_ssize_t a = 0; a < k; a++) {
        bins += room_of(size[a], work->cell_bits);
        largest = size[a] > largest ? size[a] : largest;
    }
    work->capacity = largest + 1;
    work->cell_mask = ((uint64_t)1 << work->cell_bits) - 1;
    size_t room = (size_t)work->capacity;
    work->fields = calloc((size_t)k + 1, sizeof(Field));
    work->histograms = calloc((size_t)bins + 1, sizeof(int64_t));
    work->seen = calloc(room / 64 + 1, sizeof(uint64_t));
    work->code = calloc(room, sizeof(int64_t));
    work->count = calloc(room * (size_t)work->n_cells, sizeof(double));
    work->hit = calloc(room, sizeof(double));
    work->base = calloc(room, sizeof(double));
    work->x = calloc(room, sizeof(double));
    work->v = calloc(room, sizeof(double));
    work->cut = calloc(room, sizeof(double));
    if (!work->fields || !work->histograms || !work->seen || !work->code || !work->count || !work->hit ||
        !work->base || !work->x || !work->v || !work->cut) {
        return 0;
    }
    int64_t *histogram = work->histograms;
    for (Py_ssize_t a = 0; a < k; a++) {
        const unsigned bits = field_width(size[a]);
        work->fields[a] = (Field){
            .word = (Py_ssize_t)word[a],
            .down = (unsigned)(shift[a] - work->cell_bits),
            .mask = (((uint64_t)1 << bits) - 1) << work->cell_bits,
            .bit = (unsigned)shift[a],
            .codes = ((uint64_t)1 << bits) - 1,
            .size = size[a],
            .nominal = nominal[a],
            .narrow = (size[a] + 1) << work->cell_bits <= NARROW,
            .scores = scores,
            .histogram = histogram,
        };
        scores += size[a];
        histogram += room_of(size[a], work->cell_bits);
    }
    return 1;
}

/* Whether the fields lie within words and the other arrays have their lengths. */
static int
fields_fit(const Buffer *b, Py_ssize_t n_words, Py_ssize_t cell_bits)
{
    const Py_ssize_t k = length(&b[0]);
    const int64_t *word = b[0].view.buf, *shift = b[1].view.buf, *size = b[2].view.buf;
    int64_t scores = 0;
    int fits = n_words >= 1 && cell_bits >= 0 && cell_bits <= 16 && length(&b[1]) == k && length(&b[2]) == k &&
               length(&b[3]) == k;
    for (Py_ssize_t a = 0; fits && a < k; a++) {
        fits = word[a] >= 0 && word[a] < n_words && shift[a] >= cell_bits && size[a] >= 0 &&
               size[a] <= UINT32_MAX && (size[a] >> (64 - shift[a] > 32 ? 33 : 64 - shift[a])) == 0 && shift[a] < 64;
        scores += size[a];
    }
    return fits && length(&b[4]) == scores;
}

INLINE uint64_t
bin(uint64_t word, const Field *field, uint64_t cell_mask)
{
    return (word >> field->down & field->mask) | (word & cell_mask);
}

/* Two attributes at once: more would not fit into the registers. A and B: where the next copy is, 0 for wide ones. */
#define COUNT_TWO(A, B)                                                                    \
    do {                                                                                   \
        int64_t i = 0;                                                                     \
        for (; i + COPIES <= n; i += COPIES) {                                             \
            for (int copy = 0; copy < COPIES; copy++) {                                    \
                const uint64_t row = rows[i + copy];                                       \
                a.histogram[bin(row, &a, cell_mask) + copy * (A)] += 1;                    \
                b.histogram[bin(row, &b, cell_mask) + copy * (B)] += 1;                    \
            }                                                                              \
        }                                                                                  \
        for (; i < n; i++) {                                                               \
            a.histogram[bin(rows[i], &a, cell_mask)] += 1;                                 \
            b.histogram[bin(rows[i], &b, cell_mask)] += 1;                                 \
        }                                                                                  \
    } while (0)

MANY_VERSIONS static void
count_two(const uint64_t *rows, int64_t n, uint64_t cell_mask, const Field *first, const Field *second)
{
    /* The narrow one first. */
    const Field a = first->narrow ? *first : *second, b = first->narrow ? *second : *first;
    if (a.narrow && b.narrow) {
        COUNT_TWO(NARROW, NARROW);
    }
    else if (a.narrow) {
        COUNT_TWO(NARROW, 0);
    }
    else {
        COUNT_TWO(0, 0);
    }
}

MANY_VERSIONS static void
count_one(const uint64_t *rows, const int64_t *weights, int64_t n, Py_ssize_t n_words, uint64_t cell_mask,
          const Field *field)
{
    const Field a = *field;
    const uint64_t *word = rows + a.word;
    if (weights == NULL) {
        for (int64_t i = 0; i < n; i++) {
            a.histogram[bin(word[i * n_words], &a, cell_mask)] += 1;
        }
    }
    else {
        for (int64_t i = 0; i < n; i++) {
            a.histogram[bin(word[i * n_words], &a, cell_mask)] += weights[i];
        }
    }
}

/* Adds rows to the histograms of the drawn attributes, in blocks that stay in the cache. */
INLINE void
count_rows(const Work *work, const uint64_t *rows, const int64_t *weights, int64_t n, const int64_t *drawn)
{
    const Field *fields = work->fields;
    for (int64_t start = 0; start < n; start += BLOCK) {
        const int64_t some = n - start < BLOCK ? n - start : BLOCK;
        const uint64_t *block = rows + start * work->n_words;
        Py_ssize_t j = 0;
        if (work->n_words == 1 && weights == NULL) {
            for (; j + 2 <= work->n_drawn; j += 2) {
                count_two(block, some, work->cell_mask, &fields[drawn[j]], &fields[drawn[j + 1]]);
            }
        }
        for (; j < work->n_drawn; j++) {
            count_one(block, weights ? weights + start : NULL, some, work->n_words, work->cell_mask,
                      &fields[drawn[j]]);
        }
    }
}

/* Moves the codes that occur out of a histogram, which is empty after it; missing values are counted, not moved.
 * Returns the number of codes. */
INLINE int64_t
compact(const Work *work, const Field *field, const uint64_t *rows, int64_t n, int64_t *missing)
{
    const Py_ssize_t n_cells = work->n_cells;
    const int64_t capacity = work->capacity;
    int64_t *histogram = field->histogram, *code = work->code;
    double *count = work->count;
    int64_t *last = histogram + (field->size << work->cell_bits);
    if (field->narrow) {
        const int64_t bins = (field->size + 1) << work->cell_bits;
        for (int copy = 1; copy < COPIES; copy++) {
            for (int64_t at = 0; at < bins; at++) {
                histogram[at] += histogram[copy * NARROW + at];
                histogram[copy * NARROW + at] = 0;
            }
        }
    }
    for (Py_ssize_t c = 0; c < n_cells; c++) {
        missing[c] = last[c];
        last[c] = 0;
    }
    int64_t found = 0;
    if (4 * n < field->size) {
        /* Few rows: the codes that occur are found without looking at those that do not. */
        uint64_t *seen = work->seen;
        for (int64_t i = 0; i < n; i++) {
            uint64_t value = (rows[i * work->n_words + field->word] >> field->down & field->mask) >> work->cell_bits;
            seen[value >> 6] |= (uint64_t)1 << (value & 63);
        }
        seen[field->size >> 6] &= ~((uint64_t)1 << (field->size & 63));
        for (int64_t at = 0; at <= field->size >> 6; at++) {
            uint64_t bits = seen[at];
            seen[at] = 0;
            while (bits) {
                int64_t value = at * 64 + __builtin_ctzll(bits);
                bits &= bits - 1;
                int64_t *people = histogram + (value << work->cell_bits);
                code[found] = value;
                for (Py_ssize_t c = 0; c < n_cells; c++) {
                    count[c * capacity + found] = (double)people[c];
                    people[c] = 0;
                }
                found++;
            }
        }
        return found;
    }
    if (n_cells == 2) {
        for (int64_t value = 0; value < field->size; value++) {
            const int64_t first = histogram[2 * value], second = histogram[2 * value + 1];
            code[found] = value;
            count[found] = (double)first;
            count[capacity + found] = (double)second;
            found += (first | second) != 0;
        }
    }
    else {
        for (int64_t value = 0; value < field->size; value++) {
            const int64_t *people = histogram + (value << work->cell_bits);
            int64_t any = 0;
            code[found] = value;
            for (Py_ssize_t c = 0; c < n_cells; c++) {
                count[c * capacity + found] = (double)people[c];
                any |= people[c];
            }
            found += any != 0;
        }
    }
    memset(histogram, 0, (size_t)(field->size << work->cell_bits) * sizeof(int64_t));
    return found;
}

/* How the rows of a node part: by a table (1 for left, 0 for right, 2 for nowhere), by bits, or by a cut. */
typedef struct {
    const Field *field;
    int64_t cut;
    int missing; /* where missing values go, as in tables; of a cut only */
    uint64_t left, right;
    const uint8_t *table;
    int loses;   /* whether anyone may go nowhere */
} Side;

INLINE int
side_of(uint64_t word, const Side *side)
{
    const Field *field = side->field;
    const uint64_t code = word >> field->bit & field->codes;
    if (side->table != NULL) {
        return side->table[code];
    }
    if (field->nominal) {
        return side->left >> code & 1 ? 1 : side->right >> code & 1 ? 0 : 2;
    }
    return (int64_t)code <= side->cut ? 1 : (int64_t)code < field->size ? 0 : side->missing;
}

/* Rows whose code is FIRST go before all others, without a branch: where people go is not predictable. Functions of
 * their own: their loops need all registers. */
#define PART(FIRST)                                                                        \
    do {                                                                                   \
        int64_t l = 0;                                                                     \
        for (int64_t i = 0; i < n; i++) {                                                  \
            const uint64_t word = rows[i], code = word >> bit & codes;                     \
            rows[i] = rows[l];                                                             \
            rows[l] = word;                                                                \
            l += (int64_t)(FIRST);                                                         \
        }                                                                                  \
        return l;                                                                          \
    } while (0)

MANY_VERSIONS static int64_t
part_by_bits(uint64_t *rows, int64_t n, unsigned bit, uint64_t codes, uint64_t first)
{
    PART(first >> code & 1);
}

MANY_VERSIONS static int64_t
part_by_cut(uint64_t *rows, int64_t n, unsigned bit, uint64_t codes, uint64_t cut)
{
    PART(code <= cut);
}

MANY_VERSIONS static int64_t
part_by_cut_or(uint64_t *rows, int64_t n, unsigned bit, uint64_t codes, uint64_t cut, uint64_t other)
{
    PART((code <= cut) | (code == other));
}

MANY_VERSIONS static int64_t
part_between(uint64_t *rows, int64_t n, unsigned bit, uint64_t codes, uint64_t above, uint64_t below)
{
    PART((code > above) & (code < below));
}

/* Puts the rows of one side (as in tables) before all others, in place. Returns how many they are. */
INLINE int64_t
part_rows(const Work *work, uint64_t *rows, int64_t *weights, int64_t n, const Side *side, int wanted)
{
    const Py_ssize_t n_words = work->n_words;
    const Field field = *side->field;
    if (n_words == 1 && weights == NULL && side->table == NULL) {
        const uint64_t size = (uint64_t)field.size, cut = (uint64_t)side->cut;
        if (field.nominal) {
            return part_by_bits(rows, n, field.bit, field.codes, wanted ? side->left : side->right);
        }
        if (!wanted) {
            return part_between(rows, n, field.bit, field.codes, cut, size);
        }
        if (side->missing == 1) {
            return part_by_cut_or(rows, n, field.bit, field.codes, cut, size);
        }
        return part_by_cut(rows, n, field.bit, field.codes, cut);
    }
    int64_t l = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t *row = rows + i * n_words, *first = rows + l * n_words;
        const int is_first = side_of(row[field.word], side) == wanted;
        for (Py_ssize_t w = 0; w < n_words; w++) {
            const uint64_t word = row[w];
            row[w] = first[w];
            first[w] = word;
        }
        if (weights != NULL) {
            const int64_t weight = weights[i];
            weights[i] = weights[l];
            weights[l] = weight;
        }
        l += is_first;
    }
    return l;
}

#endif
