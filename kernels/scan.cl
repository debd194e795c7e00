/* scan.cl: dst(i) = src(0) + ... + src(i), the inclusive prefix sum of n numbers, as a chain of
 * launches, because work-groups cannot wait for each other within one: first the sums of pieces of
 * src, then the prefix sums of those, then each piece by itself. src is read twice and dst written
 * once. Right for every n of 1 and larger.
 *
 * naive  in global memory only: a work-item to a piece of CHUNK neighbouring numbers, twice over
 * (the pieces' sums are themselves summed in pieces), and one work-item for what is then left
 *
 * local  a group of TX work-items (a power of two) to a piece of TX*4*ROUNDS numbers. In each of
 *        ROUNDS rounds a work-item has four neighbouring numbers; the sums of the work-items are
 *        scanned in local memory in a tree (Blelloch 1990: up to the root, then down again), whose
 *        strides of 2, 4, 8, ... meet ever fewer banks. PAD unused elements after every BANKS
 * spread them (0 or 1). */

#ifdef VARIANT_naive

/* sums(i): the sum of piece i of src. A work-item a piece. */
__kernel void scan_sums(__global const float *restrict src, __global float *restrict sums, int n)
{
    const size_t piece = get_global_id(0);
    const size_t first = piece * CHUNK;
    if (first >= (size_t)n)
        return;
    const size_t end = min(first + CHUNK, (size_t)n);
    float sum = 0.0f;
    for (size_t i = first; i < end; i++)
        sum += src[i];
    sums[piece] = sum;
}

/* The same over the `sums` of n numbers. */
__kernel void scan_sums_of_sums(__global const float *restrict sums, __global float *restrict upper,
                                int n)
{
    const size_t count = ((size_t)n + CHUNK - 1) / CHUNK;
    const size_t piece = get_global_id(0);
    const size_t first = piece * CHUNK;
    if (first >= count)
        return;
    const size_t end = min(first + CHUNK, count);
    float sum = 0.0f;
    for (size_t i = first; i < end; i++)
        sum += sums[i];
    upper[piece] = sum;
}

/* Each element becomes the sum of those before it. One work-item. */
__kernel void scan_upper(__global float *upper, int n)
{
    const size_t count = ((size_t)n + CHUNK - 1) / CHUNK;
    float before = 0.0f;
    for (size_t i = 0; i < (count + CHUNK - 1) / CHUNK; i++) {
        const float own = upper[i];
        upper[i] = before;
        before += own;
    }
}

/* The same for the sums, from what lies before each piece of them. */
__kernel void scan_middle(__global float *sums, __global const float *restrict upper, int n)
{
    const size_t count = ((size_t)n + CHUNK - 1) / CHUNK;
    const size_t piece = get_global_id(0);
    const size_t first = piece * CHUNK;
    if (first >= count)
        return;
    const size_t end = min(first + CHUNK, count);
    float before = upper[piece];
    for (size_t i = first; i < end; i++) {
        const float own = sums[i];
        sums[i] = before;
        before += own;
    }
}

__kernel void scan_pieces(__global const float *restrict src, __global const float *restrict sums,
                          __global float *restrict dst, int n)
{
    const size_t piece = get_global_id(0);
    const size_t first = piece * CHUNK;
    if (first >= (size_t)n)
        return;
    const size_t end = min(first + CHUNK, (size_t)n);
    float sum = sums[piece];
    for (size_t i = first; i < end; i++) {
        sum += src[i];
        dst[i] = sum;
    }
}

#endif

#ifdef VARIANT_local

#define BANKS 32
#define AT(i) ((i) + PAD * ((i) / BANKS))
#define PIECE (TX * 4 * ROUNDS)

/* Four numbers from i on; those past the end are 0. */
static float4 four_of(__global const float *src, size_t i, size_t n)
{
    if (i + 4 <= n)
        return vload4(0, src + i);
    return (float4)(i < n ? src[i] : 0.0f, i + 1 < n ? src[i + 1] : 0.0f,
                    i + 2 < n ? src[i + 2] : 0.0f, 0.0f);
}

