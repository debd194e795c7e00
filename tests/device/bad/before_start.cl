/* Writes one element before the start. */
#ifdef VARIANT_bad
__kernel void bad(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    if (i < n)
        dst[i] = 2.0f * src[i] + 1.0f;
    if (i == 0)
        dst[-1] = 1.0f;
}
#endif
