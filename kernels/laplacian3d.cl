/* laplacian3d.cl: the Laplacian of a periodic 3-D grid, plain and staged in local memory.
 *
 *   POINTS 7:  the six neighbours that share a face, minus 6 times the cell
 *   POINTS 27: in the cell's plane    in the planes before and behind
 *                3   6   3              2  3  2
 *                6 -88   6   / 26       3  6  3   / 26   (O'Reilly and Beck 2006)
 *                3   6   3              2  3  2
 *
 * Both variants block the grid in 2.5 dimensions: a work-group of TX x TY work-items owns TX*VEC x
 * TY*ROWS cells of a plane and walks along z through DEPTH planes. Each work-item owns VEC
 * neighbouring cells along x (one vector, "cells" below) in each of ROWS neighbouring rows. What a
 * plane gives to the next one stays in registers, so each plane is loaded once, not three times.
 * Right on every grid of 1 x 1 x 1 and larger: whatever lies outside is the periodic image.
 *
 * The spec counts the flops of one cell by itself, where neighbours of one weight are added before
 * they are multiplied: 7, and 5 + 11 + 7 additions within the three kinds of neighbours, 4 products
 * with weights, 3 additions of them and the factor, 31. With POINTS 27 the kernels do fewer, since
 * sums within a plane serve three planes.
 *
 * POINTS, TX, TY, VEC (1, 2, 4 or 16), ROWS, DEPTH. The local variant puts each plane with its halo
 * into local memory, two planes in turn, while the next one is on its way into registers; PAD:
 * unused cells (vectors where VEC is above 1) after each line of the tile, against bank conflicts.
 */

#include "cells.clh"
#include "line.clh"
#include "periodic_cells.clh"

/* The grid's size in cells. */
struct grid {
    int w, h, d;
};

/* What a plane adds to the results in itself and in the planes beside it, but for FACTOR. */
struct parts {
    cells inside, beside;
};

#if POINTS == 7
#define FACTOR 1.0f
#elif POINTS == 27
#define FACTOR (1.0f / 26)
#else
#error "POINTS is 7 or 27"
#endif

static struct parts parts_of(struct line north, struct line here, struct line south)
{
    const cells faces = west_of(here) + east_of(here) + north.mid + south.mid;
    struct parts p;
#if POINTS == 7
    p.inside = faces - 6.0f * here.mid;
    p.beside = here.mid;
#else
    const cells corners = west_of(north) + east_of(north) + west_of(south) + east_of(south);
    p.inside = 6.0f * faces + 3.0f * corners - 88.0f * here.mid;
    p.beside = 6.0f * here.mid + 3.0f * faces + 2.0f * corners;
#endif
    return p;
}

/* The rows of one work-item on their way along z: the last plane's results but for what the next
 * one adds, and what the last plane adds to that. Starts as {0}; the first two planes' results are
 * none. */
struct walk {
    cells before[ROWS], last_beside[ROWS];
};

/* The next plane's parts arrive: the last plane's result is complete. */
static cells arrive(struct walk *k, int r, struct parts p)
{
    const cells result = FACTOR * (k->before[r] + p.beside);
    k->before[r] = k->last_beside[r] + p.inside;
    k->last_beside[r] = p.beside;
    return result;
}

/* Where a work-item is: its first column and those beside its cells, and its row. whole: rows are
 * whole vectors, and x lies inside; else x may lie anywhere. */
struct site {
    int x, west, east, row, whole;
};

static struct site site_at(int x, int y, struct grid g)
{
    struct site s;
    s.whole = g.w % VEC == 0;
    s.x = s.whole ? wrap(x, g.w) : x;
    s.west = wrap(x - 1, g.w);
    s.east = wrap(x + VEC, g.w);
    s.row = wrap(y, g.h);
    return s;
}

static __global const float *row_of(__global const float *src, struct site s, int z, struct grid g)
{
    return src + ((size_t)z * (size_t)g.h + (size_t)s.row) * (size_t)g.w;
}

static cells load_site(__global const float *src, struct site s, int z, struct grid g)
{
    __global const float *row = row_of(src, s, z, g);
    return s.whole ? *(__global const cells *)(row + s.x) : load_cells(row, s.x, g.w);
}

