/* Growing trees on packed rows: sampling, partitioning, counting, tests and cuts, all in one visit of a node.
 *
 * Whatever is computed here is computed by NumPy elsewhere (ald.search.forest.counting, association and splitting), to the
 * last bit. Buffers come through the checked buffer protocol, and every request is checked against their lengths before
 * the GIL is released; codes and cells are trusted to fit their fields, and people to be fewer than 2^31 in all.
 */
#include "_amounts.h"
#include "_parting.h"

/* Buffers of all items of a tuple. None gives an empty one where its width is negative. Writable from `outputs` on. */
static int
get_buffers(PyObject *tuple, Buffer *buffers, const int *widths, Py_ssize_t n, Py_ssize_t outputs)
{
    memset(buffers, 0, (size_t)n * sizeof(Buffer));
    if (PyTuple_Size(tuple) != n) {
        PyErr_Format(PyExc_TypeError, "%zd arrays expected", n);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        if (item == Py_None && widths[i] < 0) {
            continue;
        }
        char what[32];
        PyOS_snprintf(what, sizeof(what), "array %d", (int)i);
        if (get_buffer(item, &buffers[i], i >= outputs, abs(widths[i]), what) < 0) {
            return -1;
        }
    }
    return 0;
}

#define SHAPE_INTO(SHAPE) &(SHAPE).n_words, &(SHAPE).cell_bits, &(SHAPE).weight_word, &(SHAPE).weight_shift

#define FILL(TYPE)                                                                         \
    MANY_VERSIONS static void fill_##TYPE(const TYPE *code, Py_ssize_t n, int64_t shift, Py_ssize_t n_words, \
                                          uint64_t *column)                                \
    {                                                                                      \
        if (n_words == 1) {                                                                \
            for (Py_ssize_t i = 0; i < n; i++) {                                           \
                column[i] |= (uint64_t)code[i] << shift;                                   \
            }                                                                              \
            return;                                                                        \
        }                                                                                  \
        for (Py_ssize_t i = 0; i < n; i++) {                                               \
            column[i * n_words] |= (uint64_t)code[i] << shift;                             \
        }                                                                                  \
    }
FILL(uint8_t)
FILL(uint16_t)
FILL(uint32_t)

/* pack(codes, cells, word, shift, n_words, out): the rows of coded columns; field k is in word[k] from bit shift[k]. */
static PyObject *
pack(PyObject *self, PyObject *args)
{
    PyObject *codes, *arrays;
    Py_ssize_t n_words, n_columns = 0;
    if (!PyArg_ParseTuple(args, "OnO", &codes, &n_words, &arrays)) {
        return NULL;
    }
    static const int widths[4] = {1, 8, 8, 8};
    Buffer b[4], *columns = NULL;
    PyObject *result = NULL;
    if (get_buffers(arrays, b, widths, 4, 3) < 0) {
        goto done;
    }
    const uint8_t *cells = b[0].view.buf;
    const int64_t *word = b[1].view.buf, *shift = b[2].view.buf;
    uint64_t *out = b[3].view.buf;
    Py_ssize_t n_rows = length(&b[0]);
    columns = get_columns(codes, n_rows, &n_columns);
    if (columns == NULL) {
        goto done;
    }
    int fits = n_words >= 1 && n_words <= MAX_ATTRIBUTES && length(&b[1]) == n_columns &&
               length(&b[2]) == n_columns && length(&b[3]) == n_rows * n_words;
    for (Py_ssize_t k = 0; fits && k < n_columns; k++) {
        fits = word[k] >= 0 && word[k] < n_words && shift[k] >= 0 && shift[k] < 64;
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "pack: arrays do not fit");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t start = 0; start < n_rows; start += BLOCK) {
        Py_ssize_t n = n_rows - start < BLOCK ? n_rows - start : BLOCK;
        uint64_t *rows = out + start * n_words;
        for (Py_ssize_t i = 0; i < n; i++) {
            for (Py_ssize_t w = 0; w < n_words; w++) {
                rows[i * n_words + w] = cells[start + i];
            }
        }
        for (Py_ssize_t k = 0; k < n_columns; k++) {
            uint64_t *column = rows + word[k];
            const void *codes_of = columns[k].view.buf;
            switch (columns[k].width) {
            case 1: fill_uint8_t((const uint8_t *)codes_of + start, n, shift[k], n_words, column); break;
            case 2: fill_uint16_t((const uint16_t *)codes_of + start, n, shift[k], n_words, column); break;
            default: fill_uint32_t((const uint32_t *)codes_of + start, n, shift[k], n_words, column); break;
            }
        }
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    if (columns != NULL) {
        release(columns, n_columns);
        free(columns);
    }
    release(b, 4);
    return result;
}

/* Copies the rows whose bit is 1, from row `at` on, and counts their cells. */
static void
select_rows(const uint64_t *bits, const uint64_t *rows, Py_ssize_t n_words, Py_ssize_t at, Py_ssize_t n,
            uint64_t cell_mask, uint64_t *out, Py_ssize_t written, int64_t *cells)
{
    for (Py_ssize_t i = at; i < n; i++) {
        if (!(bits[i / 64] >> i % 64 & 1)) {
            continue;
        }
        for (Py_ssize_t w = 0; w < n_words; w++) {
            out[written * n_words + w] = rows[i * n_words + w];
        }
        cells[rows[i * n_words] & cell_mask] += 1;
        written++;
    }
}

#if HAS_VECTORS
/* The same of rows of one word and two cells, eight at a time, while there is room for as many: what is written too much
 * is written over by the next ones. Returns how many rows were looked at. */
WITH_VECTORS static Py_ssize_t
select_eight(const uint64_t *bits, const uint64_t *rows, Py_ssize_t n, uint64_t *out, Py_ssize_t room,
             Py_ssize_t *written, int64_t *cells)
{
    Py_ssize_t at = 0, done = 0, ones = 0;
    const __m512i one = _mm512_set1_epi64(1);
    for (; at + 64 <= n && done + 64 <= room; at += 64) {
        const uint64_t word = bits[at / 64];
        for (int j = 0; j < 8; j++) {
            const __mmask8 some = (__mmask8)(word >> 8 * j);
            const __m512i eight = _mm512_loadu_si512(rows + at + 8 * j);
            _mm512_storeu_si512(out + done, _mm512_maskz_compress_epi64(some, eight));
            done += __builtin_popcount(some);
            ones += __builtin_popcount(_mm512_mask_test_epi64_mask(some, eight, one));
        }
    }
    cells[0] += done - ones;
    cells[1] += ones;
    *written = done;
    return at;
}
#endif

