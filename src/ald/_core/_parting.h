/* How the rows of a node part: in place. */
#ifndef ALD_PARTING_H
#define ALD_PARTING_H

#include "_rows.h"

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

/* Where a code goes, of rows of one word: FIRST is 1 for those that go before all others. */
#define BY_BITS (first >> code & 1)
#define BY_CUT (code <= first)
#define BY_CUT_OR ((code <= first) | (code == other))
#define BETWEEN ((code > first) & (code < other))

/* One row at a time, without a branch: where people go is not predictable. Functions of their own: their loops need all
 * registers. */
#define PART(NAME, FIRST)                                                                  \
    MANY_VERSIONS static int64_t NAME(uint64_t *rows, int64_t n, unsigned bit, uint64_t codes, uint64_t first, \
                                      uint64_t other)                                      \
    {                                                                                      \
        int64_t l = 0;                                                                     \
        (void)other;                                                                       \
        for (int64_t i = 0; i < n; i++) {                                                  \
            const uint64_t word = rows[i], code = word >> bit & codes;                     \
            rows[i] = rows[l];                                                             \
            rows[l] = word;                                                                \
            l += (int64_t)(FIRST);                                                         \
        }                                                                                  \
        return l;                                                                          \
    }
PART(part_by_bits, BY_BITS)
PART(part_by_cut, BY_CUT)
PART(part_by_cut_or, BY_CUT_OR)
PART(part_between, BETWEEN)

#if HAS_VECTORS
/* The same of eight rows at a time. */
#define EIGHT_BY_BITS _mm512_test_epi64_mask(_mm512_srlv_epi64(firsts, code), ones)
#define EIGHT_BY_CUT _mm512_cmple_epu64_mask(code, firsts)
#define EIGHT_BY_CUT_OR (_mm512_cmple_epu64_mask(code, firsts) | _mm512_cmpeq_epu64_mask(code, others))
#define EIGHT_BETWEEN (_mm512_cmpgt_epu64_mask(code, firsts) & _mm512_cmplt_epu64_mask(code, others))

/* Rows that are read at a time. */
#define READ 32

/* Eight rows are put in order, those that go first in front, and written as they are to both sides: what is too many
 * there lies in room that will be written again. */
#define PUT_EIGHT(WORD, EIGHT)                                                             \
    do {                                                                                   \
        const __m512i code = _mm512_and_si512(_mm512_srl_epi64(WORD, shift), all_codes);   \
        const __mmask8 mask = (__mmask8)(EIGHT);                                           \
        const __m512i order = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)places[mask])); \
        const __m512i ordered = _mm512_permutexvar_epi64(order, WORD);                     \
        const int64_t n_first = __builtin_popcount(mask);                                  \
        _mm512_storeu_si512(rows + left, ordered);                                         \
        _mm512_storeu_si512(rows + right - 8, ordered);                                    \
        left += n_first;                                                                   \
        right -= 8 - n_first;                                                              \
    } while (0)

/* In place, from both ends: the rows of either end are put aside, so that there is always room for as many on both sides
 * as are read. Those put aside come last, and few rows are all put aside. */
#define PART_EIGHT(NAME, FIRST, EIGHT)                                                     \
    WITH_VECTORS static int64_t NAME(uint64_t *rows, int64_t n, unsigned bit, uint64_t codes, uint64_t first, \
                                     uint64_t other)                                       \
    {                                                                                      \
        const __m512i firsts = _mm512_set1_epi64((long long)first), others = _mm512_set1_epi64((long long)other); \
        const __m512i all_codes = _mm512_set1_epi64((long long)codes), ones = _mm512_set1_epi64(1); \
        const __m128i shift = _mm_cvtsi32_si128((int)bit);                                 \
        uint64_t aside[3 * READ];                                                          \
        const int64_t each = n < 3 * READ ? 0 : READ;                                      \
        int64_t from = each, to = n - each, left = 0, right = n, i = 0;                    \
        (void)others;                                                                      \
        (void)ones;                                                                        \
        memcpy(aside, rows, (size_t)each * sizeof(uint64_t));                              \
        memcpy(aside + each, rows + to, (size_t)each * sizeof(uint64_t));                  \
        while (each && to - from >= READ) {                                                \
            const int at_left = from - left <= right - to;                                 \
            const uint64_t *next = rows + (at_left ? from : to - READ);                    \
            from += at_left ? READ : 0;                                                    \
            to -= at_left ? 0 : READ;                                                      \
            __m512i word[READ / 8];                                                        \
            for (int j = 0; j < READ / 8; j++) {                                           \
                word[j] = _mm512_loadu_si512(next + 8 * j);                                \
            }                                                                              \
            for (int j = 0; j < READ / 8; j++) {                                           \
                PUT_EIGHT(word[j], EIGHT);                                                 \
            }                                                                              \
        }                                                                                  \
        memcpy(aside + 2 * each, rows + from, (size_t)(to - from) * sizeof(uint64_t));     \
        /* Now there is one gap. While it has room for sixteen, both sides have room for eight. */ \
        for (; right - left >= 16; i += 8) {                                               \
            const __m512i word = _mm512_loadu_si512(aside + i);                            \
            PUT_EIGHT(word, EIGHT);                                                        \
        }                                                                                  \
        for (; left < right; i++) {                                                        \
            const uint64_t word = aside[i], code = word >> bit & codes;                    \
            const int64_t is_first = (int64_t)(FIRST);                                     \
            rows[left] = word;                                                             \
            rows[right - 1] = word;                                                        \
            left += is_first;                                                              \
            right -= 1 - is_first;                                                         \
        }                                                                                  \
        return left;                                                                       \
    }

