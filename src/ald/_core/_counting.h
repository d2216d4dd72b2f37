/* Counting packed rows: histograms of codes and cells.
 *
 * Several attributes of few bits are counted together, as one: an addition to a histogram of both costs no more than to
 * that of one. The histogram of each comes out of it by sums.
 */
#ifndef ALD_COUNTING_H
#define ALD_COUNTING_H

#include "_rows.h"

/* Rows that are counted before sums are taken: they fit 16 bits. */
#define JOINT_ROWS 32768
typedef uint16_t Lanes __attribute__((vector_size(LANES * sizeof(uint16_t)), aligned(2), may_alias));

/* The bits of a word that a field and the cell have. */
INLINE uint64_t
own_bits(const Work *work, const Field *field)
{
    return field->codes << field->bit | work->cell_mask;
}

INLINE uint64_t
joint_bits(const Work *work, const Joint *joint)
{
    uint64_t bits = 0;
    for (int j = 0; j < joint->n_fields; j++) {
        bits |= own_bits(work, joint->fields[j]);
    }
    return bits;
}

#if HAS_VECTORS
/* Words that memory is asked for before their turn: half a page. */
#define WORDS_AHEAD 256
#define WORDS_PER_LINE 8

/* Does something for every row, which is one word of `step` ones. What is asked for beyond the end is never read. */
#define EACH_ROW(...)                                                                      \
    int64_t i = 0;                                                                         \
    for (; step == 1 && i + WORDS_PER_LINE <= n; i += WORDS_PER_LINE) {                    \
        __builtin_prefetch((const void *)((uintptr_t)(rows + i) + WORDS_AHEAD * sizeof(uint64_t))); \
        _Pragma("GCC unroll 8")                                                            \
        for (int64_t j = 0; j < WORDS_PER_LINE; j++) {                                     \
            const uint64_t row = rows[i + j];                                              \
            __VA_ARGS__                                                                    \
        }                                                                                  \
    }                                                                                      \
    _Pragma("GCC unroll 4")                                                                \
    for (; i < n; i++) {                                                                   \
        const uint64_t row = rows[i * step];                                               \
        __VA_ARGS__                                                                        \
    }

/* Two or three histograms at a time, of attributes in the same word: their additions do not wait for one another. */
#define COUNT_TWO(NAME, A, B)                                                              \
    WITH_BITS static void NAME(const uint64_t *rows, int64_t n, Py_ssize_t step, uint64_t of_a, A *a, uint64_t of_b, \
                               B *b)                                                       \
    {                                                                                      \
        EACH_ROW(a[_pext_u64(row, of_a)] += 1; b[_pext_u64(row, of_b)] += 1;)              \
    }
COUNT_TWO(count_joint_joint, uint16_t, uint16_t)
COUNT_TWO(count_joint_lone, uint16_t, uint32_t)
COUNT_TWO(count_lone_lone, uint32_t, uint32_t)

WITH_BITS static void
count_joint_lone_lone(const uint64_t *rows, int64_t n, Py_ssize_t step, uint64_t of_a, uint16_t *a, uint64_t of_b,
                      uint32_t *b, uint64_t of_c, uint32_t *c)
{
    EACH_ROW(a[_pext_u64(row, of_a)] += 1; b[_pext_u64(row, of_b)] += 1; c[_pext_u64(row, of_c)] += 1;)
}

WITH_BITS static void
count_joint(const uint64_t *rows, int64_t n, Py_ssize_t step, uint64_t bits, uint16_t *histogram)
{
    EACH_ROW(histogram[_pext_u64(row, bits)] += 1;)
}

WITH_BITS static void
count_lone(const uint64_t *rows, int64_t n, Py_ssize_t step, uint64_t bits, uint32_t *histogram)
{
    EACH_ROW(histogram[_pext_u64(row, bits)] += 1;)
}
#endif

INLINE uint64_t
bin(uint64_t word, const Field *field, uint64_t cell_mask)
{
    return (word >> field->down & field->mask) | (word & cell_mask);
}

