/* The spec names a kernel that is not here. */
#ifdef VARIANT_bad
__kernel void bat(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    if (i < n)
        dst[i] = 2.0f * src[i] + 1.0f;
}
#endif
