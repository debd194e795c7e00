/* elem.h: the element types an argument can have. Floor 1; one table. */
#ifndef TS_ELEM_H
#define TS_ELEM_H

#include "base.h"

enum ts_elem {
    TS_FLOAT,
    TS_DOUBLE,
    TS_INT,
    TS_UINT,
    TS_LONG,
    TS_ULONG,
    TS_CHAR,
    TS_UCHAR,
    TS_SHORT,
    TS_USHORT,
    TS_ELEM_COUNT
};

struct ts_elem_info {
    const char *name; /* OpenCL C's name */
    size_t bytes;
    bool real;
    double eps; /* 2^-23, 2^-52; 0 for whole types: compared bit for bit */
};

extern const struct ts_elem_info ts_elem_table[TS_ELEM_COUNT];

/* false when there is no such type. */
bool ts_elem_by_name(const char *name, enum ts_elem *out);
/* Element `index` as a double (long and ulong beyond 2^53 are rounded). */
double ts_elem_read(enum ts_elem type, const void *data, size_t index);
/* Stores a double, rounded to the type (whole types: towards zero, saturated). */
void ts_elem_write(enum ts_elem type, void *data, size_t index, double value);

#endif