#if HAS_VECTORS
/* The same of rows of two words, four at a time. */
WITH_VECTORS static Py_ssize_t
select_pairs(const uint64_t *bits, const uint64_t *rows, Py_ssize_t n, uint64_t cell_mask, uint64_t *out, Py_ssize_t room,
             Py_ssize_t *written, int64_t *cells)
{
    Py_ssize_t at = 0, done = 0;
    for (; at + 64 <= n && done + 64 <= room; at += 64) {
        const uint64_t word = bits[at / 64];
        const Py_ssize_t before = done;
        for (int j = 0; j < 16; j++) {
            const unsigned four = (unsigned)(word >> 4 * j) & 15;
            const __m512i order = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)pair_places[four]));
            const __m512i some = _mm512_loadu_si512(rows + 2 * (at + 4 * j));
            _mm512_storeu_si512(out + 2 * done, _mm512_permutexvar_epi64(order, some));
            done += __builtin_popcount(four);
        }
        for (Py_ssize_t i = before; i < done; i++) {
            cells[out[2 * i] & cell_mask] += 1;
        }
    }
    *written = done;
    return at;
}
#endif

MANY_VERSIONS static Py_ssize_t
ones(const uint64_t *bits, Py_ssize_t words)
{
    Py_ssize_t some = 0;
    for (Py_ssize_t w = 0; w < words; w++) {
        some += __builtin_popcountll(bits[w]);
    }
    return some;
}

/* select(shape, arrays): the rows of a sample.
 *
 * bits: one per row, 1 for those drawn; or, where rows stand for several people, taken: how many of each are drawn. Rows
 * with anyone drawn go to `out`. cells[c]: how many people are in cell c. Returns the number of rows written.
 */
