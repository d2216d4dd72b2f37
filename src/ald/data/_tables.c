/* Tables of people by the codes of one or more columns together, and by confusion cell; rows per code of one column.
 *
 * One loop over rows, all on integers: its results do not depend on threads or platform, and NumPy computes the same
 * ones. Buffers come through the checked buffer protocol, and their lengths, row numbers and the places of all tables are
 * checked before any of them is used. Codes and cells of tables are trusted: a code is below its column's size, a cell
 * below n_cells.
 */
#include "../_core/_buffers.h"
#include "../_core/_vectors.h"

#define MOST_COLUMNS 65536
#define MOST_PARTS 16
/* Rows whose keys are made at a time: they stay in the processor's first cache. */
#define BLOCK 2048

#define EXTEND(TYPE)                                                                       \
    do {                                                                                   \
        const TYPE *code = (const TYPE *)column->view.buf;                                 \
        if (row == NULL) {                                                                 \
            for (Py_ssize_t i = 0; i < n; i++) {                                           \
                key[i] = key[i] * size + code[first + i];                                  \
            }                                                                              \
        }                                                                                  \
        else {                                                                             \
            for (Py_ssize_t i = 0; i < n; i++) {                                           \
                key[i] = key[i] * size + code[row[first + i]];                             \
            }                                                                              \
        }                                                                                  \
    } while (0)

/* Keys of the rows from `first` on: the code in the column after what was there before. */
static inline void
extend(uint32_t *key, const Buffer *column, uint32_t size, const uint32_t *row, Py_ssize_t first, Py_ssize_t n)
{
    switch (column->view.itemsize) {
    case 1: EXTEND(uint8_t); break;
    case 2: EXTEND(uint16_t); break;
    default: EXTEND(uint32_t); break;
    }
}

/* tables(columns, sizes, cells, n_cells, counts, rows, parts, offsets, out)
 *
 * Table t starts at out[offsets[t]] and counts people by the codes of the columns parts[t] together, the last one
 * running fastest, and by cell; sizes[k] is one more than the largest code of column k. counts: how many people each row
 * is, one without them; rows: the rows that count, all without them.
 */
