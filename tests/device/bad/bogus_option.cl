/* Right, but the spec gives the compiler an option that there is not. */
#ifdef VARIANT_bad
__kernel void bad(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    if (i < n)
        dst[i] = 2.0f * src[i] + 1.0f;
}
#endif
