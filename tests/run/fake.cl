/* fake.cl: what the fake worker is sent; nobody compiles it. */
__kernel void fake_plain(__global const float *src, __global float *dst, int n)
{
    dst[get_global_id(0)] = src[get_global_id(0)] * POINTS;
}

__kernel void fake_local(__global const float *src, __global float *dst, int n)
{
    dst[get_global_id(0)] = src[get_global_id(0)] * POINTS;
}
