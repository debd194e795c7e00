/* The spec gives three arguments, the last one an int. */
#ifdef VARIANT_bad
__kernel void bad(__global const float *src, __global float *dst, int n, float factor)
{
    const int i = (int)get_global_id(0);
    if (i < n)
        dst[i] = factor * src[i] + 1.0f;
}
#endif
#ifdef VARIANT_few
__kernel void few(__global const float *src, __global float *dst)
{
    dst[get_global_id(0)] = 2.0f * src[get_global_id(0)] + 1.0f;
}
#endif
#ifdef VARIANT_other
__kernel void other(__global const float *src, __global float *dst, float n)
{
    const int i = (int)get_global_id(0);
    if (i < n)
        dst[i] = 2.0f * src[i] + 1.0f;
}
#endif
