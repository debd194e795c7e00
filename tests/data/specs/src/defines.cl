/* defines.cl: a source with a fault: it sets the axis itself. */
#define TX 16

kernel void try_naive(global const float *src, global float *dst)
{
    dst[get_global_id(0)] = src[get_global_id(0)];
}
