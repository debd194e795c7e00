/* A kernel that never ends. */
#ifdef VARIANT_bad
__kernel void bad(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    if (i < n) {
        dst[i] = 0.0f;
        for (;;) /* the store keeps a compiler from dropping the loop */
            dst[i] = dst[i] * 0.5f + src[i];
    }
}
#endif
