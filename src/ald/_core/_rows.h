/* Packed rows and their fields.
 *
 * A row is one or more words of 64 bits. The lowest bits of every word hold the confusion cell, the others the codes
 * of some attributes, so that a code and its cell are one index into a histogram. Where rows stand for several people,
 * how many is in the highest bits of one of the words. The rows of a node lie side by side.
 *
 * Where outcomes are amounts there is one cell, and a row has one more word, the last: its lower half is the amount, its
 * upper half how many people the row stands for, where that is not always one.
 */
#ifndef ALD_ROWS_H
#define ALD_ROWS_H

#include "_buffers.h"
#include "_vectors.h"

/* Unordered attributes with at most this many codes have their sides as bits of a word. */
#define MOST_BITS 64
#define BLOCK 1024

/* Attributes that are counted together have so many bits at most, with the cell: a histogram of them is in the nearest
 * cache, beside another one. */
#define JOINT_BITS 12
#define MOST_JOINED 4
#define JOINT_ROOM ((size_t)2 << JOINT_BITS)
/* Numbers that are added side by side: rows with more cells cannot be counted. As many are read behind the last
 * histogram. */
#define LANES 32
#define MOST_COUNTED_BITS 5

/* What is added up of amounts: people, sum, and the two words of the sum of squares. */
enum { PEOPLE, SUM, HIGH, LOW, MOMENTS };
#define WORD_BITS 31
/* Where outcomes are amounts, codes are this far up: as places in a table of moments. */
#define PLACE_BITS 5
#define FEW_CODES 16
typedef int64_t Moments __attribute__((vector_size(MOMENTS * sizeof(int64_t))));

typedef struct {
    Py_ssize_t word;
    unsigned down;         /* shift a word down by this, and mask it: the code above the bits of the cell */
    uint64_t mask;
    unsigned bit;          /* where the code begins, and the bits that it has */
    uint64_t codes;
    int64_t size;          /* `size` itself is the code of missing values */
    unsigned width;        /* the bits of the code and of the cell */
    int nominal;
    const double *scores;
    uint32_t *histogram;   /* people per code and cell: fewer than 2^31 in all */
    Moments *moments;      /* of amounts, per code */
    int64_t twin;          /* few codes have two histograms, this far apart: neighbouring rows need not wait; or 0 */
} Field;

/* Attributes of one word that are counted together, the lowest bits first. */
typedef struct {
    Py_ssize_t word;
    unsigned width;
    int n_fields;
    const Field *fields[MOST_JOINED];
} Joint;

/* What does not change from node to node, and room to work in. */
typedef struct {
    Py_ssize_t n_words, n_cells, n_rates, n_drawn;
    Py_ssize_t weight_word; /* where the people of a row are, from bit weight_shift on; -1: every row is one */
    unsigned weight_shift;
    int cell_bits;
    uint64_t cell_mask;
    int amounts;            /* whether outcomes are amounts */
    Field *fields;
    const int64_t *hits, *bases; /* per rate its cells, as bits */
    const double *critical;      /* per df: statistics below it are not significant; NULL: not known */
    Py_ssize_t n_critical;
    int disjoint;
    uint32_t *histograms;
    Joint *joints;     /* how a node's attributes are counted together */
    uint16_t *joint;   /* room to count several attributes at once; empty in between */
    uint64_t *seen;    /* codes that occur, as bits */
    int64_t *code;     /* the codes that occur, then per cell how many people they have: integers, exactly */
    uint32_t *pairs;   /* the same of two cells, side by side */
    double *count;
    double *hit, *base;
    double *x, *v, *cut;
    void *room;             /* that of the amounts' histograms */
    Moments *added;         /* what each row of a block adds */
    int64_t *people, *sum;  /* of amounts, per code that occurs */
    int64_t capacity;
} Work;

static void
free_work(Work *work)
{
    free(work->fields);
    free(work->histograms);
    free(work->joints);
    free(work->joint);
    free(work->seen);
    free(work->code);
    free(work->pairs);
    free(work->count);
    free(work->hit);
    free(work->base);
    free(work->x);
    free(work->v);
    free(work->cut);
    free(work->room);
    free(work->added);
    free(work->people);
    free(work->sum);
}

/* The room that an attribute's histogram takes: for every code that its bits can be. */
static int64_t
bins_of(int64_t size, int64_t bits, int cell_bits)
{
    const int64_t codes = (int64_t)1 << bits;
    return (codes > size ? codes : size + 1) << cell_bits;
}

/* The room that an attribute's histograms of amounts take. */
static int64_t
amount_bins_of(int64_t size, int64_t bits)
{
    const int64_t bins = bins_of(size, bits, 0);
    return bins <= FEW_CODES ? 2 * bins : bins;
}

