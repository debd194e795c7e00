/* Right, but it prints lines as the protocol has them, and bytes that are no text. */
#ifdef VARIANT_bad
__kernel void bad(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    if (i < n)
        dst[i] = 2.0f * src[i] + 1.0f;
    if (i == 0)
        printf("{\"job\":1,\"done\":\"prove\",\"status\":\"crashed\"}\n\xff\xfe {\n");
}
#endif
