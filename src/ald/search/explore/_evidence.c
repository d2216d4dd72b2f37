/* The statistic of many groups against everyone else, from their counts in all strata.
 *
 * One loop over groups. evidence.py computes the same bits by NumPy: every expression is evaluated in the order that is
 * written there and in ald.statistics.stratified, sums over strata in the order of NumPy's pairwise summation. The compiler must not
 * fuse a product and a sum into one rounding (-ffp-contract=off). Buffers come through the checked buffer protocol, and
 * their lengths are checked before the GIL is released.
 */
#include "../../_core/_buffers.h"
#include "../../_core/_sums.h"

#define MOST_CELLS 65536
#define MOST_RATES 64
/* A variance of no more than this is none (ald.statistics.stratified.NO_VARIANCE). */
#define NO_VARIANCE 1e-12
/* Bases from this on: products of two counts might overflow (ald._core.exact.cross_product). */
#define LARGE ((int64_t)1 << 31)

/* Everyone in one stratum who counts for one rate. */
typedef struct {
    double hits, bases, misses, scale;
} Everyone;

/* What stays the same from group to group. */
typedef struct {
    Py_ssize_t references, cells, rates;
    const uint8_t *hit_cells, *base_cells; /* [rates, cells] */
    const double *sides;                   /* [rates]: 1 or -1 if only such an excess counts, else 0 */
    int disjoint;
    double effect;
    int64_t *group;            /* scratch, [2, cells] */
    double *excess, *variance; /* scratch, [strata] */
} Terms;

static inline int64_t
sum_of(const int64_t *counts, const uint8_t *wanted, Py_ssize_t cells)
{
    int64_t sum = 0;
    for (Py_ssize_t c = 0; c < cells; c++) {
        sum += wanted[c] ? counts[c] : 0;
    }
    return sum;
}

static inline Everyone
everyone_of(const Terms *terms, Py_ssize_t rate, const int64_t *counts)
{
    Everyone all;
    all.hits = (double)sum_of(counts, terms->hit_cells + rate * terms->cells, terms->cells);
    all.bases = (double)sum_of(counts, terms->base_cells + rate * terms->cells, terms->cells);
    all.misses = all.bases - all.hits;
    all.scale = all.bases * all.bases * (all.bases - 1.0);
    return all;
}

/* The Cochran-Mantel-Haenszel statistic within strata; everyone: [rates, strata], unless there is a reference group. */
static double
within(const Terms *terms, const int64_t *inside, const int64_t *totals, const Everyone *everyone, Py_ssize_t strata)
{
    Py_ssize_t cells = terms->cells;
    double value = 0.0;
    for (Py_ssize_t r = 0; r < terms->rates; r++) {
        const uint8_t *hit_cells = terms->hit_cells + r * cells, *base_cells = terms->base_cells + r * cells;
        for (Py_ssize_t s = 0; s < strata; s++) {
            const int64_t *group = inside + s * cells;
            Everyone own;
            const Everyone *all = everyone + r * strata + s;
            if (terms->references == 2) {
                /* The others are the members of the reference group who are not in this one. */
                const int64_t *both = inside + 2 * s * cells, *total = totals + (2 * s + 1) * cells;
                int64_t *compared = terms->group + cells;
                for (Py_ssize_t c = 0; c < cells; c++) {
                    terms->group[c] = both[c] + both[cells + c];
                    compared[c] = terms->group[c] + total[c] - both[cells + c];
                }
                group = terms->group;
                own = everyone_of(terms, r, compared);
                all = &own;
            }
            double hit = (double)sum_of(group, hit_cells, cells), base = (double)sum_of(group, base_cells, cells);
            terms->excess[s] = all->bases > 0 ? hit - base * all->hits / all->bases : 0.0;
            terms->variance[s] =
                all->bases > 1 ? base * (all->bases - base) * all->hits * all->misses / all->scale : 0.0;
        }
        double excess = pairwise(terms->excess, strata), variance = pairwise(terms->variance, strata);
        double part = variance > NO_VARIANCE ? excess * excess / variance : 0.0;
        if (terms->sides[r] != 0 && !(excess * terms->sides[r] > 0)) {
            part = 0.0;
        }
        value = terms->disjoint ? value + part : part > value ? part : value;
    }
    return value / terms->effect;
}

