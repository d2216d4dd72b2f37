/* Growing trees on packed rows: sampling, partitioning, counting, tests and cuts, all in one visit of a node.
 *
 * Whatever is computed here is computed by NumPy elsewhere (ald.search.counting, association and splitting), to the
 * last bit. Buffers come through the checked buffer protocol, and every request is checked against their lengths before
 * the GIL is released; codes and cells are trusted to fit their fields.
 */
#include "_parting.h"
#include "_tests.h"

/* The generator's interface, as NumPy documents it (numpy/random/bitgen.h). */
typedef struct {
    void *state;
    uint64_t (*next_uint64)(void *state);
    uint32_t (*next_uint32)(void *state);
    double (*next_double)(void *state);
    uint64_t (*next_raw)(void *state);
} BitGenerator;

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

#define FILL(TYPE)                                                                         \
    do {                                                                                   \
        const TYPE *code = (const TYPE *)columns[k].view.buf;                              \
        for (Py_ssize_t i = 0; i < n; i++) {                                               \
            column[i * n_words] |= (uint64_t)code[start + i] << shift[k];                  \
        }                                                                                  \
    } while (0)

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
    int fits = n_words >= 1 && length(&b[1]) == n_columns && length(&b[2]) == n_columns &&
               length(&b[3]) == n_rows * n_words;
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
            switch (columns[k].width) {
            case 1: FILL(uint8_t); break;
            case 2: FILL(uint16_t); break;
            default: FILL(uint32_t); break;
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

/* As NumPy's random_interval: the same numbers from the same generator. */
static inline uint64_t
below(BitGenerator *generator, uint64_t most)
{
    uint64_t mask = most, value;
    if (most == 0) {
        return 0;
    }
    for (int by = 1; by < 64; by *= 2) {
        mask |= mask >> by;
    }
    do {
        value = generator->next_uint32(generator->state) & mask;
    } while (value > most);
    return value;
}

/* Picks people from the list, each once. Places are drawn a few ahead, so that memory has time to bring them. */
#define AHEAD 64
#define PICK(TAKE)                                                                         \
    do {                                                                                   \
        Py_ssize_t places[AHEAD];                                                          \
        for (Py_ssize_t start = 0; start < picked; start += AHEAD) {                       \
            const Py_ssize_t some = picked - start < AHEAD ? picked - start : AHEAD;       \
            for (Py_ssize_t j = 0; j < some; j++) {                                        \
                const Py_ssize_t i = start + j;                                            \
                places[j] = i + (Py_ssize_t)below(generator, (uint64_t)(people - i - 1));  \
                __builtin_prefetch(&order[places[j]], 1);                                  \
            }                                                                              \
            for (Py_ssize_t j = 0; j < some; j++) {                                        \
                const Py_ssize_t at = places[j];                                           \
                TAKE;                                                                      \
                order[at] = order[start + j];                                              \
            }                                                                              \
        }                                                                                  \
    } while (0)

/* sample(generator, n_words, n_people, k, cell_bits, arrays): k people without replacement, in the order of their rows.
 *
 * The same ones as multivariate_hypergeometric(counts, k, method="count") of NumPy's generator draws. counts: the
 * people of every row, or None: one each. Rows with anyone drawn go to `out`, and how many they are to out_weights,
 * which is None if counts are. cells[c]: how many people are in cell c. Returns the number of rows written.
 */
static PyObject *
sample(PyObject *self, PyObject *args)
{
    PyObject *capsule, *arrays;
    Py_ssize_t n_words, people, k, cell_bits;
    if (!PyArg_ParseTuple(args, "OnnnnO", &capsule, &n_words, &people, &k, &cell_bits, &arrays)) {
        return NULL;
    }
    BitGenerator *generator = PyCapsule_GetPointer(capsule, "BitGenerator");
    if (generator == NULL) {
        return NULL;
    }
    static const int widths[5] = {8, -8, 8, -8, 8};
    Buffer b[5];
    uint32_t *order = NULL, *drawn = NULL;
    uint8_t *is_drawn = NULL;
    PyObject *result = NULL;
    if (get_buffers(arrays, b, widths, 5, 2) < 0) {
        goto done;
    }
    const uint64_t *rows = b[0].view.buf;
    const int counted = b[1].width != 0;
    const int64_t *counts = counted ? b[1].view.buf : NULL;
    uint64_t *out = b[2].view.buf;
    int64_t *out_weights = counted ? b[3].view.buf : NULL, *cells = b[4].view.buf;
    const Py_ssize_t n = n_words > 0 ? length(&b[0]) / n_words : 0;
    int fits = n_words >= 1 && n * n_words == length(&b[0]) && people < UINT32_MAX && k >= 0 && k <= people &&
               cell_bits >= 0 && cell_bits <= 16 && length(&b[4]) == (Py_ssize_t)1 << cell_bits &&
               counted == (b[3].width != 0) && length(&b[2]) >= (k < n ? k : n) * n_words;
    if (fits && counted) {
        int64_t sum = 0;
        fits = length(&b[1]) == n && length(&b[3]) * n_words == length(&b[2]);
        for (Py_ssize_t i = 0; fits && i < n; i++) {
            fits = counts[i] >= 0 && counts[i] <= people - sum;
            sum += fits ? counts[i] : 0;
        }
        fits = fits && sum == people;
    }
    if (!fits || (!counted && people != n)) {
        PyErr_SetString(PyExc_ValueError, "sample: arrays do not fit");
        goto done;
    }
    order = malloc((size_t)(people + 1) * sizeof(uint32_t));
    drawn = calloc(counted ? (size_t)n + 1 : 1, sizeof(uint32_t));
    is_drawn = malloc(counted ? 1 : (size_t)n + 1);
    if (order == NULL || drawn == NULL || is_drawn == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_ssize_t written = 0;
    Py_BEGIN_ALLOW_THREADS
    const int left_out = k > people / 2;
    const Py_ssize_t picked = left_out ? people - k : k;
    const uint64_t mask = ((uint64_t)1 << cell_bits) - 1;
    const Py_ssize_t capacity = length(&b[2]) / n_words;
    memset(cells, 0, (size_t)b[4].view.len);
    /* Every row is written below, the next one over it if nobody of it was drawn. */
    if (counted) {
        uint32_t *next = order;
        for (Py_ssize_t i = 0; i < n; i++) {
            for (int64_t person = 0; person < counts[i]; person++) {
                *next++ = (uint32_t)i;
            }
        }
        PICK(drawn[order[at]] += 1);
        for (Py_ssize_t i = 0; i < n && written < capacity; i++) {
            const int64_t some = left_out ? counts[i] - drawn[i] : drawn[i];
            for (Py_ssize_t w = 0; w < n_words; w++) {
                out[written * n_words + w] = rows[i * n_words + w];
            }
            out_weights[written] = some;
            cells[rows[i * n_words] & mask] += some;
            written += some > 0;
        }
    }
    else {
        for (Py_ssize_t i = 0; i < n; i++) {
            order[i] = (uint32_t)i;
        }
        for (Py_ssize_t i = 0; i < n; i++) {
            is_drawn[i] = (uint8_t)left_out;
        }
        PICK(is_drawn[order[at]] = (uint8_t)!left_out);
        for (Py_ssize_t i = 0; i < n && written < capacity; i++) {
            for (Py_ssize_t w = 0; w < n_words; w++) {
                out[written * n_words + w] = rows[i * n_words + w];
            }
            cells[rows[i * n_words] & mask] += is_drawn[i];
            written += is_drawn[i];
        }
    }
    Py_END_ALLOW_THREADS
    result = PyLong_FromSsize_t(written);
done:
    free(order);
    free(drawn);
    free(is_drawn);
    release(b, 5);
    return result;
}

#define INTS(NAME) ((int64_t *)b[NAME].view.buf)

/* The arrays of `visit`. */
enum {
    WORD, SHIFT, WIDTH, SIZE, NOMINAL, SCORES, START, END, ATTRIBUTE, CUT, MISSING_LEFT, BITS, TABLE_AT, LEFT, RIGHT, TABLES,
    DRAWN, MIN_BUCKET, HITS, BASES, CRITICAL, VISITED, VISITED_WEIGHTS, NODE_START, NODE_END, STATISTIC, DF, STATE,
    FOUND_CUT, LEFT_BITS, PRESENT_BITS, LEFT_COUNTS, OBSERVED,
    N_VISITED
};

MANY_VERSIONS static void
visit_units(const Work *work, const Buffer *b, Py_ssize_t first, Py_ssize_t last, const Found *found)
{
    const Py_ssize_t n_words = work->n_words;
    uint64_t *rows = b[VISITED].view.buf;
    int64_t *weights = b[VISITED_WEIGHTS].width != 0 ? b[VISITED_WEIGHTS].view.buf : NULL;
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
            ends[0] = starts[1] =
                start + part_rows(work, rows + start * n_words, weights ? weights + start : NULL, n, &side, 1);
            ends[1] = start + n;
        }
        for (int s = 0; s < 2; s++) {
            if (nodes[s] < 0) {
                continue;
            }
            INTS(NODE_START)[nodes[s]] = starts[s];
            INTS(NODE_END)[nodes[s]] = ends[s];
            test_node(work, rows + starts[s] * n_words, weights ? weights + starts[s] : NULL,
                      ends[s] - starts[s], INTS(DRAWN) + nodes[s] * work->n_drawn, INTS(MIN_BUCKET)[nodes[s]], found,
                      nodes[s] * work->n_drawn);
        }
    }
}

