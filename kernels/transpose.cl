/* transpose.cl: dst = transpose of src (h rows of w elements), plain and staged in local memory.
 *
 * A work-group moves a square of TILE x TILE elements, by vectors of VEC elements (1, 2, 4 or 8).
 * Right on every size of 1 x 1 and larger: where a vector does not lie wholly inside, its elements
 * go one by one.
 *
 * naive  TILE/VEC x ROWS work-items, each with TILE/VEC/ROWS squares of VEC x VEC elements, which
 *        turn in registers. With VEC 1, neighbouring work-items read neighbouring elements but
 *        write h apart; a larger VEC writes pieces of VEC elements.
 *
 * local  TILE/VEC x ROWS work-items, each with TILE/ROWS vectors. The square turns in local memory,
 *        so that reads and writes are both contiguous for neighbouring work-items; its columns are
 *        then read TILE + PAD apart: without padding, all from few banks. */

#define JOIN(a, b) a##b
#define VECTOR_OF(n) JOIN(float, n)
#define LOAD_OF(n) JOIN(vload, n)
#define STORE_OF(n) JOIN(vstore, n)

/* ORDER 0: neighbouring groups read neighbouring squares of src; 1: they write neighbouring ones of
 * dst. */
#if ORDER == 0
#define GROUP_X get_group_id(0)
#define GROUP_Y get_group_id(1)
#else
#define GROUP_X get_group_id(1)
#define GROUP_Y get_group_id(0)
#endif

/* VEC elements of a row of `length` from `at` on, into each[]; those outside are left. Where
 * `aligned`, the row begins at a multiple of the vector's size. */
static void load_piece(float *each, __global const float *row, int at, int length, int aligned)
{
#if VEC > 1
    if (at <= length - VEC) {
        if (aligned)
            STORE_OF(VEC)(*(__global const VECTOR_OF(VEC) *)(row + at), 0, each);
        else
            STORE_OF(VEC)(LOAD_OF(VEC)(0, row + at), 0, each);
        return;
    }
#endif
#pragma unroll
    for (int i = 0; i < VEC; i++) {
        if (at + i < length)
            each[i] = row[at + i];
    }
}

/* The other way. */
static void store_piece(const float *each, __global float *row, int at, int length, int aligned)
{
#if VEC > 1
    if (at <= length - VEC) {
        if (aligned)
            *(__global VECTOR_OF(VEC) *)(row + at) = LOAD_OF(VEC)(0, each);
        else
            STORE_OF(VEC)(LOAD_OF(VEC)(0, each), 0, row + at);
        return;
    }
#endif
#pragma unroll
    for (int i = 0; i < VEC; i++) {
        if (at + i < length)
            row[at + i] = each[i];
    }
}

#ifdef VARIANT_naive

__kernel __attribute__((reqd_work_group_size(TILE / VEC, ROWS, 1))) void
transpose_naive(__global const float *restrict src, __global float *restrict dst, int w, int h)
{
    const int x = (int)GROUP_X * TILE + (int)get_local_id(0) * VEC;
    const int top = (int)GROUP_Y * TILE;
    const int aligned_src = w % VEC == 0;
    const int aligned_dst = h % VEC == 0;
    for (int r = (int)get_local_id(1) * VEC; r < TILE; r += ROWS * VEC) {
        const int y = top + r;
        float block[VEC][VEC];
#pragma unroll
        for (int j = 0; j < VEC; j++) {
            if (y + j < h)
                load_piece(block[j], src + (size_t)(y + j) * (size_t)w, x, w, aligned_src);
        }
#pragma unroll
        for (int i = 0; i < VEC; i++) {
            float column[VEC];
#pragma unroll
            for (int j = 0; j < VEC; j++)
                column[j] = block[j][i];
            if (x + i < w)
                store_piece(column, dst + (size_t)(x + i) * (size_t)h, y, h, aligned_dst);
        }
    }
}

#endif

#ifdef VARIANT_local

__kernel __attribute__((reqd_work_group_size(TILE / VEC, ROWS, 1))) void
transpose_local(__global const float *restrict src, __global float *restrict dst, int w, int h)
{
    __local float tile[TILE * (TILE + PAD)];
    const int lx = (int)get_local_id(0) * VEC;
    const int ly = (int)get_local_id(1);
    const int left = (int)GROUP_X * TILE;
    const int top = (int)GROUP_Y * TILE;

    /* All loads are under way before the first is stored; what lies outside the matrix is 0. */
    float kept[TILE / ROWS][VEC];
#pragma unroll
    for (int r = 0; r < TILE / ROWS; r++) {
        const int y = top + ly + r * ROWS;
#pragma unroll
        for (int i = 0; i < VEC; i++)
            kept[r][i] = 0.0f;
        if (y < h)
            load_piece(kept[r], src + (size_t)y * (size_t)w, left + lx, w, w % VEC == 0);
    }
#pragma unroll
    for (int r = 0; r < TILE / ROWS; r++) {
#pragma unroll
        for (int i = 0; i < VEC; i++)
            tile[(ly + r * ROWS) * (TILE + PAD) + lx + i] = kept[r][i];
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* every work-item comes here, also those outside the matrix */
#pragma unroll
    for (int r = 0; r < TILE / ROWS; r++) { /* row left + x of dst, columns top + lx on */
        const int x = ly + r * ROWS;
        float column[VEC];
#pragma unroll
        for (int i = 0; i < VEC; i++)
            column[i] = tile[(lx + i) * (TILE + PAD) + x];
        if (left + x < w)
            store_piece(column, dst + (size_t)(left + x) * (size_t)h, top + lx, h, h % VEC == 0);
    }
}

#endif