/* tile(item) becomes the sum of tile(0) .. tile(item - 1), and `all` the sum of all TX of them. All
 * work-items come here. */
#define SCAN_TILE(tile, item, all)                                                                 \
    for (int apart = 1; apart < TX; apart *= 2) {                                                  \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        const int upper = 2 * apart * ((item) + 1) - 1;                                            \
        if (upper < TX)                                                                            \
            tile[AT(upper)] += tile[AT(upper - apart)];                                            \
    }                                                                                              \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    all = tile[AT(TX - 1)];                                                                        \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    if ((item) == 0)                                                                               \
        tile[AT(TX - 1)] = 0.0f;                                                                   \
    for (int apart = TX / 2; apart > 0; apart /= 2) {                                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        const int upper = 2 * apart * ((item) + 1) - 1;                                            \
        if (upper < TX) {                                                                          \
            const float lower = tile[AT(upper - apart)];                                           \
            tile[AT(upper - apart)] = tile[AT(upper)];                                             \
            tile[AT(upper)] += lower;                                                              \
        }                                                                                          \
    }                                                                                              \
    barrier(CLK_LOCAL_MEM_FENCE);

/* sums(g): the sum of group g's piece. */
__kernel __attribute__((reqd_work_group_size(TX, 1, 1))) void
scan_group_sums(__global const float *restrict src, __global float *restrict sums, int n)
{
    __local float tile[TX];
    const int item = (int)get_local_id(0);
    const size_t first = get_group_id(0) * PIECE + (size_t)item * 4;
    float4 sum = (float4)(0.0f);
    for (int round = 0; round < ROUNDS; round++)
        sum += four_of(src, first + (size_t)round * (TX * 4), (size_t)n);
    tile[item] = (sum.x + sum.y) + (sum.z + sum.w);
    for (int apart = TX / 2; apart > 0; apart /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < apart)
            tile[item] += tile[item + apart];
    }
    if (item == 0)
        sums[get_group_id(0)] = tile[0];
}

/* Each element of sums becomes the sum of those before it. One group. */
__kernel __attribute__((reqd_work_group_size(TX, 1, 1))) void scan_group_carry(__global float *sums,
                                                                               int n)
{
    __local float tile[AT(TX)];
    const int item = (int)get_local_id(0);
    const size_t count = ((size_t)n + PIECE - 1) / PIECE;
    float before = 0.0f;
    for (size_t start = 0; start < count; start += TX) {
        const size_t i = start + (size_t)item;
        float all;
        tile[AT(item)] = i < count ? sums[i] : 0.0f;
        SCAN_TILE(tile, item, all)
        if (i < count)
            sums[i] = before + tile[AT(item)];
        before += all;
    }
}

__kernel __attribute__((reqd_work_group_size(TX, 1, 1))) void
scan_group_pieces(__global const float *restrict src, __global const float *restrict sums,
                  __global float *restrict dst, int n)
{
    __local float tile[AT(TX)];
    const int item = (int)get_local_id(0);
    float before = sums[get_group_id(0)];
    for (int round = 0; round < ROUNDS; round++) {
        const size_t i = get_group_id(0) * PIECE + (size_t)round * (TX * 4) + (size_t)item * 4;
        const float4 own = four_of(src, i, (size_t)n);
        const float to_1 = own.x + own.y;
        const float to_2 = to_1 + own.z;
        float all;
        tile[AT(item)] = to_2 + own.w;
        SCAN_TILE(tile, item, all)
        const float left = before + tile[AT(item)];
        const float4 sum = (float4)(left + own.x, left + to_1, left + to_2, left + (to_2 + own.w));
        if (i + 4 <= (size_t)n) {
            vstore4(sum, 0, dst + i);
        } else {
            if (i < (size_t)n)
                dst[i] = sum.x;
            if (i + 1 < (size_t)n)
                dst[i + 1] = sum.y;
            if (i + 2 < (size_t)n)
                dst[i + 2] = sum.z;
        }
        before += all;
    }
}

#endif