static PyObject *
tables(PyObject *self, PyObject *args)
{
    PyObject *columns_o, *sizes_o, *cells_o, *counts_o, *rows_o, *parts_o, *offsets_o, *out_o;
    Py_ssize_t n_cells;
    if (!PyArg_ParseTuple(args, "OOOnOOOOO", &columns_o, &sizes_o, &cells_o, &n_cells, &counts_o, &rows_o, &parts_o,
                          &offsets_o, &out_o)) {
        return NULL;
    }
    Py_ssize_t n_columns = PySequence_Size(columns_o);
    if (n_columns < 0 || n_columns > MOST_COLUMNS) {
        if (n_columns > 0) {
            PyErr_SetString(PyExc_ValueError, "tables: too many columns");
        }
        return NULL;
    }
    Buffer b[7];
    memset(b, 0, sizeof(b));
    PyObject *result = NULL;
    Buffer *columns = calloc(n_columns ? n_columns : 1, sizeof(Buffer));
    if (columns == NULL) {
        return PyErr_NoMemory();
    }
    if (get_buffer(sizes_o, &b[0], 0, 8, "sizes") < 0 || get_buffer(cells_o, &b[1], 0, 1, "cells") < 0 ||
        (counts_o != Py_None && get_buffer(counts_o, &b[2], 0, 8, "counts") < 0) ||
        (rows_o != Py_None && get_buffer(rows_o, &b[3], 0, 4, "rows") < 0) ||
        get_buffer(parts_o, &b[4], 0, 8, "parts") < 0 || get_buffer(offsets_o, &b[5], 0, 8, "offsets") < 0 ||
        get_buffer(out_o, &b[6], 1, 8, "out") < 0) {
        goto done;
    }
    const int64_t *sizes = b[0].view.buf, *parts = b[4].view.buf, *offsets = b[5].view.buf;
    const int64_t *counts = b[2].width ? b[2].view.buf : NULL;
    const uint32_t *rows = b[3].width ? b[3].view.buf : NULL;
    int64_t *out = b[6].view.buf;
    Py_ssize_t all_rows = length(&b[1]), n_rows = rows == NULL ? all_rows : length(&b[3]);
    Py_ssize_t n_tables = length(&b[5]), order = n_tables > 0 ? length(&b[4]) / n_tables : 0;
    for (Py_ssize_t k = 0; k < n_columns; k++) {
        PyObject *item = PySequence_GetItem(columns_o, k);
        int bad = item == NULL || get_buffer(item, &columns[k], 0, 0, "columns") < 0;
        Py_XDECREF(item);
        if (bad) {
            goto done;
        }
        Py_ssize_t width = columns[k].view.itemsize;
        if (width != 1 && width != 2 && width != 4) {
            PyErr_SetString(PyExc_TypeError, "columns: items of 1, 2 or 4 bytes expected");
            goto done;
        }
    }
    int fits = n_cells >= 1 && n_cells <= 256 && length(&b[0]) == n_columns && order <= MOST_PARTS &&
               length(&b[4]) == n_tables * order && (counts == NULL || length(&b[2]) == all_rows);
    for (Py_ssize_t k = 0; fits && k < n_columns; k++) {
        fits = length(&columns[k]) == all_rows && sizes[k] >= 1 && sizes[k] <= UINT32_MAX;
    }
    for (Py_ssize_t t = 0; fits && t < n_tables; t++) {
        int64_t width = n_cells;
        for (Py_ssize_t p = 0; fits && p < order; p++) {
            int64_t k = parts[t * order + p];
            fits = k >= 0 && k < n_columns && width <= UINT32_MAX / sizes[k];
            width = fits ? width * sizes[k] : width;
        }
        fits = fits && offsets[t] >= 0 && offsets[t] <= length(&b[6]) && width <= length(&b[6]) - offsets[t];
    }
    for (Py_ssize_t i = 0; fits && rows != NULL && i < n_rows; i++) {
        fits = rows[i] < all_rows;
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "tables: arrays do not fit");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    Buffer *cell_column = &b[1];
    for (Py_ssize_t t = 0; t < n_tables; t++) {
        int64_t *table = out + offsets[t];
        uint32_t key[BLOCK];
        for (Py_ssize_t first = 0; first < n_rows; first += BLOCK) {
            Py_ssize_t n = n_rows - first < BLOCK ? n_rows - first : BLOCK;
            memset(key, 0, (size_t)n * sizeof(uint32_t));
            for (Py_ssize_t p = 0; p < order; p++) {
                int64_t k = parts[t * order + p];
                extend(key, &columns[k], (uint32_t)sizes[k], rows, first, n);
            }
            extend(key, cell_column, (uint32_t)n_cells, rows, first, n);
            if (counts == NULL) {
                for (Py_ssize_t i = 0; i < n; i++) {
                    table[key[i]] += 1;
                }
            }
            else {
                for (Py_ssize_t i = 0; i < n; i++) {
                    table[key[i]] += counts[rows == NULL ? first + i : rows[first + i]];
                }
            }
        }
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    release(columns, n_columns);
    free(columns);
    release(b, 7);
    return result;
}

/* Rows that are counted side by side: neighbours often have the same code. */
#define SIDES 4

#define CODES(NAME, TYPE)                                                                  \
    MANY_VERSIONS static uint32_t NAME##_largest(const TYPE *codes, Py_ssize_t n)          \
    {                                                                                      \
        TYPE largest = 0;                                                                  \
        for (Py_ssize_t i = 0; i < n; i++) {                                               \
            largest = codes[i] > largest ? codes[i] : largest;                             \
        }                                                                                  \
        return largest;                                                                    \
    }                                                                                      \
    static void NAME##_translate(const TYPE *codes, Py_ssize_t n, const Buffer *table, Py_ssize_t at, Buffer *out) \
    {                                                                                      \
        switch (out->width) {                                                              \
        case 1: TRANSLATE(uint8_t); break;                                                 \
        case 2: TRANSLATE(uint16_t); break;                                                \
        default: TRANSLATE(uint32_t); break;                                               \
        }                                                                                  \
    }

#define TRANSLATE(TYPE)                                                                    \
    do {                                                                                   \
        const TYPE *to = table->view.buf;                                                  \
        TYPE *new = (TYPE *)out->view.buf + at;                                            \
        for (Py_ssize_t i = 0; i < n; i++) {                                               \
            new[i] = to[codes[i]];                                                         \
        }                                                                                  \
    } while (0)

CODES(code_1, uint8_t)
CODES(code_2, uint16_t)
CODES(code_4, uint32_t)

#define TALLY(TYPE)                                                                        \
    do {                                                                                   \
        const TYPE *own = (const TYPE *)codes->view.buf + start;                           \
        for (Py_ssize_t i = 0; i < n; i++) {                                               \
            out[own[i]]++;                                                                 \
        }                                                                                  \
    } while (0)

/* Of codes of one byte: several tables side by side, of 32 bits. */
static void
tally_bytes(const uint8_t *codes, Py_ssize_t n, uint32_t *tables)
{
    Py_ssize_t i = 0;
    for (; i + SIDES <= n; i += SIDES) {
        for (int side = 0; side < SIDES; side++) {
            tables[side * 256 + codes[i + side]]++;
        }
    }
    for (; i < n; i++) {
        tables[codes[i]]++;
    }
}

static void
tally_codes(const Buffer *codes, Py_ssize_t start, Py_ssize_t n, int64_t *out)
{
    if (codes->width == 2) {
        TALLY(uint16_t);
    }
    else {
        TALLY(uint32_t);
    }
}

/* The largest code of some rows. */
static uint32_t
largest_code(const Buffer *codes, Py_ssize_t start, Py_ssize_t n)
{
    switch (codes->width) {
    case 1: return code_1_largest((const uint8_t *)codes->view.buf + start, n);
    case 2: return code_2_largest((const uint16_t *)codes->view.buf + start, n);
    default: return code_4_largest((const uint32_t *)codes->view.buf + start, n);
    }
}

/* Whether an array holds codes. */
static int
get_codes(PyObject *object, Buffer *codes)
{
    if (get_buffer(object, codes, 0, 0, "codes") < 0) {
        return -1;
    }
    if (codes->width != 1 && codes->width != 2 && codes->width != 4) {
        PyErr_SetString(PyExc_TypeError, "codes: items of 1, 2 or 4 bytes expected");
        return -1;
    }
    return 0;
}

/* tally(codes, out): how many rows have each code; out has an entry for every code. */
static PyObject *
tally(PyObject *self, PyObject *args)
{
    PyObject *codes_object, *out_object;
    if (!PyArg_ParseTuple(args, "OO", &codes_object, &out_object)) {
        return NULL;
    }
    Buffer b[2];
    memset(b, 0, sizeof(b));
    PyObject *result = NULL;
    if (get_codes(codes_object, &b[0]) < 0 || get_buffer(out_object, &b[1], 1, 8, "out") < 0) {
        goto done;
    }
    const Py_ssize_t n = length(&b[0]), size = length(&b[1]);
    int64_t *out = b[1].view.buf;
    int fits = 1;
    Py_BEGIN_ALLOW_THREADS
    memset(out, 0, (size_t)size * sizeof(int64_t));
    for (Py_ssize_t start = 0; fits && start < n; start += INT32_MAX / 2) {
        const Py_ssize_t some = n - start < INT32_MAX / 2 ? n - start : INT32_MAX / 2;
        uint32_t tables[SIDES * 256] = {0};
        if (b[0].width == 1) {
            tally_bytes((const uint8_t *)b[0].view.buf + start, some, tables);
            for (int code = 0; code < 256; code++) {
                int64_t rows = 0;
                for (int side = 0; side < SIDES; side++) {
                    rows += tables[side * 256 + code];
                }
                fits = fits && (rows == 0 || code < size);
                if (code < size) {
                    out[code] += rows;
                }
            }
            continue;
        }
        for (Py_ssize_t first = 0; fits && first < some; first += BLOCK) {
            const Py_ssize_t here = some - first < BLOCK ? some - first : BLOCK;
            fits = (int64_t)largest_code(&b[0], start + first, here) < size;
            if (fits) {
                tally_codes(&b[0], start + first, here, out);
            }
        }
    }
    Py_END_ALLOW_THREADS
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "tally: arrays do not fit");
        goto done;
    }
    result = Py_None;
    Py_INCREF(result);