/* How many of the rows go first, are in the second of two cells, and both. */
typedef struct {
    int64_t first, second, both;
} Tally;

#define TALLY_EIGHT(NAME, FIRST, EIGHT)                                                    \
    WITH_VECTORS static Tally NAME(const uint64_t *rows, int64_t n, unsigned bit, uint64_t codes, uint64_t first, \
                                   uint64_t other)                                         \
    {                                                                                      \
        const __m512i firsts = _mm512_set1_epi64((long long)first), others = _mm512_set1_epi64((long long)other); \
        const __m512i all_codes = _mm512_set1_epi64((long long)codes), ones = _mm512_set1_epi64(1); \
        const __m128i shift = _mm_cvtsi32_si128((int)bit);                                 \
        Tally tally = {0, 0, 0};                                                           \
        (void)others;                                                                      \
        for (int64_t i = 0; i < n; i += 8) {                                               \
            const __mmask8 there = n - i < 8 ? (__mmask8)((1 << (n - i)) - 1) : 0xff;      \
            const __m512i word = _mm512_maskz_loadu_epi64(there, rows + i);                \
            const __m512i code = _mm512_and_si512(_mm512_srl_epi64(word, shift), all_codes); \
            const unsigned mask = (unsigned)(EIGHT) & there, second = _mm512_test_epi64_mask(word, ones); \
            tally.first += __builtin_popcount(mask);                                       \
            tally.second += __builtin_popcount(second);                                    \
            tally.both += __builtin_popcount(mask & second);                               \
        }                                                                                  \
        return tally;                                                                      \
    }
TALLY_EIGHT(tally_eight_by_bits, BY_BITS, EIGHT_BY_BITS)
TALLY_EIGHT(tally_eight_by_cut, BY_CUT, EIGHT_BY_CUT)

/* Of rows of one word and two cells, which all go left or right. */
INLINE Tally
tally_rows(const uint64_t *rows, int64_t n, const Side *side)
{
    const Field *field = side->field;
    return field->nominal ? tally_eight_by_bits(rows, n, field->bit, field->codes, side->left, 0)
                          : tally_eight_by_cut(rows, n, field->bit, field->codes, (uint64_t)side->cut, 0);
}

PART_EIGHT(part_eight_by_bits, BY_BITS, EIGHT_BY_BITS)
PART_EIGHT(part_eight_by_cut, BY_CUT, EIGHT_BY_CUT)
PART_EIGHT(part_eight_by_cut_or, BY_CUT_OR, EIGHT_BY_CUT_OR)
PART_EIGHT(part_eight_between, BETWEEN, EIGHT_BETWEEN)
#define PARTED(NAME) (vectors == ALL_VECTORS ? part_eight_##NAME : part_##NAME)
#else
#define PARTED(NAME) part_##NAME
#endif

/* Rows of a few words, one at a time, also without a branch. First go codes whose bit is set, or those from `first` on, at
 * most `span` above it, and `other`. */
