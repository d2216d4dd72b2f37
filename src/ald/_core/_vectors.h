/* What newer processors do at once: the same integers, only faster. `vectors` says whether it is used. */
#ifndef ALD_VECTORS_H
#define ALD_VECTORS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))
/* What is here for modules that ask for it; others only have their loops in many versions. */
#define IF_USED __attribute__((unused))

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define HAS_VECTORS 1
#include <immintrin.h>
/* Inner loops are compiled for newer processors too; the same arithmetic, the same results. */
#define MANY_VERSIONS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define WITH_BITS __attribute__((target("bmi2")))
#define WITH_VECTORS __attribute__((target("arch=x86-64-v4")))
#else
#define HAS_VECTORS 0
#define MANY_VERSIONS
#endif

enum { NO_VECTORS = 0, BITS_ONLY = 1, ALL_VECTORS = 2 };
static int vectors = NO_VECTORS;
/* Per mask of eight rows: the places of those in it, then of all others. */
static uint8_t places[256][8];
/* Per mask of four rows of two words: the places of the words of those in it, then of all others. */
static uint8_t pair_places[16][8];

/* The best that this processor has. Before Zen 3 gathering bits was slow. */
static int
best_vectors(void)
{
#if HAS_VECTORS
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("bmi2") || __builtin_cpu_is("znver1") || __builtin_cpu_is("znver2")) {
        return NO_VECTORS;
    }
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512cd")
               ? ALL_VECTORS
               : BITS_ONLY;
#else
    return NO_VECTORS;
#endif
}

IF_USED static void
start_vectors(void)
{
    vectors = best_vectors();
    for (int mask = 0; mask < 256; mask++) {
        int at = 0;
        for (int wanted = 1; wanted >= 0; wanted--) {
            for (int lane = 0; lane < 8; lane++) {
                if ((mask >> lane & 1) == wanted) {
                    places[mask][at++] = (uint8_t)lane;
                }
            }
        }
    }
    for (int mask = 0; mask < 16; mask++) {
        for (int lane = 0; lane < 8; lane++) {
            pair_places[mask][lane] = (uint8_t)(2 * places[mask][lane / 2] + lane % 2);
        }
    }
}

/* use_vectors(level): whether newer instructions are used; never more than the processor has. Returns what it was. */
IF_USED static PyObject *
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

#endif
