/* Random samples of people, and the rows of those who are in them.
 *
 * A sample is a list of bits, one per person, in words of 64. Buffers come through the checked buffer protocol.
 */
#include "../_core/_buffers.h"
#include "../_core/_vectors.h"

/* The generator's interface, as NumPy documents it (numpy/random/bitgen.h). */
typedef struct {
    void *state;
    uint64_t (*next_uint64)(void *state);
    uint32_t (*next_uint32)(void *state);
    double (*next_double)(void *state);
    uint64_t (*next_raw)(void *state);
} BitGenerator;

/* Places are drawn so many ahead, so that memory has time to bring them. */
#define AHEAD 64

/* Takes a number of 32 bits as NumPy's random_interval does: numbers from 0 to the last person left, of as many bits as
 * that one has, until one is not larger. What is too large is written over, without a branch: nobody could predict it. */
INLINE int
place(uint32_t number, uint64_t people, uint64_t at, const uint32_t *order, uint64_t *out)
{
    const uint64_t most = people - at - 1, value = number & (UINT64_MAX >> __builtin_clzll(most));
    *out = at + value;
    __builtin_prefetch(&order[value <= most ? *out : 0], 1);
    return value <= most;
}

/* Draws the next places, AHEAD and one at most; where `halves`, a number of 64 bits is two of 32, the lower one first.
 * Returns how many there are. */
static int
draw_places(BitGenerator *generator, int halves, uint64_t people, uint64_t at, uint64_t end, const uint32_t *order,
            uint64_t *places)
{
    int n = 0;
    while (n < AHEAD && at + (uint64_t)n < end) {
        const uint64_t next = at + (uint64_t)n;
        if (next + 1 == people) {
            /* Only one is left: nothing is drawn. */
            places[n++] = next;
        }
        else if (halves && end - next >= 2 && people - next > 2) {
            /* Both halves will be needed. */
            const uint64_t numbers = generator->next_uint64(generator->state);
            n += place((uint32_t)numbers, people, next, order, &places[n]);
            n += place((uint32_t)(numbers >> 32), people, at + (uint64_t)n, order, &places[n]);
        }
        else {
            n += place(generator->next_uint32(generator->state), people, next, order, &places[n]);
        }
    }
    return n;
}

/* pick(generator, halves, people, k, order, bits): k people without replacement.
 *
 * Those that multivariate_hypergeometric(..., k, method="count") of NumPy's generator draws, which then goes on as it
 * would there. halves: whether two numbers of 32 bits are the halves of one of 64, and none is left over now. order: room
 * for a number per person; bits: one per person, 1 for those drawn, and zeros behind them.
 */
static PyObject *
pick(PyObject *self, PyObject *args)
{
    PyObject *capsule, *order_object, *bits_object;
    Py_ssize_t people, k;
    int halves;
    if (!PyArg_ParseTuple(args, "OinnOO", &capsule, &halves, &people, &k, &order_object, &bits_object)) {
        return NULL;
    }
    BitGenerator *generator = PyCapsule_GetPointer(capsule, "BitGenerator");
    if (generator == NULL) {
        return NULL;
    }
    Buffer b[2];
    memset(b, 0, sizeof(b));
    PyObject *result = NULL;
    if (get_buffer(order_object, &b[0], 1, 4, "order") < 0 || get_buffer(bits_object, &b[1], 1, 8, "bits") < 0) {
        goto done;
    }
    if (people < 0 || people >= UINT32_MAX || k < 0 || k > people || length(&b[0]) < people ||
        length(&b[1]) != (people + 63) / 64) {
        PyErr_SetString(PyExc_ValueError, "pick: arrays do not fit");
        goto done;
    }
    uint32_t *order = b[0].view.buf;
    uint64_t *bits = b[1].view.buf;
    Py_BEGIN_ALLOW_THREADS
    /* Of those drawn or those left the fewer are picked. */
    const int left_out = k > people / 2;
    const uint64_t picked = (uint64_t)(left_out ? people - k : k);
    for (Py_ssize_t i = 0; i < people; i++) {
        order[i] = (uint32_t)i;
    }
    memset(bits, left_out ? 0xff : 0, (size_t)b[1].view.len);
    if (left_out && people % 64) {
        bits[people / 64] = ((uint64_t)1 << people % 64) - 1;
    }
    uint64_t places[AHEAD + 1];
    for (uint64_t at = 0; at < picked;) {
        const int some = draw_places(generator, halves, (uint64_t)people, at, picked, order, places);
        for (int j = 0; j < some; j++, at++) {
            const uint32_t person = order[places[j]];
            order[places[j]] = order[at];
            bits[person / 64] ^= (uint64_t)1 << person % 64;
        }
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    release(b, 2);
    return result;
}

MANY_VERSIONS static void
count_spans(const uint64_t *bits, const int64_t *counts, Py_ssize_t n, int64_t *out)
{
    int64_t at = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        int64_t some = 0;
        for (int64_t left = counts[i]; left > 0;) {
            const int64_t from = at % 64, now = left < 64 - from ? left : 64 - from;
            const uint64_t mask = now == 64 ? UINT64_MAX : ((uint64_t)1 << now) - 1;
            some += __builtin_popcountll(bits[at / 64] >> from & mask);
            at += now;
            left -= now;
        }
        out[i] = some;
    }
}

/* spans(bits, counts, out): how many of every row's people are in a sample; row i has counts[i] of them, in order. */
static PyObject *
spans(PyObject *self, PyObject *args)
{
    PyObject *bits_object, *counts_object, *out_object;
    if (!PyArg_ParseTuple(args, "OOO", &bits_object, &counts_object, &out_object)) {
        return NULL;
    }
    Buffer b[3];
    memset(b, 0, sizeof(b));
    PyObject *result = NULL;
    if (get_buffer(bits_object, &b[0], 0, 8, "bits") < 0 || get_buffer(counts_object, &b[1], 0, 8, "counts") < 0 ||
        get_buffer(out_object, &b[2], 1, 8, "out") < 0) {
        goto done;
    }
    const uint64_t *bits = b[0].view.buf;
    const int64_t *counts = b[1].view.buf;
    int64_t *out = b[2].view.buf, people = 0;
    const Py_ssize_t n = length(&b[1]);
    int fits = length(&b[2]) == n;
    for (Py_ssize_t i = 0; fits && i < n; i++) {
        fits = counts[i] >= 0 && counts[i] <= 64 * (int64_t)length(&b[0]) - people;
        people += fits ? counts[i] : 0;
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "spans: arrays do not fit");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    count_spans(bits, counts, n, out);
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    release(b, 3);
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
    if (words != (n + 63) / 64 || ones(bits, n, flip) != room || (b[1].width != 1 && b[1].width != 2 && b[1].width != 4)) {
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
    default: keep_4(bits, flip, b[1].view.buf, at, n, b[2].view.buf, written); break;
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    release(b, 3);
    return result;
}

static PyMethodDef methods[] = {
    {"keep", keep, METH_VARARGS, "The items of a column that are in a sample, or are not."},
    {"pick", pick, METH_VARARGS, "People drawn without replacement, as bits."},
    {"spans", spans, METH_VARARGS, "How many of every row's people are in a sample."},
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
