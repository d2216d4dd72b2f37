/* Sums of floating-point numbers as NumPy takes them. */
#ifndef ALD_SUMS_H
#define ALD_SUMS_H

#include <stdint.h>

/* NumPy's sum of neighbouring numbers, in its order. */
static double
pairwise(const double *v, int64_t n)
{
    if (n < 8) {
        double sum = -0.0;
        for (int64_t i = 0; i < n; i++) {
            sum += v[i];
        }
        return sum;
    }
    if (n <= 128) {
        double r[8];
        int64_t i;
        for (int j = 0; j < 8; j++) {
            r[j] = v[j];
        }
        for (i = 8; i < n - n % 8; i += 8) {
            for (int j = 0; j < 8; j++) {
                r[j] += v[i + j];
            }
        }
        double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        for (; i < n; i++) {
            sum += v[i];
        }
        return sum;
    }
    int64_t half = n / 2;
    half -= half % 8;
    return pairwise(v, half) + pairwise(v + half, n - half);
}

#endif