done:
    release(b, 2);
    return result;
}

/* translate(codes, table, out): out[i] = table[codes[i]], both of items of 1, 2 or 4 bytes. */
static PyObject *
translate(PyObject *self, PyObject *args)
{
    PyObject *codes_object, *table_object, *out_object;
    if (!PyArg_ParseTuple(args, "OOO", &codes_object, &table_object, &out_object)) {
        return NULL;
    }
    Buffer b[3];
    memset(b, 0, sizeof(b));
    PyObject *result = NULL;
    if (get_codes(codes_object, &b[0]) < 0 || get_codes(table_object, &b[1]) < 0 ||
        get_buffer(out_object, &b[2], 1, b[1].width, "out") < 0) {
        goto done;
    }
    const Py_ssize_t n = length(&b[0]), size = length(&b[1]);
    int fits = length(&b[2]) == n;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t first = 0; fits && first < n; first += BLOCK) {
        const Py_ssize_t here = n - first < BLOCK ? n - first : BLOCK;
        fits = (int64_t)largest_code(&b[0], first, here) < size;
        if (fits) {
            switch (b[0].width) {
            case 1: code_1_translate((const uint8_t *)b[0].view.buf + first, here, &b[1], first, &b[2]); break;
            case 2: code_2_translate((const uint16_t *)b[0].view.buf + first, here, &b[1], first, &b[2]); break;
            default: code_4_translate((const uint32_t *)b[0].view.buf + first, here, &b[1], first, &b[2]); break;
            }
        }
    }
    Py_END_ALLOW_THREADS
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "translate: arrays do not fit");
        goto done;
    }
    result = Py_None;
    Py_INCREF(result);
done:
    release(b, 3);
    return result;
}

static PyMethodDef methods[] = {
    {"tally", tally, METH_VARARGS, "How many rows have each code."},
    {"translate", translate, METH_VARARGS, "Codes as other codes."},
    {"tables", tables, METH_VARARGS, "Tables of people by the codes of columns together, and by cell."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_tables", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC
PyInit__tables(void)
{
    return PyModule_Create(&module);
}