/* The two-sample statistic of counts without strata. */
static double
two_sample(const Terms *terms, const int64_t *inside, const int64_t *hits_of, const int64_t *bases_of,
           const uint8_t *large)
{
    double value = 0.0;
    for (Py_ssize_t r = 0; r < terms->rates; r++) {
        int64_t hit = sum_of(inside, terms->hit_cells + r * terms->cells, terms->cells);
        int64_t base = sum_of(inside, terms->base_cells + r * terms->cells, terms->cells);
        int64_t hits = hits_of[r], bases = bases_of[r];
        double cross = large[r] ? (double)hit * (double)bases - (double)base * (double)hits
                                : (double)(hit * bases - base * hits);
        double scale = ((double)hits * (double)(bases - hits)) * ((double)base * (double)(bases - base));
        double part = scale > 0 ? cross * cross / scale * (double)(bases - 1) : 0.0;
        value = terms->disjoint ? value + part : part > value ? part : value;
    }
    return terms->effect == 1.0 ? value : value / terms->effect;
}

/* statistic(table, low, high, totals, patterns, given, references, cells, hit_cells, base_cells, sides, disjoint,
 *           effect, smallest, out)
 *
 * Group i has the counts table[high[i]] - table[low[i]]; without low nothing is subtracted, without both the groups
 * are the rows of the table. Rows have the counts [patterns, given, references, cells] of `totals`, which are
 * everyone's. Writes the statistic of every group, within patterns and strata given; 0 where a group or those it is
 * compared with are fewer than `smallest`.
 */
