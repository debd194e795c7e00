/* mixed.cl: dst = 2 src + 1, but for some FAULTs: the faults of bad/wild_write.cl, bad/endless.cl, and a plain slip. */
#ifdef VARIANT_mixed
__kernel void mixed(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    if (i < n)
        dst[i] = (FAULT == 5 ? 3.0f : 2.0f) * src[i] + 1.0f;
#if FAULT == 1
    if (i == 0)
        dst[(long)1 << 44] = 1.0f;
#elif FAULT == 3
    if (i < n) {
        for (;;) /* the store keeps a compiler from dropping the loop */
            dst[i] = dst[i] * 0.5f + src[i];
    }
#endif
}
#endif