#define WIDE_BY_BITS (first >> code & 1)
#define WIDE_BETWEEN ((code - first <= span) | (code == other))
#define PART_WIDE(NAME, WORDS, FIRST)                                                      \
    MANY_VERSIONS static int64_t NAME(uint64_t *start, int64_t n, const Field *field, uint64_t first, uint64_t span, \
                                      uint64_t other)                                      \
    {                                                                                      \
        typedef struct {                                                                   \
            uint64_t words[WORDS];                                                         \
        } Row;                                                                             \
        Row *rows = (Row *)start;                                                          \
        const Py_ssize_t word = field->word;                                               \
        const unsigned bit = field->bit;                                                   \
        const uint64_t codes = field->codes;                                               \
        int64_t l = 0;                                                                     \
        (void)span;                                                                        \
        (void)other;                                                                       \
        for (int64_t i = 0; i < n; i++) {                                                  \
            const uint64_t code = rows[i].words[word] >> bit & codes;                      \
            const Row row = rows[i];                                                       \
            rows[i] = rows[l];                                                             \
            rows[l] = row;                                                                 \
            l += (int64_t)(FIRST);                                                         \
        }                                                                                  \
        return l;                                                                          \
    }
PART_WIDE(part_2_by_bits, 2, WIDE_BY_BITS)
PART_WIDE(part_3_by_bits, 3, WIDE_BY_BITS)
PART_WIDE(part_4_by_bits, 4, WIDE_BY_BITS)
PART_WIDE(part_2_between, 2, WIDE_BETWEEN)
PART_WIDE(part_3_between, 3, WIDE_BETWEEN)
PART_WIDE(part_4_between, 4, WIDE_BETWEEN)
#define MOST_WIDE 4

#if HAS_VECTORS
/* The same of rows of two words, eight at a time, as PART_EIGHT does it with those of one. */
#define PAIRS_BY_BITS _mm512_test_epi64_mask(_mm512_srlv_epi64(firsts, code), ones)
#define PAIRS_BETWEEN                                                                      \
    (_mm512_cmple_epu64_mask(_mm512_sub_epi64(code, firsts), spans) | _mm512_cmpeq_epu64_mask(code, others))
/* Rows that are read at a time. */
#define READ_PAIRS 16

#define PUT_FOUR(WORDS, MASK)                                                              \
    do {                                                                                   \
        const unsigned four = (unsigned)(MASK) & 15;                                       \
        const __m512i order = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)pair_places[four])); \
        const __m512i ordered = _mm512_permutexvar_epi64(order, WORDS);                    \
        const int64_t n_first = __builtin_popcount(four);                                  \
        _mm512_storeu_si512(rows + 2 * left, ordered);                                     \
        _mm512_storeu_si512(rows + 2 * (right - 4), ordered);                              \
        left += n_first;                                                                   \
        right -= 4 - n_first;                                                              \
    } while (0)

/* The codes of eight rows in two times eight words. */
#define CODES_OF(LOW_ROWS, HIGH_ROWS)                                                      \
    _mm512_and_si512(_mm512_srl_epi64(_mm512_permutex2var_epi64(LOW_ROWS, own, HIGH_ROWS), shift), all_codes)

