/* good.cl: the right kernel that stands beside each bad one: dst = 2 src + 1. */
#ifdef VARIANT_good
__kernel void good(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    if (i < n)
        dst[i] = 2.0f * src[i] + 1.0f;
}
#endif
