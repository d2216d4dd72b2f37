/* Random samples of people by the hashes of their rows, and the rows of those who are in them.
 *
 * A sample of rows of one person each is a list of bits, in words of 64. Buffers come through the checked buffer protocol.
 */
#include "../_core/_buffers.h"
#include "../_core/_vectors.h"

/* What splitmix64 does in the end (Steele, Lea and Flood 2014). */
INLINE uint64_t
mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* 1 if a number of 32 bits is below a bound of at most 2^32, without a branch. */
INLINE uint64_t
below(uint64_t number, uint64_t bound)
{
    return ((number & UINT32_MAX) - bound) >> 63;
}

#define ADD_UP(NAME, TYPE)                                                                               \
    MANY_VERSIONS static void NAME(const TYPE *codes, const uint64_t *table, Py_ssize_t n, uint64_t *out) \
    {                                                                                                    \
        for (Py_ssize_t i = 0; i < n; i++) {                                                             \
            out[i] += table[codes[i]];                                                                   \
        }                                                                                                \
    }                                                                                                    \
    MANY_VERSIONS static TYPE NAME##_largest(const TYPE *codes, Py_ssize_t n)                             \
    {                                                                                                    \
        TYPE largest = 0;                                                                                \
        for (Py_ssize_t i = 0; i < n; i++) {                                                             \
            largest = codes[i] > largest ? codes[i] : largest;                                           \
        }                                                                                                \
        return largest;                                                                                  \
    }
ADD_UP(add_1, uint8_t)
ADD_UP(add_2, uint16_t)
ADD_UP(add_4, uint32_t)

/* Rows at a time, whose sums stay in the cache. */
#define BLOCK 4096

/* add(codes, tables, offsets, out): adds up the numbers that codes stand for; those of column c begin at offsets[c]. */
static PyObject *
add(PyObject *self, PyObject *args)
{
    PyObject *codes_object, *tables_object, *offsets_object, *out_object;
    if (!PyArg_ParseTuple(args, "OOOO", &codes_object, &tables_object, &offsets_object, &out_object)) {
        return NULL;
    }
    Buffer b[3], *columns = NULL;
    memset(b, 0, sizeof(b));
    PyObject *result = NULL;
    Py_ssize_t n_columns = 0;
    if (get_buffer(tables_object, &b[0], 0, 8, "tables") < 0 || get_buffer(offsets_object, &b[1], 0, 8, "offsets") < 0 ||
        get_buffer(out_object, &b[2], 1, 8, "out") < 0) {
        goto done;
    }
    const Py_ssize_t n = length(&b[2]);
    columns = get_columns(codes_object, n, &n_columns);
    if (columns == NULL) {
        goto done;
    }
    const uint64_t *tables = b[0].view.buf;
    const int64_t *offsets = b[1].view.buf;
    int fits = length(&b[1]) == n_columns + 1 && offsets[0] == 0 && offsets[n_columns] == length(&b[0]);
    for (Py_ssize_t c = 0; fits && c < n_columns; c++) {
        fits = offsets[c] <= offsets[c + 1];
    }
    uint64_t *out = b[2].view.buf;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t start = 0; fits && start < n; start += BLOCK) {
        const Py_ssize_t some = n - start < BLOCK ? n - start : BLOCK;
        for (Py_ssize_t c = 0; fits && c < n_columns; c++) {
            const char *codes = (const char *)columns[c].view.buf + start * columns[c].width;
            const uint64_t *table = tables + offsets[c];
            const int64_t size = offsets[c + 1] - offsets[c];
            switch (columns[c].width) {
            case 1:
                if ((fits = add_1_largest((const uint8_t *)codes, some) < size)) {
                    add_1((const uint8_t *)codes, table, some, out + start);
                }
                break;
            case 2:
                if ((fits = add_2_largest((const uint16_t *)codes, some) < size)) {
                    add_2((const uint16_t *)codes, table, some, out + start);
                }
                break;
            default:
                if ((fits = (int64_t)add_4_largest((const uint32_t *)codes, some) < size)) {
                    add_4((const uint32_t *)codes, table, some, out + start);
                }
            }
        }
    }
    Py_END_ALLOW_THREADS
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "add: arrays do not fit");
        goto done;
    }
    result = Py_None;
    Py_INCREF(result);
