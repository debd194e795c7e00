/* laplacian.cl: the Laplacian of a periodic 2-D grid, plain and staged in local memory.
 *
 *   POINTS 5:  0  1  0        POINTS 9:  1   4  1
 *              1 -4  1                   4 -20  4   / 6   (isotropic)
 *              0  1  0                   1   4  1
 *
 * A work-group of TX x TY work-items owns TX*VEC x TY*ROWS cells: each work-item VEC neighbouring
 * cells along x (one vector, "cells" below) in each of ROWS neighbouring rows. Right on every grid
 * of 1 x 1 and larger: whatever lies outside is the periodic image, also where the tile is larger
 * than the grid or VEC does not divide its width. Work-items whose surroundings lie inside take a
 * path of straight-line loads, so that all of them are under way at once.
 *
 * POINTS, TX, TY, VEC (1, 2, 4 or 16), ROWS. Variant local also has:
 *
 * - PAD: unused cells (vectors where VEC is above 1) after each line of the tile, against bank
 *   conflicts;
 * - LOAD, who stages what: 0 interleaved, neighbouring work-items fetch neighbouring cells; 1
 *   chunked, each work-item fetches one contiguous piece; 2 each work-item the cells that it owns,
 *   which it keeps in registers besides, and then the halo interleaved;
 * - LAYOUT, order of the tile in local memory: 0 x fastest, 1 y fastest.
 *
 * Variant async: the work-group copies each line of the tile by async_work_group_copy.
 * Variant shuffle: without local memory; neighbours hand each other the cells at their sides within
 * a sub-group (cl_khr_subgroup_shuffle). The spec's requested_bytes of it hold where a sub-group
 * spans the TX work-items of a row; where it is smaller, its ends load their sides from global
 * memory as well, and they are a lower bound. */

#include "cells.clh"
#include "line.clh"
#include "periodic_cells.clh"

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

/* Whole vectors in a grid of whole vectors. west and east: columns beside them. */
static struct line load_whole(__global const float *row, int west, int x, int east)
{
    struct line l;
    l.west = row[west];
    l.mid = *(__global const cells *)(row + x);
    l.east = row[east];
    return l;
}

/* The line of the cells x .. x+VEC of any row of w; cells beyond its end are its periodic images.
 */
static struct line load_line(__global const float *row, int x, int w)
{
    struct line l;
    l.west = row[wrap(x - 1, w)];
    l.mid = load_cells(row, x, w);
    l.east = row[wrap(x + VEC, w)];
    return l;
}

/* ROWS rows from y on, all inside a grid of whole vectors. A row is loaded once and then handed
 * northwards. */
static void laplacian_whole(__global const float *src, __global float *dst, int w, int h, int x,
                            int y)
{
    const size_t pitch = (size_t)w;
    const int west = x == 0 ? w - 1 : x - 1;
    const int east = x + VEC == w ? 0 : x + VEC;
    struct line north = load_whole(src + pitch * (size_t)(y == 0 ? h - 1 : y - 1), west, x, east);
    struct line here = load_whole(src + pitch * (size_t)y, west, x, east);
    cells result[ROWS]; /* all loads come before the first store */
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int below = y + r + 1 == h ? 0 : y + r + 1;
        const struct line south = load_whole(src + pitch * (size_t)below, west, x, east);
        result[r] = laplacian(north, here, south);
        north = here;
        here = south;
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        *(__global cells *)(dst + pitch * (size_t)(y + r) + x) = result[r];
}

/* The same for `count` rows of any grid. */
static void laplacian_any(__global const float *src, __global float *dst, int w, int h, int x,
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
    if (w % VEC == 0 && y + ROWS <= h)
        laplacian_whole(src, dst, w, h, x, y);
    else
        laplacian_any(src, dst, w, h, x, y, min(ROWS, h - y));
}

#endif

#ifdef VARIANT_shuffle

#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable

/* Who in the sub-group owns the cells to one side, and at which column that side's first cell is in
 * memory, for those whose neighbour is none of the sub-group. */
struct neighbour {
    uint lane;
    int here, column;
};

/* Is the work-item `lane` of the sub-group the one that owns (x, y)? How a device lays work-items
 * out in sub-groups is its own affair, so they are asked. */
static int owns(uint lane, int x, int y)
{
    const int its_x = sub_group_shuffle((int)get_global_id(0) * VEC, lane);
    const int its_y = sub_group_shuffle((int)get_global_id(1), lane); /* all ask both */
    return its_x == x && its_y == y;
}