static PyObject *
select_sample(PyObject *self, PyObject *args)
{
    PyObject *arrays;
    Shape shape;
    if (!PyArg_ParseTuple(args, "(nnnn)O", SHAPE_INTO(shape), &arrays)) {
        return NULL;
    }
    enum { ROWS_IN, BITS_IN, TAKEN, ROWS_OUT, CELLS_OUT, N_SELECTED };
    static const int widths[N_SELECTED] = {8, -8, -8, 8, 8};
    Buffer b[N_SELECTED];
    PyObject *result = NULL;
    if (get_buffers(arrays, b, widths, N_SELECTED, ROWS_OUT) < 0) {
        goto done;
    }
    const int counted = shape.weight_word >= 0;
    const Py_ssize_t n_words = shape.n_words, cell_bits = shape.cell_bits;
    const uint64_t *rows = b[ROWS_IN].view.buf, *bits = b[BITS_IN].view.buf;
    const int64_t *taken = b[TAKEN].view.buf;
    uint64_t *out = b[ROWS_OUT].view.buf;
    int64_t *cells = b[CELLS_OUT].view.buf;
    const Py_ssize_t n = n_words > 0 ? length(&b[ROWS_IN]) / n_words : 0;
    int fits = shape_fits(&shape) && n * n_words == length(&b[ROWS_IN]) &&
               length(&b[CELLS_OUT]) == (Py_ssize_t)1 << cell_bits && counted == (b[TAKEN].width != 0) &&
               counted == (b[BITS_IN].width == 0);
    Py_ssize_t some = 0;
    if (fits && counted) {
        fits = length(&b[TAKEN]) == n;
        for (Py_ssize_t i = 0; fits && i < n; i++) {
            fits = taken[i] >> (64 - shape.weight_shift > 62 ? 62 : 64 - shape.weight_shift) == 0;
            some += taken[i] > 0;
        }
    }
    else if (fits) {
        fits = length(&b[BITS_IN]) == (n + 63) / 64;
        some = fits ? ones(bits, length(&b[BITS_IN])) : 0;
        fits = fits && (n % 64 == 0 || bits[n / 64] >> n % 64 == 0);
    }
    const Py_ssize_t room = fits ? length(&b[ROWS_OUT]) / n_words : 0;
    if (!fits || some > room) {
        PyErr_SetString(PyExc_ValueError, "select: arrays do not fit");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    const uint64_t mask = ((uint64_t)1 << cell_bits) - 1;
    memset(cells, 0, (size_t)b[CELLS_OUT].view.len);
    Py_ssize_t at = 0, written = 0;
    if (counted) {
        for (; at < n; at++) {
            if (taken[at] <= 0) {
                continue;
            }
            uint64_t *row = out + written++ * n_words;
            memcpy(row, rows + at * n_words, (size_t)n_words * sizeof(uint64_t));
            row[shape.weight_word] |= (uint64_t)taken[at] << shape.weight_shift;
            cells[rows[at * n_words] & mask] += taken[at];
        }
    }
    else {
#if HAS_VECTORS
        if (vectors == ALL_VECTORS && n_words == 1 && cell_bits == 1) {
            at = select_eight(bits, rows, n, out, room, &written, cells);
        }
        else if (vectors == ALL_VECTORS && n_words == 2) {
            at = select_pairs(bits, rows, n, mask, out, room, &written, cells);
        }
#endif
        select_rows(bits, rows, n_words, at, n, mask, out, written, cells);
    }
    Py_END_ALLOW_THREADS
    result = PyLong_FromSsize_t(some);
done:
    release(b, N_SELECTED);
    return result;
}

#define INTS(NAME) ((int64_t *)b[NAME].view.buf)

/* The arrays of `visit`. */
enum {
    WORD, SHIFT, WIDTH, SIZE, NOMINAL, SCORES, START, END, ATTRIBUTE, CUT, MISSING_LEFT, BITS, TABLE_AT, LEFT, RIGHT,
    TABLES, DRAWN, MIN_BUCKET, HITS, BASES, CRITICAL, VISITED, NODE_START, NODE_END, STATISTIC, DF, STATE,
    FOUND_CUT, LEFT_BITS, PRESENT_BITS, LEFT_COUNTS, OBSERVED,
    N_VISITED
};

MANY_VERSIONS static void
visit_units(const Work *work, const Buffer *b, Py_ssize_t first, Py_ssize_t last, const Found *found)
{
    const Py_ssize_t n_words = work->n_words;
    uint64_t *rows = b[VISITED].view.buf;
    for (Py_ssize_t u = first; u < last; u++) {
        const int64_t start = INTS(START)[u], n = INTS(END)[u] - start, a = INTS(ATTRIBUTE)[u];
        const int64_t nodes[2] = {INTS(LEFT)[u], INTS(RIGHT)[u]};
        int64_t starts[2] = {start, start}, ends[2] = {start + n, start};
        if (a >= 0) {
            const int64_t table_at = INTS(TABLE_AT)[u];
            const Side side = {
                .field = &work->fields[a],
                .cut = INTS(CUT)[u],
                .missing = INTS(MISSING_LEFT)[u] != 0,
                .left = ((const uint64_t *)b[BITS].view.buf)[u],
                .table = table_at >= 0 ? (const uint8_t *)b[TABLES].view.buf + table_at : NULL,
            };
            ends[0] = starts[1] = start + part_rows(work, rows + start * n_words, n, &side, 1);
            ends[1] = start + n;
        }
        for (int s = 0; s < 2; s++) {
            if (nodes[s] < 0) {
                continue;
            }
            INTS(NODE_START)[nodes[s]] = starts[s];
            INTS(NODE_END)[nodes[s]] = ends[s];
            const Py_ssize_t request = nodes[s] * work->n_drawn;
            const uint64_t *of_node = rows + starts[s] * n_words;
            const int64_t people = ends[s] - starts[s], min_bucket = INTS(MIN_BUCKET)[nodes[s]];
            if (work->amounts) {
                test_amounts(work, of_node, people, INTS(DRAWN) + request, min_bucket, found, request);
            }
            else {
                test_node(work, of_node, people, INTS(DRAWN) + request, min_bucket, found, request);
            }
        }
    }
}

/* Whether rows have a word for their amount, and for how many people they stand for, if they do, half of it. */
static int
amount_has_room(const Shape *shape)
{
    return shape_fits(shape) && shape->n_words >= 2 && shape->cell_bits == PLACE_BITS &&
           (shape->weight_word < 0 || (shape->weight_word == shape->n_words - 1 && shape->weight_shift == 32));
}

/* The same, and whether no code is in that word, and histograms have room. */
static int
amounts_fit(const Buffer *b, const Shape *shape)
{
    int64_t bins = 0;
    int fits = amount_has_room(shape);
    for (Py_ssize_t a = 0; fits && a < length(&b[WORD]); a++) {
        fits = INTS(WORD)[a] < shape->n_words - 1 && INTS(WIDTH)[a] < 32;
        bins += fits ? bins_of(INTS(SIZE)[a], INTS(WIDTH)[a], 0) : 0;
        fits = fits && bins <= MOST_AMOUNT_BINS;
    }
    return fits;
}

/* visit(shape, n_cells, first, last, disjoint, arrays)
 * visit_amounts(shape, first, last, arrays)
 *
 * Units first..last: the rows start[u]..end[u]. A unit without an attribute (-1) is a node as it is; others are parted
 * in place, by codes up to cut[u] (missing ones go left where missing_left[u]), by bits[u], or by
 * tables[table_at[u] + code] where that is not negative. left[u] and right[u] number the nodes that they become; -1:
 * nobody will ask for that one again. Of these nodes node_start and node_end are set, and the attributes
 * drawn[node * n_drawn ..] are tested. Of amounts, people per cell are people, sum, and both words of the sum of squares.
 */
static PyObject *
visit_any(Shape shape, int amounts, Py_ssize_t n_cells, Py_ssize_t first, Py_ssize_t last, int disjoint,
          PyObject *arrays)
{
    static const int widths[N_VISITED] = {8, 8, 8, 8, 1, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 1, 8,
                                          8, 8, 8, 8, 8, 8, 8, 8, 8, 1, 8, 8, 8, 8, 8};
    Buffer b[N_VISITED];
    Work work;
    memset(&work, 0, sizeof(work));
    PyObject *result = NULL;
    if (get_buffers(arrays, b, widths, N_VISITED, VISITED) < 0) {
        goto done;
    }
    const Py_ssize_t n_units = length(&b[START]), n_nodes = length(&b[NODE_START]), k = length(&b[WORD]);
    const Py_ssize_t n_requests = length(&b[STATE]), n_rates = length(&b[HITS]);
    int fits = fields_fit(b, &shape) && first >= 0 && last <= n_units && n_cells >= 1 &&
               shape.cell_bits <= MOST_COUNTED_BITS && n_rates >= 1 && n_rates <= MOST_RATES;
    fits = fits && (amounts ? n_rates == 1 && amounts_fit(b, &shape) : n_cells <= (Py_ssize_t)1 << shape.cell_bits);
    for (int i = START; i <= RIGHT; i++) {
        fits &= length(&b[i]) == n_units;
    }
    fits = fits && length(&b[BASES]) == n_rates && length(&b[NODE_END]) == n_nodes &&
           length(&b[MIN_BUCKET]) == n_nodes && length(&b[DRAWN]) == n_requests &&
           (n_nodes ? n_requests % n_nodes == 0 : n_requests == 0) &&
           length(&b[STATISTIC]) == n_requests * n_rates && length(&b[DF]) == n_requests * n_rates &&
           length(&b[FOUND_CUT]) == n_requests && length(&b[LEFT_BITS]) == n_requests &&
           length(&b[PRESENT_BITS]) == n_requests && length(&b[LEFT_COUNTS]) == n_requests * n_cells &&
           length(&b[OBSERVED]) == n_requests * n_cells;
    const int64_t n_rows = fits ? length(&b[VISITED]) / shape.n_words : 0;
    for (Py_ssize_t i = 0; fits && i < n_requests; i++) {
        fits = INTS(DRAWN)[i] >= 0 && INTS(DRAWN)[i] < k;
    }
    for (Py_ssize_t i = 0; fits && i < n_nodes; i++) {
        fits = INTS(MIN_BUCKET)[i] >= 0;
    }
    for (Py_ssize_t u = first; fits && u < last; u++) {
        const int64_t a = INTS(ATTRIBUTE)[u];
        fits = INTS(START)[u] >= 0 && INTS(START)[u] <= INTS(END)[u] && INTS(END)[u] <= n_rows && a < k &&
               INTS(LEFT)[u] < n_nodes && INTS(RIGHT)[u] < n_nodes &&
               (a < 0 || INTS(TABLE_AT)[u] < 0 || INTS(TABLE_AT)[u] < length(&b[TABLES]) - INTS(SIZE)[a]) &&
               (a < 0 || INTS(TABLE_AT)[u] >= 0 || !((uint8_t *)b[NOMINAL].view.buf)[a] || INTS(SIZE)[a] < MOST_BITS);
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "visit: arrays do not fit");
        goto done;
    }
    set_shape(&work, &shape);
    work.n_cells = n_cells;
    work.n_rates = n_rates;
    work.n_drawn = n_nodes ? n_requests / n_nodes : 0;
    work.hits = INTS(HITS);
    work.bases = INTS(BASES);
    work.critical = b[CRITICAL].view.buf;
    work.n_critical = length(&b[CRITICAL]);
    work.disjoint = disjoint;
    work.amounts = amounts;
    if (!make_work(&work, b)) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    const Found found = {
        .statistic = b[STATISTIC].view.buf,
        .df = INTS(DF),
        .n_requests = n_requests,
        .state = b[STATE].view.buf,
        .cut = INTS(FOUND_CUT),
        .left_bits = b[LEFT_BITS].view.buf,
        .present_bits = b[PRESENT_BITS].view.buf,
        .left = INTS(LEFT_COUNTS),
        .observed = INTS(OBSERVED),
    };
    visit_units(&work, b, first, last, &found);
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    free_work(&work);
    release(b, N_VISITED);
    return result;
}

