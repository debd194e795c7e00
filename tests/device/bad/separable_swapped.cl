/* A separable filter in two passes through local memory; in `bad` the row's taps and the column's are exchanged, which a
 * symmetric filter, or two equal ones, would not show. */
#define SIDE (2 * RADIUS + 1)
__kernel void passes(__global const float *src, __constant float *filters, __global float *dst, int w, int h)
{
    __local float sums[TY + 2 * RADIUS][TX];
    const int x = (int)get_global_id(0), y = (int)get_global_id(1);
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1);
#ifdef VARIANT_bad
    __constant float *column = filters + SIDE, *row = filters;
#else
    __constant float *column = filters, *row = filters + SIDE;
#endif
    for (int j = ly; j < TY + 2 * RADIUS; j += TY) {
        float sum = 0.0f;
        for (int i = 0; i < SIDE; i++)
            sum += row[i] * src[clamp(y - ly + j - RADIUS, 0, h - 1) * w + clamp(x + i - RADIUS, 0, w - 1)];
        sums[j][lx] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x < w && y < h) {
        float sum = 0.0f;
        for (int j = 0; j < SIDE; j++)
            sum += column[j] * sums[ly + j][lx];
        dst[y * w + x] = sum;
    }
}
