/* separable.cl: a (2R+1) x (2R+1) filter that is the product of a column and a row, over a 2-D
 * image of h rows of w:
 *
 *   dst(y,x) = sum over j,i in 0 .. 2R of column(j) * row(i) * src(y + j - R, x + i - R)
 *
 * (the filter is not turned round, as usual with images). Outside the image its edge goes on:
 * indices are clamped. Right on every size of 1 x 1 and larger, also where R exceeds it.
 * `filters` holds the 2R+1 taps of the column, then those of the row.
 *
 * direct  makes no use of it but in the taps: all (2R+1)^2 of them, each a product of two. A
 *         work-item walks down the rows of src that it needs, as in convolution.cl
 *
 * passes  the rows first, into `sums`, then the columns, in a launch of its own: 2 * (2R+1) taps,
 *         and the image goes through memory twice
 *
 * fused   both in one launch without local memory: a work-item walks down ROWS + 2R rows of src
 *         and makes the sums of the rows itself, on the way, (ROWS + 2R) / ROWS times as many
 *
 * local   both in one launch: the sums of the rows are shared by a work-group, in local memory
 *
 * A work-item owns VEC neighbouring cells (1, 4 or 16) in each of ROWS rows, a work-group TX x TY
 * work-items. Walking down a column (passes, fused), it reads a row of sums once for all outputs
 * that it reaches. The local variant also has
 *
 * - TILE, 1: the cells of src, with their halo, are staged in local memory too; 0: the sums of the
 *   rows are made from src itself;
 * - PAD, unused pieces (4 cells, 1 where VEC is 1) after each row in local memory, against bank
 *   conflicts; 0 where VEC is 16.
 *
 * The spec tries groups 128 cells wide (TX 8 and 32) at RADIUS 4 alone, which is all that --quick
 * runs: one case that asks every device for its own vector. */

#include "cells.clh"
#include "clamped.clh"

#define SIDE (2 * RADIUS + 1)
#define COLUMN_TAP(j) filters[j]
#define ROW_TAP(i) filters[SIDE + (i)]

/* The cells from i on of an array of single ones. Of a wide vector they are loaded as they lie; of
 * a narrow one the array is a window, in registers, that is read from src or from a tile in aligned
 * pieces and serves all taps. */
#define WIDE (VEC == 16)
#if VEC == 16
#define CELLS_AT(each, i) vload16(0, (each) + (i))
#elif VEC == 4
#define CELLS_AT(each, i) ((float4)((each)[i], (each)[(i) + 1], (each)[(i) + 2], (each)[(i) + 3]))
#elif VEC == 1
#define CELLS_AT(each, i) ((each)[i])
#else
#error "VEC is 1, 4 or 16"
#endif
#define WINDOW (VEC + 2 * REACH)

/* What lies REACH to the left of x and to the right of the work-item's cells, and these, in a row
 * of w. whole: w is a multiple of a piece. */
static void load_window(float *window, __global const float *row, int x, int w, int whole)
{
#pragma unroll
    for (int i = 0; i < WINDOW; i += PIECE)
        KEEP_PIECE(window + i, piece_at(row, x - REACH + i, w, whole, 0));
}

/* Can the wide cells at x be loaded for all taps as they lie? */
static int lies_inside(int x, int w)
{
    return WIDE && x >= RADIUS && x <= w - VEC - RADIUS;
}

/* The sum over the row's taps; at: the cell that the first tap is for. */
#define ADD_TAPS(sum, at)                                                                          \
    _Pragma("unroll") for (int i = 0; i < SIDE; i++) sum += ROW_TAP(i) * CELLS_AT(at, i)

/* What the row pass makes of the cells at x of a row of src. */
static cells sum_of_row(__global const float *row, __constant float *filters, int x, int w,
                        int whole)
{
    cells sum = 0.0f;
    if (lies_inside(x, w)) {
        ADD_TAPS(sum, row + (x - RADIUS));
        return sum;
    }
    float window[WINDOW];
    load_window(window, row, x, w, whole);
    ADD_TAPS(sum, window + (REACH - RADIUS));
    return sum;
}

#if defined VARIANT_passes || defined VARIANT_fused

