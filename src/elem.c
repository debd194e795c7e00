/* elem.c: the table of element types, and reading and writing one element as a double. */
#include "elem.h"

#include <math.h>
#include <string.h>

const struct ts_elem_info ts_elem_table[TS_ELEM_COUNT] = {
    [TS_FLOAT] = {"float", 4, true, 0x1p-23}, [TS_DOUBLE] = {"double", 8, true, 0x1p-52},
    [TS_INT] = {"int", 4, false, 0},          [TS_UINT] = {"uint", 4, false, 0},
    [TS_LONG] = {"long", 8, false, 0},        [TS_ULONG] = {"ulong", 8, false, 0},
    [TS_CHAR] = {"char", 1, false, 0},        [TS_UCHAR] = {"uchar", 1, false, 0},
    [TS_SHORT] = {"short", 2, false, 0},      [TS_USHORT] = {"ushort", 2, false, 0},
};

bool ts_elem_by_name(const char *name, enum ts_elem *out)
{
    for (size_t i = 0; i < TS_ELEM_COUNT; i++) {
        if (strcmp(name, ts_elem_table[i].name) == 0) {
            *out = (enum ts_elem)i;
            return true;
        }
    }
    return false;
}

double ts_elem_read(enum ts_elem type, const void *data, size_t index)
{
    switch (type) {
    case TS_FLOAT:
        return (double)((const float *)data)[index];
    case TS_DOUBLE:
        return ((const double *)data)[index];
    case TS_INT:
        return ((const int32_t *)data)[index];
    case TS_UINT:
        return ((const uint32_t *)data)[index];
    case TS_LONG:
        return (double)((const int64_t *)data)[index];
    case TS_ULONG:
        return (double)((const uint64_t *)data)[index];
    case TS_CHAR:
        return ((const int8_t *)data)[index];
    case TS_UCHAR:
        return ((const uint8_t *)data)[index];
    case TS_SHORT:
        return ((const int16_t *)data)[index];
    case TS_USHORT:
        return ((const uint16_t *)data)[index];
    case TS_ELEM_COUNT:
        break;
    }
    return NAN;
}

/* A double as a whole number of low .. high: towards zero, saturated; NaN becomes 0, as OpenCL's
 * convert_T_sat. high as a double may have been rounded up, so it is compared with >=. */
static int64_t whole(double value, int64_t low, int64_t high)
{
    if (isnan(value))
        return 0;
    if (value <= (double)low)
        return low;
    if (value >= (double)high)
        return high;
    return (int64_t)value;
}

static uint64_t whole_unsigned(double value, uint64_t high)
{
    if (isnan(value) || value <= 0)
        return 0;
    if (value >= (double)high)
        return high;
    return (uint64_t)value;
}

void ts_elem_write(enum ts_elem type, void *data, size_t index, double value)
{
    switch (type) {
    case TS_FLOAT:
        ((float *)data)[index] = (float)value;
        break;
    case TS_DOUBLE:
        ((double *)data)[index] = value;
        break;
    case TS_INT:
        ((int32_t *)data)[index] = (int32_t)whole(value, INT32_MIN, INT32_MAX);
        break;
    case TS_UINT:
        ((uint32_t *)data)[index] = (uint32_t)whole_unsigned(value, UINT32_MAX);
        break;
    case TS_LONG:
        ((int64_t *)data)[index] = whole(value, INT64_MIN, INT64_MAX);
        break;
    case TS_ULONG:
        ((uint64_t *)data)[index] = whole_unsigned(value, UINT64_MAX);
        break;
    case TS_CHAR:
        ((int8_t *)data)[index] = (int8_t)whole(value, INT8_MIN, INT8_MAX);
        break;
    case TS_UCHAR:
        ((uint8_t *)data)[index] = (uint8_t)whole_unsigned(value, UINT8_MAX);
        break;
    case TS_SHORT:
        ((int16_t *)data)[index] = (int16_t)whole(value, INT16_MIN, INT16_MAX);
        break;
    case TS_USHORT:
        ((uint16_t *)data)[index] = (uint16_t)whole_unsigned(value, UINT16_MAX);
        break;
    case TS_ELEM_COUNT:
        break;
    }
}
