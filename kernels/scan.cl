/* scan.cl: dst(i) = src(0) + ... + src(i), the inclusive prefix sum of n numbers, as a chain of
 * launches, because work-groups cannot wait for each other within one: first the sums of pieces of
 * src, then the prefix sums of those, then each piece by itself. src is read twice and dst written
 * once. Right for every n from 1 to 2^31 less a piece. Everything moves by vectors of VEC (4 or 16)
 * numbers, within which a work-item forms the prefix sums in registers.
 *
 * naive  in global memory only: a work-item to a piece of CHUNK neighbouring numbers (a multiple of
 *        VEC; where it is VEC, neighbouring work-items read neighbouring vectors). The pieces' sums
 *        are summed in pieces of UPPER, those once more, and one work-item scans what is then left
 *
 * local  a group of TX work-items (a power of two) to a piece of TX*VEC*ROUNDS numbers. In each of
 *        ROUNDS rounds a work-item has one vector; the sums of the work-items are scanned in local
 *        memory in a tree (Blelloch 1990: up to the root, then down again), whose strides of 2, 4,
 *        8, ... meet ever fewer banks. PAD (0 or 1) unused elements after every BANKS spread them.
 */

#include "total.clh"

/* SHIFTED: head before all but the last of v. prefix_in: prefix sums within a vector; few steps for
 * the wide one, which a CPU adds at once. All element by element, because Oclgrind takes parts of
 * vectors, such as v.s0123, for uninitialised. */
#if VEC == 4
typedef float4 cells;
#define SHIFTED(head, v) ((float4)(head, (v).x, (v).y, (v).z))
#define LAST(v) ((v).w)
#define LOAD_EACH(p) vload4(0, p)
#define STORE_EACH(v, p) vstore4(v, 0, p)
static cells prefix_in(cells v)
{
    const float to_1 = v.x + v.y;
    const float to_2 = to_1 + v.z;
    return (float4)(v.x, to_1, to_2, to_2 + v.w);
}
#elif VEC == 16
typedef float16 cells;
#define SHIFTED(head, v)                                                                           \
    ((float16)(head, (v).s0, (v).s1, (v).s2, (v).s3, (v).s4, (v).s5, (v).s6, (v).s7, (v).s8,       \
               (v).s9, (v).sa, (v).sb, (v).sc, (v).sd, (v).se))
#define LAST(v) ((v).sf)
#define LOAD_EACH(p) vload16(0, p)
#define STORE_EACH(v, p) vstore16(v, 0, p)
static cells prefix_in(cells v)
{
    v += (float16)(0.0f, v.s0, v.s1, v.s2, v.s3, v.s4, v.s5, v.s6, v.s7, v.s8, v.s9, v.sa, v.sb,
                   v.sc, v.sd, v.se);
    v += (float16)(0.0f, 0.0f, v.s0, v.s1, v.s2, v.s3, v.s4, v.s5, v.s6, v.s7, v.s8, v.s9, v.sa,
                   v.sb, v.sc, v.sd);
    v += (float16)(0.0f, 0.0f, 0.0f, 0.0f, v.s0, v.s1, v.s2, v.s3, v.s4, v.s5, v.s6, v.s7, v.s8,
                   v.s9, v.sa, v.sb);
    v += (float16)(0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, v.s0, v.s1, v.s2, v.s3, v.s4,
                   v.s5, v.s6, v.s7);
    return v;
}
#else
#error "VEC is 4 or 16"
#endif

#ifdef VARIANT_naive

#if CHUNK % VEC
#error "a piece is whole vectors"
#endif

/* Sums of pieces in a piece of the next level. */
#define UPPER 128

/* Pieces of so many numbers (at least one). */
static int pieces_of(int count, int length)
{
    return (count - 1) / length + 1;
}

static int sums_of(int n)
{
    return pieces_of(n, CHUNK);
}

static int upper_of(int n)
{
    return pieces_of(sums_of(n), UPPER);
}

static float sum_of(__global const float *numbers, int count)
{
    cells sums = (cells)(0.0f);
    int i = 0;
    for (; i <= count - VEC; i += VEC)
        sums += *(__global const cells *)(numbers + i);
    float sum = total_of(sums);
    for (; i < count; i++)
        sum += numbers[i];
    return sum;
}