/* Without an instruction that gathers bits: two attributes at most, the lower one first, or one twice. */
#define COUNT_PORTABLY(NAME, TYPE)                                                         \
    MANY_VERSIONS static void NAME(const Work *work, const Joint *joint, const uint64_t *rows, int64_t n, \
                                   TYPE *histogram)                                        \
    {                                                                                      \
        const Field a = *joint->fields[0], b = *joint->fields[joint->n_fields - 1];        \
        const uint64_t cell_mask = work->cell_mask;                                        \
        const unsigned down = joint->n_fields > 1 ? b.bit - a.width : 0;                   \
        const uint64_t mask = joint->n_fields > 1 ? b.codes << a.width : 0;                \
        const Py_ssize_t step = work->n_words;                                             \
        for (int64_t i = 0; i < n; i++) {                                                  \
            const uint64_t word = rows[i * step];                                          \
            histogram[bin(word, &a, cell_mask) | (word >> down & mask)] += 1;              \
        }                                                                                  \
    }
COUNT_PORTABLY(count_joint_portably, uint16_t)
COUNT_PORTABLY(count_lone_portably, uint32_t)

/* One attribute of rows that stand for several people. */
MANY_VERSIONS static void
count_weighted(const Work *work, const Field *field, const uint64_t *rows, int64_t n)
{
    const Field a = *field;
    const uint64_t cell_mask = work->cell_mask, *words = rows + a.word, *weights = rows + work->weight_word;
    const Py_ssize_t step = work->n_words;
    const unsigned shift = work->weight_shift;
    for (int64_t i = 0; i < n; i++) {
        a.histogram[bin(words[i * step], &a, cell_mask)] += (uint32_t)(weights[i * step] >> shift);
    }
}

/* Adds up what is in the same cell: the upper half of the lanes to the lower one, until every lane is a cell. */
INLINE void
fold(uint16_t *sums, uint64_t cell_mask)
{
#define FOLD(HALF)                                                                         \
    for (int lane = 0; cell_mask < (HALF) && lane < (HALF); lane++) {                      \
        sums[lane] += sums[lane + (HALF)];                                                 \
    }
    FOLD(16)
    FOLD(8)
    FOLD(4)
    FOLD(2)
    FOLD(1)
#undef FOLD
}

/* Moves a joint histogram into those of its attributes. Sums fit 16 bits, as the number of rows does. */
MANY_VERSIONS static void
take_apart(const Work *work, const Joint *joint, uint16_t *histogram)
{
    unsigned width = joint->width;
    for (int j = joint->n_fields - 1; j > 0; j--) {
        /* The topmost attribute: sums per cell of its blocks, which are then added to the first one. */
        const Field *field = joint->fields[j];
        const unsigned bits = field->width - (unsigned)work->cell_bits;
        width -= bits;
        const int64_t block = (int64_t)1 << width;
        /* A block may have fewer lanes than are read. */
        Lanes own;
        for (int lane = 0; lane < LANES; lane++) {
            own[lane] = lane < block ? UINT16_MAX : 0;
        }
        const int64_t codes = (int64_t)1 << bits;
        for (int64_t code = 0; code < codes; code++) {
            uint16_t sums[LANES];
            Lanes sum = {0};
            for (int64_t i = 0; i < block; i += LANES) {
                sum += *(const Lanes *)(histogram + code * block + i) & own;
            }
            memcpy(sums, &sum, sizeof(sums));
            fold(sums, work->cell_mask);
            uint32_t *people = field->histogram + (code << work->cell_bits);
            for (int64_t cell = 0; cell <= (int64_t)work->cell_mask; cell++) {
                people[cell] += sums[cell];
            }
        }
        for (int64_t i = 0; i < block; i += LANES) {
            Lanes sum = {0};
            for (int64_t code = 0; code < codes; code++) {
                sum += *(const Lanes *)(histogram + code * block + i) & own;
            }
            *(Lanes *)(histogram + i) = sum;
        }
        memset(histogram + block, 0, (size_t)(block * (codes - 1)) * sizeof(uint16_t));
    }
    uint32_t *people = joint->fields[0]->histogram;
    for (int64_t i = 0; i < (int64_t)1 << width; i++) {
        people[i] += histogram[i];
    }
    memset(histogram, 0, ((size_t)1 << width) * sizeof(uint16_t));
}

/* Adds a field to the first joint that has room for it, or opens one. Returns the number of joints. */
INLINE Py_ssize_t
join(const Work *work, Joint *joints, Py_ssize_t n, const Field *field, unsigned room)
{
    const unsigned bits = field->width - (unsigned)work->cell_bits;
    const int most = vectors == NO_VECTORS ? 2 : MOST_JOINED;
    for (Py_ssize_t i = 0; i < n; i++) {
        Joint *joint = &joints[i];
        if (joint->word == field->word && joint->width + bits <= room && joint->n_fields < most) {
            int at = joint->n_fields++;
            for (; at > 0 && joint->fields[at - 1]->bit > field->bit; at--) {
                joint->fields[at] = joint->fields[at - 1];
            }
            joint->fields[at] = field;
            joint->width += bits;
            return n;
        }
    }
    joints[n] = (Joint){.word = field->word, .width = field->width, .n_fields = 1, .fields = {field}};
    return n + 1;
}

