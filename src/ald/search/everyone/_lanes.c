/* Many versions of the same people's outcomes at a time: one bit per person and version ("lane").
 *
 * 64 lanes are a word, 8 words a block: words[blocks][people][8]. Random words follow from a key and their place alone.
 * Lanes are counted by carry-save adders, as many at a time as the processor's registers hold. All results are the
 * integers, and the floating point numbers to the bit, that _numpy_lanes.py gives: expressions are evaluated in the order
 * that is written there. Buffers come through the checked buffer protocol, and their lengths and all places in them are
 * checked before the GIL is released. Codes are trusted: a code is below its column's size.
 */
#include "../../_core/_buffers.h"
#include "../../_core/_vectors.h"

#define WORDS 8
#define LANES (WORDS * 64)
#define GOLDEN 0x9E3779B97F4A7C15ULL
#define MOST_PARTS 16
#define MOST_COLUMNS 65536
#define MOST_PLANES 32
#define MOST_RATES 8
#define MOST_SLOTS INT32_MAX
#define MOST_LANES INT32_MAX
/* Bits of the chance of a draw. */
#define CHANCE 16
/* Levels up to which insertion sorts faster. */
#define FEW 24

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BYTE(i) (7 - (i))
#else
#define BYTE(i) (i)
#endif

typedef uint64_t Block __attribute__((vector_size(WORDS * 8)));

/* The finalizer of splitmix64. */
INLINE uint64_t
mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

/* Random bits for all lanes of a block of one person, each 1 with the chance `chance` / 2^16. */
MANY_VERSIONS
static void
draw_block(const uint32_t *chances, Py_ssize_t people, uint64_t key, uint64_t first_word, uint64_t *words)
{
    for (Py_ssize_t p = 0; p < people; p++) {
        uint32_t chance = chances[p];
        uint64_t bits[WORDS];
        for (int w = 0; w < WORDS; w++) {
            bits[w] = chance >> CHANCE ? ~0ULL : 0;
        }
        int bit = 0;
        while (bit < CHANCE && !(chance >> bit & 1)) {
            bit++;
        }
        for (; bit < CHANCE && !(chance >> CHANCE); bit++) {
            const uint64_t some = chance >> bit & 1 ? ~0ULL : 0;
            for (int w = 0; w < WORDS; w++) {
                const uint64_t place = ((uint64_t)p << 25) + ((first_word + w) << 5) + (uint64_t)bit + 1;
                const uint64_t random = mixed(key + GOLDEN * place);
                bits[w] = (bits[w] & random) | (some & (bits[w] | random));
            }
        }
        memcpy(words + p * WORDS, bits, sizeof(bits));
    }
}

#define CSA(high, low, a, b, c)                                                            \
    do {                                                                                   \
        const Block a_ = (a), b_ = (b), c_ = (c), u_ = a_ ^ b_;                            \
        (high) = (a_ & b_) | (u_ & c_);                                                    \
        (low) = u_ ^ c_;                                                                   \
    } while (0)

INLINE void
load(Block *to, const uint64_t *words, uint32_t person)
{
    memcpy(to, words + (size_t)person * WORDS, sizeof(Block));
}

