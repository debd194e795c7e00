/* Local memory by an argument; the spec says how much. */
#ifdef VARIANT_bad
__kernel void bad(__global const float *src, __global float *dst, int n, __local float *tile)
{
    const int i = (int)get_global_id(0);
    const int l = (int)get_local_id(0);
    for (int k = l; k < FLOATS; k += G)
        tile[k] = 2.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        dst[i] = tile[(i * 7) % FLOATS] * src[i] + 1.0f;
}
#endif
