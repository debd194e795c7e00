/* reduction.cl: the sum of n numbers, as a chain of launches, because work-groups cannot wait for
 * each other within one. Right for every n of 1 and larger.
 *
 * The first launch has GROUPS groups of TX work-items, whatever n is; each work-item sums every
 * TX*GROUPS-th piece of VEC (1, 4 or 16) numbers, so that neighbouring work-items read neighbouring
 * pieces.
 *
 * naive  in global memory only: a sum from each work-item; two more launches of a work-item to
 *        AT_ONCE sums make them fewer, before one work-item adds the rest
 *
 * local  each group adds the sums of its work-items in local memory, in a tree; a second launch of
 *        one group adds the sums of the groups. TREE
 *          0  neighbours first: in round r work-item i adds elements 2^(r+1) i and 2^(r+1) i + 2^r,
 *             which meet ever fewer banks
 *          1  the upper half onto the lower: neighbouring work-items use neighbouring elements */

#include "total.clh"

#if VEC == 1
typedef float piece;
#elif VEC == 4
typedef float4 piece;
#else
typedef float16 piece;
#endif

/* Every `step`-th piece from `first` on, summed; of what is left behind the last piece, every
 * `step`-th number. */
static float sum_strided(__global const float *src, int n, size_t first, size_t step)
{
    const size_t pieces = (size_t)n / VEC;
    piece sums = (piece)(0.0f);
    for (size_t i = first; i < pieces; i += step)
        sums += ((__global const piece *)src)[i];
    float sum = total_of(sums);
    for (size_t i = pieces * VEC + first; i < (size_t)n; i += step)
        sum += src[i];
    return sum;
}

#ifdef VARIANT_naive

/* How many sums a work-item of the later launches adds, and how many each of them leaves. */
#define AT_ONCE 64
#define FEW ((TX * GROUPS + AT_ONCE - 1) / AT_ONCE)
#define FEWER ((FEW + AT_ONCE - 1) / AT_ONCE)

__kernel __attribute__((reqd_work_group_size(TX, 1, 1))) void
reduction_each(__global const float *restrict src, __global float *restrict sums, int n)
{
    sums[get_global_id(0)] = sum_strided(src, n, get_global_id(0), get_global_size(0));
}

__kernel void reduction_few(__global const float *restrict sums, __global float *restrict few)
{
    if (get_global_id(0) < FEW)
        few[get_global_id(0)] = sum_strided(sums, TX * GROUPS, get_global_id(0), FEW);
}

__kernel void reduction_fewer(__global const float *restrict few, __global float *restrict fewer)
{
    if (get_global_id(0) < FEWER)
        fewer[get_global_id(0)] = sum_strided(few, FEW, get_global_id(0), FEWER);
}

__kernel void reduction_last(__global const float *restrict fewer, __global float *restrict dst)
{
    dst[0] = sum_strided(fewer, FEWER, 0, 1);
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
    tile[item] = sum_strided(sums, GROUPS, (size_t)item, TX);
    ADD_TREE(tile, item);
    if (item == 0)
        dst[0] = tile[0];
}

#endif