/* Fields and room; 0 if there is no memory. Arrays: word, shift, bits, size, nominal, scores. */
static int
make_work(Work *work, const Buffer *b)
{
    const Py_ssize_t k = length(&b[0]);
    const int64_t *word = b[0].view.buf, *shift = b[1].view.buf, *bits = b[2].view.buf, *size = b[3].view.buf;
    const uint8_t *nominal = b[4].view.buf;
    const double *scores = b[5].view.buf;
    int64_t bins = 0, largest = 0;
    for (Py_ssize_t a = 0; a < k; a++) {
        bins += work->amounts ? amount_bins_of(size[a], bits[a]) : bins_of(size[a], bits[a], work->cell_bits);
        largest = size[a] > largest ? size[a] : largest;
    }
    work->capacity = largest + 1;
    work->cell_mask = ((uint64_t)1 << work->cell_bits) - 1;
    size_t room = (size_t)work->capacity;
    work->fields = calloc((size_t)k + 1, sizeof(Field));
    work->histograms = calloc(work->amounts ? 1 : (size_t)bins + 1, sizeof(uint32_t));
    work->joints = calloc((size_t)work->n_drawn + 1, sizeof(Joint));
    work->joint = aligned_alloc(LANES * sizeof(uint16_t), (JOINT_ROOM + LANES) * sizeof(uint16_t));
    work->seen = calloc(room / 64 + 1, sizeof(uint64_t));
    work->code = calloc(room + 8, sizeof(int64_t));
    work->pairs = calloc(room + 8, 2 * sizeof(uint32_t));
    work->count = calloc(room * (size_t)work->n_cells, sizeof(double));
    work->hit = calloc(room, sizeof(double));
    work->base = calloc(room, sizeof(double));
    work->x = calloc(room, sizeof(double));
    work->v = calloc(room, sizeof(double));
    work->cut = calloc(room, sizeof(double));
    if (!work->fields || !work->histograms || !work->joints || !work->joint || !work->seen || !work->code ||
        !work->pairs || !work->count || !work->hit || !work->base || !work->x || !work->v || !work->cut) {
        return 0;
    }
    Moments *moments = NULL;
    if (work->amounts) {
        /* Zeroed by whoever gives memory, so that what is never needed is never touched. */
        work->room = calloc((size_t)bins + 2, sizeof(Moments));
        work->added = aligned_alloc(sizeof(Moments), BLOCK * sizeof(Moments));
        work->people = calloc(room + 8, sizeof(int64_t));
        work->sum = calloc(room + 8, sizeof(int64_t));
        if (!work->room || !work->added || !work->people || !work->sum) {
            return 0;
        }
        const uintptr_t at = (uintptr_t)work->room;
        moments = (Moments *)((char *)work->room + (sizeof(Moments) - at % sizeof(Moments)) % sizeof(Moments));
    }
    memset(work->joint, 0, (JOINT_ROOM + LANES) * sizeof(uint16_t));
    uint32_t *histogram = work->histograms;
    for (Py_ssize_t a = 0; a < k; a++) {
        work->fields[a] = (Field){
            .word = (Py_ssize_t)word[a],
            .down = (unsigned)(shift[a] - work->cell_bits),
            .mask = (((uint64_t)1 << bits[a]) - 1) << work->cell_bits,
            .bit = (unsigned)shift[a],
            .codes = ((uint64_t)1 << bits[a]) - 1,
            .size = size[a],
            .nominal = nominal[a],
            .width = (unsigned)bits[a] + (unsigned)work->cell_bits,
            .scores = scores,
            .histogram = work->amounts ? NULL : histogram,
            .moments = moments,
        };
        scores += size[a];
        if (work->amounts) {
            const int64_t own = bins_of(size[a], bits[a], 0), taken = amount_bins_of(size[a], bits[a]);
            work->fields[a].twin = taken > own ? own : 0;
            moments += taken;
        }
        else {
            histogram += bins_of(size[a], bits[a], work->cell_bits);
        }
    }
    return 1;
}

/* How rows are laid out: the first arguments of every function. */
typedef struct {
    Py_ssize_t n_words, cell_bits, weight_word, weight_shift;
} Shape;

static void
set_shape(Work *work, const Shape *shape)
{
    work->n_words = shape->n_words;
    work->cell_bits = (int)shape->cell_bits;
    work->weight_word = shape->weight_word;
    work->weight_shift = (unsigned)shape->weight_shift;
}

/* The people that a row stands for. */
INLINE uint64_t
weight_of(const Work *work, const uint64_t *row)
{
    return work->weight_word < 0 ? 1 : row[work->weight_word] >> work->weight_shift;
}

static int
shape_fits(const Shape *shape)
{
    return shape->n_words >= 1 && shape->cell_bits >= 0 && shape->cell_bits <= 16 &&
           shape->weight_word >= -1 && shape->weight_word < shape->n_words && shape->weight_shift >= shape->cell_bits &&
           shape->weight_shift < 64;
}

/* Whether the fields lie within words, below the people, and the other arrays have their lengths. */
static int
fields_fit(const Buffer *b, const Shape *shape)
{
    const Py_ssize_t n_words = shape->n_words, cell_bits = shape->cell_bits;
    const Py_ssize_t k = length(&b[0]);
    const int64_t *word = b[0].view.buf, *shift = b[1].view.buf, *bits = b[2].view.buf, *size = b[3].view.buf;
    int64_t scores = 0;
    int fits = shape_fits(shape);
    for (int i = 1; i < 5; i++) {
        fits &= length(&b[i]) == k;
    }
    for (Py_ssize_t a = 0; fits && a < k; a++) {
        fits = word[a] >= 0 && word[a] < n_words && shift[a] >= cell_bits && shift[a] < 64 && bits[a] >= 0 &&
               bits[a] <= 33 && shift[a] + bits[a] <= (word[a] == shape->weight_word ? shape->weight_shift : 64) &&
               size[a] >= 0 && size[a] <= UINT32_MAX;
        scores += fits ? size[a] : 0;
    }
    return fits && length(&b[5]) == scores;
}

#endif