#define PART_PAIRS(NAME, FIRST, EIGHT)                                                     \
    WITH_VECTORS static int64_t NAME(uint64_t *rows, int64_t n, const Field *field, uint64_t first, uint64_t span, \
                                     uint64_t other)                                       \
    {                                                                                      \
        const __m512i firsts = _mm512_set1_epi64((long long)first), spans = _mm512_set1_epi64((long long)span); \
        const __m512i others = _mm512_set1_epi64((long long)other), ones = _mm512_set1_epi64(1); \
        const __m512i all_codes = _mm512_set1_epi64((long long)field->codes);              \
        const __m512i own = _mm512_add_epi64(_mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), \
                                             _mm512_set1_epi64((long long)field->word));   \
        const __m128i shift = _mm_cvtsi32_si128((int)field->bit);                          \
        uint64_t aside[3 * 2 * READ_PAIRS];                                                \
        const int64_t each = n < 3 * READ_PAIRS ? 0 : READ_PAIRS;                          \
        int64_t from = each, to = n - each, left = 0, right = n, i = 0;                    \
        (void)spans, (void)others, (void)ones;                                             \
        memcpy(aside, rows, (size_t)(2 * each) * sizeof(uint64_t));                        \
        memcpy(aside + 2 * each, rows + 2 * to, (size_t)(2 * each) * sizeof(uint64_t));    \
        while (each && to - from >= READ_PAIRS) {                                          \
            const int at_left = from - left <= right - to;                                 \
            const uint64_t *next = rows + 2 * (at_left ? from : to - READ_PAIRS);          \
            from += at_left ? READ_PAIRS : 0;                                              \
            to -= at_left ? 0 : READ_PAIRS;                                                \
            __m512i words[READ_PAIRS / 4];                                                 \
            for (int j = 0; j < READ_PAIRS / 4; j++) {                                     \
                words[j] = _mm512_loadu_si512(next + 8 * j);                               \
            }                                                                              \
            for (int j = 0; j < READ_PAIRS / 4; j += 2) {                                  \
                const __m512i code = CODES_OF(words[j], words[j + 1]);                     \
                const unsigned mask = (unsigned)(EIGHT);                                   \
                PUT_FOUR(words[j], mask);                                                  \
                PUT_FOUR(words[j + 1], mask >> 4);                                         \
            }                                                                              \
        }                                                                                  \
        memcpy(aside + 4 * each, rows + 2 * from, (size_t)(2 * (to - from)) * sizeof(uint64_t)); \
        /* Now there is one gap. While it has room for eight, both sides have room for four. */ \
        for (; right - left >= 8; i += 4) {                                                \
            const __m512i words = _mm512_loadu_si512(aside + 2 * i);                       \
            const __m512i code = CODES_OF(words, words);                                   \
            PUT_FOUR(words, (unsigned)(EIGHT));                                            \
        }                                                                                  \
        for (; left < right; i++) {                                                        \
            const uint64_t *row = aside + 2 * i, code = row[field->word] >> field->bit & field->codes; \
            const int64_t is_first = (int64_t)(FIRST);                                     \
            memcpy(rows + 2 * left, row, 2 * sizeof(uint64_t));                            \
            memcpy(rows + 2 * (right - 1), row, 2 * sizeof(uint64_t));                     \
            left += is_first;                                                              \
            right -= 1 - is_first;                                                         \
        }                                                                                  \
        return left;                                                                       \
    }
PART_PAIRS(part_pairs_by_bits, WIDE_BY_BITS, PAIRS_BY_BITS)
PART_PAIRS(part_pairs_between, WIDE_BETWEEN, PAIRS_BETWEEN)
#define PAIRS_PARTED(NAME) (vectors == ALL_VECTORS ? part_pairs_##NAME : part_2_##NAME)
#else
#define PAIRS_PARTED(NAME) part_2_##NAME
#endif

/* Rows of two to four words. */
static int64_t
part_wide(uint64_t *rows, int64_t n, Py_ssize_t n_words, const Side *side, int wanted)
{
    typedef int64_t Part(uint64_t *, int64_t, const Field *, uint64_t, uint64_t, uint64_t);
    Part *const by_bits[] = {PAIRS_PARTED(by_bits), part_3_by_bits, part_4_by_bits};
    Part *const between[] = {PAIRS_PARTED(between), part_3_between, part_4_between};
    const Field *field = side->field;
    const uint64_t size = (uint64_t)field->size, cut = (uint64_t)side->cut, none = UINT64_MAX;
    if (field->nominal) {
        return by_bits[n_words - 2](rows, n, field, wanted ? side->left : side->right, 0, 0);
    }
    if (wanted) {
        return between[n_words - 2](rows, n, field, 0, cut, side->missing == 1 ? size : none);
    }
    return cut + 1 >= size ? 0 : between[n_words - 2](rows, n, field, cut + 1, size - cut - 2, none);
}

/* Puts the rows of one side (as in tables) before all others, in place. Returns how many they are. */
INLINE int64_t
part_rows(const Work *work, uint64_t *rows, int64_t n, const Side *side, int wanted)
{
    const Py_ssize_t n_words = work->n_words;
    const Field field = *side->field;
    if (n_words == 1 && side->table == NULL) {
        const uint64_t size = (uint64_t)field.size, cut = (uint64_t)side->cut;
        if (field.nominal) {
            return PARTED(by_bits)(rows, n, field.bit, field.codes, wanted ? side->left : side->right, 0);
        }
        if (!wanted) {
            return PARTED(between)(rows, n, field.bit, field.codes, cut, size);
        }
        if (side->missing == 1) {
            return PARTED(by_cut_or)(rows, n, field.bit, field.codes, cut, size);
        }
        return PARTED(by_cut)(rows, n, field.bit, field.codes, cut, 0);
    }
    if (n_words <= MOST_WIDE && n_words > 1 && side->table == NULL) {
        return part_wide(rows, n, n_words, side, wanted);
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
        l += is_first;
    }
    return l;
}

#endif