/* Which attributes are counted together, joints of several first. Fewer rows leave room for fewer bits: taking a
 * histogram apart must not cost more than counting. */
INLINE Py_ssize_t
join_all(const Work *work, int64_t n, const int64_t *drawn)
{
    Joint *joints = work->joints;
    unsigned room = 0;
    while (room < JOINT_BITS && (int64_t)1 << room <= n) {
        room++;
    }
    Py_ssize_t found = 0;
    /* The wide ones first: narrow ones fill up what they leave. */
    for (int narrow = 0; narrow < 2; narrow++) {
        for (Py_ssize_t j = 0; j < work->n_drawn; j++) {
            const Field *field = &work->fields[drawn[j]];
            if ((2 * field->width <= JOINT_BITS) == narrow) {
                found = join(work, joints, found, field, room);
            }
        }
    }
    Py_ssize_t several = 0;
    for (Py_ssize_t i = 0; i < found; i++) {
        if (joints[i].n_fields > 1) {
            const Joint joint = joints[i];
            joints[i] = joints[several];
            joints[several++] = joint;
        }
    }
    return found;
}

#if HAS_VECTORS
/* Counts as many of the next joints at once as there is a loop for. Returns how many; 0: none. */
static Py_ssize_t
count_several(const Work *work, const Joint *joints, Py_ssize_t n_joints, const uint64_t *rows, int64_t n)
{
    if (vectors == NO_VECTORS || n_joints < 2 || joints[0].word != joints[1].word) {
        return 0;
    }
    const Py_ssize_t step = work->n_words;
    const uint64_t *words = rows + joints[0].word;
    const uint64_t of_a = joint_bits(work, &joints[0]), of_b = joint_bits(work, &joints[1]);
    uint16_t *first = work->joint, *second = work->joint + JOINT_ROOM / 2;
    uint32_t *a = joints[0].fields[0]->histogram, *b = joints[1].fields[0]->histogram;
    if (joints[0].n_fields == 1) {
        count_lone_lone(words, n, step, of_a, a, of_b, b);
        return 2;
    }
    if (joints[1].n_fields > 1) {
        count_joint_joint(words, n, step, of_a, first, of_b, second);
        take_apart(work, &joints[1], second);
    }
    else if (n_joints > 2 && joints[2].word == joints[0].word) {
        /* Those of one attribute come last. */
        count_joint_lone_lone(words, n, step, of_a, first, of_b, b, joint_bits(work, &joints[2]),
                              joints[2].fields[0]->histogram);
        take_apart(work, &joints[0], first);
        return 3;
    }
    else {
        count_joint_lone(words, n, step, of_a, first, of_b, b);
    }
    take_apart(work, &joints[0], first);
    return 2;
}
#endif

static void
count_single(const Work *work, const Joint *joint, const uint64_t *rows, int64_t n)
{
    const uint64_t *of_joint = rows + joint->word;
    uint32_t *lone = joint->fields[0]->histogram;
#if HAS_VECTORS
    if (vectors != NO_VECTORS) {
        if (joint->n_fields > 1) {
            count_joint(of_joint, n, work->n_words, joint_bits(work, joint), work->joint);
            take_apart(work, joint, work->joint);
        }
        else {
            count_lone(of_joint, n, work->n_words, joint_bits(work, joint), lone);
        }
        return;
    }
#endif
    if (joint->n_fields > 1) {
        count_joint_portably(work, joint, of_joint, n, work->joint);
        take_apart(work, joint, work->joint);
    }
    else {
        count_lone_portably(work, joint, of_joint, n, lone);
    }
}

