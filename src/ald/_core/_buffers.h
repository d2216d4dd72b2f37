/* Arrays that Python hands over, through the checked buffer protocol. */
#ifndef ALD_BUFFERS_H
#define ALD_BUFFERS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ATTRIBUTES 65536

typedef struct {
    Py_buffer view;
    int width; /* bytes per item; 0: no buffer */
} Buffer;

static inline int
get_buffer(PyObject *object, Buffer *buffer, int writable, int width, const char *what)
{
    int flags = PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    buffer->width = 0;
    if (PyObject_GetBuffer(object, &buffer->view, flags) < 0) {
        return -1;
    }
    buffer->width = (int)buffer->view.itemsize;
    if (buffer->width == 0) {
        PyBuffer_Release(&buffer->view);
        PyErr_Format(PyExc_TypeError, "%s: its items have no bytes", what);
        return -1;
    }
    if (width != 0 && buffer->width != width) {
        PyErr_Format(PyExc_TypeError, "%s: items of %d bytes expected, got %d", what, width, buffer->width);
        return -1;
    }
    return 0;
}

static inline void
release(Buffer *buffers, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        if (buffers[i].width != 0) {
            PyBuffer_Release(&buffers[i].view);
        }
    }
}

static inline Py_ssize_t
length(const Buffer *buffer)
{
    return buffer->width ? buffer->view.len / buffer->width : 0;
}

/* The code columns: a sequence of unsigned arrays of 1, 2 or 4 bytes, all of n_rows items. */
static inline Buffer *
get_columns(PyObject *sequence, Py_ssize_t n_rows, Py_ssize_t *n_columns)
{
    Py_ssize_t n = PySequence_Size(sequence);
    if (n < 0 || n > MAX_ATTRIBUTES) {
        if (n > 0) {
            PyErr_SetString(PyExc_ValueError, "too many attributes");
        }
        return NULL;
    }
    Buffer *columns = calloc(n ? n : 1, sizeof(Buffer));
    if (columns == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        int bad = item == NULL || get_buffer(item, &columns[i], 0, 0, "codes") < 0;
        Py_XDECREF(item);
        if (!bad && columns[i].width != 1 && columns[i].width != 2 && columns[i].width != 4) {
            PyErr_SetString(PyExc_TypeError, "codes: items of 1, 2 or 4 bytes expected");
            bad = 1;
        }
        if (!bad && length(&columns[i]) != n_rows) {
            PyErr_SetString(PyExc_ValueError, "codes: every column needs one code per row");
            bad = 1;
        }
        if (bad) {
            release(columns, n);
            free(columns);
            return NULL;
        }
    }
    *n_columns = n;
    return columns;
}

#endif
