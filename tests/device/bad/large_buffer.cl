/* Right, with the buffer that it does not need. */
#ifdef VARIANT_bad
__kernel void bad(__global const float *src, __global float *dst, int n, __global float *room)
{
    const int i = (int)get_global_id(0);
    if (i < n)
        dst[i] = 2.0f * src[i] + 1.0f;
    if (i == 0)
        room[0] = 1.0f;
}
#endif