/* Per lane of a block how many of these people have their bit set. */
MANY_VERSIONS
static void
count_block(const uint64_t *words, const uint32_t *people, Py_ssize_t n, int32_t *out)
{
    Block planes[MOST_PLANES], pending[MOST_PLANES];
    Block ones, twos, fours, eights;
    memset(&ones, 0, sizeof(ones));
    twos = fours = eights = ones;
    int used = 0;
    while (((uint64_t)n >> used) > 0) {
        used++;
    }
    for (int k = 4; k < MOST_PLANES && k < used; k++) {
        memset(&planes[k], 0, sizeof(Block));
    }
    uint64_t waiting = 0;
    for (Py_ssize_t i = 0; i < n; i += 16) {
        Block d[16];
        if (n - i >= 16) {
            for (int k = 0; k < 16; k++) {
                load(&d[k], words, people[i + k]);
            }
        }
        else {
            memset(d, 0, sizeof(d));
            for (int k = 0; k < n - i; k++) {
                load(&d[k], words, people[i + k]);
            }
        }
        Block two_a, two_b, four_a, four_b, eight_a, eight_b, carry;
        CSA(two_a, ones, ones, d[0], d[1]);
        CSA(two_b, ones, ones, d[2], d[3]);
        CSA(four_a, twos, twos, two_a, two_b);
        CSA(two_a, ones, ones, d[4], d[5]);
        CSA(two_b, ones, ones, d[6], d[7]);
        CSA(four_b, twos, twos, two_a, two_b);
        CSA(eight_a, fours, fours, four_a, four_b);
        CSA(two_a, ones, ones, d[8], d[9]);
        CSA(two_b, ones, ones, d[10], d[11]);
        CSA(four_a, twos, twos, two_a, two_b);
        CSA(two_a, ones, ones, d[12], d[13]);
        CSA(two_b, ones, ones, d[14], d[15]);
        CSA(four_b, twos, twos, two_a, two_b);
        CSA(eight_b, fours, fours, four_a, four_b);
        CSA(carry, eights, eights, eight_a, eight_b);
        /* Two carries of the same weight are added at once: the first one waits. */
        int k = 4;
        while (k < used && waiting >> k & 1) {
            waiting &= ~(1ULL << k);
            CSA(carry, planes[k], planes[k], pending[k], carry);
            k++;
        }
        if (k < used) {
            pending[k] = carry;
            waiting |= 1ULL << k;
        }
    }
    for (int k = 4; k < used; k++) {
        if (waiting >> k & 1) {
            Block carry = pending[k];
            for (int j = k; j < used; j++) {
                const Block next = planes[j] & carry;
                planes[j] ^= carry;
                carry = next;
            }
        }
    }
    planes[0] = ones;
    planes[1] = twos;
    planes[2] = fours;
    planes[3] = eights;
    memset(out, 0, LANES * sizeof(int32_t));
    for (int first = 0; first < used; first += 8) {
        /* Eight planes become a byte per lane: bytes are transposed, then the bits of every eight bytes. */
        Block a[8];
        for (int k = 0; k < 8; k++) {
            if (first + k < used) {
                a[k] = planes[first + k];
            }
            else {
                memset(&a[k], 0, sizeof(Block));
            }
        }
        static const uint64_t masks[3] = {0x00FF00FF00FF00FFULL, 0x0000FFFF0000FFFFULL, 0x00000000FFFFFFFFULL};
        for (int step = 0; step < 3; step++) {
            const int apart = 1 << step, shift = 8 << step;
            for (int k = 0; k < 8; k++) {
                if (!(k & apart)) {
                    const Block t = ((a[k] >> shift) ^ a[k + apart]) & masks[step];
                    a[k + apart] ^= t;
                    a[k] ^= t << shift;
                }
            }
        }
        uint64_t bytes[8][WORDS];
        for (int k = 0; k < 8; k++) {
            Block x = a[k], t;
            t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AAULL;
            x ^= t ^ (t << 7);
            t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCCULL;
            x ^= t ^ (t << 14);
            t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0ULL;
            x ^= t ^ (t << 28);
            memcpy(bytes[k], &x, sizeof(Block));
        }
        uint64_t lanes[LANES / 8];
        for (int w = 0; w < WORDS; w++) {
            for (int k = 0; k < 8; k++) {
                lanes[w * 8 + k] = bytes[k][w];
            }
        }
        const uint8_t *byte = (const uint8_t *)lanes;
        for (int q = 0; q < LANES / 8; q++) {
            for (int i = 0; i < 8; i++) {
                out[q * 8 + i] += (int32_t)byte[q * 8 + BYTE(i)] << first;
            }
        }
    }
}

/* draw(chances, key, first_word, words)
 *
 * Writes words[blocks][people][8]: a bit is 1 with the chance of its person / 2^16. first_word: the number of the first
 * word; a bit depends on the key, its person, its word's number and its place in the word only.
 */
static PyObject *
draw(PyObject *self, PyObject *args)
{
    PyObject *chances_o, *words_o;
    unsigned long long key, first_word;
    if (!PyArg_ParseTuple(args, "OKKO", &chances_o, &key, &first_word, &words_o)) {
        return NULL;
    }
    Buffer b[2];
    memset(b, 0, sizeof(b));
    PyObject *result = NULL;
    if (get_buffer(chances_o, &b[0], 0, 4, "chances") < 0 || get_buffer(words_o, &b[1], 1, 8, "words") < 0) {
        goto done;
    }
    Py_ssize_t people = length(&b[0]), blocks = people ? length(&b[1]) / (people * WORDS) : 0;
    if (length(&b[1]) != blocks * people * WORDS || first_word >> 19 || blocks >> 16 || (uint64_t)people >> 32) {
        PyErr_SetString(PyExc_ValueError, "draw: arrays do not fit");
        goto done;
    }
    const uint32_t *chances = b[0].view.buf;
    uint64_t *words = b[1].view.buf;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t block = 0; block < blocks; block++) {
        draw_block(chances, people, key, first_word + (uint64_t)block * WORDS, words + block * people * WORDS);
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    release(b, 2);
    return result;
}

/* settle(starts, hits, key, first_word, words)
 *
 * Stratum s is the people [starts[s], starts[s + 1]). In every lane, bits of random people of each stratum are changed
 * until exactly hits[s] are 1.
 */
