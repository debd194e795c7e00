/* The spec gives three arguments. */
#ifdef VARIANT_bad
__kernel void bad(__global const float *src, __global float *dst, int n, float factor)
{
    const int i = (int)get_global_id(0);
    if (i < n)
        dst[i] = factor * src[i] + 1.0f;
}
#endif