static PyObject *
visit(PyObject *self, PyObject *args)
{
    PyObject *arrays;
    Shape shape;
    Py_ssize_t n_cells, first, last, disjoint;
    if (!PyArg_ParseTuple(args, "(nnnn)nnnnO", SHAPE_INTO(shape), &n_cells, &first, &last, &disjoint, &arrays)) {
        return NULL;
    }
    return visit_any(shape, 0, n_cells, first, last, (int)disjoint, arrays);
}

static PyObject *
visit_amounts(PyObject *self, PyObject *args)
{
    PyObject *arrays;
    Shape shape;
    Py_ssize_t first, last;
    if (!PyArg_ParseTuple(args, "(nnnn)nnO", SHAPE_INTO(shape), &first, &last, &arrays)) {
        return NULL;
    }
    return visit_any(shape, 1, MOMENTS, first, last, 1, arrays);
}

/* The first request of a node with the smallest log p, then the largest statistic, among those that are left; -1: none.
 * Within the tie tolerance values are equal. As ald.search.forest.choice.select_by_log_p. */
INLINE Py_ssize_t
first_left(const double *log_p, const double *statistic, const uint8_t *left, Py_ssize_t n)
{
    double best = -INFINITY, largest = -INFINITY;
    for (Py_ssize_t j = 0; j < n; j++) {
        best = left[j] && -log_p[j] > best ? -log_p[j] : best;
    }
    const double least = best - TIE * fabs(best);
    for (Py_ssize_t j = 0; j < n; j++) {
        largest = left[j] && -log_p[j] >= least && statistic[j] > largest ? statistic[j] : largest;
    }
    const double least_statistic = largest - TIE * fabs(largest);
    for (Py_ssize_t j = 0; j < n; j++) {
        if (left[j] && -log_p[j] >= least && statistic[j] >= least_statistic) {
            return j;
        }
    }
    return -1;
}

/* choose(tries, arrays): of every node the first request with a cut, of the best `tries` that are significant; -1 for
 * none. Arrays: log p, statistic, whether it is significant, state, and what is chosen. */
static PyObject *
choose(PyObject *self, PyObject *args)
{
    PyObject *arrays;
    Py_ssize_t tries;
    if (!PyArg_ParseTuple(args, "nO", &tries, &arrays)) {
        return NULL;
    }
    enum { LOG_P, STATISTICS, SIGNIFICANT, STATES, CHOSEN, N };
    static const int widths[N] = {8, 8, 1, 1, 8};
    Buffer b[N];
    uint8_t *left = NULL;
    PyObject *result = NULL;
    if (get_buffers(arrays, b, widths, N, CHOSEN) < 0) {
        goto done;
    }
    const Py_ssize_t n_nodes = length(&b[CHOSEN]), n_requests = length(&b[LOG_P]);
    int fits = n_nodes ? n_requests % n_nodes == 0 : n_requests == 0;
    for (int i = LOG_P; i < CHOSEN; i++) {
        fits &= length(&b[i]) == n_requests;
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "choose: arrays do not fit");
        goto done;
    }
    const Py_ssize_t drawn = n_nodes ? n_requests / n_nodes : 0;
    const double *log_p = b[LOG_P].view.buf, *statistic = b[STATISTICS].view.buf;
    const uint8_t *state = b[STATES].view.buf;
    left = malloc((size_t)drawn + 1);
    if (left == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t node = 0; node < n_nodes; node++) {
        const Py_ssize_t at = node * drawn;
        memcpy(left, (const uint8_t *)b[SIGNIFICANT].view.buf + at, (size_t)drawn);
        INTS(CHOSEN)[node] = -1;
        for (Py_ssize_t attempt = 0; attempt < tries; attempt++) {
            const Py_ssize_t first = first_left(log_p + at, statistic + at, left, drawn);
            if (first < 0 || state[at + first] == FOUND) {
                INTS(CHOSEN)[node] = first < 0 ? -1 : at + first;
                break;
            }
            left[first] = 0;
        }
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    free(left);
    release(b, N);
    return result;
}

/* count(shape, n_cells, arrays): the codes that occur, and their counts per cell, of many requests.
 * count_amounts(shape, arrays): of amounts.
 *
 * Request i is the attribute attributes[i] in the rows starts[i]..ends[i]. used[i]: how many codes it has, ascending,
 * that of missing values last. Returns the sum of used.
 */