/* visit(n_words, cell_bits, n_cells, first, last, disjoint, arrays)
 *
 * Units first..last: the rows start[u]..end[u]. A unit without an attribute (-1) is a node as it is; others are parted
 * in place, by codes up to cut[u] (missing ones go left where missing_left[u]), by bits[u], or by
 * tables[table_at[u] + code] where that is not negative. left[u] and right[u] number the nodes that they become; -1:
 * nobody will ask for that one again. Of these nodes node_start and node_end are set, and the attributes
 * drawn[node * n_drawn ..] are tested.
 */
static PyObject *
visit(PyObject *self, PyObject *args)
{
    PyObject *arrays;
    Py_ssize_t n_words, cell_bits, n_cells, first, last, disjoint;
    if (!PyArg_ParseTuple(args, "nnnnnnO", &n_words, &cell_bits, &n_cells, &first, &last, &disjoint, &arrays)) {
        return NULL;
    }
    static const int widths[N_VISITED] = {8, 8, 8, 8, 1, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 1, 8,
                                          8, 8, 8, 8, 8, -8, 8, 8, 8, 8, 1, 8, 8, 8, 8, 8};
    Buffer b[N_VISITED];
    Work work;
    memset(&work, 0, sizeof(work));
    PyObject *result = NULL;
    if (get_buffers(arrays, b, widths, N_VISITED, VISITED) < 0) {
        goto done;
    }
    const Py_ssize_t n_units = length(&b[START]), n_nodes = length(&b[NODE_START]), k = length(&b[WORD]);
    const Py_ssize_t n_requests = length(&b[STATE]), n_rates = length(&b[HITS]);
    int fits = fields_fit(b, n_words, cell_bits) && first >= 0 && last <= n_units && n_cells >= 1 &&
               n_cells <= (Py_ssize_t)1 << cell_bits && n_rates >= 1 && n_rates <= MOST_RATES && n_cells <= 63;
    for (int i = START; i <= RIGHT; i++) {
        fits &= length(&b[i]) == n_units;
    }
    fits &= length(&b[BASES]) == n_rates && length(&b[NODE_END]) == n_nodes && length(&b[MIN_BUCKET]) == n_nodes &&
            length(&b[DRAWN]) == n_requests && (n_nodes ? n_requests % n_nodes == 0 : n_requests == 0) &&
            length(&b[STATISTIC]) == n_requests * n_rates && length(&b[DF]) == n_requests * n_rates &&
            length(&b[FOUND_CUT]) == n_requests && length(&b[LEFT_BITS]) == n_requests &&
            length(&b[PRESENT_BITS]) == n_requests && length(&b[LEFT_COUNTS]) == n_requests * n_cells &&
            length(&b[OBSERVED]) == n_requests * n_cells;
    const int64_t n_rows = fits ? length(&b[VISITED]) / n_words : 0;
    fits = fits && (b[VISITED_WEIGHTS].width == 0 || length(&b[VISITED_WEIGHTS]) >= n_rows);
    for (Py_ssize_t i = 0; fits && i < n_requests; i++) {
        fits = INTS(DRAWN)[i] >= 0 && INTS(DRAWN)[i] < k;
    }
    for (Py_ssize_t u = first; fits && u < last; u++) {
        int64_t a = INTS(ATTRIBUTE)[u], n = INTS(END)[u] - INTS(START)[u];
        fits = INTS(START)[u] >= 0 && n >= 0 && INTS(END)[u] <= n_rows && a < k && INTS(LEFT)[u] < n_nodes &&
               INTS(RIGHT)[u] < n_nodes &&
               (a < 0 || INTS(TABLE_AT)[u] < 0 || INTS(TABLE_AT)[u] + INTS(SIZE)[a] < length(&b[TABLES])) &&
               (a < 0 || INTS(TABLE_AT)[u] >= 0 || !((uint8_t *)b[NOMINAL].view.buf)[a] || INTS(SIZE)[a] < MOST_BITS);
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "visit: arrays do not fit");
        goto done;
    }
    work.n_words = n_words;
    work.n_cells = n_cells;
    work.cell_bits = (int)cell_bits;
    work.n_rates = n_rates;
    work.n_drawn = n_nodes ? n_requests / n_nodes : 0;
    work.hits = INTS(HITS);
    work.bases = INTS(BASES);
    work.critical = b[CRITICAL].view.buf;
    work.n_critical = length(&b[CRITICAL]);
    work.disjoint = (int)disjoint;
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