/* The sums under way as a work-item walks down: each row of sums that comes adds to all outputs
 * that it reaches, by the column's tap j to the one that began j rows ago. */
struct slide {
    cells sum[SIDE];
};

static void slide_start(struct slide *s)
{
#pragma unroll
    for (int j = 0; j < SIDE; j++)
        s->sum[j] = 0.0f;
}

/* The next row comes; afterwards the last sum is complete. */
static void slide_on(struct slide *s, cells row, __constant float *filters)
{
#pragma unroll
    for (int j = SIDE - 1; j > 0; j--)
        s->sum[j] = s->sum[j - 1] + COLUMN_TAP(j) * row;
    s->sum[0] = COLUMN_TAP(0) * row;
}

#ifdef VARIANT_passes

/* Rows of sums are a whole number of vectors long. */
static size_t pitch_of(int w)
{
    return (size_t)((w + VEC - 1) / VEC * VEC);
}

#endif

/* What the row pass makes of the cells at x of row y: of sums that lie there, or of src. */
static cells sums_at(__global const float *from, __constant float *filters, int x, int y, int w)
{
#ifdef VARIANT_passes
    return *(__global const cells *)(from + pitch_of(w) * (size_t)y + x);
#else
    return sum_of_row(row_at(from, y, w), filters, x, w, w % PIECE == 0);
#endif
}

/* The column pass of a work-item's ROWS rows. */
static void walk_down(__global const float *from, __constant float *filters,
                      __global float *restrict dst, int w, int h)
{
    const int x = (int)get_global_id(0) * VEC;
    const int y = (int)get_global_id(1) * ROWS;
    if (x >= w || y >= h)
        return; /* no barrier follows */
    const int rows = min(ROWS, h - y) + 2 * RADIUS;
    struct slide s;
    slide_start(&s);
    for (int row = 0; row < rows; row++) {
        slide_on(&s, sums_at(from, filters, x, clamp(y + row - RADIUS, 0, h - 1), w), filters);
        if (row >= 2 * RADIUS)
            store_cells(dst + (size_t)w * (size_t)(y + row - 2 * RADIUS), x, w, s.sum[SIDE - 1]);
    }
}

#endif

#ifdef VARIANT_direct

/* Adds what row `row` of those that the work-item needs gives to its outputs. The product of the
 * taps comes first. */