static PyObject *
count_any(Shape shape, int amounts, Py_ssize_t n_cells, PyObject *arrays)
{
    enum { COUNTED = 6, STARTS, ENDS, ATTRIBUTES, CODES, CODE_COUNTS, USED, N };
    static const int widths[N] = {8, 8, 8, 8, 1, 8, 8, 8, 8, 8, 4, 8, 8};
    Buffer b[N];
    Work work;
    memset(&work, 0, sizeof(work));
    PyObject *result = NULL;
    if (get_buffers(arrays, b, widths, N, CODES) < 0) {
        goto done;
    }
    const Py_ssize_t n_requests = length(&b[USED]), k = length(&b[0]);
    const int64_t capacity = length(&b[CODES]);
    int fits = fields_fit(b, &shape) && n_cells >= 1 && shape.cell_bits <= MOST_COUNTED_BITS &&
               (amounts ? amounts_fit(b, &shape) : n_cells <= (Py_ssize_t)1 << shape.cell_bits) &&
               length(&b[STARTS]) == n_requests && length(&b[ENDS]) == n_requests && length(&b[ATTRIBUTES]) == n_requests &&
               length(&b[CODE_COUNTS]) == capacity * n_cells;
    const int64_t n_rows = fits ? length(&b[COUNTED]) / shape.n_words : 0;
    int64_t room = 0;
    for (Py_ssize_t i = 0; fits && i < n_requests; i++) {
        const int64_t a = INTS(ATTRIBUTES)[i];
        fits = INTS(STARTS)[i] >= 0 && INTS(STARTS)[i] <= INTS(ENDS)[i] && INTS(ENDS)[i] <= n_rows && a >= 0 && a < k;
        if (fits) {
            const int64_t n = INTS(ENDS)[i] - INTS(STARTS)[i];
            room += n < INTS(3)[a] + 1 ? n : INTS(3)[a] + 1;
        }
    }
    if (!fits || room > capacity) {
        PyErr_SetString(PyExc_ValueError, "count: arrays do not fit");
        goto done;
    }
    set_shape(&work, &shape);
    work.n_cells = n_cells;
    work.n_drawn = 1;
    work.amounts = amounts;
    if (!make_work(&work, b)) {
        PyErr_NoMemory();
        goto done;
    }
    int64_t written = 0;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < n_requests; i++) {
        const int64_t start = INTS(STARTS)[i], n = INTS(ENDS)[i] - start;
        const uint64_t *rows = (const uint64_t *)b[COUNTED].view.buf + start * shape.n_words;
        const Field *field = &work.fields[INTS(ATTRIBUTES)[i]];
        if (amounts) {
            const int64_t some = collect_amounts(&work, rows, n, INTS(ATTRIBUTES)[i],
                                                 (uint32_t *)b[CODES].view.buf + written,
                                                 INTS(CODE_COUNTS) + written * MOMENTS);
            INTS(USED)[i] = some;
            written += some;
            continue;
        }
        int64_t missing[LANES], any = 0;
        count_rows(&work, rows, n, INTS(ATTRIBUTES) + i);
        const int64_t codes = compact(&work, field, rows, n, missing);
        uint32_t *out_codes = (uint32_t *)b[CODES].view.buf + written;
        int64_t *out = INTS(CODE_COUNTS) + written * n_cells;
        for (int64_t e = 0; e < codes; e++) {
            out_codes[e] = (uint32_t)work.code[e];
            for (Py_ssize_t c = 0; c < n_cells; c++) {
                out[e * n_cells + c] = (int64_t)work.count[c * work.capacity + e];
            }
        }
        for (Py_ssize_t c = 0; c < n_cells; c++) {
            any |= missing[c];
        }
        if (any) {
            out_codes[codes] = (uint32_t)field->size;
            memcpy(out + codes * n_cells, missing, (size_t)n_cells * sizeof(int64_t));
        }
        INTS(USED)[i] = codes + (any != 0);
        written += codes + (any != 0);
    }
    Py_END_ALLOW_THREADS
    result = PyLong_FromLongLong(written);
done:
    free_work(&work);
    release(b, N);
    return result;
}

static PyObject *
count(PyObject *self, PyObject *args)
{
    PyObject *arrays;
    Shape shape;
    Py_ssize_t n_cells;
    if (!PyArg_ParseTuple(args, "(nnnn)nO", SHAPE_INTO(shape), &n_cells, &arrays)) {
        return NULL;
    }
    return count_any(shape, 0, n_cells, arrays);
}

static PyObject *
count_amounts(PyObject *self, PyObject *args)
{
    PyObject *arrays;
    Shape shape;
    if (!PyArg_ParseTuple(args, "(nnnn)O", SHAPE_INTO(shape), &arrays)) {
        return NULL;
    }
    return count_any(shape, 1, MOMENTS, arrays);
}

/* sum_amounts(shape, rows, starts, ends, out): what the rows starts[i]..ends[i] add up to, [requests, MOMENTS]. */
static PyObject *
sum_amounts(PyObject *self, PyObject *args)
{
    PyObject *arrays;
    Shape shape;
    if (!PyArg_ParseTuple(args, "(nnnn)O", SHAPE_INTO(shape), &arrays)) {
        return NULL;
    }
    enum { SUMMED, FROM, TO, SUMS, N };
    static const int widths[N] = {8, 8, 8, 8};
    Buffer b[N];
    PyObject *result = NULL;
    if (get_buffers(arrays, b, widths, N, SUMS) < 0) {
        goto done;
    }
    const Py_ssize_t n = length(&b[FROM]);
    int fits = amount_has_room(&shape) && length(&b[TO]) == n && length(&b[SUMS]) == n * MOMENTS;
    const int64_t n_rows = fits ? length(&b[SUMMED]) / shape.n_words : 0;
    for (Py_ssize_t i = 0; fits && i < n; i++) {
        fits = INTS(FROM)[i] >= 0 && INTS(FROM)[i] <= INTS(TO)[i] && INTS(TO)[i] <= n_rows;
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "sum_amounts: arrays do not fit");
        goto done;
    }
    Work work;
    memset(&work, 0, sizeof(work));
    set_shape(&work, &shape);
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < n; i++) {
        const uint64_t *rows = (const uint64_t *)b[SUMMED].view.buf + INTS(FROM)[i] * shape.n_words;
        Moments sum;
        sum_moments(&work, rows, INTS(TO)[i] - INTS(FROM)[i], &sum);
        memcpy(INTS(SUMS) + i * MOMENTS, &sum, sizeof(sum));
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    release(b, N);
    return result;
}