static void store_site(__global float *dst, int x, int y, int z, struct grid g, cells v)
{
    if (x < g.w && y < g.h)
        store_cells(dst + ((size_t)z * (size_t)g.h + (size_t)y) * (size_t)g.w, x, g.w, v);
}

#ifdef VARIANT_naive

/* The cells of a site and those beside them. */
static struct line load_line(__global const float *src, struct site s, int z, struct grid g)
{
    __global const float *row = row_of(src, s, z, g);
    struct line l;
    l.mid = load_site(src, s, z, g);
    l.west = row[s.west];
    l.east = row[s.east];
    return l;
}

/* Plane z arrives, and the results of the plane before are complete. site: of the rows from the one
 * above the work-item's own to the one below. */
static void take_plane(__global const float *src, const struct site *site, int z, struct grid g,
                       struct walk *k, cells *result)
{
    struct line line[ROWS + 2];
#pragma unroll
    for (int r = 0; r < ROWS + 2; r++)
        line[r] = load_line(src, site[r], z, g);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        result[r] = arrive(k, r, parts_of(line[r], line[r + 1], line[r + 2]));
}

/* Several planes at a time, so that their loads are under way together; not where the vectors are a
 * CPU's, whose registers hold no more than one plane's. */
#define AT_ONCE (VEC < 16 && DEPTH % 4 == 0 ? 4 : 1)

/* DEPTH planes from `first` on, where the rows are whole vectors and all ROWS inside the grid:
 * without a branch. */
static void all_planes(__global const float *src, __global float *dst, const struct site *site,
                       int first, struct grid g)
{
    struct walk k = {0};
    cells result[AT_ONCE][ROWS];
    int z = first == 0 ? g.d - 1 : first - 1;
    take_plane(src, site, z, g, &k, result[0]);
    take_plane(src, site, first, g, &k, result[0]);
    z = first + 1 == g.d ? 0 : first + 1;
    for (int i = 0; i < DEPTH; i += AT_ONCE) {
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++) {
            take_plane(src, site, z, g, &k, result[u]);
            z = next_index(z, g.d);
        }
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const size_t row =
                    ((size_t)(first + i + u) * (size_t)g.h + (size_t)site[r + 1].row) * (size_t)g.w;
                *(__global cells *)(dst + row + site[r + 1].x) = result[u][r];
            }
        }
    }
}

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
laplacian3d_naive(__global const float *restrict src, __global float *restrict dst, int w, int h,
                  int d)
{
    const struct grid g = {w, h, d};
    const int x = (int)get_global_id(0) * VEC;
    const int y = (int)get_global_id(1) * ROWS;
    const int first = (int)get_global_id(2) * DEPTH;
    struct site site[ROWS + 2];

    if (x >= w || y >= h)
        return; /* no barrier follows */
#pragma unroll
    for (int r = 0; r < ROWS + 2; r++)
        site[r] = site_at(x, y + r - 1, g);
    if (w % VEC == 0 && y + ROWS <= h && first + DEPTH <= d) {
#pragma unroll
        for (int r = 0; r < ROWS + 2; r++)
            site[r].whole = 1; /* known, so that no load asks */
        all_planes(src, dst, site, first, g);
        return;
    }
    struct walk k = {0};
    int z = wrap(first - 1, d);
    for (int i = 0; i < min(DEPTH, d - first) + 2; i++) {
        cells result[ROWS];
        take_plane(src, site, z, g, &k, result);
        for (int r = 0; r < ROWS && i >= 2; r++)
            store_site(dst, x, y + r, first + i - 2, g, result[r]);
        z = next_index(z, d);
    }
}

#endif

#ifdef VARIANT_local

/* A plane of the tile with its halo: one vector on either side, one row above and below. */
#define CORE_H (TY * ROWS)
#define TILE_W (TX + 2)
#define TILE_H (CORE_H + 2)
#define TILE_ROW (TILE_W + PAD)
#define GROUP (TX * TY)

/* The rim of the plane: its first and last line, and the first and last cells of those between. */
#define RIM_CELLS (2 * TILE_W + 2 * CORE_H)
#define RIM_EACH ((RIM_CELLS + GROUP - 1) / GROUP) /* a work-item, at most */

