/* Work-items read what others stage, without waiting for them. */
#ifdef VARIANT_bad
__kernel void bad(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    __local float line[G];
    const int l = (int)get_local_id(0);
    const int first = i - l;
    const int mirror = G - 1 - l;
    line[mirror] = first + mirror < n ? src[first + mirror] : 0.0f;
    if (i < n)
        dst[i] = 2.0f * line[l] + 1.0f;
}
#endif
