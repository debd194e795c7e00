/* scan.cl: dst(i) = src(0) + ... + src(i), the inclusive prefix sum of n numbers, as a chain of
 * launches, because work-groups cannot wait for each other within one: first the sums of pieces of
 * src, then the prefix sums of those, then each piece by itself. src is read twice and dst written
 * once. Right for every n from 1 to 2^31 less a piece.
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

/* Pieces of so many numbers (at least one). */
static int pieces_of(int count)
{
    return (count - 1) / CHUNK + 1;
}

/* sums(i): the sum of piece i of `count` numbers. A work-item a piece. */
static void sum_piece(__global const float *numbers, __global float *sums, int count)
{
    const int piece = (int)get_global_id(0);
    if (piece >= pieces_of(count))
        return;
    const int first = piece * CHUNK;
    const int length = min(CHUNK, count - first);
    float sum = 0.0f;
    for (int i = 0; i < length; i++)
        sum += numbers[first + i];
    sums[piece] = sum;
}

__kernel void scan_sums(__global const float *restrict src, __global float *restrict sums, int n)
{
    sum_piece(src, sums, n);
}

__kernel void scan_sums_of_sums(__global const float *restrict sums, __global float *restrict upper,
                                int n)
{
    sum_piece(sums, upper, pieces_of(n));
}

/* Each element becomes the sum of those before it. One work-item. */
__kernel void scan_upper(__global float *upper, int n)
{
    const int count = pieces_of(pieces_of(n));
    float before = 0.0f;
    for (int i = 0; i < count; i++) {
        const float own = upper[i];
        upper[i] = before;
        before += own;
    }
}

/* The same for the sums, from what lies before each piece of them. */
__kernel void scan_middle(__global float *sums, __global const float *restrict upper, int n)
{
    const int count = pieces_of(n);
    const int piece = (int)get_global_id(0);
    if (piece >= pieces_of(count))
        return;
    const int first = piece * CHUNK;
    const int length = min(CHUNK, count - first);
    float before = upper[piece];
    for (int i = 0; i < length; i++) {
        const float own = sums[first + i];
        sums[first + i] = before;
        before += own;
    }
}

__kernel void scan_pieces(__global const float *restrict src, __global const float *restrict sums,
                          __global float *restrict dst, int n)
{
    const int piece = (int)get_global_id(0);
    if (piece >= pieces_of(n))
        return;
    const int first = piece * CHUNK;
    const int length = min(CHUNK, n - first);
    float sum = sums[piece];
    for (int i = 0; i < length; i++) {
        sum += src[first + i];
        dst[first + i] = sum;
    }
}

#endif

#ifdef VARIANT_local

#define BANKS 32
#define AT(i) ((i) + PAD * ((i) / BANKS))
#define PIECE (TX * 4 * ROUNDS)

/* Four numbers from i on; those past the end are 0. */
static float4 four_of(__global const float *src, int i, int n)
{
    if (i <= n - 4)
        return vload4(0, src + i);
    return (float4)(i < n ? src[i] : 0.0f, i < n - 1 ? src[i + 1] : 0.0f,
                    i < n - 2 ? src[i + 2] : 0.0f, 0.0f);
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
    const int first = (int)get_group_id(0) * PIECE + item * 4;
    float4 sum = (float4)(0.0f);
    for (int round = 0; round < ROUNDS; round++)
        sum += four_of(src, first + round * (TX * 4), n);
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
    const int count = (n - 1) / PIECE + 1;
    float before = 0.0f;
    for (int start = 0; start < count; start += TX) {
        const int i = start + item;
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
        const int i = ((int)get_group_id(0) * ROUNDS + round) * (TX * 4) + item * 4;
        const float4 own = four_of(src, i, n);
        const float to_1 = own.x + own.y;
        const float to_2 = to_1 + own.z;
        float all;
        tile[AT(item)] = to_2 + own.w;
        SCAN_TILE(tile, item, all)
        const float left = before + tile[AT(item)];
        const float4 sum = (float4)(left + own.x, left + to_1, left + to_2, left + (to_2 + own.w));
        if (i <= n - 4) {
            vstore4(sum, 0, dst + i);
        } else {
            if (i < n)
                dst[i] = sum.x;
            if (i < n - 1)
                dst[i + 1] = sum.y;
            if (i < n - 2)
                dst[i + 2] = sum.z;
        }
        before += all;
    }
}

#endif
