/* Transpose with tiles. `bad` takes the width of the source as the pitch of the result: right on squares only. */
#ifdef VARIANT_bad
#define PITCH w
#else
#define PITCH h
#endif

__kernel void transpose(__global const float *src, __global float *dst, int w, int h)
{
    __local float tile[TILE][TILE + 1];
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1);
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    if (x < w && y < h)
        tile[ly][lx] = src[y * w + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = (int)get_group_id(1) * TILE + lx;
    y = (int)get_group_id(0) * TILE + ly;
    if (x < h && y < w)
        dst[y * PITCH + x] = tile[lx][ly];
}