/* sums(i): the sum of piece i, `length` of `count` numbers. A work-item a piece. */
static void sum_piece(__global const float *numbers, __global float *sums, int count, int length)
{
    const int piece = (int)get_global_id(0);
    if (piece >= pieces_of(count, length))
        return;
    const int first = piece * length;
    if (first <= count - length) /* a constant, so that the loop is written out */
        sums[piece] = sum_of(numbers + first, length);
    else
        sums[piece] = sum_of(numbers + first, count - first);
}

/* to(i) = before + the sum of the numbers up to i, with number i itself or without. */
static void prefix_of(__global const float *numbers, __global float *to, int count, float before,
                      int with_itself)
{
    int i = 0;
    for (; i <= count - VEC; i += VEC) {
        const cells sums = before + prefix_in(*(__global const cells *)(numbers + i));
        *(__global cells *)(to + i) = with_itself ? sums : SHIFTED(before, sums);
        before = LAST(sums);
    }
    for (; i < count; i++) {
        const float sum = before + numbers[i];
        to[i] = with_itself ? sum : before;
        before = sum;
    }
}

/* A work-item a piece, from what lies before it. */
static void prefix_piece(__global const float *numbers, __global const float *before,
                         __global float *to, int count, int length, int with_itself)
{
    const int piece = (int)get_global_id(0);
    if (piece >= pieces_of(count, length))
        return;
    const int first = piece * length;
    if (first <= count - length)
        prefix_of(numbers + first, to + first, length, before[piece], with_itself);
    else
        prefix_of(numbers + first, to + first, count - first, before[piece], with_itself);
}

__kernel void scan_sums(__global const float *restrict src, __global float *restrict sums, int n)
{
    sum_piece(src, sums, n, CHUNK);
}

__kernel void scan_sums_of_sums(__global const float *restrict sums, __global float *restrict upper,
                                int n)
{
    sum_piece(sums, upper, sums_of(n), UPPER);
}

__kernel void scan_sums_of_upper(__global const float *restrict upper, __global float *restrict top,
                                 int n)
{
    sum_piece(upper, top, upper_of(n), UPPER);
}

/* Each element becomes the sum of those before it. One work-item. */
__kernel void scan_top(__global float *top, int n)
{
    prefix_of(top, top, pieces_of(upper_of(n), UPPER), 0.0f, 0);
}

/* The same for the level below, from what lies before each piece of it. */
__kernel void scan_upper(__global float *upper, __global const float *restrict top, int n)
{
    prefix_piece(upper, top, upper, upper_of(n), UPPER, 0);
}

__kernel void scan_middle(__global float *sums, __global const float *restrict upper, int n)
{
    prefix_piece(sums, upper, sums, sums_of(n), UPPER, 0);
}

__kernel void scan_pieces(__global const float *restrict src, __global const float *restrict sums,
                          __global float *restrict dst, int n)
{
    prefix_piece(src, sums, dst, n, CHUNK, 1);
}

#endif

#ifdef VARIANT_local

#define BANKS 32
#define AT(i) ((i) + PAD * ((i) / BANKS))
#define PIECE (TX * VEC * ROUNDS)

/* A vector from i on, a multiple of VEC; numbers past the end are 0. */
static cells cells_at(__global const float *src, int i, int n)
{
    if (i <= n - VEC)
        return *(__global const cells *)(src + i);
    float each[VEC];
    for (int j = 0; j < VEC; j++)
        each[j] = i < n - j ? src[i + j] : 0.0f;
    return LOAD_EACH(each);
}

static void store_cells(__global float *dst, int i, int n, cells v)
{
    if (i <= n - VEC) {
        *(__global cells *)(dst + i) = v;
    } else {
        float each[VEC];
        STORE_EACH(v, each);
        for (int j = 0; j < VEC; j++) {
            if (i < n - j)
                dst[i + j] = each[j];
        }
    }
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
    const int first = (int)get_group_id(0) * PIECE + item * VEC;
    cells sum = (cells)(0.0f);
    for (int round = 0; round < ROUNDS; round++)
        sum += cells_at(src, first + round * (TX * VEC), n);
    tile[item] = total_of(sum);
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
        const int i = ((int)get_group_id(0) * ROUNDS + round) * (TX * VEC) + item * VEC;
        const cells own = prefix_in(cells_at(src, i, n));
        float all;
        tile[AT(item)] = LAST(own);
        SCAN_TILE(tile, item, all)
        store_cells(dst, i, n, before + tile[AT(item)] + own);
        before += all;
    }
}

#endif