static PyObject *
settle(PyObject *self, PyObject *args)
{
    PyObject *starts_o, *hits_o, *words_o;
    unsigned long long key, first_word;
    if (!PyArg_ParseTuple(args, "OOKKO", &starts_o, &hits_o, &key, &first_word, &words_o)) {
        return NULL;
    }
    Buffer b[3];
    memset(b, 0, sizeof(b));
    uint32_t *everyone = NULL;
    PyObject *result = NULL;
    if (get_buffer(starts_o, &b[0], 0, 8, "starts") < 0 || get_buffer(hits_o, &b[1], 0, 8, "hits") < 0 ||
        get_buffer(words_o, &b[2], 1, 8, "words") < 0) {
        goto done;
    }
    const int64_t *starts = b[0].view.buf, *hits = b[1].view.buf;
    uint64_t *words = b[2].view.buf;
    Py_ssize_t strata = length(&b[1]);
    int fits = length(&b[0]) == strata + 1 && starts[0] == 0 && !(first_word >> 19);
    for (Py_ssize_t s = 0; fits && s < strata; s++) {
        fits = starts[s + 1] >= starts[s] && starts[s + 1] <= INT32_MAX && hits[s] >= 0 &&
               hits[s] <= starts[s + 1] - starts[s];
    }
    Py_ssize_t people = fits ? starts[strata] : 0, blocks = people ? length(&b[2]) / (people * WORDS) : 0;
    if (!fits || length(&b[2]) != blocks * people * WORDS || blocks >> 16) {
        PyErr_SetString(PyExc_ValueError, "settle: arrays do not fit");
        goto done;
    }
    everyone = malloc(people ? (size_t)people * sizeof(uint32_t) : 1);
    if (everyone == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t p = 0; p < people; p++) {
        everyone[p] = (uint32_t)p;
    }
    for (Py_ssize_t block = 0; block < blocks; block++) {
        uint64_t *own = words + block * people * WORDS;
        for (Py_ssize_t s = 0; s < strata; s++) {
            const int64_t start = starts[s], n = starts[s + 1] - start;
            int32_t found[LANES];
            count_block(own, everyone + start, n, found);
            for (int lane = 0; lane < LANES; lane++) {
                int64_t missing = hits[s] - found[lane];
                const uint64_t number = (first_word + (uint64_t)block * WORDS) * 64 + (uint64_t)lane;
                const uint64_t stream = mixed(key + GOLDEN * (((uint64_t)s << 32) + number + 1));
                for (uint64_t i = 1; missing != 0; i++) {
                    const int64_t at = (int64_t)((mixed(stream + GOLDEN * i) >> 32) * (uint64_t)n >> 32);
                    uint64_t *word = own + (start + at) * WORDS + lane / 64;
                    const uint64_t bit = 1ULL << (lane % 64);
                    if (missing > 0 && !(*word & bit)) {
                        missing--;
                        *word ^= bit;
                    }
                    else if (missing < 0 && (*word & bit)) {
                        missing++;
                        *word ^= bit;
                    }
                }
            }
        }
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    free(everyone);
    release(b, 3);
    return result;
}

#define EXTEND(TYPE)                                                                       \
    do {                                                                                   \
        const TYPE *code = (const TYPE *)column->view.buf;                                 \
        for (Py_ssize_t i = 0; i < n; i++) {                                               \
            key[i] = key[i] * size + code[i];                                              \
        }                                                                                  \
    } while (0)

static void
extend(uint32_t *key, const Buffer *column, uint32_t size, Py_ssize_t n)
{
    switch (column->view.itemsize) {
    case 1: EXTEND(uint8_t); break;
    case 2: EXTEND(uint16_t); break;
    default: EXTEND(uint32_t); break;
    }
}

/* count(columns, sizes, parts, offsets, slots, words, out)
 *
 * Part t has an entry of `slots` for every combination of codes of the columns parts[t], the last one running fastest,
 * from offsets[t] on: the row of `out` for people with these codes, or -1 if they are not counted. Rows of `out` have
 * the number of bits that are 1 in every lane; rows of one part are neighbours, and no row is of two parts.
 */
static PyObject *
count(PyObject *self, PyObject *args)
{
    PyObject *columns_o, *sizes_o, *parts_o, *offsets_o, *slots_o, *words_o, *out_o;
    if (!PyArg_ParseTuple(args, "OOOOOOO", &columns_o, &sizes_o, &parts_o, &offsets_o, &slots_o, &words_o, &out_o)) {
        return NULL;
    }
    Py_ssize_t n_columns = PySequence_Size(columns_o);
    if (n_columns < 1 || n_columns > MOST_COLUMNS) {
        if (n_columns >= 0) {
            PyErr_SetString(PyExc_ValueError, "count: from one to 65,536 columns expected");
        }
        return NULL;
    }
    Buffer b[6];
    memset(b, 0, sizeof(b));
    PyObject *result = NULL;
    uint32_t *key = NULL, *people = NULL;
    int64_t *ends = NULL;
    Buffer *columns = calloc((size_t)n_columns, sizeof(Buffer));
    if (columns == NULL) {
        return PyErr_NoMemory();
    }
    if (get_buffer(sizes_o, &b[0], 0, 8, "sizes") < 0 || get_buffer(parts_o, &b[1], 0, 8, "parts") < 0 ||
        get_buffer(offsets_o, &b[2], 0, 8, "offsets") < 0 || get_buffer(slots_o, &b[3], 0, 4, "slots") < 0 ||
        get_buffer(words_o, &b[4], 0, 8, "words") < 0 || get_buffer(out_o, &b[5], 1, 4, "out") < 0) {
        goto done;
    }
    for (Py_ssize_t k = 0; k < n_columns; k++) {
        PyObject *item = PySequence_GetItem(columns_o, k);
        int bad = item == NULL || get_buffer(item, &columns[k], 0, 0, "columns") < 0;
        Py_XDECREF(item);
        if (bad) {
            goto done;
        }
        if (columns[k].width != 1 && columns[k].width != 2 && columns[k].width != 4) {
            PyErr_SetString(PyExc_TypeError, "columns: items of 1, 2 or 4 bytes expected");
            goto done;
        }
    }
    const int64_t *sizes = b[0].view.buf, *parts = b[1].view.buf, *offsets = b[2].view.buf;
    const int32_t *slots = b[3].view.buf;
    const uint64_t *words = b[4].view.buf;
    int32_t *out = b[5].view.buf;
    Py_ssize_t n = length(&columns[0]), blocks = n ? length(&b[4]) / (n * WORDS) : 0;
    Py_ssize_t n_parts = length(&b[2]) - 1, order = n_parts > 0 ? length(&b[1]) / n_parts : 0;
    Py_ssize_t rows = blocks ? length(&b[5]) / (blocks * LANES) : 0;
    int fits = n_parts >= 0 && length(&b[0]) == n_columns && order <= MOST_PARTS &&
               length(&b[1]) == n_parts * order && length(&b[4]) == blocks * n * WORDS &&
               length(&b[5]) == rows * blocks * LANES && length(&b[3]) <= MOST_SLOTS && (uint64_t)n >> 31 == 0;
    for (Py_ssize_t k = 0; fits && k < n_columns; k++) {
        fits = length(&columns[k]) == n && sizes[k] >= 1 && sizes[k] <= UINT32_MAX;
    }
    for (Py_ssize_t t = 0; fits && t < n_parts; t++) {
        int64_t width = 1;
        for (Py_ssize_t p = 0; fits && p < order; p++) {
            int64_t k = parts[t * order + p];
            fits = k >= 0 && k < n_columns && width <= UINT32_MAX / sizes[k];
            width = fits ? width * sizes[k] : width;
        }
        fits = fits && offsets[t] >= 0 && offsets[t] <= length(&b[3]) && offsets[t + 1] - offsets[t] == width &&
               offsets[t + 1] <= length(&b[3]);
    }
    int64_t free_row = 0;
    for (Py_ssize_t t = 0; fits && t < n_parts; t++) {
        int64_t least = rows, most = -1;
        for (int64_t i = offsets[t]; fits && i < offsets[t + 1]; i++) {
            fits = slots[i] < rows && slots[i] >= -1;
            least = slots[i] >= 0 && slots[i] < least ? slots[i] : least;
            most = slots[i] > most ? slots[i] : most;
        }
        fits = fits && (most < 0 || least >= free_row);
        free_row = most < 0 ? free_row : most + 1;
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "count: arrays do not fit");
        goto done;
    }
    key = malloc(n ? (size_t)n * sizeof(uint32_t) : 1);
    people = malloc(n ? (size_t)n * sizeof(uint32_t) : 1);
    ends = malloc(((size_t)rows + 1) * sizeof(int64_t));
    if (key == NULL || people == NULL || ends == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    memset(out, 0, (size_t)length(&b[5]) * sizeof(int32_t));
    for (Py_ssize_t t = 0; t < n_parts; t++) {
        const int32_t *slot = slots + offsets[t];
        int64_t least = rows, most = -1;
        for (int64_t i = 0; i < offsets[t + 1] - offsets[t]; i++) {
            least = slot[i] >= 0 && slot[i] < least ? slot[i] : least;
            most = slot[i] > most ? slot[i] : most;
        }
        if (most < 0) {
            continue;
        }
        memset(key, 0, (size_t)n * sizeof(uint32_t));
        for (Py_ssize_t p = 0; p < order; p++) {
            const int64_t k = parts[t * order + p];
            extend(key, &columns[k], (uint32_t)sizes[k], n);
        }
        memset(ends + least, 0, (size_t)(most + 1 - least) * sizeof(int64_t));
        for (Py_ssize_t i = 0; i < n; i++) {
            const int32_t row = slot[key[i]];
            key[i] = (uint32_t)row;
            if (row >= 0) {
                ends[row]++;
            }
        }
        int64_t filled = 0;
        for (int64_t row = least; row <= most; row++) {
            const int64_t size = ends[row];
            ends[row] = filled;
            filled += size;
        }
        for (Py_ssize_t i = 0; i < n; i++) {
            if ((int32_t)key[i] >= 0) {
                people[ends[key[i]]++] = (uint32_t)i;
            }
        }
        for (Py_ssize_t block = 0; block < blocks; block++) {
            int64_t start = 0;
            for (int64_t row = least; row <= most; row++) {
                count_block(words + block * n * WORDS, people + start, ends[row] - start,
                            out + (row * blocks + block) * LANES);
                start = ends[row];
            }
        }
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    free(key);
    free(people);
    free(ends);
    release(columns, n_columns);
    free(columns);
    release(b, 6);
    return result;
}

/* The strongest of some groups in a block of lanes, worth their statistic less their cost. */
MANY_VERSIONS
static void
best_block(const int32_t *table, Py_ssize_t lanes, Py_ssize_t rates, const int64_t *low, const int64_t *high,
           Py_ssize_t start, Py_ssize_t end, const double *expected, const double *scale, const double *cost,
           const double *sides, double *out, int64_t *out_at)
{
    double gain[LANES], value[LANES], at[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        gain[lane] = -1e300;
        value[lane] = 0.0;
        at[lane] = -1.0;
    }
    for (Py_ssize_t i = start; i < end; i++) {
        double x[LANES];
        for (int lane = 0; lane < LANES; lane++) {
            x[lane] = 0.0;
        }
        int any = 0;
        for (Py_ssize_t r = 0; r < rates; r++) {
            const double mean = expected[i * rates + r], factor = scale[i * rates + r], side = sides[r];
            const int32_t *row = table + (high[i] * rates + r) * lanes, *below = table + (low[i] * rates + r) * lanes;
            if (factor == 0.0) {
                continue;
            }
            any = 1;
            if (side == 0.0) {
                for (int lane = 0; lane < LANES; lane++) {
                    const double d = (double)(row[lane] - below[lane]) - mean;
                    x[lane] += d * d * factor;
                }
            }
            else {
                for (int lane = 0; lane < LANES; lane++) {
                    double d = ((double)(row[lane] - below[lane]) - mean) * side;
                    d = d > 0.0 ? d : 0.0;
                    x[lane] += d * d * factor;
                }
            }
        }
        if (!any) {
            continue;
        }
        const double own = cost[i], number = (double)i;
        for (int lane = 0; lane < LANES; lane++) {
            const double worth = x[lane] - own;
            const int better = worth > gain[lane];
            gain[lane] = better ? worth : gain[lane];
            value[lane] = better ? x[lane] : value[lane];
            at[lane] = better ? number : at[lane];
        }
    }
    for (int lane = 0; lane < LANES; lane++) {
        out[lane] = value[lane];
        out_at[lane] = (int64_t)at[lane];
    }
}

/* best(table, lanes, low, high, expected, scale, cost, sides, kinds, out, out_at)
 *
 * Group i has the counts table[high[i]] - table[low[i]], rows of [rates, lanes]. Its statistic is the sum over rates of
 * (count - expected)^2 scale, where a rate with a side of 1 or -1 counts only if its excess has that sign. Groups
 * [kinds[k], kinds[k + 1]) are one kind: writes [kinds, lanes] the statistic of the group with the largest statistic
 * less cost, the first of equals, and its number; -1 if no scale is above 0.
 */
static PyObject *
best(PyObject *self, PyObject *args)
{
    PyObject *object[10];
    Py_ssize_t lanes;
    if (!PyArg_ParseTuple(args, "OnOOOOOOOOO", &object[0], &lanes, &object[1], &object[2], &object[3], &object[4],
                          &object[5], &object[6], &object[7], &object[8], &object[9])) {
        return NULL;
    }
    static const char *names[10] = {"table", "low",   "high",  "expected", "scale",
                                    "cost",  "sides", "kinds", "out",      "out_at"};
    Buffer b[10];
    memset(b, 0, sizeof(b));
    PyObject *result = NULL;
    for (int i = 0; i < 10; i++) {
        if (get_buffer(object[i], &b[i], i >= 8, i == 0 ? 4 : 8, names[i]) < 0) {
            goto done;
        }
    }
    const int32_t *table = b[0].view.buf;
    const int64_t *low = b[1].view.buf, *high = b[2].view.buf, *kinds = b[7].view.buf;
    Py_ssize_t n = length(&b[1]), rates = length(&b[6]), n_kinds = length(&b[7]) - 1;
    int fits = lanes > 0 && lanes <= MOST_LANES && lanes % LANES == 0 && rates >= 1 && rates <= MOST_RATES && n_kinds >= 0;
    Py_ssize_t rows = fits ? length(&b[0]) / (rates * lanes) : 0;
    fits = fits && length(&b[0]) == rows * rates * lanes && length(&b[2]) == n && length(&b[3]) == n * rates &&
           length(&b[4]) == n * rates && length(&b[5]) == n && length(&b[8]) == n_kinds * lanes &&
           length(&b[9]) == n_kinds * lanes && kinds[0] >= 0 && kinds[n_kinds] <= n;
    for (Py_ssize_t k = 0; fits && k < n_kinds; k++) {
        fits = kinds[k] <= kinds[k + 1];
    }
    for (Py_ssize_t i = 0; fits && i < n; i++) {
        fits = low[i] >= 0 && low[i] < rows && high[i] >= 0 && high[i] < rows;
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "best: arrays do not fit");
        goto done;
    }
    const double *expected = b[3].view.buf, *scale = b[4].view.buf, *cost = b[5].view.buf, *sides = b[6].view.buf;
    double *out = b[8].view.buf;
    int64_t *out_at = b[9].view.buf;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t k = 0; k < n_kinds; k++) {
        for (Py_ssize_t first = 0; first < lanes; first += LANES) {
            best_block(table + first, lanes, rates, low, high, kinds[k], kinds[k + 1], expected, scale, cost, sides,
                       out + k * lanes + first, out_at + k * lanes + first);
        }
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    release(b, 10);
    return result;
}

/* Lanes whose sums registers hold at a time. */
#define FORM_LANES 32
typedef double Eight __attribute__((vector_size(8 * sizeof(double))));
typedef Eight Eights __attribute__((aligned(8), may_alias));

#define ADD_FORM(weights, numbers, n)                                                      \
    do {                                                                                   \
        for (Py_ssize_t k_ = 0; k_ < (n); k_++) {                                          \
            const double own_ = (weights)[k_];                                             \
            const Eights *d_ = (const Eights *)((numbers) + k_ * FORM_LANES);              \
            sum0 += own_ * d_[0];                                                          \
            sum1 += own_ * d_[1];                                                          \
            sum2 += own_ * d_[2];                                                          \
            sum3 += own_ * d_[3];                                                          \
        }                                                                                  \
    } while (0)

/* The strongest of some linear forms in FORM_LANES lanes. numbers: room for the rows of any part, and for all strata. */
MANY_VERSIONS
static void
best_forms_block(const int32_t *table, const int32_t *common, Py_ssize_t lanes, Py_ssize_t rates, Py_ssize_t parts,
                 Py_ssize_t strata, const int64_t *rows_at, const int64_t *groups_at, const double *coefs,
                 const double *common_coefs, const double *scale, const double *cost, double *numbers, double *out,
                 int64_t *out_at)
{
    double gain[FORM_LANES], value[FORM_LANES], at[FORM_LANES], *shared = numbers;
    for (int lane = 0; lane < FORM_LANES; lane++) {
        gain[lane] = -1e300;
        value[lane] = 0.0;
        at[lane] = -1.0;
    }
    for (Py_ssize_t s = 0; s < strata; s++) {
        for (Py_ssize_t r = 0; r < rates; r++) {
            for (int lane = 0; lane < FORM_LANES; lane++) {
                shared[(r * strata + s) * FORM_LANES + lane] = (double)common[(s * rates + r) * lanes + lane];
            }
        }
    }
    numbers += strata * rates * FORM_LANES;
    for (Py_ssize_t t = 0; t < parts; t++) {
        const Py_ssize_t rows = rows_at[t + 1] - rows_at[t];
        for (Py_ssize_t k = 0; k < rows; k++) {
            for (Py_ssize_t r = 0; r < rates; r++) {
                const int32_t *row = table + ((rows_at[t] + k) * rates + r) * lanes;
                for (int lane = 0; lane < FORM_LANES; lane++) {
                    numbers[(r * rows + k) * FORM_LANES + lane] = (double)row[lane];
                }
            }
        }
        for (Py_ssize_t i = groups_at[t]; i < groups_at[t + 1]; i++) {
            double x[FORM_LANES];
            for (int lane = 0; lane < FORM_LANES; lane++) {
                x[lane] = 0.0;
            }
            for (Py_ssize_t r = 0; r < rates; r++, coefs += rows) {
                Eight sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};
                ADD_FORM(coefs, numbers + r * rows * FORM_LANES, rows);
                ADD_FORM(common_coefs + (i * rates + r) * strata, shared + r * strata * FORM_LANES, strata);
                double sum[FORM_LANES];
                memcpy(sum, &sum0, sizeof(Eight));
                memcpy(sum + 8, &sum1, sizeof(Eight));
                memcpy(sum + 16, &sum2, sizeof(Eight));
                memcpy(sum + 24, &sum3, sizeof(Eight));
                const double factor = scale[i * rates + r];
                for (int lane = 0; lane < FORM_LANES; lane++) {
                    x[lane] += sum[lane] * sum[lane] * factor;
                }
            }
            const double own = cost[i], number = (double)i;
            for (int lane = 0; lane < FORM_LANES; lane++) {
                const double worth = x[lane] - own;
                const int better = worth > gain[lane];
                gain[lane] = better ? worth : gain[lane];
                value[lane] = better ? x[lane] : value[lane];
                at[lane] = better ? number : at[lane];
            }
        }
    }
    for (int lane = 0; lane < FORM_LANES; lane++) {
        out[lane] = value[lane];
        out_at[lane] = (int64_t)at[lane];
    }
}

