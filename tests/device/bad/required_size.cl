/* Compiled for a work-group of 32; launched with another it must not run. */
#ifdef VARIANT_bad
__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void
bad(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    if (i < n)
        dst[i] = 2.0f * src[i] + 1.0f;
}
#endif
