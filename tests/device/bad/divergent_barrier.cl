/* A barrier that only half of the work-group reaches: the one half stages for both, the other half reads at once. */
#ifdef VARIANT_bad
__kernel void bad(__global const float *src, __global float *dst, int n)
{
    __local float line[G];
    const int i = (int)get_global_id(0);
    const int l = (int)get_local_id(0);
    const int first = i - l;
    if (l >= G / 2) {
        const int left = 2 * (l - G / 2);
        line[left] = first + left < n ? src[first + left] : 0.0f;
        line[left + 1] = first + left + 1 < n ? src[first + left + 1] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n)
        dst[i] = 2.0f * line[l] + 1.0f;
}
#endif