/* best_forms(table, common, lanes, rates, rows_at, groups_at, coefs, common_coefs, scale, cost, out, out_at)
 *
 * Part t has the rows [rows_at[t], rows_at[t + 1]) of table[rows, rates, lanes] and the groups [groups_at[t],
 * groups_at[t + 1]), each with coefs[rates, rows of the part], one group after the other, and common_coefs[rates,
 * strata] for common[strata, rates, lanes]. A group's statistic is the sum over rates of (its weighted sum of counts)^2
 * scale. Writes per lane the statistic of the group with the largest statistic less cost, the first of equals, and its
 * number; -1 if there is no group.
 */
static PyObject *
best_forms(PyObject *self, PyObject *args)
{
    PyObject *object[10];
    Py_ssize_t lanes, rates;
    if (!PyArg_ParseTuple(args, "OOnnOOOOOOOO", &object[0], &object[1], &lanes, &rates, &object[2], &object[3],
                          &object[4], &object[5], &object[6], &object[7], &object[8], &object[9])) {
        return NULL;
    }
    static const char *names[10] = {"table",        "common", "rows_at", "groups_at", "coefs",
                                    "common_coefs", "scale",  "cost",    "out",       "out_at"};
    Buffer b[10];
    memset(b, 0, sizeof(b));
    PyObject *result = NULL;
    double *numbers = NULL;
    for (int i = 0; i < 10; i++) {
        if (get_buffer(object[i], &b[i], i >= 8, i < 2 ? 4 : 8, names[i]) < 0) {
            goto done;
        }
    }
    const int64_t *rows_at = b[2].view.buf, *groups_at = b[3].view.buf;
    Py_ssize_t parts = length(&b[2]) - 1, n = length(&b[7]);
    int fits = lanes > 0 && lanes <= MOST_LANES && lanes % LANES == 0 && rates >= 1 && rates <= MOST_RATES && parts >= 0 &&
               length(&b[3]) == parts + 1 && length(&b[6]) == n * rates && length(&b[8]) == lanes &&
               length(&b[9]) == lanes;
    Py_ssize_t rows = fits ? length(&b[0]) / (rates * lanes) : 0, strata = fits ? length(&b[1]) / (rates * lanes) : 0;
    fits = fits && length(&b[0]) == rows * rates * lanes && length(&b[1]) == strata * rates * lanes &&
           length(&b[5]) == n * rates * strata && rows_at[0] >= 0 && rows_at[parts] <= rows && groups_at[0] == 0 &&
           groups_at[parts] == n;
    int64_t width = 0;
    for (Py_ssize_t t = 0; fits && t < parts; t++) {
        fits = rows_at[t] <= rows_at[t + 1] && groups_at[t] <= groups_at[t + 1] && rows_at[t + 1] <= rows &&
               groups_at[t + 1] <= n;
        width += fits ? (rows_at[t + 1] - rows_at[t]) * (groups_at[t + 1] - groups_at[t]) * rates : 0;
    }
    if (!fits || width != length(&b[4])) {
        PyErr_SetString(PyExc_ValueError, "best_forms: arrays do not fit");
        goto done;
    }
    const int32_t *table = b[0].view.buf, *common = b[1].view.buf;
    const double *coefs = b[4].view.buf, *common_coefs = b[5].view.buf, *scale = b[6].view.buf, *cost = b[7].view.buf;
    double *out = b[8].view.buf;
    int64_t *out_at = b[9].view.buf;
    int64_t most = 0;
    for (Py_ssize_t t = 0; t < parts; t++) {
        most = rows_at[t + 1] - rows_at[t] > most ? rows_at[t + 1] - rows_at[t] : most;
    }
    numbers = malloc(((size_t)most + (size_t)strata + 1) * (size_t)rates * FORM_LANES * sizeof(double));
    if (numbers == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t first = 0; first < lanes; first += FORM_LANES) {
        best_forms_block(table + first, common + first, lanes, rates, parts, strata, rows_at, groups_at, coefs,
                         common_coefs, scale, cost, numbers, out + first, out_at + first);
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    free(numbers);
    release(b, 10);
    return result;
}

/* Numbers from 0 on in the order of their values, those of equals in their own. */
static void
sort_by(const double *values, int32_t *order, int32_t *scratch, Py_ssize_t n)
{
    for (Py_ssize_t start = 0; start < n; start += FEW) {
        const Py_ssize_t end = start + FEW < n ? start + FEW : n;
        for (Py_ssize_t i = start; i < end; i++) {
            Py_ssize_t j = i;
            for (; j > start && values[order[j - 1]] > values[i]; j--) {
                order[j] = order[j - 1];
            }
            order[j] = (int32_t)i;
        }
    }
    int32_t *from = order, *to = scratch;
    for (Py_ssize_t width = FEW; width < n; width *= 2) {
        for (Py_ssize_t start = 0; start < n; start += 2 * width) {
            const Py_ssize_t middle = start + width < n ? start + width : n;
            const Py_ssize_t end = middle + width < n ? middle + width : n;
            Py_ssize_t i = start, j = middle;
            for (Py_ssize_t k = start; k < end; k++) {
                const int right = j < end && (i >= middle || values[from[j]] < values[from[i]]);
                to[k] = right ? from[j++] : from[i++];
            }
        }
        int32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != order) {
        memcpy(order, from, (size_t)n * sizeof(int32_t));
    }
}

/* best_heads(table, lanes, people, smallest, bases, weights, sizes, expected, spread, cost, sides, out, out_at)
 *
 * Levels have the hits table[levels, rates, lanes], `people`, bases[levels, rates, strata], and per rate the hits that
 * are expected of them with their spread. In every lane levels are put in orders by their rates: by that of every rate,
 * and with several also by their sum and by the first less all others. Groups are the first 1, 2, ... levels of an
 * order. The variance of a rate is the sum over strata of weight base (size - base): weights and sizes [rates, strata].
 * cost: by number of levels. With sides, tails count too. Writes [orders, lanes] the best statistic and how many levels
 * it has, less the number of all levels for tails; 0 if there is none.
 */
static PyObject *
best_heads(PyObject *self, PyObject *args)
{
    PyObject *object[11];
    Py_ssize_t lanes;
    long long smallest;
    if (!PyArg_ParseTuple(args, "OnOLOOOOOOOOO", &object[0], &lanes, &object[1], &smallest, &object[2], &object[3],
                          &object[4], &object[5], &object[6], &object[7], &object[8], &object[9], &object[10])) {
        return NULL;
    }
    static const char *names[11] = {"table",  "people", "bases", "weights", "sizes", "expected",
                                    "spread", "cost",   "sides", "out",     "out_at"};
    Buffer b[11];
    memset(b, 0, sizeof(b));
    PyObject *result = NULL;
    double *numbers = NULL;
    int32_t *order = NULL;
    int64_t *inside = NULL;
    for (int i = 0; i < 11; i++) {
        if (get_buffer(object[i], &b[i], i >= 9, i == 0 ? 4 : 8, names[i]) < 0) {
            goto done;
        }
    }
    const int32_t *table = b[0].view.buf;
    const int64_t *people = b[1].view.buf, *bases = b[2].view.buf;
    const double *weights = b[3].view.buf, *sizes = b[4].view.buf, *expected = b[5].view.buf, *spread = b[6].view.buf;
    const double *cost = b[7].view.buf, *sides = b[8].view.buf;
    double *out = b[9].view.buf;
    int64_t *out_at = b[10].view.buf;
    Py_ssize_t n = length(&b[1]), rates = length(&b[8]), strata = rates ? length(&b[3]) / rates : 0;
    Py_ssize_t orders = rates == 1 ? 1 : rates + 2;
    int fits = lanes > 0 && lanes <= MOST_LANES && rates >= 1 && rates <= MOST_RATES && n >= 1 && n <= INT32_MAX && strata >= 1 &&
               length(&b[0]) == n * rates * lanes && length(&b[2]) == n * rates * strata &&
               length(&b[3]) == rates * strata && length(&b[4]) == rates * strata && length(&b[5]) == n * rates &&
               length(&b[6]) == n * rates && length(&b[7]) == n + 1 && length(&b[9]) == orders * lanes &&
               length(&b[10]) == orders * lanes;
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "best_heads: arrays do not fit");
        goto done;
    }
    numbers = malloc(((size_t)rates + 1) * (size_t)n * sizeof(double));
    order = malloc(2 * (size_t)n * sizeof(int32_t));
    inside = malloc((size_t)rates * (size_t)strata * sizeof(int64_t));
    if (numbers == NULL || order == NULL || inside == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    double *direction = numbers + rates * n;
    int64_t total = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        total += people[i];
    }
    int one_sided = 0;
    for (Py_ssize_t r = 0; r < rates; r++) {
        one_sided |= sides[r] != 0.0;
    }
    for (Py_ssize_t lane = 0; lane < lanes; lane++) {
        for (Py_ssize_t r = 0; r < rates; r++) {
            for (Py_ssize_t i = 0; i < n; i++) {
                const double width = spread[i * rates + r];
                const double excess = (double)table[(i * rates + r) * lanes + lane] - expected[i * rates + r];
                numbers[r * n + i] = width > 0.0 ? excess / width : 0.0;
            }
        }
        for (Py_ssize_t o = 0; o < orders; o++) {
            for (Py_ssize_t i = 0; i < n; i++) {
                double value = numbers[(o < rates ? o : 0) * n + i];
                if (o == rates) {
                    for (Py_ssize_t r = 1; r < rates; r++) {
                        value += numbers[r * n + i];
                    }
                }
                else if (o == rates + 1) {
                    double others = numbers[n + i];
                    for (Py_ssize_t r = 2; r < rates; r++) {
                        others += numbers[r * n + i];
                    }
                    value -= others;
                }
                direction[i] = value;
            }
            sort_by(direction, order, order + n, n);
            double gain = -1e300, value = 0.0, means[MOST_RATES];
            int64_t at = 0, members = 0, hits[MOST_RATES];
            memset(inside, 0, (size_t)(rates * strata) * sizeof(int64_t));
            for (Py_ssize_t r = 0; r < rates; r++) {
                means[r] = 0.0;
                hits[r] = 0;
            }
            for (Py_ssize_t k = 1; k < n; k++) {
                const int32_t level = order[k - 1];
                members += people[level];
                double x = 0.0, opposite = 0.0;
                for (Py_ssize_t r = 0; r < rates; r++) {
                    hits[r] += table[(level * rates + r) * lanes + lane];
                    means[r] += expected[level * rates + r];
                    double variance = 0.0;
                    for (Py_ssize_t s = 0; s < strata; s++) {
                        inside[r * strata + s] += bases[(level * rates + r) * strata + s];
                        const double base = (double)inside[r * strata + s];
                        variance += weights[r * strata + s] * (base * (sizes[r * strata + s] - base));
                    }
                    double d = (double)hits[r] - means[r];
                    double part = variance > 1e-12 ? d * d / variance : 0.0;
                    if (sides[r] == 0.0 || d * sides[r] > 0.0) {
                        x += part;
                    }
                    if (sides[r] == 0.0 || d * sides[r] < 0.0) {
                        opposite += part;
                    }
                }
                if (members < smallest || total - members < smallest) {
                    continue;
                }
                if (x > 0.0 && x - cost[k] > gain) {
                    gain = x - cost[k];
                    value = x;
                    at = k;
                }
                if (one_sided && opposite > 0.0 && opposite - cost[n - k] > gain) {
                    gain = opposite - cost[n - k];
                    value = opposite;
                    at = k - n;
                }
            }
            out[o * lanes + lane] = value;
            out_at[o * lanes + lane] = at;
        }
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    free(numbers);
    free(order);
    free(inside);
    release(b, 11);
    return result;
}

static PyMethodDef methods[] = {
    {"draw", draw, METH_VARARGS, "Random bits for people, in many lanes."},
    {"settle", settle, METH_VARARGS, "As many bits in every stratum and lane as asked for."},
    {"count", count, METH_VARARGS, "Per lane the bits of people with the same codes."},
    {"best", best, METH_VARARGS, "Per lane the strongest of some groups."},
    {"best_forms", best_forms, METH_VARARGS, "Per lane the strongest of some linear forms."},
    {"best_heads", best_heads, METH_VARARGS, "Per lane the strongest sets of levels."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_lanes", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC
PyInit__lanes(void)
{
    return PyModule_Create(&module);
}
