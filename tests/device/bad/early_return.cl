/* Work-items beyond the end leave before the barrier, without staging what the others wait for. */
#ifdef VARIANT_bad
__kernel void bad(__global const float *src, __global float *dst, int n)
{
    __local float line[G];
    const int i = (int)get_global_id(0);
    const int l = (int)get_local_id(0);
    const int mirror = G - 1 - l;
    const int first = i - l;
    if (i >= n)
        return;
    line[mirror] = first + mirror < n ? src[first + mirror] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[i] = 2.0f * line[l] + 1.0f;
}
#endif
