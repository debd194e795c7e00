/* Local memory by an array in the kernel; FLOATS says how much. */
#ifdef VARIANT_undeclared
__kernel void undeclared(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    __local float tile[FLOATS];
    const int l = (int)get_local_id(0);
    for (int k = l; k < FLOATS; k += G)
        tile[k] = 2.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        dst[i] = tile[(i * 7) % FLOATS] * src[i] + 1.0f;
}
#endif

#ifdef VARIANT_declared
__kernel void declared(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    __local float tile[FLOATS];
    const int l = (int)get_local_id(0);
    for (int k = l; k < FLOATS; k += G)
        tile[k] = 2.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        dst[i] = tile[(i * 7) % FLOATS] * src[i] + 1.0f;
}
#endif
