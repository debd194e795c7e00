/* try.cl: kernels for the specs beside; small enough to be read, and right. */
#include "try.h"

#ifdef VARIANT_naive
kernel void try_naive(global const REAL *src, global REAL *dst, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h)
        dst[y * w + x] = twice(src[y * w + x]);
}
#endif

#ifdef VARIANT_local
kernel void try_local(global const REAL *src, global REAL *dst, int w, int h, local REAL *tile)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int at = get_local_id(1) * (TX + PAD) + get_local_id(0);
    if (x < w && y < h)
        tile[at] = src[y * w + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x < w && y < h)
        dst[y * w + x] = twice(tile[at]);
}
#endif

#ifdef VARIANT_chain
kernel void try_half(global const REAL *src, global REAL *half_way, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h)
        half_way[y * w + x] = src[y * w + x];
}

kernel void try_rest(global const REAL *half_way, global REAL *dst, int count)
{
    const int i = get_global_id(0);
    if (i < count)
        dst[i] = twice(half_way[i]);
}
#endif