done:
    if (columns != NULL) {
        release(columns, n_columns);
        free(columns);
    }
    release(b, 3);
    return result;
}

/* Hashes are looked up so many ahead, so that memory has time to bring them. */
#define AHEAD 16
/* Bits of a set for every hash, at least. */
#define SPARSE 16

/* Bit `at` of a set. */
INLINE int
has(const uint64_t *set, uint64_t at)
{
    return set[at >> 6] >> (at & 63) & 1;
}

/* firsts(hashes, out): per row the first one with the same hash; returns how many hashes differ.
 *
 * Few rows share a bit of a set with an earlier one. Only of these, and of those that share a bit with them, it is looked
 * up whether they are the same. If all hashes differ, `out` means nothing.
 */
static PyObject *
firsts(PyObject *self, PyObject *args)
{
    PyObject *hashes_object, *out_object;
    if (!PyArg_ParseTuple(args, "OO", &hashes_object, &out_object)) {
        return NULL;
    }
    Buffer b[2];
    memset(b, 0, sizeof(b));
    PyObject *result = NULL;
    uint64_t *seen = NULL, *again = NULL;
    uint32_t *places = NULL;
    if (get_buffer(hashes_object, &b[0], 0, 8, "hashes") < 0 || get_buffer(out_object, &b[1], 1, 4, "out") < 0) {
        goto done;
    }
    const uint64_t *hashes = b[0].view.buf;
    uint32_t *out = b[1].view.buf;
    const int64_t n = length(&b[0]);
    if (length(&b[1]) != n || n >= UINT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "firsts: arrays do not fit");
        goto done;
    }
    int bits = 10;
    while (((int64_t)1 << bits) < SPARSE * n) {
        bits++;
    }
    const uint64_t room = (uint64_t)1 << bits;
    seen = calloc(room / 64, 8);
    again = calloc(room / 64, 8);
    if (seen == NULL || again == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    int64_t different = n;
    int no_memory = 0;
    Py_BEGIN_ALLOW_THREADS
    const uint64_t mask = room - 1;
    int64_t doubtful = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            __builtin_prefetch(&seen[(mixed(hashes[i + AHEAD]) & mask) >> 6], 1);
        }
        const uint64_t at = mixed(hashes[i]) & mask, bit = (uint64_t)1 << (at & 63);
        if (seen[at >> 6] & bit) {
            again[at >> 6] |= bit;
            doubtful++;
        }
        seen[at >> 6] |= bit;
    }
    /* As many doubtful rows have an earlier one with their bit; at most as many are the first ones with it. */
    uint64_t slots = 16;
    while (slots < 4 * (uint64_t)doubtful) {
        slots *= 2;
    }
    places = doubtful ? calloc(slots, sizeof(uint32_t)) : NULL;
    no_memory = doubtful && places == NULL;
    for (int64_t i = 0; places != NULL && i < n; i++) {
        if (i + AHEAD < n) {
            __builtin_prefetch(&again[(mixed(hashes[i + AHEAD]) & mask) >> 6]);
        }
        const uint64_t own = mixed(hashes[i]);
        out[i] = (uint32_t)i;
        if (!has(again, own & mask)) {
            continue;
        }
        uint64_t at = own >> 32 & (slots - 1);
        while (places[at] && hashes[places[at] - 1] != hashes[i]) {
            at = (at + 1) & (slots - 1);
        }
        if (!places[at]) {
            places[at] = (uint32_t)i + 1;
        }
        else {
            different--;
        }
        out[i] = places[at] - 1;
    }
    Py_END_ALLOW_THREADS
    if (no_memory) {
        PyErr_NoMemory();
        goto done;
    }
    result = PyLong_FromLongLong(different);
done:
    free(seen);
    free(again);
    free(places);
    release(b, 2);
    return result;
}

/* The people of one row who are drawn: two for every word. */
INLINE int64_t
people(uint64_t hash, int64_t count, uint64_t bound, uint64_t key)
{
    uint64_t some = 0;
    for (int64_t k = 0; k < count / 2; k++) {
        const uint64_t word = mixed((hash + (uint64_t)k * 0x9E3779B97F4A7C15u) ^ key);
        some += below(word, bound) + below(word >> 32, bound);
    }
    if (count % 2) {
        some += below(mixed((hash + (uint64_t)(count / 2) * 0x9E3779B97F4A7C15u) ^ key), bound);
    }
    return (int64_t)some;
}