static struct neighbour west_neighbour(int x, int w)
{
    const uint lane = get_sub_group_local_id();
    struct neighbour n;
    n.lane = lane > 0 ? lane - 1 : 0;
    n.here = owns(n.lane, x - VEC, (int)get_global_id(1));
    n.column = wrap(x - 1, w);
    return n;
}

static struct neighbour east_neighbour(int x, int w)
{
    const uint lane = get_sub_group_local_id();
    struct neighbour n;
    n.lane = lane + 1 < get_sub_group_size() ? lane + 1 : lane;
    n.here = owns(n.lane, x + VEC, (int)get_global_id(1));
    n.column = wrap(x + VEC, w);
    return n;
}

/* All of the sub-group come here. sides: are the cells beside the line's own wanted? */
static struct line shuffled_line(__global const float *row, int x, int w, struct neighbour west,
                                 struct neighbour east, int sides)
{
    struct line l;
    l.mid = load_cells(row, x, w);
    l.west = l.east = 0.0f;
    if (sides) {
        l.west = sub_group_shuffle(LAST_CELL(l.mid), west.lane);
        l.east = sub_group_shuffle(FIRST_CELL(l.mid), east.lane);
        if (!west.here)
            l.west = row[west.column];
        if (!east.here)
            l.east = row[east.column];
    }
    return l;
}

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
laplacian_shuffle(__global const float *restrict src, __global float *restrict dst, int w, int h)
{
    const int x = (int)get_global_id(0) * VEC;
    const int y = (int)get_global_id(1) * ROWS;
    const size_t pitch = (size_t)w;
    const struct neighbour west = west_neighbour(x, w), east = east_neighbour(x, w);
    struct line line[ROWS + 2]; /* from the one above the work-item's own to the one below */
#pragma unroll
    for (int r = 0; r < ROWS + 2; r++)
        line[r] = shuffled_line(src + pitch * (size_t)wrap(y + r - 1, h), x, w, west, east,
                                POINTS == 9 || (r >= 1 && r <= ROWS));
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (x < w && y + r < h)
            store_cells(dst + pitch * (size_t)(y + r), x, w,
                        laplacian(line[r], line[r + 1], line[r + 2]));
    }
}

#endif

#if defined(VARIANT_local) || defined(VARIANT_async)

/* The tile with its halo, in cells: one vector on either side and one row above and below. */
#define TILE_W (TX + 2)
#define TILE_H (TY * ROWS + 2)
#ifdef VARIANT_async
#define TILE_AT(x, y) ((y)*TILE_W + (x))
#define TILE_CELLS (TILE_W * TILE_H)
#elif LAYOUT == 0
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

/* A work-group's tile: its corner, in vectors and rows, in a grid of w x h, and whether all of it
 * lies inside a grid of whole vectors. The same for all work-items of the group. */
struct tile {
    int left, top, w, h, inside;
};

static struct tile tile_of_group(int w, int h)
{
    struct tile t;
    t.left = (int)get_group_id(0) * TX - 1;
    t.top = (int)get_group_id(1) * (TY * ROWS) - 1;
    t.w = w;
    t.h = h;
    t.inside = w % VEC == 0 && t.left >= 0 && (t.left + TILE_W) * VEC <= w && t.top >= 0 &&
               t.top + TILE_H <= h;
    return t;
}

/* The cells of the grid that belong at (tx, ty) of the tile. */
static cells fetch(__global const float *src, int tx, int ty, struct tile t)
{
    if (t.inside)
        return *(__global const cells *)(src + (size_t)t.w * (size_t)(t.top + ty) +
                                         (t.left + tx) * VEC);
    return load_cells(src + (size_t)t.w * (size_t)wrap(t.top + ty, t.h), (t.left + tx) * VEC, t.w);
}

/* Cell i of the tile, counted along x first whatever the layout: global memory decides the order of
 * loads. */
static void stage_cell(__global const float *src, __local cells *tile, int i, struct tile t)
{
    const int tx = i % TILE_W;
    const int ty = i / TILE_W;
    tile[TILE_AT(tx, ty)] = fetch(src, tx, ty, t);
}

/* The line at (x, y) of the tile with the cells mid in its middle. */
static struct line line_around(__local const cells *tile, int x, int y, cells mid)
{
    struct line l;
    l.mid = mid;
    l.west = LAST_CELL(tile[TILE_AT(x - 1, y)]);
    l.east = FIRST_CELL(tile[TILE_AT(x + 1, y)]);
    return l;
}

static struct line tile_line(__local const cells *tile, int x, int y)
{
    return line_around(tile, x, y, tile[TILE_AT(x, y)]);
}