/* Piece i of the rim: where in the tile, and where in the grid. */
struct rim {
    int at;
    struct site site;
};

static struct rim rim_piece(int i, int left, int top, struct grid g)
{
    const int side = i - 2 * TILE_W;
    const int tx = side < 0 ? i % TILE_W : side % 2 * (TILE_W - 1);
    const int ty = side < 0 ? i / TILE_W * (TILE_H - 1) : side / 2 + 1;
    struct rim piece;
    piece.at = ty * TILE_ROW + tx;
    piece.site = site_at((left + tx) * VEC, top + ty, g);
    return piece;
}

/* A work-item's share of plane z: its own cells, and pieces of the rim. */
static void load_plane(__global const float *src, const struct site *site, const struct rim *rim,
                       int z, struct grid g, cells *own, cells *halo)
{
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        own[r] = load_site(src, site[r], z, g);
#pragma unroll
    for (int e = 0; e < RIM_EACH; e++)
        if ((int)get_local_id(1) * TX + (int)get_local_id(0) + e * GROUP < RIM_CELLS)
            halo[e] = load_site(src, rim[e].site, z, g);
}

/* The cells mid at p of the tile and those beside them. */
static struct line line_around(__local const cells *p, cells mid)
{
    struct line l;
    l.mid = mid;
    l.west = LAST_CELL(p[-1]);
    l.east = FIRST_CELL(p[1]);
    return l;
}

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
laplacian3d_local(__global const float *restrict src, __global float *restrict dst, int w, int h,
                  int d)
{
    __local cells tile[2][TILE_ROW * TILE_H];
    const struct grid g = {w, h, d};
    const int me = (int)get_local_id(1) * TX + (int)get_local_id(0);
    const int left = (int)get_group_id(0) * TX - 1, top = (int)get_group_id(1) * CORE_H - 1;
    const int x = (left + 1 + (int)get_local_id(0)) * VEC;
    const int y = top + 1 + (int)get_local_id(1) * ROWS;
    const int own_at = ((int)get_local_id(1) * ROWS + 1) * TILE_ROW + (int)get_local_id(0) + 1;
    const int first = (int)get_group_id(2) * DEPTH;
    const int planes = min(DEPTH, d - first);
    int z = wrap(first - 1, d);
    struct site site[ROWS];
    struct rim rim[RIM_EACH];
    cells own[2][ROWS], halo[2][RIM_EACH]; /* of the next two planes */
    struct walk k = {0};

#pragma unroll
    for (int r = 0; r < ROWS; r++)
        site[r] = site_at(x, y + r, g);
#pragma unroll
    for (int e = 0; e < RIM_EACH; e++)
        rim[e] = rim_piece(min(me + e * GROUP, RIM_CELLS - 1), left, top, g);
#pragma unroll
    for (int u = 0; u < 2; u++) {
        load_plane(src, site, rim, z, g, own[u], halo[u]);
        z = next_index(z, d);
    }
    for (int i = 0; i < planes + 2; i += 2) { /* as often for all work-items */
#pragma unroll
        for (int u = 0; u < 2; u++) {
            __local cells *plane = tile[u]; /* the other one may still be read */
            cells mid[ROWS];
#pragma unroll
            for (int e = 0; e < RIM_EACH; e++)
                if (me + e * GROUP < RIM_CELLS)
                    plane[rim[e].at] = halo[u][e];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                plane[own_at + r * TILE_ROW] = mid[r] = own[u][r];
            barrier(CLK_LOCAL_MEM_FENCE);

            /* The plane after next is on its way while this one and the next are computed. */
            load_plane(src, site, rim, z, g, own[u], halo[u]);
            z = next_index(z, d);

            __local const cells *at = plane + own_at;
            struct line north = line_around(at - TILE_ROW, at[-TILE_ROW]);
            struct line here = line_around(at, mid[0]);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                at += TILE_ROW;
                const struct line south =
                    line_around(at, r + 1 < ROWS ? mid[(r + 1) % ROWS] : at[0]);
                const cells result = arrive(&k, r, parts_of(north, here, south));
                if (i + u >= 2 && i + u < planes + 2)
                    store_site(dst, x, y + r, first + i + u - 2, g, result);
                north = here;
                here = south;
            }
        }
    }
}

#endif
