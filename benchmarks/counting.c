/* What benchmarks/counting.py measures: the counting of the kernel without the tests, and a plain loop. */
#include "_counting.h"

/* Fills the histograms of the drawn attributes of every node, and empties them. Returns how many people were counted,
 * each for every attribute, if it shall be looked at, or -1 without memory. Fields: word, shift, bits, size. */
int64_t
count_nodes(int64_t n_words, int64_t cell_bits, int64_t n_fields, const int64_t *fields, const uint64_t *rows,
            int64_t n_nodes, const int64_t *start, const int64_t *end, int64_t n_drawn, const int64_t *drawn, int look)
{
    int64_t scores = 0, counted = 0;
    for (int64_t a = 0; a < n_fields; a++) {
        scores += fields[3 * n_fields + a];
    }
    uint8_t *nominal = calloc((size_t)n_fields + 1, 1);
    double *score = calloc((size_t)scores + 1, sizeof(double));
    Buffer b[6];
    memset(b, 0, sizeof(b));
    for (int i = 0; i < 4; i++) {
        b[i].view.buf = (void *)(fields + i * n_fields);
        b[i].view.len = n_fields * 8;
        b[i].width = 8;
    }
    b[4].view.buf = nominal;
    b[5].view.buf = score;
    Work work;
    memset(&work, 0, sizeof(work));
    work.n_words = n_words;
    work.cell_bits = (int)cell_bits;
    work.n_cells = (Py_ssize_t)1 << cell_bits;
    work.weight_word = -1;
    work.n_drawn = n_drawn;
    start_vectors();
    if (!nominal || !score || !make_work(&work, b)) {
        counted = -1;
        goto done;
    }
    for (int64_t node = 0; node < n_nodes; node++) {
        const int64_t *of_node = drawn + node * n_drawn;
        count_rows(&work, rows + start[node] * n_words, end[node] - start[node], of_node);
        for (int64_t j = 0; j < n_drawn; j++) {
            const Field *field = &work.fields[of_node[j]];
            const size_t bins = (size_t)(field->size + 1) << cell_bits;
            for (size_t i = 0; look && i < bins; i++) {
                counted += field->histogram[i];
            }
            memset(field->histogram, 0, bins * sizeof(uint32_t));
        }
    }
done:
    free_work(&work);
    free(nominal);
    free(score);
    return counted;
}

uint64_t
total(const uint64_t *words, int64_t n)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += words[i];
    }
    return sum;
}