/* descend(shape, n_cells, first, last, block, everywhere, arrays)
 *
 * Sends the rows first..last down every tree from its root, `block` of them at a time. At a node of attribute[i]
 * (negative: a leaf) a row goes left if its code is at most cut[i], else right unless it is missing; or, where
 * table_at[i] is not negative, left, right or nowhere if tables[table_at[i] + code] is 1, 0 or 2. out[i, c]: the people
 * of cell c at leaf i, or, everywhere, at any node. Children come after their parents; tables have an entry for every
 * code and one for missing values.
 */
enum { ROWS = 6, NODE_PARENT, NODE_ATTRIBUTE, NODE_LEFT, NODE_RIGHT, NODE_CUT, NODE_TABLE_AT, NODE_TABLES, OUT,
       N_DESCENDED };

/* The people of every cell among some rows. */
INLINE void
tally(const Work *work, const uint64_t *rows, int64_t n, int64_t *people)
{
    if (work->cell_mask == 1 && work->weight_word < 0) {
        int64_t ones = 0;
        for (int64_t i = 0; i < n; i++) {
            ones += (int64_t)(rows[i * work->n_words] & 1);
        }
        people[0] += n - ones;
        people[work->n_cells - 1] += ones;
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const uint64_t *row = rows + i * work->n_words;
        const uint64_t cell = row[0] & work->cell_mask;
        if (cell < (uint64_t)work->n_cells) {
            people[cell] += (int64_t)weight_of(work, row);
        }
    }
}

/* The rows of a block go down one tree after the other, and down a tree in preorder. They are parted in place: every
 * node has its rows within the place of its parent. */
typedef struct {
    Side *sides;         /* of every node; no field: a leaf */
    int64_t *start, *end;
    uint64_t *rows;
    int64_t *people;
    int everywhere;      /* whether people are counted at every node, not only where they end */
} Descent;

MANY_VERSIONS static void
descend_rows(const Work *work, const Buffer *b, const Descent *d, const uint64_t *rows, int64_t n)
{
    const Py_ssize_t n_nodes = length(&b[NODE_ATTRIBUTE]), n_words = work->n_words;
    for (Py_ssize_t i = 0; i < n_nodes; i++) {
        if (INTS(NODE_PARENT)[i] < 0) {
            memcpy(d->rows, rows, (size_t)(n * n_words) * sizeof(uint64_t));
            d->start[i] = 0;
            d->end[i] = n;
        }
        const int64_t start = d->start[i], some = d->end[i] - start;
        uint64_t *at = d->rows + start * n_words;
        const Side *side = &d->sides[i];
        if (side->field == NULL || d->everywhere) {
            tally(work, at, some, d->people + i * work->n_cells);
        }
        if (side->field == NULL) {
            continue;
        }
        const int64_t left = INTS(NODE_LEFT)[i], right = INTS(NODE_RIGHT)[i];
#if HAS_VECTORS
        if (vectors == ALL_VECTORS && n_words == 1 && work->weight_word < 0 && work->n_cells == 2 &&
            work->cell_bits == 1 && side->table == NULL && !side->loses &&
            d->sides[left].field == NULL && d->sides[right].field == NULL) {
            /* Two leaves: nobody has to move. */
            const Tally tally = tally_rows(at, some, side);
            int64_t *of_left = d->people + left * 2, *of_right = d->people + right * 2;
            of_left[0] += tally.first - tally.both;
            of_left[1] += tally.both;
            of_right[0] += some - tally.first - (tally.second - tally.both);
            of_right[1] += tally.second - tally.both;
            d->end[left] = d->start[left] = d->end[right] = d->start[right] = start;
            continue;
        }
#endif
        const int64_t n_left = part_rows(work, at, some, side, 1);
        int64_t n_right = some - n_left;
        if (side->loses) {
            n_right = part_rows(work, at + n_left * n_words, n_right, side, 0);
        }
        d->start[left] = start;
        d->end[left] = d->start[right] = start + n_left;
        d->end[right] = start + n_left + n_right;
    }
}

/* Per attribute the codes that occur, as bits; where they are many, whether any is missing. */
static void
occurring(const Work *work, const uint64_t *rows, int64_t n, Py_ssize_t n_columns, uint64_t *bits)
{
    for (Py_ssize_t a = 0; a < n_columns; a++) {
        const Field field = work->fields[a];
        const int is_small = field.size < MOST_BITS;
        uint64_t seen = 0;
        for (int64_t i = 0; i < n; i++) {
            const uint64_t code = rows[i * work->n_words + field.word] >> field.bit & field.codes;
            seen |= is_small ? (uint64_t)1 << code : (uint64_t)(code == (uint64_t)field.size);
        }
        bits[a] = seen;
    }
}

/* How every node parts. Tables of few codes become bits. seen: of every attribute the codes that occur, or, where they
 * are many, whether any is missing. */
static void
make_sides(const Work *work, const Buffer *b, const uint64_t *seen, Side *sides)
{
    for (Py_ssize_t i = 0; i < length(&b[NODE_ATTRIBUTE]); i++) {
        const int64_t a = INTS(NODE_ATTRIBUTE)[i];
        if (a < 0) {
            continue;
        }
        Field *field = &work->fields[a];
        const int is_small = field->size < MOST_BITS;
        sides[i].field = field;
        sides[i].cut = INTS(NODE_CUT)[i];
        sides[i].missing = 2;
        sides[i].loses = is_small ? (int)(seen[a] >> field->size & 1) : seen[a] != 0;
        if (INTS(NODE_TABLE_AT)[i] < 0) {
            continue;
        }
        const uint8_t *table = (const uint8_t *)b[NODE_TABLES].view.buf + INTS(NODE_TABLE_AT)[i];
        sides[i].loses = 1;
        if (!is_small) {
            sides[i].table = table;
            continue;
        }
        field->nominal = 1;
        for (int64_t code = 0; code <= field->size; code++) {
            sides[i].left |= (uint64_t)(table[code] == 1) << code;
            sides[i].right |= (uint64_t)(table[code] == 0) << code;
        }
        sides[i].loses = (seen[a] & ~(sides[i].left | sides[i].right)) != 0;
    }
}

