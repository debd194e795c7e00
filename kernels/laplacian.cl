/* laplacian.cl: the Laplacian of a periodic 2-D grid, plain and staged in local memory.
 *
 *   POINTS 5:  0  1  0        POINTS 9:  1   4  1
 *              1 -4  1                   4 -20  4   / 6   (isotropic)
 *              0  1  0                   1   4  1
 *
 * A work-group of TX x TY work-items owns TX*VEC x TY*ROWS cells: each work-item VEC neighbouring
 * cells along x (one vector, "cells" below) in each of ROWS neighbouring rows. Right on every grid
 * of 1 x 1 and larger: whatever lies outside is the periodic image, also where the tile is larger
 * than the grid or VEC does not divide its width.
 *
 * POINTS, TX, TY, VEC (1 or 4), ROWS; the local variant also has
 *
 * - PAD: unused cells (vectors where VEC is 4) after each line of the tile, against bank conflicts;
 * - LOAD, who stages what: 0 interleaved, neighbouring work-items fetch neighbouring cells;
 *   1 chunked, each work-item fetches one contiguous piece;
 * - LAYOUT, order of the tile in local memory: 0 x fastest, 1 y fastest. */

#include "cells.clh"

/* A line of the grid as one work-item sees it: its cells and the cell on either side. */
struct line {
    float west;
    cells mid;
    float east;
};

/* The cells one step to the west and to the east of a line's own. */
static cells west_of(struct line l)
{
#if VEC == 4
    return (float4)(l.west, l.mid.x, l.mid.y, l.mid.z);
#else
    return l.west;
#endif
}

static cells east_of(struct line l)
{
#if VEC == 4
    return (float4)(l.mid.y, l.mid.z, l.mid.w, l.east);
#else
    return l.east;
#endif
}

static cells laplacian(struct line north, struct line here, struct line south)
{
    const cells beside = west_of(here) + east_of(here) + north.mid + south.mid;
#if POINTS == 9
    const cells corners = west_of(north) + east_of(north) + west_of(south) + east_of(south);
    return (4.0f * beside + corners - 20.0f * here.mid) * (1.0f / 6.0f);
#elif POINTS == 5
    return beside - 4.0f * here.mid;
#else
#error "POINTS is 5 or 9"
#endif
}

#ifdef VARIANT_naive

/* The line of the cells x .. x+VEC of a row of w; 0 <= x < w, x a multiple of VEC. Cells beyond the
 * row's end are its periodic images. */
static struct line load_line(__global const float *row, int x, int w)
{
    struct line l;
    l.west = row[x == 0 ? w - 1 : x - 1];
#if VEC == 4
    if (x > w - 4) { /* one to three cells are left; the row may be shorter than a vector */
        l.mid.x = row[x];
        l.mid.y = row[(x + 1) % w];
        l.mid.z = row[(x + 2) % w];
        l.mid.w = row[(x + 3) % w];
        l.east = row[(x + 4) % w];
        return l;
    }
    if (w % 4 == 0) /* then every vector is aligned */
        l.mid = *(__global const float4 *)(row + x);
    else
        l.mid = vload4(0, row + x);
#else
    l.mid = row[x];
#endif
    l.east = row[x + VEC == w ? 0 : x + VEC];
    return l;
}

/* `count` rows from y on, all inside the grid. A row is loaded once and then handed northwards. */
static void laplacian_rows(__global const float *src, __global float *dst, int w, int h, int x,
                           int y, int count)
{
    const size_t pitch = (size_t)w;
    struct line north = load_line(src + pitch * (size_t)(y == 0 ? h - 1 : y - 1), x, w);
    struct line here = load_line(src + pitch * (size_t)y, x, w);
    for (int r = 0; r < count; r++) {
        const int below = y + r + 1 == h ? 0 : y + r + 1;
        const struct line south = load_line(src + pitch * (size_t)below, x, w);
        store_cells(dst + pitch * (size_t)(y + r), x, w, laplacian(north, here, south));
        north = here;
        here = south;
    }
}

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
laplacian_naive(__global const float *restrict src, __global float *restrict dst, int w, int h)
{
    const int x = (int)get_global_id(0) * VEC;
    const int y = (int)get_global_id(1) * ROWS;
    if (x >= w || y >= h)
        return; /* no barrier follows */
    if (y + ROWS <= h)
        laplacian_rows(src, dst, w, h, x, y, ROWS); /* a constant: the loop can be unrolled */
    else
        laplacian_rows(src, dst, w, h, x, y, h - y);
}

