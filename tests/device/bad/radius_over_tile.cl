/* Convolution with tiles, indices clamped to the image. In `bad` each work-item loads its own cell and at most one more
 * on each side, which is not enough where the radius is larger than the tile. */
__kernel void convolve(__global const float *src, __constant float *filter, __global float *dst, int w, int h)
{
    __local float tile[TY + 2 * RADIUS][TX + 2 * RADIUS];
    const int x = (int)get_global_id(0), y = (int)get_global_id(1);
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1);
    const int left = x - lx - RADIUS, top = y - ly - RADIUS;
#ifdef VARIANT_bad
    const int most = 3; /* before, own, after */
#else
    const int most = 1 << 30;
#endif
    for (int j = ly, nj = 0; j < TY + 2 * RADIUS && nj < most; j += TY, nj++)
        for (int i = lx, ni = 0; i < TX + 2 * RADIUS && ni < most; i += TX, ni++)
            tile[j][i] = src[clamp(top + j, 0, h - 1) * w + clamp(left + i, 0, w - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x < w && y < h) {
        float sum = 0.0f;
        for (int j = 0; j <= 2 * RADIUS; j++)
            for (int i = 0; i <= 2 * RADIUS; i++)
                sum += filter[j * (2 * RADIUS + 1) + i] * tile[ly + j][lx + i];
        dst[y * w + x] = sum;
    }
}