/* Whether children come after their parents, and all nodes split by attributes, codes and tables that there are. */
static int
nodes_fit(const Buffer *b)
{
    const Py_ssize_t n_nodes = length(&b[NODE_ATTRIBUTE]), k = length(&b[0]);
    int fits = 1;
    for (int i = NODE_PARENT; i <= NODE_TABLE_AT; i++) {
        fits &= length(&b[i]) == n_nodes;
    }
    for (Py_ssize_t i = 0; fits && i < n_nodes; i++) {
        const int64_t a = INTS(NODE_ATTRIBUTE)[i], table_at = INTS(NODE_TABLE_AT)[i];
        fits = a < k && INTS(NODE_PARENT)[i] < i &&
               (a < 0 || (INTS(NODE_LEFT)[i] > i && INTS(NODE_LEFT)[i] < n_nodes && INTS(NODE_RIGHT)[i] > i &&
                          INTS(NODE_RIGHT)[i] < n_nodes &&
                          (table_at >= 0 ? table_at < length(&b[NODE_TABLES]) - INTS(3)[a]
                                         : INTS(NODE_CUT)[i] >= 0 && INTS(NODE_CUT)[i] < INTS(3)[a] &&
                                               (!((const uint8_t *)b[4].view.buf)[a] || INTS(3)[a] < MOST_BITS))));
    }
    return fits;
}

static PyObject *
descend(PyObject *self, PyObject *args)
{
    PyObject *arrays;
    Shape shape;
    Py_ssize_t n_cells, first, last, block, everywhere;
    if (!PyArg_ParseTuple(args, "(nnnn)nnnnnO", SHAPE_INTO(shape), &n_cells, &first, &last, &block, &everywhere,
                          &arrays)) {
        return NULL;
    }
    static const int widths[N_DESCENDED] = {8, 8, 8, 8, 1, 8, 8, 8, 8, 8, 8, 8, 8, 1, 8};
    Buffer b[N_DESCENDED];
    Work work;
    Descent d;
    memset(&work, 0, sizeof(work));
    memset(&d, 0, sizeof(d));
    uint64_t *seen = NULL;
    PyObject *result = NULL;
    if (get_buffers(arrays, b, widths, N_DESCENDED, OUT) < 0) {
        goto done;
    }
    const Py_ssize_t n_nodes = length(&b[NODE_ATTRIBUTE]), k = length(&b[0]);
    const Py_ssize_t n_words = shape.n_words;
    int fits = fields_fit(b, &shape) && n_cells >= 1 && n_cells <= (Py_ssize_t)1 << shape.cell_bits &&
               length(&b[OUT]) == n_nodes * n_cells && first >= 0 && first <= last && block > 0;
    const int64_t n_rows = fits ? length(&b[ROWS]) / n_words : 0;
    fits = fits && last <= n_rows && nodes_fit(b);
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "descend: arrays do not fit");
        goto done;
    }
    set_shape(&work, &shape);
    work.n_cells = n_cells;
    block = block < last - first ? block : last - first + 1;
    d.everywhere = (int)everywhere;
    const size_t nodes = (size_t)n_nodes + 1;
    d.sides = calloc(nodes, sizeof(Side));
    d.start = calloc(nodes, sizeof(int64_t));
    d.end = calloc(nodes, sizeof(int64_t));
    d.people = calloc(nodes * (size_t)n_cells, sizeof(int64_t));
    d.rows = malloc((size_t)block * (size_t)n_words * sizeof(uint64_t));
    seen = calloc((size_t)k + 1, sizeof(uint64_t));
    const int ok = d.sides && d.start && d.end && d.people && d.rows && seen && make_work(&work, b);
    if (!ok) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    occurring(&work, (const uint64_t *)b[ROWS].view.buf + first * n_words, last - first, k, seen);
    make_sides(&work, b, seen, d.sides);
    for (Py_ssize_t start = first; start < last; start += block) {
        descend_rows(&work, b, &d, (const uint64_t *)b[ROWS].view.buf + start * n_words,
                     last - start < block ? last - start : block);
    }
    memcpy(INTS(OUT), d.people, (size_t)b[OUT].view.len);
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    free(seen);
    free(d.sides);
    free(d.start);
    free(d.end);
    free(d.people);
    free(d.rows);
    free_work(&work);
    release(b, N_DESCENDED);
    return result;
}

/* descend_amounts(shape, first, last, block, keep, arrays)
 *
 * As `descend`, of the nodes first..last, which are whole trees, and of all rows. out[i]: what the amounts at leaf i add up
 * to. used[i]: how many rows are there; the numbers of the first `keep` of them, in any order, are in kept from
 * kept_at[i] on.
 */
enum { KEPT_AT = OUT, SUMS_OUT, KEPT_USED, KEPT, N_AMOUNTS_DESCENDED };

/* A row on its way down has its number where its people were. */
MANY_VERSIONS static void
number_rows(const Work *work, const uint64_t *rows, int64_t first, int64_t n, uint64_t *out)
{
    const Py_ssize_t n_words = work->n_words;
    memcpy(out, rows + first * n_words, (size_t)(n * n_words) * sizeof(uint64_t));
    for (int64_t i = 0; i < n; i++) {
        uint64_t *value = out + i * n_words + n_words - 1;
        *value = (uint32_t)*value | (uint64_t)(first + i) << 32;
    }
}

/* What rows at a leaf add, of one person each or of as many as they stand for. */
MANY_VERSIONS static void
add_leaf(const Work *work, const uint64_t *all, const uint64_t *rows, int64_t n, int64_t *out)
{
    const Py_ssize_t n_words = work->n_words;
    int64_t people = 0, sum = 0, high = 0, low = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t *row = rows + i * n_words;
        const int64_t amount = amount_of(work, row), square = amount * amount;
        const int64_t weight =
            work->weight_word < 0 ? 1 : (int64_t)weight_of(work, all + (row[n_words - 1] >> 32) * (uint64_t)n_words);
        people += weight;
        sum += weight * amount;
        high += weight * (square >> WORD_BITS);
        low += weight * (square & (((int64_t)1 << WORD_BITS) - 1));
    }
    out[PEOPLE] += people;
    out[SUM] += sum;
    out[HIGH] += high;
    out[LOW] += low;
}