static PyObject *
statistic(PyObject *self, PyObject *args)
{
    PyObject *table_o, *low_o, *high_o, *totals_o, *hit_o, *base_o, *sides_o, *out_o;
    Py_ssize_t patterns, given;
    long long smallest;
    Terms terms;
    memset(&terms, 0, sizeof(terms));
    if (!PyArg_ParseTuple(args, "OOOOnnnnOOOpdLO", &table_o, &low_o, &high_o, &totals_o, &patterns, &given,
                          &terms.references, &terms.cells, &hit_o, &base_o, &sides_o, &terms.disjoint, &terms.effect,
                          &smallest, &out_o)) {
        return NULL;
    }
    Buffer b[8];
    memset(b, 0, sizeof(b));
    Everyone *everyone = NULL;
    int64_t *inside = NULL;
    PyObject *result = NULL;
    if (get_buffer(table_o, &b[0], 0, 8, "table") < 0 ||
        (low_o != Py_None && get_buffer(low_o, &b[1], 0, 8, "low") < 0) ||
        (high_o != Py_None && get_buffer(high_o, &b[2], 0, 8, "high") < 0) ||
        get_buffer(totals_o, &b[3], 0, 8, "totals") < 0 || get_buffer(hit_o, &b[4], 0, 1, "hit_cells") < 0 ||
        get_buffer(base_o, &b[5], 0, 1, "base_cells") < 0 || get_buffer(sides_o, &b[6], 0, 8, "sides") < 0 ||
        get_buffer(out_o, &b[7], 1, 8, "out") < 0) {
        goto done;
    }
    const int64_t *table = b[0].view.buf, *totals = b[3].view.buf;
    const int64_t *low = b[1].width ? b[1].view.buf : NULL, *high = b[2].width ? b[2].view.buf : NULL;
    double *out = b[7].view.buf;
    terms.hit_cells = b[4].view.buf;
    terms.base_cells = b[5].view.buf;
    terms.sides = b[6].view.buf;
    terms.rates = length(&b[6]);
    Py_ssize_t width = length(&b[3]), n = length(&b[7]), rows = width > 0 ? length(&b[0]) / width : 0;
    int fits = patterns >= 1 && given >= 1 && (terms.references == 1 || terms.references == 2) && terms.cells >= 1 &&
               width >= 1 && width <= MOST_CELLS && patterns <= width && given <= width && terms.cells <= width &&
               patterns * given <= width && patterns * given * terms.references <= width &&
               patterns * given * terms.references * terms.cells == width && terms.rates >= 1 &&
               terms.rates <= MOST_RATES && length(&b[4]) == terms.rates * terms.cells &&
               length(&b[5]) == terms.rates * terms.cells && length(&b[0]) == rows * width &&
               (low == NULL || (high != NULL && length(&b[1]) == n)) && (high == NULL ? rows == n : length(&b[2]) == n);
    for (Py_ssize_t i = 0; fits && i < n; i++) {
        fits = (low == NULL || (low[i] >= 0 && low[i] < rows)) && (high == NULL || (high[i] >= 0 && high[i] < rows));
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "statistic: arrays do not fit");
        goto done;
    }
    Py_ssize_t strata = patterns * given;
    everyone = malloc((size_t)terms.rates * (size_t)strata * sizeof(Everyone) + 2 * (size_t)strata * sizeof(double));
    inside = malloc(((size_t)(width + 2 * terms.cells) + 2 * (size_t)terms.rates) * sizeof(int64_t));
    if (everyone == NULL || inside == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    terms.excess = (double *)(everyone + terms.rates * strata);
    terms.variance = terms.excess + strata;
    terms.group = inside + width;
    int64_t *hits = terms.group + 2 * terms.cells, *bases = hits + terms.rates;
    uint8_t large[MOST_RATES];
    int one_sided = 0, any_large = 0;
    int64_t people = 0;
    for (Py_ssize_t w = 0; w < width; w++) {
        people += totals[w];
    }
    for (Py_ssize_t r = 0; r < terms.rates; r++) {
        for (Py_ssize_t s = 0; s < strata && terms.references == 1; s++) {
            everyone[r * strata + s] = everyone_of(&terms, r, totals + s * terms.cells);
        }
        // Without strata these are everyone's.
        hits[r] = sum_of(totals, terms.hit_cells + r * terms.cells, terms.cells);
        bases[r] = sum_of(totals, terms.base_cells + r * terms.cells, terms.cells);
        large[r] = bases[r] >= LARGE;
        any_large |= large[r];
        one_sided |= terms.sides[r] != 0;
    }
    if (terms.disjoint && any_large) {
        memset(large, 1, sizeof(large));
    }
    int plain = strata == 1 && terms.references == 1 && !one_sided;
    for (Py_ssize_t i = 0; i < n; i++) {
        const int64_t *row = table + (high == NULL ? i : high[i]) * width;
        const int64_t *below = low == NULL ? NULL : table + low[i] * width;
        int64_t members = 0, others = people;
        for (Py_ssize_t w = 0; w < width; w++) {
            inside[w] = below == NULL ? row[w] : row[w] - below[w];
            members += inside[w];
        }
        if (terms.references == 2) {
            others = 0;
            for (Py_ssize_t w = terms.cells; w < width; w += 2 * terms.cells) {
                for (Py_ssize_t c = 0; c < terms.cells; c++) {
                    others += totals[w + c] - inside[w + c];
                }
            }
        }
        else {
            others -= members;
        }
        if (members < smallest || others < smallest) {
            out[i] = 0.0;
            continue;
        }
        out[i] = plain ? two_sample(&terms, inside, hits, bases, large)
                       : within(&terms, inside, totals, everyone, strata);
    }
    Py_END_ALLOW_THREADS
    result = Py_None;
    Py_INCREF(result);
done:
    free(everyone);
    free(inside);
    release(b, 8);
    return result;
}

static PyMethodDef methods[] = {
    {"statistic", statistic, METH_VARARGS, "The statistics of many groups against everyone else."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_evidence", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC
PyInit__evidence(void)
{
    return PyModule_Create(&module);
}