/* Adds rows to the histograms of the drawn attributes, in blocks that stay in the cache. */
static void
count_rows(const Work *work, const uint64_t *rows, int64_t n, const int64_t *drawn)
{
    const int weighted = work->weight_word >= 0;
    const Py_ssize_t n_joints = weighted ? 0 : join_all(work, n, drawn);
    const int64_t at_once = weighted ? BLOCK : JOINT_ROWS;
    for (int64_t start = 0; start < n; start += at_once) {
        const int64_t some = n - start < at_once ? n - start : at_once;
        const uint64_t *block = rows + start * work->n_words;
        for (Py_ssize_t i = 0; i < n_joints;) {
            Py_ssize_t counted = 0;
#if HAS_VECTORS
            counted = count_several(work, &work->joints[i], n_joints - i, block, some);
#endif
            if (counted == 0) {
                count_single(work, &work->joints[i], block, some);
            }
            i += counted ? counted : 1;
        }
        for (Py_ssize_t j = 0; weighted && j < work->n_drawn; j++) {
            count_weighted(work, &work->fields[drawn[j]], block, some);
        }
    }
}

/* The codes from `value` on with anyone, of two cells, and the people of these, behind those found already. Returns how
 * many codes there are. */
static int64_t
compact_from(const uint32_t *histogram, int64_t value, int64_t size, int64_t found, int64_t *code, uint32_t *pairs)
{
    for (; value < size; value++) {
        const uint32_t first = histogram[2 * value], second = histogram[2 * value + 1];
        code[found] = value;
        pairs[2 * found] = first;
        pairs[2 * found + 1] = second;
        found += (first | second) != 0;
    }
    return found;
}

#if HAS_VECTORS
/* Eight codes at a time. Code and pairs have room for eight more. */
WITH_VECTORS static int64_t
compact_eight_pairs(const uint32_t *histogram, int64_t size, int64_t *code, uint32_t *pairs)
{
    int64_t found = 0, value = 0;
    __m512i codes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    for (; value + 8 <= size; value += 8) {
        const __m512i people = _mm512_loadu_si512(histogram + 2 * value);
        const __mmask8 some = _mm512_test_epi64_mask(people, people);
        _mm512_storeu_si512(code + found, _mm512_maskz_compress_epi64(some, codes));
        _mm512_storeu_si512(pairs + 2 * found, _mm512_maskz_compress_epi64(some, people));
        codes = _mm512_add_epi64(codes, _mm512_set1_epi64(8));
        found += __builtin_popcount(some);
    }
    return compact_from(histogram, value, size, found, code, pairs);
}
#endif

INLINE int64_t
compact_pairs(const uint32_t *histogram, int64_t size, int64_t *code, uint32_t *pairs)
{
#if HAS_VECTORS
    if (vectors == ALL_VECTORS) {
        return compact_eight_pairs(histogram, size, code, pairs);
    }
#endif
    return compact_from(histogram, 0, size, 0, code, pairs);
}

/* Moves the codes that occur out of a histogram, which is empty after it; missing values are counted, not moved.
 * Returns the number of codes. */
INLINE int64_t
compact(const Work *work, const Field *field, const uint64_t *rows, int64_t n, int64_t *missing)
{
    const Py_ssize_t n_cells = work->n_cells;
    const int64_t capacity = work->capacity;
    uint32_t *histogram = field->histogram;
    int64_t *code = work->code;
    double *count = work->count;
    uint32_t *last = histogram + (field->size << work->cell_bits);
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
            if (value < (uint64_t)field->size) {
                seen[value >> 6] |= (uint64_t)1 << (value & 63);
            }
        }
        for (int64_t at = 0; at <= field->size >> 6; at++) {
            uint64_t bits = seen[at];
            seen[at] = 0;
            while (bits) {
                int64_t value = at * 64 + __builtin_ctzll(bits);
                bits &= bits - 1;
                uint32_t *people = histogram + (value << work->cell_bits);
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
    if (n_cells == 2 && work->cell_bits == 1) {
        found = compact_pairs(histogram, field->size, code, work->pairs);
        for (int64_t e = 0; e < found; e++) {
            count[e] = (double)work->pairs[2 * e];
            count[capacity + e] = (double)work->pairs[2 * e + 1];
        }
    }
    else {
        for (int64_t value = 0; value < field->size; value++) {
            const uint32_t *people = histogram + (value << work->cell_bits);
            uint32_t any = 0;
            code[found] = value;
            for (Py_ssize_t c = 0; c < n_cells; c++) {
                count[c * capacity + found] = (double)people[c];
                any |= people[c];
            }
            found += any != 0;
        }
    }
    memset(histogram, 0, (size_t)(field->size << work->cell_bits) * sizeof(uint32_t));
    return found;
}

#endif
