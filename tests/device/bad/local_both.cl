/* An array in the kernel and an argument: each fits, both together do not where FILL is 1. */
#ifdef VARIANT_bad
__kernel void bad(__global const float *src, __global float *dst, int n, __local float *tile)
{
    const int i = (int)get_global_id(0);
    __local float mine[256];
    const int l = (int)get_local_id(0);
    for (int k = l; k < 256; k += G)
        mine[k] = 2.0f;
    if (l == 0)
        tile[0] = 1.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        dst[i] = mine[(i * 7) % 256] * src[i] + tile[0];
}
#endif