static void
descend_numbered(const Work *work, const Buffer *b, const Descent *d, Py_ssize_t first, Py_ssize_t last, int64_t keep,
                 int64_t from, int64_t n)
{
    const Py_ssize_t n_words = work->n_words;
    const uint64_t *all = b[ROWS].view.buf;
    uint32_t *kept = b[KEPT].view.buf;
    for (Py_ssize_t i = first; i < last; i++) {
        if (INTS(NODE_PARENT)[i] < 0) {
            number_rows(work, all, from, n, d->rows);
            d->start[i] = 0;
            d->end[i] = n;
        }
        const int64_t start = d->start[i], some = d->end[i] - start;
        uint64_t *at = d->rows + start * n_words;
        const Side *side = &d->sides[i];
        if (side->field == NULL) {
            int64_t used = INTS(KEPT_USED)[i];
            add_leaf(work, all, at, some, INTS(SUMS_OUT) + i * MOMENTS);
            INTS(KEPT_USED)[i] += some;
            for (int64_t r = 0; r < some && used < keep; r++) {
                kept[INTS(KEPT_AT)[i] + used++] = (uint32_t)(at[r * n_words + n_words - 1] >> 32);
            }
            continue;
        }
        const int64_t left = INTS(NODE_LEFT)[i], right = INTS(NODE_RIGHT)[i];
        const int64_t n_left = part_rows(work, at, some, side, 1);
        int64_t n_right = some - n_left;
        if (side->loses) {
            n_right = part_rows(work, at + n_left * n_words, n_right, side, 0);
        }
        d->start[left] = start;
        d->end[left] = d->start[right] = start + n_left;
        d->end[right] = start + n_left + n_right;
    }
}

static PyObject *
descend_amounts(PyObject *self, PyObject *args)
{
    PyObject *arrays;
    Shape shape;
    Py_ssize_t first, last, block, keep;
    if (!PyArg_ParseTuple(args, "(nnnn)nnnnO", SHAPE_INTO(shape), &first, &last, &block, &keep, &arrays)) {
        return NULL;
    }
    static const int widths[N_AMOUNTS_DESCENDED] = {8, 8, 8, 8, 1, 8, 8, 8, 8, 8, 8, 8, 8, 1, 8, 8, 8, 4};
    Buffer b[N_AMOUNTS_DESCENDED];
    Work work;
    Descent d;
    memset(&work, 0, sizeof(work));
    memset(&d, 0, sizeof(d));
    uint64_t *seen = NULL;
    PyObject *result = NULL;
    if (get_buffers(arrays, b, widths, N_AMOUNTS_DESCENDED, SUMS_OUT) < 0) {
        goto done;
    }
    const Py_ssize_t n_nodes = length(&b[NODE_ATTRIBUTE]), k = length(&b[0]), n_words = shape.n_words;
    int fits = fields_fit(b, &shape) && amounts_fit(b, &shape) && first >= 0 && first <= last && last <= n_nodes &&
               block > 0 && keep >= 0 && nodes_fit(b) && length(&b[KEPT_AT]) == n_nodes &&
               length(&b[SUMS_OUT]) == n_nodes * MOMENTS && length(&b[KEPT_USED]) == n_nodes;
    const int64_t n_rows = fits ? length(&b[ROWS]) / n_words : 0;
    fits = fits && n_rows <= UINT32_MAX && (first == n_nodes || INTS(NODE_PARENT)[first] < 0);
    for (Py_ssize_t i = first; fits && i < last; i++) {
        const int64_t at = INTS(KEPT_AT)[i];
        fits = INTS(NODE_ATTRIBUTE)[i] < 0 ? at >= 0 && at <= length(&b[KEPT]) && keep <= length(&b[KEPT]) - at
                                           : INTS(NODE_LEFT)[i] < last && INTS(NODE_RIGHT)[i] < last;
        INTS(KEPT_USED)[i] = 0;
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "descend_amounts: arrays do not fit");
        goto done;
    }
    set_shape(&work, &shape);
    work.amounts = 1;
    block = block < n_rows ? block : n_rows + 1;
    const size_t nodes = (size_t)n_nodes + 1;
    d.sides = calloc(nodes, sizeof(Side));
    d.start = calloc(nodes, sizeof(int64_t));
    d.end = calloc(nodes, sizeof(int64_t));
    d.rows = malloc((size_t)block * (size_t)n_words * sizeof(uint64_t));
    seen = calloc((size_t)k + 1, sizeof(uint64_t));
    if (!d.sides || !d.start || !d.end || !d.rows || !seen || !make_work(&work, b)) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    memset(INTS(SUMS_OUT) + first * MOMENTS, 0, (size_t)((last - first) * MOMENTS) * sizeof(int64_t));
    occurring(&work, b[ROWS].view.buf, n_rows, k, seen);
    make_sides(&work, b, seen, d.sides);
    for (int64_t start = 0; start < n_rows; start += block) {
        descend_numbered(&work, b, &d, first, last, keep, start, n_rows - start < block ? n_rows - start : block);
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    free(seen);
    free(d.sides);
    free(d.start);
    free(d.end);
    free(d.rows);
    free_work(&work);
    release(b, N_AMOUNTS_DESCENDED);
    return result;
}

static PyMethodDef methods[] = {
    {"pack", pack, METH_VARARGS, "Coded columns as packed rows."},
    {"select", select_sample, METH_VARARGS, "The packed rows of a sample."},
    {"choose", choose, METH_VARARGS, "The requests by which nodes part."},
    {"count", count, METH_VARARGS, "Counts per code and cell of many nodes and attributes."},
    {"count_amounts", count_amounts, METH_VARARGS, "People, sums and sums of squares per code of many nodes and attributes."},
    {"descend", descend, METH_VARARGS, "Counts per cell of the people at the leaves of trees."},
    {"descend_amounts", descend_amounts, METH_VARARGS, "Sums of amounts at the leaves of trees, and rows of each."},
    {"use_vectors", use_vectors, METH_VARARGS, "Which instructions are used; for tests."},
    {"sum_amounts", sum_amounts, METH_VARARGS, "People, sums and sums of squares of nodes."},
    {"visit", visit, METH_VARARGS, "Parts nodes, and counts, tests and cuts their attributes."},
    {"visit_amounts", visit_amounts, METH_VARARGS, "The same where outcomes are amounts."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_packed", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC
PyInit__packed(void)
{
    start_vectors();
    return PyModule_Create(&module);
}
