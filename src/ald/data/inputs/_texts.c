/* Columns of text as codes: few distinct texts, in the buffers of Apache Arrow.
 *
 * Buffers come through the checked buffer protocol, and offsets are checked before texts are read.
 */
#include "../../_core/_buffers.h"

/* More distinct texts than this are left to others. */
#define MOST_TEXTS 4096
#define SLOTS (4 * MOST_TEXTS)

/* Its first and last eight bytes, which are all of a text of up to sixteen, and where it is. */
typedef struct {
    uint64_t head, tail;
    int64_t length;
    const uint8_t *text;
} Text;

typedef struct {
    int32_t *slots; /* one more than the code of the text there; 0: none */
    Text *texts;
    int32_t n;
    int64_t *first; /* the row where each text is met first */
} Texts;

/* The first so many bytes of a word. */
static const uint8_t lowest[8][8] = {
    {0},
    {255},
    {255, 255},
    {255, 255, 255},
    {255, 255, 255, 255},
    {255, 255, 255, 255, 255},
    {255, 255, 255, 255, 255, 255},
    {255, 255, 255, 255, 255, 255, 255},
};

static inline uint64_t
eight(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

/* The code of a text; -1 if there are too many. room: how many bytes may be read from its start on. */
static inline int32_t
code_of(Texts *texts, const uint8_t *text, int64_t length, int64_t room, int64_t row)
{
    uint64_t head = 0, tail = 0;
    if (length >= 8) {
        head = eight(text);
        tail = eight(text + length - 8);
    }
    else if (room >= 8) {
        head = eight(text) & eight(lowest[length]);
    }
    else {
        memcpy(&head, text, (size_t)length);
    }
    uint64_t hash = (head ^ (tail << 29 | tail >> 35) ^ (uint64_t)length) * 0x9E3779B97F4A7C15u;
    for (uint64_t at = hash >> 40;; at++) {
        int32_t *slot = &texts->slots[at % SLOTS];
        if (*slot == 0) {
            if (texts->n == MOST_TEXTS) {
                return -1;
            }
            texts->texts[texts->n] = (Text){.head = head, .tail = tail, .length = length, .text = text};
            texts->first[texts->n] = row;
            *slot = ++texts->n;
            return *slot - 1;
        }
        const Text *other = &texts->texts[*slot - 1];
        if (other->head == head && other->tail == tail && other->length == length &&
            (length <= 16 || memcmp(other->text, text, (size_t)length) == 0)) {
            return *slot - 1;
        }
    }
}

/* The codes of n texts from `start` on; whether all have one. */
#define CODE_TEXTS(NAME, OFFSET)                                                           \
    static int NAME(Texts *texts, const OFFSET *offsets, const uint8_t *data, int64_t size, const uint8_t *valid, \
                    int64_t start, int64_t n, int64_t row, int64_t *out)                   \
    {                                                                                      \
        for (int64_t i = 0; i < n; i++) {                                                  \
            const int64_t at = start + i, from = offsets[at], length = (int64_t)offsets[at + 1] - from; \
            if (valid != NULL && !(valid[at / 8] >> at % 8 & 1)) {                         \
                out[i] = -1;                                                               \
                continue;                                                                  \
            }                                                                              \
            if (from < 0 || length < 0 || length > size - from) {                          \
                return 0;                                                                  \
            }                                                                              \
            out[i] = code_of(texts, data + from, length, size - from, row + i);            \
            if (out[i] < 0) {                                                              \
                return 0;                                                                  \
            }                                                                              \
        }                                                                                  \
        return 1;                                                                          \
    }
CODE_TEXTS(code_32, int32_t)
CODE_TEXTS(code_64, int64_t)

/* code(chunks, codes, first): codes of the texts in some chunks, -1 for missing ones, and the rows where each distinct
 * text is met first. A chunk is (width of offsets, offsets, bytes or None, validity or None, start, length). Returns how
 * many distinct texts there are, or -1 if they are too many or a chunk is not as it should be.
 */
static PyObject *
code(PyObject *self, PyObject *args)
{
    PyObject *chunks, *codes_object, *first_object, *result = NULL;
    if (!PyArg_ParseTuple(args, "O!OO", &PyList_Type, &chunks, &codes_object, &first_object)) {
        return NULL;
    }
    Buffer out[2];
    Texts texts = {0};
    memset(out, 0, sizeof(out));
    if (get_buffer(codes_object, &out[0], 1, 8, "codes") < 0 || get_buffer(first_object, &out[1], 1, 8, "first") < 0) {
        goto done;
    }
    if (length(&out[1]) != MOST_TEXTS) {
        PyErr_SetString(PyExc_ValueError, "code: arrays do not fit");
        goto done;
    }
    texts.first = out[1].view.buf;
    texts.slots = calloc(SLOTS, sizeof(int32_t));
    texts.texts = malloc(MOST_TEXTS * sizeof(Text));
    if (texts.slots == NULL || texts.texts == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    /* Texts are compared with those of earlier chunks: all buffers stay until the end. */
    const Py_ssize_t n_chunks = PyList_Size(chunks);
    Buffer *buffers = calloc((size_t)(3 * n_chunks + 1), sizeof(Buffer));
    if (buffers == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    int64_t row = 0;
    int is_coded = 1;
    for (Py_ssize_t c = 0; c < n_chunks && is_coded; c++) {
        Buffer *b = &buffers[3 * c];
        PyObject *parts[3];
        int width;
        Py_ssize_t start, n;
        PyObject *chunk = PyList_GetItem(chunks, c);
        is_coded = 0;
        if (!PyTuple_Check(chunk)) {
            PyErr_SetString(PyExc_TypeError, "code: a chunk is a tuple");
            goto release;
        }
        if (!PyArg_ParseTuple(chunk, "iOOOnn", &width, &parts[0], &parts[1], &parts[2], &start, &n)) {
            goto release;
        }
        for (int i = 0; i < 3; i++) {
            if (parts[i] != Py_None && get_buffer(parts[i], &b[i], 0, 1, "chunk") < 0) {
                goto release;
            }
        }
        if ((width != 4 && width != 8) || start < 0 || n < 0 || n > length(&out[0]) - row ||
            (n > 0 && start > length(&b[0]) / width - 1 - n) ||
            (n > 0 && b[2].width && length(&b[2]) < (start + n + 7) / 8)) {
            PyErr_SetString(PyExc_ValueError, "code: a chunk does not fit");
            goto release;
        }
        static const uint8_t nothing[1] = {0};
        const uint8_t *data = b[1].width && length(&b[1]) ? b[1].view.buf : nothing;
        const uint8_t *valid = b[2].width ? b[2].view.buf : NULL;
        int64_t *codes = (int64_t *)out[0].view.buf + row;
        Py_BEGIN_ALLOW_THREADS
        is_coded = n == 0 || (width == 4 ? code_32(&texts, b[0].view.buf, data, length(&b[1]), valid, start, n, row, codes)
                                         : code_64(&texts, b[0].view.buf, data, length(&b[1]), valid, start, n, row, codes));
        Py_END_ALLOW_THREADS
        row += n;
    }
    result = PyLong_FromLong(is_coded ? texts.n : -1);
release:
    release(buffers, 3 * n_chunks);
    free(buffers);
done:
    free(texts.slots);
    free(texts.texts);
    release(out, 2);
    return result;
}

static PyMethodDef methods[] = {
    {"code", code, METH_VARARGS, "Texts as codes."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_texts", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC
PyInit__texts(void)
{
    PyObject *made = PyModule_Create(&module);
    if (made != NULL && PyModule_AddIntConstant(made, "MOST_TEXTS", MOST_TEXTS) < 0) {
        Py_DECREF(made);
        return NULL;
    }
    return made;
}
