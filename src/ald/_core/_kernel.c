/* Counting, partitioning and membership on coded columns.
 *
 * Loops over rows, all on integers: their results do not depend on threads or platform, and
 * _numpy_kernel.py computes the same ones. Buffers come through the checked buffer protocol, and every
 * request is checked against their lengths before the GIL is released. Codes, cells and row numbers are
 * trusted: a code is below its attribute's size, a cell below n_cells, a row number below n_rows.
 */
#include "_buffers.h"

static int
compare_codes(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Neighbouring rows go to different copies of a small histogram: an addition need not wait for the one before it. */
#define COPIES 4
#define COPIED_BINS 256

#define BIN(TYPE, i) ((size_t)((const TYPE *)column->view.buf)[row[i]] * n_cells + cell[i])

#define ACCUMULATE(TYPE)                                                                   \
    do {                                                                                   \
        const uint32_t *row = rows + start;                                                \
        int64_t n = end - start, i = 0;                                                    \
        if (weight == NULL) {                                                              \
            for (; i + COPIES <= n; i += COPIES) {                                         \
                histogram[BIN(TYPE, i)] += 1;                                              \
                histogram[BIN(TYPE, i + 1) + stride] += 1;                                 \
                histogram[BIN(TYPE, i + 2) + 2 * stride] += 1;                             \
                histogram[BIN(TYPE, i + 3) + 3 * stride] += 1;                             \
            }                                                                              \
            for (; i < n; i++) {                                                           \
                histogram[BIN(TYPE, i)] += 1;                                              \
            }                                                                              \
        }                                                                                  \
        else {                                                                             \
            for (; i < n; i++) {                                                           \
                histogram[BIN(TYPE, i) + (i % COPIES) * stride] += weight[start + i];      \
            }                                                                              \
        }                                                                                  \
    } while (0)

#define COLLECT(TYPE)                                                                      \
    do {                                                                                   \
        const TYPE *code = (const TYPE *)column->view.buf;                                 \
        for (int64_t i = start; i < end; i++) {                                            \
            uint32_t value = code[rows[i]];                                                \
            if (!seen[value]) {                                                            \
                seen[value] = 1;                                                           \
                touched[n_touched++] = value;                                              \
            }                                                                              \
        }                                                                                  \
    } while (0)

/* Appends the codes with any people and their counts; returns the new number of entries. Written without looking
 * whether a code occurs, which is not predictable: the next one overwrites it if not. */
static inline int64_t
compress(const int64_t *histogram, int64_t size, Py_ssize_t n_cells, uint32_t *out_codes, int64_t *out_counts,
         int64_t written, int64_t capacity)
{
    for (int64_t value = 0; value < size && written < capacity; value++) {
        int64_t any = 0;
        for (Py_ssize_t c = 0; c < n_cells; c++) {
            any |= histogram[value * n_cells + c];
            out_counts[written * n_cells + c] = histogram[value * n_cells + c];
        }
        out_codes[written] = (uint32_t)value;
        written += any != 0;
    }
    return written;
}

/* count(codes, cells, rows, weights, starts, ends, attributes, sizes, n_cells, out_codes, out_counts, used)
 *
 * For each request r: the counts per code of column attributes[r] and per cell over rows[starts[r]:ends[r]].
 * Writes the codes that occur, ascending, one request after the other, and how many entries each used.
 * sizes[a] is one more than the largest code of column a. Returns the number of entries written.
 */
static PyObject *
count(PyObject *self, PyObject *args)
{
    PyObject *codes_o, *cells_o, *rows_o, *weights_o, *starts_o, *ends_o, *attributes_o, *sizes_o;
    PyObject *out_codes_o, *out_counts_o, *used_o;
    Py_ssize_t n_cells, n_columns = 0;
    if (!PyArg_ParseTuple(args, "OOOOOOOOnOOO", &codes_o, &cells_o, &rows_o, &weights_o, &starts_o, &ends_o,
                          &attributes_o, &sizes_o, &n_cells, &out_codes_o, &out_counts_o, &used_o)) {
        return NULL;
    }
    Buffer b[10];
    memset(b, 0, sizeof(b));
    Buffer *columns = NULL;
    int64_t *histogram = NULL;
    uint8_t *seen = NULL, *cell = NULL;
    uint32_t *touched = NULL;
    PyObject *result = NULL;
    if (get_buffer(cells_o, &b[0], 0, 1, "cells") < 0 || get_buffer(rows_o, &b[1], 0, 4, "rows") < 0 ||
        (weights_o != Py_None && get_buffer(weights_o, &b[2], 0, 8, "weights") < 0) ||
        get_buffer(starts_o, &b[3], 0, 8, "starts") < 0 || get_buffer(ends_o, &b[4], 0, 8, "ends") < 0 ||
        get_buffer(attributes_o, &b[5], 0, 8, "attributes") < 0 || get_buffer(sizes_o, &b[6], 0, 8, "sizes") < 0 ||
        get_buffer(out_codes_o, &b[7], 1, 4, "out_codes") < 0 ||
        get_buffer(out_counts_o, &b[8], 1, 8, "out_counts") < 0 || get_buffer(used_o, &b[9], 1, 8, "used") < 0) {
        goto done;
    }
    const uint8_t *cells = b[0].view.buf;
    const uint32_t *rows = b[1].view.buf;
    const int64_t *weight = b[2].width ? b[2].view.buf : NULL;
    const int64_t *starts = b[3].view.buf, *ends = b[4].view.buf, *attributes = b[5].view.buf;
    const int64_t *sizes = b[6].view.buf;
    uint32_t *out_codes = b[7].view.buf;
    int64_t *out_counts = b[8].view.buf, *used = b[9].view.buf;
    Py_ssize_t n_rows = length(&b[0]), n_entries = length(&b[1]), n_requests = length(&b[3]);
    Py_ssize_t capacity = length(&b[7]);
    columns = get_columns(codes_o, n_rows, &n_columns);
    if (columns == NULL) {
        goto done;
    }
    if (n_cells < 1 || n_cells > 256 || length(&b[4]) != n_requests || length(&b[5]) != n_requests ||
        length(&b[6]) != n_columns || length(&b[9]) != n_requests || length(&b[8]) != capacity * n_cells ||
        (weight != NULL && length(&b[2]) != n_entries)) {
        PyErr_SetString(PyExc_ValueError, "count: array lengths do not fit");
        goto done;
    }
    int64_t largest = 1, longest = 1, needed = 0;
    for (Py_ssize_t r = 0; r < n_requests; r++) {
        if (starts[r] < 0 || ends[r] < starts[r] || ends[r] > n_entries || attributes[r] < 0 ||
            attributes[r] >= n_columns || sizes[attributes[r]] < 1 || sizes[attributes[r]] > UINT32_MAX) {
            PyErr_SetString(PyExc_ValueError, "count: a request is out of bounds");
            goto done;
        }
        int64_t size = sizes[attributes[r]], n = ends[r] - starts[r];
        largest = size > largest ? size : largest;
        longest = n > longest ? n : longest;
        needed += n < size ? n : size;
    }
    if (needed > capacity) {
        PyErr_SetString(PyExc_ValueError, "count: the output is too small");
        goto done;
    }
    histogram = calloc((size_t)largest * n_cells + COPIES * COPIED_BINS, sizeof(int64_t));
    cell = malloc((size_t)longest);
    seen = calloc((size_t)largest, 1);
    touched = malloc((size_t)largest * sizeof(uint32_t));
    if (histogram == NULL || cell == NULL || seen == NULL || touched == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    int64_t written = 0;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t r = 0; r < n_requests; r++) {
        const Buffer *column = &columns[attributes[r]];
        int64_t start = starts[r], end = ends[r], size = sizes[attributes[r]], first = written;
        size_t bins = (size_t)(size * n_cells), stride = bins <= COPIED_BINS ? bins : 0;
        if (r == 0 || start != starts[r - 1] || end != ends[r - 1]) {
            for (int64_t i = start; i < end; i++) {
                cell[i - start] = cells[rows[i]];
            }
        }
        switch (column->width) {
        case 1: ACCUMULATE(uint8_t); break;
        case 2: ACCUMULATE(uint16_t); break;
        default: ACCUMULATE(uint32_t); break;
        }
        for (size_t bin = 0; bin < stride; bin++) {
            for (size_t copy = 1; copy < COPIES; copy++) {
                histogram[bin] += histogram[bin + copy * stride];
                histogram[bin + copy * stride] = 0;
            }
        }
        if (size <= 64 || size <= 16 * (end - start)) {
            switch (n_cells) {
            case 2: written = compress(histogram, size, 2, out_codes, out_counts, written, capacity); break;
            case 4: written = compress(histogram, size, 4, out_codes, out_counts, written, capacity); break;
            default: written = compress(histogram, size, n_cells, out_codes, out_counts, written, capacity); break;
            }
            memset(histogram, 0, bins * sizeof(int64_t));
        }
        else { /* few rows, many codes: visit only those that occur */
            int64_t n_touched = 0;
            switch (column->width) {
            case 1: COLLECT(uint8_t); break;
            case 2: COLLECT(uint16_t); break;
            default: COLLECT(uint32_t); break;
            }
            qsort(touched, (size_t)n_touched, sizeof(uint32_t), compare_codes);
            for (int64_t i = 0; i < n_touched; i++) {
                int64_t *entry = histogram + (size_t)touched[i] * n_cells;
                out_codes[written] = touched[i];
                memcpy(out_counts + written * n_cells, entry, (size_t)n_cells * sizeof(int64_t));
                memset(entry, 0, (size_t)n_cells * sizeof(int64_t));
                seen[touched[i]] = 0;
                written++;
            }
        }
        used[r] = written - first;
    }
    Py_END_ALLOW_THREADS
    result = PyLong_FromLongLong((long long)written);
done:
    free(histogram);
    free(cell);
    free(seen);
    free(touched);
    if (columns != NULL) {
        release(columns, n_columns);
        free(columns);
    }
    release(b, 10);
    return result;
}

/* What a row adds to a bin of amounts: people, sum, and the two words of the sum of squares. */
#define MOMENTS 4
#define WORD 31

#define ACCUMULATE_AMOUNTS(TYPE)                                                           \
    do {                                                                                   \
        const TYPE *code = (const TYPE *)column->view.buf;                                 \
        for (int64_t i = start; i < end; i++) {                                            \
            int64_t *bin = histogram + (size_t)code[rows[i]] * MOMENTS + (i % COPIES) * stride; \
            const int64_t *add = moments + (i - start) * MOMENTS;                          \
            bin[0] += add[0];                                                              \
            bin[1] += add[1];                                                              \
            bin[2] += add[2];                                                              \
            bin[3] += add[3];                                                              \
        }                                                                                  \
    } while (0)

/* count_amounts(codes, amounts, rows, weights, starts, ends, attributes, sizes, out_codes, out_counts, used)
 *
 * As `count`, of amounts below 2^31 in size: per code the people, the sum, and the sum of squares in two words.
 */
static PyObject *
count_amounts(PyObject *self, PyObject *args)
{
    PyObject *codes_o, *amounts_o, *rows_o, *weights_o, *starts_o, *ends_o, *attributes_o, *sizes_o;
    PyObject *out_codes_o, *out_counts_o, *used_o;
    Py_ssize_t n_columns = 0;
    if (!PyArg_ParseTuple(args, "OOOOOOOOOOO", &codes_o, &amounts_o, &rows_o, &weights_o, &starts_o, &ends_o,
                          &attributes_o, &sizes_o, &out_codes_o, &out_counts_o, &used_o)) {
        return NULL;
    }
    Buffer b[10];
    memset(b, 0, sizeof(b));
    Buffer *columns = NULL;
    int64_t *histogram = NULL, *moments = NULL;
    uint8_t *seen = NULL;
    uint32_t *touched = NULL;
    PyObject *result = NULL;
    if (get_buffer(amounts_o, &b[0], 0, 8, "amounts") < 0 || get_buffer(rows_o, &b[1], 0, 4, "rows") < 0 ||
        (weights_o != Py_None && get_buffer(weights_o, &b[2], 0, 8, "weights") < 0) ||
        get_buffer(starts_o, &b[3], 0, 8, "starts") < 0 || get_buffer(ends_o, &b[4], 0, 8, "ends") < 0 ||
        get_buffer(attributes_o, &b[5], 0, 8, "attributes") < 0 || get_buffer(sizes_o, &b[6], 0, 8, "sizes") < 0 ||
        get_buffer(out_codes_o, &b[7], 1, 4, "out_codes") < 0 ||
        get_buffer(out_counts_o, &b[8], 1, 8, "out_counts") < 0 || get_buffer(used_o, &b[9], 1, 8, "used") < 0) {
        goto done;
    }
    const int64_t *amounts = b[0].view.buf;
    const uint32_t *rows = b[1].view.buf;
    const int64_t *weight = b[2].width ? b[2].view.buf : NULL;
    const int64_t *starts = b[3].view.buf, *ends = b[4].view.buf, *attributes = b[5].view.buf;
    const int64_t *sizes = b[6].view.buf;
    uint32_t *out_codes = b[7].view.buf;
    int64_t *out_counts = b[8].view.buf, *used = b[9].view.buf;
    Py_ssize_t n_rows = length(&b[0]), n_entries = length(&b[1]), n_requests = length(&b[3]);
    Py_ssize_t capacity = length(&b[7]);
    columns = get_columns(codes_o, n_rows, &n_columns);
    if (columns == NULL) {
        goto done;
    }
    if (length(&b[4]) != n_requests || length(&b[5]) != n_requests || length(&b[6]) != n_columns ||
        length(&b[9]) != n_requests || length(&b[8]) != capacity * MOMENTS ||
        (weight != NULL && length(&b[2]) != n_entries)) {
        PyErr_SetString(PyExc_ValueError, "count_amounts: array lengths do not fit");
        goto done;
    }
    int64_t largest = 1, longest = 1, needed = 0;
    for (Py_ssize_t r = 0; r < n_requests; r++) {
        if (starts[r] < 0 || ends[r] < starts[r] || ends[r] > n_entries || attributes[r] < 0 ||
            attributes[r] >= n_columns || sizes[attributes[r]] < 1 || sizes[attributes[r]] > UINT32_MAX) {
            PyErr_SetString(PyExc_ValueError, "count_amounts: a request is out of bounds");
            goto done;
        }
        int64_t size = sizes[attributes[r]], n = ends[r] - starts[r];
        largest = size > largest ? size : largest;
        longest = n > longest ? n : longest;
        needed += n < size ? n : size;
    }
    if (needed > capacity) {
        PyErr_SetString(PyExc_ValueError, "count_amounts: the output is too small");
        goto done;
    }
    histogram = calloc((size_t)largest * MOMENTS + COPIES * COPIED_BINS, sizeof(int64_t));
    moments = malloc((size_t)longest * MOMENTS * sizeof(int64_t));
    seen = calloc((size_t)largest, 1);
    touched = malloc((size_t)largest * sizeof(uint32_t));
    if (histogram == NULL || moments == NULL || seen == NULL || touched == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    int64_t written = 0;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t r = 0; r < n_requests; r++) {
        const Buffer *column = &columns[attributes[r]];
        int64_t start = starts[r], end = ends[r], size = sizes[attributes[r]], first = written;
        size_t bins = (size_t)(size * MOMENTS), stride = bins <= COPIED_BINS ? bins : 0;
        if (r == 0 || start != starts[r - 1] || end != ends[r - 1]) {
            for (int64_t i = start; i < end; i++) {
                int64_t *of = moments + (i - start) * MOMENTS, value = amounts[rows[i]];
                int64_t people = weight == NULL ? 1 : weight[i], square = value * value;
                of[0] = people;
                of[1] = people * value;
                of[2] = people * (square >> WORD);
                of[3] = people * (square & (((int64_t)1 << WORD) - 1));
            }
        }
        switch (column->width) {
        case 1: ACCUMULATE_AMOUNTS(uint8_t); break;
        case 2: ACCUMULATE_AMOUNTS(uint16_t); break;
        default: ACCUMULATE_AMOUNTS(uint32_t); break;
        }
        for (size_t bin = 0; bin < stride; bin++) {
            for (size_t copy = 1; copy < COPIES; copy++) {
                histogram[bin] += histogram[bin + copy * stride];
                histogram[bin + copy * stride] = 0;
            }
        }
        if (size <= 64 || size <= 16 * (end - start)) {
            written = compress(histogram, size, MOMENTS, out_codes, out_counts, written, capacity);
            memset(histogram, 0, bins * sizeof(int64_t));
        }
        else { /* few rows, many codes: visit only those that occur */
            int64_t n_touched = 0;
            switch (column->width) {
            case 1: COLLECT(uint8_t); break;
            case 2: COLLECT(uint16_t); break;
            default: COLLECT(uint32_t); break;
            }
            qsort(touched, (size_t)n_touched, sizeof(uint32_t), compare_codes);
            for (int64_t i = 0; i < n_touched; i++) {
                int64_t *entry = histogram + (size_t)touched[i] * MOMENTS;
                out_codes[written] = touched[i];
                memcpy(out_counts + written * MOMENTS, entry, MOMENTS * sizeof(int64_t));
                memset(entry, 0, MOMENTS * sizeof(int64_t));
                seen[touched[i]] = 0;
                written++;
            }
        }
        used[r] = written - first;
    }
    Py_END_ALLOW_THREADS
    result = PyLong_FromLongLong((long long)written);
done:
    free(histogram);
    free(moments);
    free(seen);
    free(touched);
    if (columns != NULL) {
        release(columns, n_columns);
        free(columns);
    }
    release(b, 10);
    return result;
}

/* Every row is written to both sides, and one of them moves on: which one is not predictable. */
#define GOES_LEFT(TYPE)                                                                    \
    for (int64_t i = start; i < end; i++) {                                                \
        uint32_t row = rows[i];                                                            \
        int64_t is_left = left[((const TYPE *)column->view.buf)[row]] == 1;                \
        out_rows[at_left] = row;                                                           \
        spare_rows[n_right] = row;                                                         \
        if (weight != NULL) {                                                              \
            out_weights[at_left] = weight[i];                                              \
            spare_weights[n_right] = weight[i];                                            \
        }                                                                                  \
        at_left += is_left;                                                                \
        n_right += 1 - is_left;                                                            \
    }

/* partition(codes, rows, weights, starts, ends, attributes, tables, offsets, out_rows, out_weights, middles)
 *
 * For each split s: copies rows[starts[s]:ends[s]] to the output, one split after the other, those whose code has
 * a 1 in tables[offsets[s] + code] first, in the order they had. middles[s]: how many went left.
 */
static PyObject *
partition(PyObject *self, PyObject *args)
{
    PyObject *codes_o, *rows_o, *weights_o, *starts_o, *ends_o, *attributes_o, *tables_o, *offsets_o;
    PyObject *out_rows_o, *out_weights_o, *middles_o;
    Py_ssize_t n_columns = 0, n_rows;
    if (!PyArg_ParseTuple(args, "OOOOOOOOOOOn", &codes_o, &rows_o, &weights_o, &starts_o, &ends_o, &attributes_o,
                          &tables_o, &offsets_o, &out_rows_o, &out_weights_o, &middles_o, &n_rows)) {
        return NULL;
    }
    Buffer b[10];
    memset(b, 0, sizeof(b));
    Buffer *columns = NULL;
    uint32_t *spare_rows = NULL;
    int64_t *spare_weights = NULL;
    PyObject *result = NULL;
    int weighted = weights_o != Py_None;
    if (get_buffer(rows_o, &b[0], 0, 4, "rows") < 0 ||
        (weighted && get_buffer(weights_o, &b[1], 0, 8, "weights") < 0) ||
        get_buffer(starts_o, &b[2], 0, 8, "starts") < 0 || get_buffer(ends_o, &b[3], 0, 8, "ends") < 0 ||
        get_buffer(attributes_o, &b[4], 0, 8, "attributes") < 0 || get_buffer(tables_o, &b[5], 0, 1, "tables") < 0 ||
        get_buffer(offsets_o, &b[6], 0, 8, "offsets") < 0 || get_buffer(out_rows_o, &b[7], 1, 4, "out_rows") < 0 ||
        (weighted && get_buffer(out_weights_o, &b[8], 1, 8, "out_weights") < 0) ||
        get_buffer(middles_o, &b[9], 1, 8, "middles") < 0) {
        goto done;
    }
    const uint32_t *rows = b[0].view.buf;
    const int64_t *weight = weighted ? b[1].view.buf : NULL;
    const int64_t *starts = b[2].view.buf, *ends = b[3].view.buf, *attributes = b[4].view.buf;
    const uint8_t *tables = b[5].view.buf;
    const int64_t *offsets = b[6].view.buf;
    uint32_t *out_rows = b[7].view.buf;
    int64_t *out_weights = weighted ? b[8].view.buf : NULL, *middles = b[9].view.buf;
    Py_ssize_t n_entries = length(&b[0]), n_splits = length(&b[2]);
    columns = get_columns(codes_o, n_rows, &n_columns);
    if (columns == NULL) {
        goto done;
    }
    if (length(&b[3]) != n_splits || length(&b[4]) != n_splits || length(&b[6]) != n_splits + 1 ||
        length(&b[9]) != n_splits || (weighted && (length(&b[1]) != n_entries || length(&b[8]) < length(&b[7])))) {
        PyErr_SetString(PyExc_ValueError, "partition: array lengths do not fit");
        goto done;
    }
    int64_t largest = 1, needed = 0;
    for (Py_ssize_t s = 0; s < n_splits; s++) {
        if (starts[s] < 0 || ends[s] < starts[s] || ends[s] > n_entries || attributes[s] < 0 ||
            attributes[s] >= n_columns || offsets[s] < 0 || offsets[s + 1] < offsets[s] ||
            offsets[s + 1] > length(&b[5])) {
            PyErr_SetString(PyExc_ValueError, "partition: a split is out of bounds");
            goto done;
        }
        needed += ends[s] - starts[s];
        largest = ends[s] - starts[s] > largest ? ends[s] - starts[s] : largest;
    }
    if (needed > length(&b[7])) {
        PyErr_SetString(PyExc_ValueError, "partition: the output is too small");
        goto done;
    }
    spare_rows = malloc((size_t)largest * sizeof(uint32_t));
    spare_weights = malloc((size_t)largest * sizeof(int64_t));
    if (spare_rows == NULL || spare_weights == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    int64_t out = 0;
    for (Py_ssize_t s = 0; s < n_splits; s++) {
        const Buffer *column = &columns[attributes[s]];
        const uint8_t *left = tables + offsets[s];
        int64_t start = starts[s], end = ends[s], at_left = out, n_right = 0;
        switch (column->width) {
        case 1: GOES_LEFT(uint8_t); break;
        case 2: GOES_LEFT(uint16_t); break;
        default: GOES_LEFT(uint32_t); break;
        }
        memcpy(out_rows + at_left, spare_rows, (size_t)n_right * sizeof(uint32_t));
        if (weight != NULL) {
            memcpy(out_weights + at_left, spare_weights, (size_t)n_right * sizeof(int64_t));
        }
        middles[s] = at_left - out;
        out += end - start;
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    free(spare_rows);
    free(spare_weights);
    if (columns != NULL) {
        release(columns, n_columns);
        free(columns);
    }
    release(b, 10);
    return result;
}

#define BLOCK 2048

#define WITHIN(TYPE)                                                                       \
    do {                                                                                   \
        const TYPE *code = (const TYPE *)column->view.buf + start;                         \
        TYPE low = (TYPE)lows[k], span = (TYPE)(highs[k] - 1 - lows[k]);                   \
        for (Py_ssize_t i = 0; i < n; i++) {                                               \
            mask[i] = (uint8_t)((TYPE)(code[i] - low) <= span);                            \
        }                                                                                  \
    } while (0)

#define LOOK_UP(TYPE)                                                                      \
    do {                                                                                   \
        const TYPE *code = (const TYPE *)column->view.buf + start;                         \
        for (Py_ssize_t i = 0; i < n; i++) {                                               \
            mask[i] = table[code[i]];                                                      \
        }                                                                                  \
    } while (0)

/* members(codes, counts, bounds, attributes, lows, highs, tables_at, tables, offsets, conditions, out)
 *
 * Rows are ordered by cell: those of cell c are bounds[c]..bounds[c + 1]. Condition k asks that the code of column
 * attributes[k] be in [lows[k], highs[k]), or, where tables_at[k] is not negative, that tables[tables_at[k] + code]
 * be 1; tables must cover every code of their column. Criterion i is the conjunction of the conditions numbered
 * conditions[offsets[i]..offsets[i + 1]]. out[i, c]: the people of cell c who satisfy it.
 */
static PyObject *
members(PyObject *self, PyObject *args)
{
    PyObject *codes_o, *o[10];
    Py_ssize_t n_columns = 0;
    if (!PyArg_ParseTuple(args, "OOOOOOOOOOO", &codes_o, &o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &o[6], &o[7],
                          &o[8], &o[9])) {
        return NULL;
    }
    static const char *names[10] = {"counts",    "bounds", "attributes", "lows",       "highs",
                                    "tables_at", "tables", "offsets",    "conditions", "out"};
    static const int widths[10] = {8, 8, 8, 8, 8, 8, 1, 8, 8, 8};
    Buffer b[10];
    memset(b, 0, sizeof(b));
    Buffer *columns = NULL;
    uint8_t *masks = NULL;
    PyObject *result = NULL;
    for (int i = 0; i < 10; i++) {
        if (get_buffer(o[i], &b[i], i == 9, widths[i], names[i]) < 0) {
            goto done;
        }
    }
    const int64_t *counts = b[0].view.buf, *bounds = b[1].view.buf, *attributes = b[2].view.buf;
    const int64_t *lows = b[3].view.buf, *highs = b[4].view.buf, *tables_at = b[5].view.buf;
    const uint8_t *tables = b[6].view.buf;
    const int64_t *offsets = b[7].view.buf, *conditions = b[8].view.buf;
    int64_t *out = b[9].view.buf;
    Py_ssize_t n_rows = length(&b[0]), n_cells = length(&b[1]) - 1, n_conditions = length(&b[2]);
    Py_ssize_t n_criteria = length(&b[7]) - 1;
    columns = get_columns(codes_o, n_rows, &n_columns);
    if (columns == NULL) {
        goto done;
    }
    if (n_cells < 1 || n_criteria < 0 || length(&b[3]) != n_conditions || length(&b[4]) != n_conditions ||
        length(&b[5]) != n_conditions || length(&b[9]) != n_criteria * n_cells || offsets[0] != 0 ||
        offsets[n_criteria] != length(&b[8]) || bounds[0] != 0 || bounds[n_cells] != n_rows) {
        PyErr_SetString(PyExc_ValueError, "members: array lengths do not fit");
        goto done;
    }
    int fits = 1;
    for (Py_ssize_t c = 0; c < n_cells; c++) {
        fits &= bounds[c] <= bounds[c + 1];
    }
    for (Py_ssize_t i = 0; i < n_criteria; i++) {
        fits &= offsets[i] <= offsets[i + 1];
    }
    for (Py_ssize_t i = 0; i < length(&b[8]); i++) {
        fits &= conditions[i] >= 0 && conditions[i] < n_conditions;
    }
    for (Py_ssize_t k = 0; k < n_conditions; k++) {
        fits &= attributes[k] >= 0 && attributes[k] < n_columns && tables_at[k] < length(&b[6]) &&
                (tables_at[k] >= 0 || (lows[k] >= 0 && highs[k] > lows[k] &&
                                       highs[k] <= (int64_t)1 << (8 * columns[attributes[k]].width)));
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "members: a condition is out of bounds");
        goto done;
    }
    masks = malloc((size_t)(n_conditions + 1) * BLOCK);
    if (masks == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    uint8_t *all = masks + n_conditions * BLOCK;
    memset(out, 0, (size_t)b[9].view.len);
    for (Py_ssize_t c = 0; c < n_cells; c++) {
        for (int64_t start = bounds[c]; start < bounds[c + 1]; start += BLOCK) {
            Py_ssize_t n = bounds[c + 1] - start < BLOCK ? bounds[c + 1] - start : BLOCK;
            for (Py_ssize_t k = 0; k < n_conditions; k++) {
                const Buffer *column = &columns[attributes[k]];
                uint8_t *mask = masks + k * BLOCK;
                if (tables_at[k] >= 0) {
                    const uint8_t *table = tables + tables_at[k];
                    switch (column->width) {
                    case 1: LOOK_UP(uint8_t); break;
                    case 2: LOOK_UP(uint16_t); break;
                    default: LOOK_UP(uint32_t); break;
                    }
                }
                else {
                    switch (column->width) {
                    case 1: WITHIN(uint8_t); break;
                    case 2: WITHIN(uint16_t); break;
                    default: WITHIN(uint32_t); break;
                    }
                }
            }
            const int64_t *count = counts + start;
            for (Py_ssize_t i = 0; i < n_criteria; i++) {
                memset(all, 1, (size_t)n);
                for (int64_t at = offsets[i]; at < offsets[i + 1]; at++) {
                    const uint8_t *mask = masks + conditions[at] * BLOCK;
                    for (Py_ssize_t r = 0; r < n; r++) {
                        all[r] &= mask[r];
                    }
                }
                int64_t sum = 0;
                for (Py_ssize_t r = 0; r < n; r++) {
                    sum += count[r] & -(int64_t)all[r];
                }
                out[i * n_cells + c] += sum;
            }
        }
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    free(masks);
    if (columns != NULL) {
        release(columns, n_columns);
        free(columns);
    }
    release(b, 10);
    return result;
}

static PyMethodDef methods[] = {
    {"count", count, METH_VARARGS, "Counts per code and cell of many row ranges."},
    {"count_amounts", count_amounts, METH_VARARGS, "People, sum and sum of squares per code of many row ranges."},
    {"partition", partition, METH_VARARGS, "Stable partition of many row ranges."},
    {"members", members, METH_VARARGS, "Counts per cell of the members of many criteria."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernel", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC
PyInit__kernel(void)
{
    return PyModule_Create(&module);
}