/* count(n_words, cell_bits, n_cells, arrays): the codes that occur, and their counts per cell, of many requests.
 *
 * Request i is the attribute attributes[i] in the rows starts[i]..ends[i]. used[i]: how many codes it has, ascending,
 * that of missing values last. Returns the sum of used.
 */
static PyObject *
count(PyObject *self, PyObject *args)
{
    PyObject *arrays;
    Py_ssize_t n_words, cell_bits, n_cells;
    if (!PyArg_ParseTuple(args, "nnnO", &n_words, &cell_bits, &n_cells, &arrays)) {
        return NULL;
    }
    enum { COUNTED = 6, WEIGHTS, STARTS, ENDS, ATTRIBUTES, CODES, CODE_COUNTS, USED, N };
    static const int widths[N] = {8, 8, 8, 8, 1, 8, 8, -8, 8, 8, 8, 4, 8, 8};
    Buffer b[N];
    Work work;
    memset(&work, 0, sizeof(work));
    PyObject *result = NULL;
    if (get_buffers(arrays, b, widths, N, CODES) < 0) {
        goto done;
    }
    const Py_ssize_t n_requests = length(&b[USED]), k = length(&b[0]);
    const int64_t capacity = length(&b[CODES]);
    int fits = fields_fit(b, n_words, cell_bits) && n_cells >= 1 && n_cells <= (Py_ssize_t)1 << cell_bits &&
               n_cells <= 256 && length(&b[STARTS]) == n_requests && length(&b[ENDS]) == n_requests &&
               length(&b[ATTRIBUTES]) == n_requests && length(&b[CODE_COUNTS]) == capacity * n_cells;
    const int64_t n_rows = fits ? length(&b[COUNTED]) / n_words : 0;
    int64_t room = 0;
    for (Py_ssize_t i = 0; fits && i < n_requests; i++) {
        const int64_t n = INTS(ENDS)[i] - INTS(STARTS)[i], a = INTS(ATTRIBUTES)[i];
        fits = INTS(STARTS)[i] >= 0 && n >= 0 && INTS(ENDS)[i] <= n_rows && a >= 0 && a < k;
        room += !fits ? 0 : n < INTS(3)[a] + 1 ? n : INTS(3)[a] + 1;
    }
    if (!fits || room > capacity || (b[WEIGHTS].width && length(&b[WEIGHTS]) < n_rows)) {
        PyErr_SetString(PyExc_ValueError, "count: arrays do not fit");
        goto done;
    }
    work.n_words = n_words;
    work.n_cells = n_cells;
    work.cell_bits = (int)cell_bits;
    work.n_drawn = 1;
    if (!make_work(&work, b)) {
        PyErr_NoMemory();
        goto done;
    }
    int64_t written = 0;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < n_requests; i++) {
        const int64_t start = INTS(STARTS)[i], n = INTS(ENDS)[i] - start;
        const int64_t *weights = b[WEIGHTS].width ? INTS(WEIGHTS) + start : NULL;
        const uint64_t *rows = (const uint64_t *)b[COUNTED].view.buf + start * n_words;
        const Field *field = &work.fields[INTS(ATTRIBUTES)[i]];
        int64_t missing[256], any = 0;
        count_rows(&work, rows, weights, n, INTS(ATTRIBUTES) + i);
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

/* descend(n_words, cell_bits, n_cells, first, last, block, everywhere, arrays)
 *
 * Sends the rows first..last down every tree from its root, `block` of them at a time. At a node of attribute[i]
 * (negative: a leaf) a row goes left if its code is at most cut[i], else right unless it is missing; or, where
 * table_at[i] is not negative, left, right or nowhere if tables[table_at[i] + code] is 1, 0 or 2. out[i, c]: the people
 * of cell c at leaf i, or, everywhere, at any node. Children come after their parents; tables have an entry for every code and one for missing
 * values.
 */
enum { ROWS = 6, COUNTS, NODE_PARENT, NODE_ATTRIBUTE, NODE_LEFT, NODE_RIGHT, NODE_CUT, NODE_TABLE_AT, NODE_TABLES, OUT,
       N_DESCENDED };

/* The people of every cell among some rows. */
INLINE void
tally(const Work *work, const uint64_t *rows, const int64_t *weights, int64_t n, int64_t *people)
{
    if (work->cell_mask == 1 && weights == NULL) {
        int64_t ones = 0;
        for (int64_t i = 0; i < n; i++) {
            ones += (int64_t)(rows[i * work->n_words] & 1);
        }
        people[0] += n - ones;
        people[work->n_cells - 1] += ones;
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        people[rows[i * work->n_words] & work->cell_mask] += weights ? weights[i] : 1;
    }
}

/* The rows of a block go down one tree after the other, and down a tree in preorder. They are parted in place: every
 * node has its rows within the place of its parent. */
typedef struct {
    Side *sides;         /* of every node; no field: a leaf */
    int64_t *start, *end;
    uint64_t *rows;
    int64_t *weights;
    int64_t *people;
    int everywhere;      /* whether people are counted at every node, not only where they end */
} Descent;

MANY_VERSIONS static void
descend_rows(const Work *work, const Buffer *b, const Descent *d, const uint64_t *rows, const int64_t *weights,
             int64_t n)
{
    const Py_ssize_t n_nodes = length(&b[NODE_ATTRIBUTE]), n_words = work->n_words;
    for (Py_ssize_t i = 0; i < n_nodes; i++) {
        if (INTS(NODE_PARENT)[i] < 0) {
            memcpy(d->rows, rows, (size_t)(n * n_words) * sizeof(uint64_t));
            if (weights != NULL) {
                memcpy(d->weights, weights, (size_t)n * sizeof(int64_t));
            }
            d->start[i] = 0;
            d->end[i] = n;
        }
        const int64_t start = d->start[i], some = d->end[i] - start;
        uint64_t *at = d->rows + start * n_words;
        int64_t *at_weights = weights == NULL ? NULL : d->weights + start;
        const Side *side = &d->sides[i];
        if (side->field == NULL || d->everywhere) {
            tally(work, at, at_weights, some, d->people + i * work->n_cells);
        }
        if (side->field == NULL) {
            continue;
        }
        const int64_t n_left = part_rows(work, at, at_weights, some, side, 1);
        int64_t n_right = some - n_left;
        if (side->loses) {
            n_right = part_rows(work, at + n_left * n_words, weights == NULL ? NULL : at_weights + n_left, n_right,
                                side, 0);
        }
        const int64_t left = INTS(NODE_LEFT)[i], right = INTS(NODE_RIGHT)[i];
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

static PyObject *
descend(PyObject *self, PyObject *args)
{
    PyObject *arrays;
    Py_ssize_t n_words, cell_bits, n_cells, first, last, block, everywhere;
    if (!PyArg_ParseTuple(args, "nnnnnnnO", &n_words, &cell_bits, &n_cells, &first, &last, &block, &everywhere,
                          &arrays)) {
        return NULL;
    }
    static const int widths[N_DESCENDED] = {8, 8, 8, 8, 1, 8, 8, -8, 8, 8, 8, 8, 8, 8, 1, 8};
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
    const int counted = b[COUNTS].width != 0;
    int fits = fields_fit(b, n_words, cell_bits) && n_cells >= 1 && n_cells <= (Py_ssize_t)1 << cell_bits &&
               length(&b[OUT]) == n_nodes * n_cells && first >= 0 && first <= last && block > 0;
    const int64_t n_rows = fits ? length(&b[ROWS]) / n_words : 0;
    fits = fits && last <= n_rows && (!counted || length(&b[COUNTS]) == n_rows);
    for (int i = NODE_PARENT; i <= NODE_TABLE_AT; i++) {
        fits &= length(&b[i]) == n_nodes;
    }
    for (Py_ssize_t i = 0; fits && i < n_nodes; i++) {
        const int64_t a = INTS(NODE_ATTRIBUTE)[i], table_at = INTS(NODE_TABLE_AT)[i];
        fits = a < k && INTS(NODE_PARENT)[i] < i &&
               (a < 0 || (INTS(NODE_LEFT)[i] > i && INTS(NODE_LEFT)[i] < n_nodes && INTS(NODE_RIGHT)[i] > i &&
                          INTS(NODE_RIGHT)[i] < n_nodes &&
                          (table_at >= 0 ? table_at + INTS(3)[a] < length(&b[NODE_TABLES])
                                         : INTS(NODE_CUT)[i] >= 0 && INTS(NODE_CUT)[i] < INTS(3)[a])));
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "descend: arrays do not fit");
        goto done;
    }
    work.n_words = n_words;
    work.n_cells = n_cells;
    work.cell_bits = (int)cell_bits;
    block = block < last - first ? block : last - first + 1;
    d.everywhere = (int)everywhere;
    const size_t nodes = (size_t)n_nodes + 1;
    d.sides = calloc(nodes, sizeof(Side));
    d.start = calloc(nodes, sizeof(int64_t));
    d.end = calloc(nodes, sizeof(int64_t));
    d.people = calloc(nodes * (size_t)n_cells, sizeof(int64_t));
    d.rows = malloc((size_t)block * (size_t)n_words * sizeof(uint64_t));
    d.weights = malloc((counted ? (size_t)block : 1) * sizeof(int64_t));
    seen = calloc((size_t)k + 1, sizeof(uint64_t));
    const int ok = d.sides && d.start && d.end && d.people && d.rows && d.weights && seen && make_work(&work, b);
    if (!ok) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    occurring(&work, (const uint64_t *)b[ROWS].view.buf + first * n_words, last - first, k, seen);
    make_sides(&work, b, seen, d.sides);
    for (Py_ssize_t start = first; start < last; start += block) {
        descend_rows(&work, b, &d, (const uint64_t *)b[ROWS].view.buf + start * n_words,
                     counted ? INTS(COUNTS) + start : NULL, last - start < block ? last - start : block);
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
    free(d.weights);
    free_work(&work);
    release(b, N_DESCENDED);
    return result;
}

/* use_vectors(level): whether newer instructions are used; never more than the processor has. Returns what it was. */
static PyObject *
use_vectors(PyObject *self, PyObject *args)
{
    int level;
    if (!PyArg_ParseTuple(args, "i", &level)) {
        return NULL;
    }
    const int before = vectors, best = best_vectors();
    vectors = level < 0 ? NO_VECTORS : level < best ? level : best;
    return PyLong_FromLong(before);
}

static PyMethodDef methods[] = {
    {"pack", pack, METH_VARARGS, "Coded columns as packed rows."},
    {"sample", sample, METH_VARARGS, "Packed rows drawn without replacement."},
    {"count", count, METH_VARARGS, "Counts per code and cell of many nodes and attributes."},
    {"descend", descend, METH_VARARGS, "Counts per cell of the people at the leaves of trees."},
    {"use_vectors", use_vectors, METH_VARARGS, "Which instructions are used; for tests."},
    {"visit", visit, METH_VARARGS, "Parts nodes, and counts, tests and cuts their attributes."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_packed", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC
PyInit__packed(void)
{
    start_vectors();
    return PyModule_Create(&module);
}