MANY_VERSIONS static void
draw_counts(const uint64_t *hashes, const int64_t *counts, int64_t n, uint64_t bound, uint64_t key, int64_t *out)
{
    for (int64_t i = 0; i < n; i++) {
        out[i] = people(hashes[i], counts[i], bound, key);
    }
}

/* draw(hashes, counts, bound, key, out): how many of every row's people are drawn. */
static PyObject *
draw(PyObject *self, PyObject *args)
{
    PyObject *hashes_object, *counts_object, *out_object;
    unsigned long long bound, key;
    if (!PyArg_ParseTuple(args, "OOKKO", &hashes_object, &counts_object, &bound, &key, &out_object)) {
        return NULL;
    }
    Buffer b[3];
    memset(b, 0, sizeof(b));
    PyObject *result = NULL;
    if (get_buffer(hashes_object, &b[0], 0, 8, "hashes") < 0 || get_buffer(counts_object, &b[1], 0, 8, "counts") < 0 ||
        get_buffer(out_object, &b[2], 1, 8, "out") < 0) {
        goto done;
    }
    const int64_t n = length(&b[0]);
    if (length(&b[1]) != n || length(&b[2]) != n) {
        PyErr_SetString(PyExc_ValueError, "draw: arrays do not fit");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    draw_counts(b[0].view.buf, b[1].view.buf, n, bound, key, b[2].view.buf);
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    release(b, 3);
    return result;
}

MANY_VERSIONS static int64_t
draw_words(const uint64_t *hashes, int64_t n, uint64_t bound, uint64_t key, uint64_t *bits)
{
    int64_t some = 0;
    for (int64_t start = 0; start < n; start += 64) {
        const int64_t end = n - start < 64 ? n - start : 64;
        uint64_t word = 0;
        for (int64_t i = 0; i < end; i++) {
            word |= below(mixed(hashes[start + i] ^ key), bound) << i;
        }
        bits[start / 64] = word;
        some += __builtin_popcountll(word);
    }
    return some;
}

/* draw_bits(hashes, bound, key, bits): who is drawn of rows of one person each; returns how many. */
static PyObject *
draw_bits(PyObject *self, PyObject *args)
{
    PyObject *hashes_object, *bits_object;
    unsigned long long bound, key;
    if (!PyArg_ParseTuple(args, "OKKO", &hashes_object, &bound, &key, &bits_object)) {
        return NULL;
    }
    Buffer b[2];
    memset(b, 0, sizeof(b));
    PyObject *result = NULL;
    if (get_buffer(hashes_object, &b[0], 0, 8, "hashes") < 0 || get_buffer(bits_object, &b[1], 1, 8, "bits") < 0) {
        goto done;
    }
    const int64_t n = length(&b[0]);
    if (length(&b[1]) != (n + 63) / 64) {
        PyErr_SetString(PyExc_ValueError, "draw_bits: arrays do not fit");
        goto done;
    }
    int64_t some = 0;
    Py_BEGIN_ALLOW_THREADS
    some = draw_words(b[0].view.buf, n, bound, key, b[1].view.buf);
    Py_END_ALLOW_THREADS
    result = PyLong_FromLongLong(some);
done:
    release(b, 2);
    return result;
}

/* How many of the first n bits are 1, or, flipped, 0. */
MANY_VERSIONS static int64_t
ones(const uint64_t *bits, int64_t n, uint64_t flip)
{
    int64_t some = 0;
    for (int64_t w = 0; w < n / 64; w++) {
        some += __builtin_popcountll(bits[w] ^ flip);
    }
    return n % 64 ? some + __builtin_popcountll((bits[n / 64] ^ flip) & (((uint64_t)1 << n % 64) - 1)) : some;
}

/* The items of a column whose bit is 1, from item `at` on, to out[written..]. */
#define KEEP(NAME, TYPE)                                                                   \
    static void NAME(const uint64_t *bits, uint64_t flip, const TYPE *column, int64_t at, int64_t n, TYPE *out, \
                     int64_t written)                                                      \
    {                                                                                      \
        for (int64_t start = at; start < n; start += 64) {                                 \
            uint64_t word = bits[start / 64] ^ flip;                                       \
            if (n - start < 64) {                                                          \
                word &= ((uint64_t)1 << (n - start)) - 1;                                  \
            }                                                                              \
            for (; word; word &= word - 1) {                                               \
                out[written++] = column[start + __builtin_ctzll(word)];                    \
            }                                                                              \
        }                                                                                  \
    }
KEEP(keep_1, uint8_t)
KEEP(keep_2, uint16_t)
KEEP(keep_4, uint32_t)
KEEP(keep_8, uint64_t)

#if HAS_VECTORS
/* 64 items at a time while there is room for as many: what is written too much is written over by the next ones. Sets
 * how far it came. */
__attribute__((target("arch=x86-64-v4,avx512vbmi2"))) static void
keep_64(const uint64_t *bits, uint64_t flip, const uint8_t *column, int64_t n, uint8_t *out, int64_t room, int64_t *at,
        int64_t *written)
{
    int64_t start = 0, done = 0;
    for (; start + 64 <= n && done + 64 <= room; start += 64) {
        const uint64_t word = bits[start / 64] ^ flip;
        const __m512i items = _mm512_loadu_si512(column + start);
        _mm512_storeu_si512(out + done, _mm512_maskz_compress_epi8(word, items));
        done += __builtin_popcountll(word);
    }
    *at = start;
    *written = done;
}
#endif

/* keep(bits, wanted, column, out): the items of a column whose bit is wanted, 0 or 1. */
static PyObject *
keep(PyObject *self, PyObject *args)
{
    PyObject *bits_object, *column_object, *out_object;
    int wanted;
    if (!PyArg_ParseTuple(args, "OiOO", &bits_object, &wanted, &column_object, &out_object)) {
        return NULL;
    }
    Buffer b[3];
    memset(b, 0, sizeof(b));
    PyObject *result = NULL;
    if (get_buffer(bits_object, &b[0], 0, 8, "bits") < 0 || get_buffer(column_object, &b[1], 0, 0, "column") < 0 ||
        get_buffer(out_object, &b[2], 1, b[1].width, "out") < 0) {
        goto done;
    }
    const int64_t n = length(&b[1]), room = length(&b[2]), words = length(&b[0]);
    const uint64_t *bits = b[0].view.buf, flip = wanted ? 0 : UINT64_MAX;
    if (words != (n + 63) / 64 || ones(bits, n, flip) != room || b[1].width > 8 || (b[1].width & (b[1].width - 1))) {
        PyErr_SetString(PyExc_ValueError, "keep: arrays do not fit");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    int64_t at = 0, written = 0;
#if HAS_VECTORS
    if (b[1].width == 1 && vectors == ALL_VECTORS && __builtin_cpu_supports("avx512vbmi2")) {
        keep_64(bits, flip, b[1].view.buf, n, b[2].view.buf, room, &at, &written);
    }
#endif
    switch (b[1].width) {
    case 1: keep_1(bits, flip, b[1].view.buf, at, n, b[2].view.buf, written); break;
    case 2: keep_2(bits, flip, b[1].view.buf, at, n, b[2].view.buf, written); break;
    case 4: keep_4(bits, flip, b[1].view.buf, at, n, b[2].view.buf, written); break;
    default: keep_8(bits, flip, b[1].view.buf, at, n, b[2].view.buf, written); break;
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    release(b, 3);
    return result;
}

static PyMethodDef methods[] = {
    {"add", add, METH_VARARGS, "Adds up the numbers that codes stand for."},
    {"draw", draw, METH_VARARGS, "How many of every row's people are drawn."},
    {"draw_bits", draw_bits, METH_VARARGS, "Who is drawn of rows of one person each, as bits."},
    {"firsts", firsts, METH_VARARGS, "Per row the first one with the same hash."},
    {"keep", keep, METH_VARARGS, "The items of a column that are in a sample, or are not."},
    {"use_vectors", use_vectors, METH_VARARGS, "Which instructions are used; for tests."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_draw", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC
PyInit__draw(void)
{
    start_vectors();
    return PyModule_Create(&module);
}