#endif

#ifdef VARIANT_local

/* The tile with its halo, in cells: one vector on either side and one row above and below. */
#define TILE_W (TX + 2)
#define TILE_H (TY * ROWS + 2)
#if LAYOUT == 0
#define TILE_AT(x, y) ((y) * (TILE_W + PAD) + (x))
#define TILE_CELLS ((TILE_W + PAD) * TILE_H)
#elif LAYOUT == 1
#define TILE_AT(x, y) ((x) * (TILE_H + PAD) + (y))
#define TILE_CELLS ((TILE_H + PAD) * TILE_W)
#else
#error "LAYOUT is 0 or 1"
#endif

#define GROUP (TX * TY)
#define CHUNK ((TILE_W * TILE_H + GROUP - 1) / GROUP)

/* i modulo n for any i; the division is kept off the common path. */
static int wrap(int i, int n)
{
    if (i < 0 || i >= n) {
        i %= n;
        i = i < 0 ? i + n : i;
    }
    return i;
}

#include "periodic_cells.clh"

/* Cell i of the tile, counted along x first whatever the layout: global memory decides the order of
 * loads. (left, top) is the tile's corner, in vectors and rows. */
static void stage_cell(__global const float *src, __local cells *tile, int i, int left, int top,
                       int w, int h)
{
    const int tx = i % TILE_W;
    const int ty = i / TILE_W;
    __global const float *row = src + (size_t)w * (size_t)wrap(top + ty, h);
    tile[TILE_AT(tx, ty)] = load_cells(row, (left + tx) * VEC, w);
}

static struct line tile_line(__local const cells *tile, int x, int y)
{
    struct line l;
    l.mid = tile[TILE_AT(x, y)];
#if VEC == 4
    l.west = tile[TILE_AT(x - 1, y)].w;
    l.east = tile[TILE_AT(x + 1, y)].x;
#else
    l.west = tile[TILE_AT(x - 1, y)];
    l.east = tile[TILE_AT(x + 1, y)];
#endif
    return l;
}

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
laplacian_local(__global const float *restrict src, __global float *restrict dst, int w, int h)
{
    __local cells tile[TILE_CELLS];
    const int lx = (int)get_local_id(0);
    const int ly = (int)get_local_id(1);
    const int left = (int)get_group_id(0) * TX - 1;
    const int top = (int)get_group_id(1) * (TY * ROWS) - 1;
    const int me = ly * TX + lx;

#if LOAD == 0
    for (int i = me; i < TILE_W * TILE_H; i += GROUP)
        stage_cell(src, tile, i, left, top, w, h);
#elif LOAD == 1
    for (int i = me * CHUNK; i < min((me + 1) * CHUNK, TILE_W * TILE_H); i++)
        stage_cell(src, tile, i, left, top, w, h);
#else
#error "LOAD is 0 or 1"
#endif
    barrier(CLK_LOCAL_MEM_FENCE); /* every work-item comes here, also those outside the grid */

    const int x = (left + 1 + lx) * VEC;
    const int y = top + 1 + ly * ROWS;
    if (x < w && y < h) {
        struct line north = tile_line(tile, lx + 1, ly * ROWS);
        struct line here = tile_line(tile, lx + 1, ly * ROWS + 1);
        for (int r = 0; r < ROWS; r++) {
            const struct line south = tile_line(tile, lx + 1, ly * ROWS + r + 2);
            if (y + r < h)
                store_cells(dst + (size_t)w * (size_t)(y + r), x, w, laplacian(north, here, south));
            north = here;
            here = south;
        }
    }
}

#endif