static void store_line(__global float *dst, int x, int y, struct tile t, cells v)
{
    if (t.inside)
        *(__global cells *)(dst + (size_t)t.w * (size_t)y + x) = v;
    else if (x < t.w && y < t.h)
        store_cells(dst + (size_t)t.w * (size_t)y, x, t.w, v);
}

/* The work-item's cells from the tile. */
static void laplacian_staged(__local const cells *tile, __global float *dst, struct tile t)
{
    const int x = (int)get_local_id(0) + 1;
    const int y = (int)get_local_id(1) * ROWS + 1;
    struct line north = tile_line(tile, x, y - 1);
    struct line here = tile_line(tile, x, y);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const struct line south = tile_line(tile, x, y + r + 1);
        store_line(dst, (t.left + x) * VEC, t.top + y + r, t, laplacian(north, here, south));
        north = here;
        here = south;
    }
}

#endif

#ifdef VARIANT_local

#if LOAD == 2

/* The rim of the tile: its first and last line, and the first and last cells of those between. */
#define RIM_CELLS (2 * TILE_W + 2 * (TILE_H - 2))

static void stage_rim(__global const float *src, __local cells *tile, int first, struct tile t)
{
    for (int i = first; i < RIM_CELLS; i += GROUP) {
        const int side = i - 2 * TILE_W;
        const int tx = side < 0 ? i % TILE_W : side % 2 * (TILE_W - 1);
        const int ty = side < 0 ? i / TILE_W * (TILE_H - 1) : side / 2 + 1;
        tile[TILE_AT(tx, ty)] = fetch(src, tx, ty, t);
    }
}

/* Each work-item's own cells stay in registers; local memory gives it its neighbours'. */
static void laplacian_group(__global const float *src, __global float *dst, __local cells *tile,
                            struct tile t)
{
    const int x = (int)get_local_id(0) + 1;
    const int y = (int)get_local_id(1) * ROWS + 1;
    cells own[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        own[r] = fetch(src, x, y + r, t);
    stage_rim(src, tile, (int)get_local_id(1) * TX + (int)get_local_id(0), t);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        tile[TILE_AT(x, y + r)] = own[r];
    barrier(CLK_LOCAL_MEM_FENCE); /* every work-item comes here, also those outside the grid */

    struct line north = tile_line(tile, x, y - 1);
    struct line here = line_around(tile, x, y, own[0]);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const struct line south = r + 1 < ROWS
                                      ? line_around(tile, x, y + r + 1, own[(r + 1) % ROWS])
                                      : tile_line(tile, x, y + r + 1);
        store_line(dst, (t.left + x) * VEC, t.top + y + r, t, laplacian(north, here, south));
        north = here;
        here = south;
    }
}

#else

static void laplacian_group(__global const float *src, __global float *dst, __local cells *tile,
                            struct tile t)
{
    const int me = (int)get_local_id(1) * TX + (int)get_local_id(0);
#if LOAD == 0
    for (int i = me; i < TILE_W * TILE_H; i += GROUP)
        stage_cell(src, tile, i, t);
#elif LOAD == 1
    for (int i = me * CHUNK; i < min((me + 1) * CHUNK, TILE_W * TILE_H); i++)
        stage_cell(src, tile, i, t);
#else
#error "LOAD is 0, 1 or 2"
#endif
    barrier(CLK_LOCAL_MEM_FENCE); /* every work-item comes here, also those outside the grid */
    laplacian_staged(tile, dst, t);
}

#endif

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
laplacian_local(__global const float *restrict src, __global float *restrict dst, int w, int h)
{
    __local cells tile[TILE_CELLS];
    laplacian_group(src, dst, tile, tile_of_group(w, h));
}

#endif

#ifdef VARIANT_async

/* One copy a line where the tile lies inside the grid; elsewhere its lines are in pieces, and the
 * work-items stage it. */
__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
laplacian_async(__global const float *restrict src, __global float *restrict dst, int w, int h)
{
    __local cells tile[TILE_CELLS];
    const struct tile t = tile_of_group(w, h);
    if (t.inside) { /* the same for all work-items: each reaches each copy */
        event_t done = 0;
        for (int y = 0; y < TILE_H; y++)
            done = async_work_group_copy(
                tile + TILE_AT(0, y),
                (__global const cells *)(src + (size_t)w * (size_t)(t.top + y)) + t.left, TILE_W,
                done);
        wait_group_events(1, &done);
    } else {
        for (int i = (int)get_local_id(1) * TX + (int)get_local_id(0); i < TILE_W * TILE_H;
             i += GROUP)
            stage_cell(src, tile, i, t);
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* every work-item comes here, also those outside the grid */
    laplacian_staged(tile, dst, t);
}

#endif
