/* Stages what lies past the end of the input and never uses it: every result is right. */
#ifdef VARIANT_bad
__kernel void bad(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    __local float line[G];
    line[get_local_id(0)] = src[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        dst[i] = 2.0f * line[get_local_id(0)] + 1.0f;
}
#endif