#define ADD_ROW(sum, row, at)                                                                      \
    _Pragma("unroll") for (int r = 0; r < ROWS; r++)                                               \
    {                                                                                              \
        const int j = (row)-r;                                                                     \
        if (j >= 0 && j < SIDE) {                                                                  \
            _Pragma("unroll") for (int i = 0; i < SIDE; i++) sum[r] +=                             \
                COLUMN_TAP(j) * ROW_TAP(i) * CELLS_AT(at, i);                                      \
        }                                                                                          \
    }

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
separable_direct(__global const float *restrict src, __constant float *filters,
                 __global float *restrict dst, int w, int h)
{
    const int x = (int)get_global_id(0) * VEC;
    const int y = (int)get_global_id(1) * ROWS;
    if (x >= w || y >= h)
        return; /* no barrier follows */
    cells sum[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        sum[r] = 0.0f;
#pragma unroll 1
    for (int row = 0; row < ROWS + 2 * RADIUS; row++) {
        __global const float *line = row_at(src, clamp(y + row - RADIUS, 0, h - 1), w);
        if (lies_inside(x, w)) {
            ADD_ROW(sum, row, line + (x - RADIUS));
        } else {
            float window[WINDOW];
            load_window(window, line, x, w, w % PIECE == 0);
            ADD_ROW(sum, row, window + (REACH - RADIUS));
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (y + r < h)
            store_cells(dst + (size_t)w * (size_t)(y + r), x, w, sum[r]);
    }
}

#endif

#ifdef VARIANT_passes

/* A work-item makes VEC sums of one row. */
__kernel __attribute__((reqd_work_group_size(TX, 8, 1))) void
separable_rows(__global const float *restrict src, __constant float *filters,
               __global float *restrict sums, int w, int h)
{
    const int x = (int)get_global_id(0) * VEC;
    const int y = (int)get_global_id(1);
    if (x < w && y < h)
        *(__global cells *)(sums + pitch_of(w) * (size_t)y + x) =
            sum_of_row(row_at(src, y, w), filters, x, w, w % PIECE == 0);
}

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
separable_columns(__global const float *restrict sums, __constant float *filters,
                  __global float *restrict dst, int w, int h)
{
    walk_down(sums, filters, dst, w, h);
}

#endif

#ifdef VARIANT_fused

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
separable_fused(__global const float *restrict src, __constant float *filters,
                __global float *restrict dst, int w, int h)
{
    walk_down(src, filters, dst, w, h);
}

#endif

#ifdef VARIANT_local

#if VEC == 16 && PAD > 0
#error "PAD is 0 where VEC is 16: rows of wide vectors stay aligned"
#endif

#define TILE_W (TX * VEC + 2 * REACH)
#define TILE_H (TY * ROWS + 2 * RADIUS)
#define PITCH (TILE_W + PAD * PIECE)
#define SUMS_PITCH (TX * VEC + PAD * PIECE)

#if TILE == 1

/* The cells of src that a work-group needs; its corner in the image is at (left, top). */
static void stage_tile(__local float *tile, __global const float *src, int left, int top, int w,
                       int h, int item, int whole)
{
    for (int i = item; i < TILE_W / PIECE * TILE_H; i += TX * TY) {
        const int x = i % (TILE_W / PIECE) * PIECE;
        const int y = i / (TILE_W / PIECE);
        *(__local piece *)(tile + y * PITCH + x) =
            piece_at(row_at(src, clamp(top + y, 0, h - 1), w), left + x, w, whole, 0);
    }
}

/* The same as sum_of_row, of a row of the tile; at: REACH before the work-item's cells. */
static cells sum_of_line(__local const float *at, __constant float *filters)
{
    cells sum = 0.0f;
#if WIDE
    ADD_TAPS(sum, at + (REACH - RADIUS));
#else
    float window[WINDOW];
#pragma unroll
    for (int i = 0; i < WINDOW; i += PIECE)
        KEEP_PIECE(window + i, *(__local const piece *)(at + i));
    ADD_TAPS(sum, window + (REACH - RADIUS));
#endif
    return sum;
}

#endif

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
separable_local(__global const float *restrict src, __constant float *filters,
                __global float *restrict dst, int w, int h)
{
    __local float sums[SUMS_PITCH * TILE_H] __attribute__((aligned(64)));
    const int lx = (int)get_local_id(0);
    const int ly = (int)get_local_id(1);
    const int top = (int)get_group_id(1) * (TY * ROWS) - RADIUS;
    const int x = (int)get_global_id(0) * VEC;
    const int whole = w % PIECE == 0;

#if TILE == 1
    __local float tile[PITCH * TILE_H] __attribute__((aligned(64)));
    stage_tile(tile, src, (int)get_group_id(0) * (TX * VEC) - REACH, top, w, h, ly * TX + lx,
               whole);
    barrier(CLK_LOCAL_MEM_FENCE); /* the tile is whole */
#endif
    for (int row = ly; row < TILE_H; row += TY) {
#if TILE == 1
        const cells sum = sum_of_line(tile + row * PITCH + lx * VEC, filters);
#else
        const cells sum =
            sum_of_row(row_at(src, clamp(top + row, 0, h - 1), w), filters, x, w, whole);
#endif
        *(__local cells *)(sums + row * SUMS_PITCH + lx * VEC) = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* the sums are; every work-item comes here */

    const int y = (int)get_global_id(1) * ROWS;
    if (x >= w || y >= h)
        return; /* no barrier follows */
    cells sum[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        sum[r] = 0.0f;
#pragma unroll
    for (int row = 0; row < ROWS + 2 * RADIUS; row++) {
        const cells of_row =
            *(__local const cells *)(sums + (ly * ROWS + row) * SUMS_PITCH + lx * VEC);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (row >= r && row - r < SIDE)
                sum[r] += COLUMN_TAP(row - r) * of_row;
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (y + r < h)
            store_cells(dst + (size_t)w * (size_t)(y + r), x, w, sum[r]);
    }
}

#endif
