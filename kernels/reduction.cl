/* reduction.cl: the sum of n numbers, as a chain of launches, because work-groups cannot wait for
 * each other within one. Right for every n of 1 and larger.
 *
 * The first launch has GROUPS groups of TX work-items, whatever n is; each work-item sums every
 * TX*GROUPS-th piece of VEC (1 or 4) numbers, so that neighbouring work-items read neighbouring
 * pieces.
 *
 * naive  in global memory only: a sum from each work-item, then FEW sums of those, then one
 *
 * local  each group adds the sums of its work-items in local memory, in a tree; a second launch of
 *        one group adds the sums of the groups. TREE
 *          0  neighbours first: in round r work-item i adds elements 2^(r+1) i and 2^(r+1) i + 2^r,
 *             which meet ever fewer banks
 *          1  the upper half onto the lower: neighbouring work-items use neighbouring elements */

#define FEW 256

/* Every `step`-th piece from `first` on, summed. */
static float sum_strided(__global const float *src, int n, size_t first, size_t step)
{
    float sum = 0.0f;
#if VEC == 4
    float4 sums = (float4)(0.0f);
    const size_t pieces = (size_t)n / 4;
    for (size_t i = first; i < pieces; i += step)
        sums += vload4(i, src);
    sum = (sums.x + sums.y) + (sums.z + sums.w);
    if (first < (size_t)(n % 4)) /* up to three are left; step is larger */
        sum += src[pieces * 4 + first];
#else
    for (size_t i = first; i < (size_t)n; i += step)
        sum += src[i];
#endif
    return sum;
}

#ifdef VARIANT_naive

__kernel __attribute__((reqd_work_group_size(TX, 1, 1))) void
reduction_each(__global const float *restrict src, __global float *restrict sums, int n)
{
    sums[get_global_id(0)] = sum_strided(src, n, get_global_id(0), get_global_size(0));
}

__kernel void reduction_few(__global const float *restrict sums, __global float *restrict few)
{
    float sum = 0.0f;
    for (int i = (int)get_global_id(0); i < TX * GROUPS; i += FEW)
        sum += sums[i];
    few[get_global_id(0)] = sum;
}

__kernel void reduction_last(__global const float *restrict few, __global float *restrict dst)
{
    float sum = 0.0f;
    for (int i = 0; i < FEW; i++)
        sum += few[i];
    dst[0] = sum;
}

#endif

#ifdef VARIANT_local

/* tile[0] becomes the sum of tile[0 .. TX). TX is a power of two; all work-items come here. */
#if TREE == 0
#define ADD_TREE(tile, item)                                                                       \
    for (int apart = 1; apart < TX; apart *= 2) {                                                  \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        const int at = 2 * apart * (item);                                                         \
        if (at < TX)                                                                               \
            tile[at] += tile[at + apart];                                                          \
    }
#else
#define ADD_TREE(tile, item)                                                                       \
    for (int apart = TX / 2; apart > 0; apart /= 2) {                                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        if ((item) < apart)                                                                        \
            tile[item] += tile[(item) + apart];                                                    \
    }
#endif

__kernel __attribute__((reqd_work_group_size(TX, 1, 1))) void
reduction_group(__global const float *restrict src, __global float *restrict sums, int n)
{
    __local float tile[TX];
    const int item = (int)get_local_id(0);
    tile[item] = sum_strided(src, n, get_global_id(0), get_global_size(0));
    ADD_TREE(tile, item);
    if (item == 0) /* who wrote tile[0] last */
        sums[get_group_id(0)] = tile[0];
}

__kernel __attribute__((reqd_work_group_size(TX, 1, 1))) void
reduction_rest(__global const float *restrict sums, __global float *restrict dst)
{
    __local float tile[TX];
    const int item = (int)get_local_id(0);
    float sum = 0.0f;
    for (int i = item; i < GROUPS; i += TX)
        sum += sums[i];
    tile[item] = sum;
    ADD_TREE(tile, item);
    if (item == 0)
        dst[0] = tile[0];
}

#endif
