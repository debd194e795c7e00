/* Forgets the last element. */
#ifdef VARIANT_bad
__kernel void bad(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    if (i < n - 1)
        dst[i] = 2.0f * src[i] + 1.0f;
}
#endif
