/* gray_scott.cl: explicit Euler steps of Gray-Scott reaction-diffusion on a periodic grid, plain,
 * staged in local memory, and several steps fused in one launch. Two chemicals a and b:
 *
 *   a += dt * (da * lap(a) - a*b*b + f * (1 - a))
 *   b += dt * (db * lap(b) + a*b*b - (f + k) * b)
 *
 * lap is the Laplacian with grid spacing 1. DIM 2: in the planes of x and y (each of the d planes
 * by itself); DIM 3: in x, y and z. RADIUS 1 to 4: central differences of order 2 * RADIUS along
 * the axes (Fornberg 1988, table 1). BOX 1 (DIM 2, RADIUS 1): the isotropic (1 4 1; 4 -20 4; 1 4
 * 1)/6 instead.
 *
 * Each work-item owns VEC neighbouring cells along x (one vector, "cells" below). Right on every
 * grid of 1 x 1 x 1 and larger: whatever lies outside is the periodic image, also where the radius
 * or the tile is larger than the grid or VEC does not divide its width.
 *
 * Variants naive and local: DIM, RADIUS, BOX, LX, LY, LZ, VEC (1, 2, 4 or 16), ROWS. A work-group
 * of LX x LY x LZ work-items owns LX*VEC x LY*ROWS x LZ cells, each work-item ROWS neighbouring
 * rows. The local variant also has PAD: unused cells (vectors where VEC is above 1) after each line
 * of the tile, against bank conflicts. Variants planes, fused and fused3d: see there. */

#ifndef VEC
#define VEC 4
#endif
#include "cells.clh"
#include "periodic_cells.clh"

/* A halo along x is in vectors. */
#define HALO_X ((RADIUS + VEC - 1) / VEC)
#define HALO_Y RADIUS
#if DIM == 3
#define HALO_Z RADIUS
#elif DIM == 2
#define HALO_Z 0
#else
#error "DIM is 2 or 3"
#endif

/* WEIGHT_k: of the neighbours at distance k in the second difference along one axis. */
#if RADIUS == 1
#define WEIGHT_0 (-2.0f)
#define WEIGHT_1 1.0f
#elif RADIUS == 2
#define WEIGHT_0 (-5.0f / 2)
#define WEIGHT_1 (4.0f / 3)
#define WEIGHT_2 (-1.0f / 12)
#elif RADIUS == 3
#define WEIGHT_0 (-49.0f / 18)
#define WEIGHT_1 (3.0f / 2)
#define WEIGHT_2 (-3.0f / 20)
#define WEIGHT_3 (1.0f / 90)
#elif RADIUS == 4
#define WEIGHT_0 (-205.0f / 72)
#define WEIGHT_1 (8.0f / 5)
#define WEIGHT_2 (-1.0f / 5)
#define WEIGHT_3 (8.0f / 315)
#define WEIGHT_4 (-1.0f / 560)
#else
#error "RADIUS is 1, 2, 3 or 4"
#endif

/* The grid's size in cells. */
struct grid {
    int w, h, d;
};

/* A step with the cell's own part of the Laplacian gathered into one factor, which saves a third of
 * its operations: new a = feed + keep_a * a + side_a * sides(a) - dt * a*b*b, and the same for b,
 * where sides is the Laplacian without the cell itself. */
struct model {
    float keep_a, keep_b, side_a, side_b, feed, dt;
};

static struct model model_of(float da, float db, float f, float k, float dt)
{
#if BOX == 1
    const float centre = -20.0f / 6, side = 1.0f / 6;
#else
    const float centre = DIM * WEIGHT_0, side = 1.0f;
#endif
    struct model m;
    m.keep_a = 1.0f + dt * (centre * da - f);
    m.keep_b = 1.0f + dt * (centre * db - (f + k));
    m.side_a = dt * da * side;
    m.side_b = dt * db * side;
    m.feed = dt * f;
    m.dt = dt;
    return m;
}

struct pair {
    cells a, b;
};

static struct pair react(cells a, cells b, cells sides_a, cells sides_b, struct model m)
{
    const cells abb = a * b * b;
    struct pair next;
    next.a = m.side_a * sides_a + (m.keep_a * a + m.feed) - m.dt * abb;
    next.b = m.side_b * sides_b + m.keep_b * b + m.dt * abb;
    return next;
}

/* The cells at distance k to the west and to the east, summed. west and east are the vectors beside
 * mid; where VEC is 2, also those beyond. */
#if VEC == 16
/* Cell by cell: Oclgrind's pass for uninitialised values dies of parts of two vectors. Compilers
 * make one shuffle of it. */
static cells beside_1(cells west, cells mid, cells east)
{
    return shift_east(west.sf, mid) + shift_west(mid, east.s0);
}
#if RADIUS >= 2
static cells beside_2(cells west, cells mid, cells east)
{
    return (float16)(west.se, west.sf, mid.s0, mid.s1, mid.s2, mid.s3, mid.s4, mid.s5, mid.s6,
                     mid.s7, mid.s8, mid.s9, mid.sa, mid.sb, mid.sc, mid.sd) +
           (float16)(mid.s2, mid.s3, mid.s4, mid.s5, mid.s6, mid.s7, mid.s8, mid.s9, mid.sa, mid.sb,
                     mid.sc, mid.sd, mid.se, mid.sf, east.s0, east.s1);
}
#endif
#if RADIUS >= 3
static cells beside_3(cells west, cells mid, cells east)
{
    return (float16)(west.sd, west.se, west.sf, mid.s0, mid.s1, mid.s2, mid.s3, mid.s4, mid.s5,
                     mid.s6, mid.s7, mid.s8, mid.s9, mid.sa, mid.sb, mid.sc) +
           (float16)(mid.s3, mid.s4, mid.s5, mid.s6, mid.s7, mid.s8, mid.s9, mid.sa, mid.sb, mid.sc,
                     mid.sd, mid.se, mid.sf, east.s0, east.s1, east.s2);
}
#endif
#if RADIUS >= 4
static cells beside_4(cells west, cells mid, cells east)
{
    return (float16)(west.sc, west.sd, west.se, west.sf, mid.s0, mid.s1, mid.s2, mid.s3, mid.s4,
                     mid.s5, mid.s6, mid.s7, mid.s8, mid.s9, mid.sa, mid.sb) +
           (float16)(mid.s4, mid.s5, mid.s6, mid.s7, mid.s8, mid.s9, mid.sa, mid.sb, mid.sc, mid.sd,
                     mid.se, mid.sf, east.s0, east.s1, east.s2, east.s3);
}
#endif
#elif VEC == 4
static cells beside_1(cells west, cells mid, cells east)
{
    return (float4)(west.w + mid.y, mid.x + mid.z, mid.y + mid.w, mid.z + east.x);
}
#if RADIUS >= 2
static cells beside_2(cells west, cells mid, cells east)
{
    return (float4)(west.z + mid.z, west.w + mid.w, mid.x + east.x, mid.y + east.y);
}
#endif
#if RADIUS >= 3
static cells beside_3(cells west, cells mid, cells east)
{
    return (float4)(west.y + mid.w, west.z + east.x, west.w + east.y, mid.x + east.z);
}
#endif
#if RADIUS >= 4
static cells beside_4(cells west, cells mid, cells east)
{
    return west + east;
}
#endif
#elif VEC == 2
static cells beside_odd(cells west, cells near_west, cells near_east, cells east)
{
    return (float2)(west.y + near_east.y, near_west.x + east.x);
}
#define BESIDE(k, AT, y) BESIDE_##k(AT, y)
#define BESIDE_1(AT, y) beside_odd(AT(-1, y, 0), AT(0, y, 0), AT(0, y, 0), AT(1, y, 0))
#define BESIDE_2(AT, y) (AT(-1, y, 0) + AT(1, y, 0))
#define BESIDE_3(AT, y) beside_odd(AT(-2, y, 0), AT(-1, y, 0), AT(1, y, 0), AT(2, y, 0))
#define BESIDE_4(AT, y) (AT(-2, y, 0) + AT(2, y, 0))
#else
#define BESIDE(k, AT, y) (AT(-k, y, 0) + AT(k, y, 0))
#endif
#if VEC > 2
#define BESIDE(k, AT, y) beside_##k(AT(-1, y, 0), AT(0, y, 0), AT(1, y, 0))
#endif

/* The Laplacian without the cell itself by AT(x, y, z), which gives the cells so many vectors, rows
 * and planes away. */
#if DIM == 3
#define ACROSS(k, AT) (AT(0, -k, 0) + AT(0, k, 0) + AT(0, 0, -k) + AT(0, 0, k))
#else
#define ACROSS(k, AT) (AT(0, -k, 0) + AT(0, k, 0))
#endif
#define TERM(k, AT) (WEIGHT_##k * (BESIDE(k, AT, 0) + ACROSS(k, AT)))

#if BOX == 1
#if DIM != 2 || RADIUS != 1
#error "BOX needs DIM 2 and RADIUS 1"
#endif
#define SIDES(AT)                                                                                  \
    (4.0f * (BESIDE(1, AT, 0) + ACROSS(1, AT)) + (BESIDE(1, AT, -1) + BESIDE(1, AT, 1)))
#elif RADIUS == 1
#define SIDES(AT) TERM(1, AT)
#elif RADIUS == 2
#define SIDES(AT) (TERM(1, AT) + TERM(2, AT))
#elif RADIUS == 3
#define SIDES(AT) (TERM(1, AT) + TERM(2, AT) + TERM(3, AT))
#else
#define SIDES(AT) (TERM(1, AT) + TERM(2, AT) + TERM(3, AT) + TERM(4, AT))
#endif

/* Row y of plane z of the periodic extension of src. */
static __global const float *row_at(__global const float *src, int y, int z, struct grid g)
{
    return src + ((size_t)wrap(z, g.d) * (size_t)g.h + (size_t)wrap(y, g.h)) * (size_t)g.w;
}

/* Those of the work-item's cells that lie inside the grid: x in cells. */
static void store_pair(__global float *a_out, __global float *b_out, int x, int y, int z,
                       struct grid g, struct pair next)
{
    const size_t start = ((size_t)z * (size_t)g.h + (size_t)y) * (size_t)g.w;
    if (x < g.w && y < g.h && z < g.d) {
        store_cells(a_out + start, x, g.w, next.a);
        store_cells(b_out + start, x, g.w, next.b);
    }
}

#if defined(VARIANT_naive) || defined(VARIANT_local)

/* Does the work-group's tile with its halo lie inside the grid, whole vectors in every row? The
 * same answer for all work-items of the group. */
static int group_is_inside(struct grid g)
{
    const int x = (int)get_group_id(0) * (LX * VEC);
    const int y = (int)get_group_id(1) * (LY * ROWS);
    const int z = (int)get_group_id(2) * LZ;
    return g.w % VEC == 0 && x >= HALO_X * VEC && x + (LX + HALO_X) * VEC <= g.w && y >= HALO_Y &&
           y + LY * ROWS + HALO_Y <= g.h && z >= HALO_Z && z + LZ + HALO_Z <= g.d;
}

#endif

#ifdef VARIANT_naive

/* Where all neighbours lie inside the grid. p: the cells themselves; row and plane: vectors from
 * one to the next. */
static cells sides_inside(__global const cells *p, long row, long plane)
{
#define INSIDE(i, j, k) p[(i) + (j)*row + (k)*plane]
    return SIDES(INSIDE);
}

/* On the rim of a grid of whole vectors that is no smaller than the halo. p: the grid; x in
 * vectors. */
static cells sides_rim(__global const cells *p, int x, int y, int z, struct grid g, long row,
                       long plane)
{
#define RIM(i, j, k)                                                                               \
    p[wrap_once(z + (k), g.d) * plane + wrap_once(y + (j), g.h) * row +                            \
      wrap_once(x + (i), (int)row)]
    return SIDES(RIM);
}

/* On any grid; x in cells. The loops stay loops: this is rarely used and should be small. */
static cells sides_anywhere(__global const float *src, int x, int y, int z, struct grid g)
{
#define IN_ROW(i, j, k) load_cells(row, x + (i)*VEC, g.w)
    __global const float *row = row_at(src, y, z, g);
#if BOX == 1
    cells across = 4.0f * BESIDE(1, IN_ROW, 0), corners = (cells)(0.0f);
    for (int j = -1; j <= 1; j += 2) {
        row = row_at(src, y + j, z, g);
        across += 4.0f * IN_ROW(0, 0, 0);
        corners += BESIDE(1, IN_ROW, 0);
    }
    return across + corners;
#else
    cells sum = WEIGHT_1 * BESIDE(1, IN_ROW, 0);
    float weight[RADIUS];
    weight[0] = WEIGHT_1;
#if RADIUS >= 2
    sum += WEIGHT_2 * BESIDE(2, IN_ROW, 0);
    weight[1] = WEIGHT_2;
#endif
#if RADIUS >= 3
    sum += WEIGHT_3 * BESIDE(3, IN_ROW, 0);
    weight[2] = WEIGHT_3;
#endif
#if RADIUS >= 4
    sum += WEIGHT_4 * BESIDE(4, IN_ROW, 0);
    weight[3] = WEIGHT_4;
#endif
    for (int k = 1; k <= RADIUS; k++) {
        cells across = load_cells(row_at(src, y - k, z, g), x, g.w) +
                       load_cells(row_at(src, y + k, z, g), x, g.w);
#if DIM == 3
        across += load_cells(row_at(src, y, z - k, g), x, g.w) +
                  load_cells(row_at(src, y, z + k, g), x, g.w);
#endif
        sum += weight[k - 1] * across;
    }
    return sum;
#endif
}

/* One row of a work-item's cells on any grid; x in cells. */
static void step_anywhere(__global const float *a_in, __global const float *b_in,
                          __global float *a_out, __global float *b_out, int x, int y, int z,
                          struct grid g, struct model m)
{
    const cells a = load_cells(row_at(a_in, y, z, g), x, g.w);
    const cells b = load_cells(row_at(b_in, y, z, g), x, g.w);
    store_pair(a_out, b_out, x, y, z, g,
               react(a, b, sides_anywhere(a_in, x, y, z, g), sides_anywhere(b_in, x, y, z, g), m));
}

__kernel __attribute__((reqd_work_group_size(LX, LY, LZ))) void
gray_scott_naive(__global const float *restrict a_in, __global const float *restrict b_in,
                 __global float *restrict a_out, __global float *restrict b_out, int w, int h,
                 int d, float da, float db, float f, float k, float dt)
{
    const struct grid g = {w, h, d};
    const struct model m = model_of(da, db, f, k, dt);
    const long row = w / VEC;
    const long plane = row * h;
    const int x = (int)get_global_id(0);
    const int y = (int)get_global_id(1) * ROWS;
    const int z = (int)get_global_id(2);
    const size_t first = (size_t)z * (size_t)plane + (size_t)y * (size_t)row + (size_t)x;
    __global const cells *a = (__global const cells *)a_in;
    __global const cells *b = (__global const cells *)b_in;

    const int in_grid = x * VEC < w && y < h && z < d;
    const int whole = w % VEC == 0 && w >= HALO_X * VEC && h >= HALO_Y && d >= HALO_Z;

    /* No barrier follows: work-items may part. */
    if (group_is_inside(g)) {
        /* All rows' loads before the first store: they are under way together, and those that two
         * rows share are made once. */
        struct pair next[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const size_t i = first + (size_t)r * (size_t)row;
            next[r] = react(a[i], b[i], sides_inside(a + i, row, plane),
                            sides_inside(b + i, row, plane), m);
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            ((__global cells *)a_out)[first + (size_t)r * (size_t)row] = next[r].a;
            ((__global cells *)b_out)[first + (size_t)r * (size_t)row] = next[r].b;
        }
    } else if (in_grid && whole) {
        for (int r = 0; r < ROWS && y + r < h; r++) {
            const size_t i = first + (size_t)r * (size_t)row;
            const struct pair next = react(a[i], b[i], sides_rim(a, x, y + r, z, g, row, plane),
                                           sides_rim(b, x, y + r, z, g, row, plane), m);
            ((__global cells *)a_out)[i] = next.a;
            ((__global cells *)b_out)[i] = next.b;
        }
    } else if (in_grid) {
        for (int r = 0; r < ROWS && y + r < h; r++)
            step_anywhere(a_in, b_in, a_out, b_out, x * VEC, y + r, z, g, m);
    }
}

#endif

#if defined(VARIANT_local) || defined(VARIANT_planes)

/* The tile of `planes` is a plane. */
#ifdef VARIANT_planes
#define LZ 1
#define PAD 0
#define CAP_D 0
#else
#define CAP_D HALO_Z
#endif

/* The cells that a work-group owns, and its tile: these with their halo. In vectors, rows and
 * planes. */
#define CORE_H (LY * ROWS)
#define TILE_W (LX + 2 * HALO_X)
#define TILE_H (CORE_H + 2 * HALO_Y)
#define TILE_D (LZ + 2 * CAP_D)
#define TILE_ROW (TILE_W + PAD)
#define TILE_PLANE (TILE_ROW * TILE_H)
#define TILE_CELLS (TILE_PLANE * TILE_D)
#define GROUP (LX * LY * LZ)

/* The halo: planes before and behind the core, and around each of its planes rows above and below
 * and columns on either side. */
#define CAP (TILE_W * TILE_H)
#define CAPS (CAP * 2 * CAP_D)
#define LIDS (TILE_W * 2 * HALO_Y)
#define RING (LIDS + CORE_H * 2 * HALO_X)
#define HALO (CAPS + RING * LZ)

/* A place in the tile. */
struct spot {
    int x, y, z;
};

/* i, where the first `front` lie before a gap of `gap` and the others behind it. */
static int skip_gap(int i, int front, int gap)
{
    return i < front ? i : i + gap;
}

/* Where piece i of the halo lies, 0 <= i < HALO; neighbouring pieces lie side by side along x. */
static struct spot halo_spot(int i)
{
    struct spot s;
    if (i < CAPS) {
        s.x = i % TILE_W;
        s.y = i / TILE_W % TILE_H;
        s.z = skip_gap(i / CAP, CAP_D, LZ);
        return s;
    }
    const int in_ring = (i - CAPS) % RING;
    s.z = CAP_D + (i - CAPS) / RING;
    if (in_ring < LIDS) {
        s.x = in_ring % TILE_W;
        s.y = skip_gap(in_ring / TILE_W, HALO_Y, CORE_H);
    } else {
        s.x = skip_gap((in_ring - LIDS) % (2 * HALO_X), HALO_X, LX);
        s.y = HALO_Y + (in_ring - LIDS) / (2 * HALO_X);
    }
    return s;
}

static int tile_at(struct spot s)
{
    return s.z * TILE_PLANE + s.y * TILE_ROW + s.x;
}

#endif

#ifdef VARIANT_local

/* The cells that belong at s of the tile whose corner, in vectors, rows and planes, is `corner`. */
static cells fetch(__global const float *src, struct spot s, struct spot corner, int inside,
                   struct grid g)
{
    const int x = (corner.x + s.x) * VEC, y = corner.y + s.y, z = corner.z + s.z;
    if (inside)
        return *(__global const cells *)(src + ((size_t)z * (size_t)g.h + (size_t)y) * (size_t)g.w +
                                         x);
    return load_cells(row_at(src, y, z, g), x, g.w);
}

/* p: the cells themselves in the tile. */
static cells sides_staged(__local const cells *p)
{
#define STAGED(x, y, z) p[(x) + (y)*TILE_ROW + (z)*TILE_PLANE]
    return SIDES(STAGED);
}

__kernel __attribute__((reqd_work_group_size(LX, LY, LZ))) void
gray_scott_local(__global const float *restrict a_in, __global const float *restrict b_in,
                 __global float *restrict a_out, __global float *restrict b_out, int w, int h,
                 int d, float da, float db, float f, float k, float dt)
{
    __local cells tile_a[TILE_CELLS];
    __local cells tile_b[TILE_CELLS];
    const struct grid g = {w, h, d};
    const struct model m = model_of(da, db, f, k, dt);
    const int inside = group_is_inside(g);
    const struct spot corner = {(int)get_group_id(0) * LX - HALO_X,
                                (int)get_group_id(1) * CORE_H - HALO_Y,
                                (int)get_group_id(2) * LZ - HALO_Z};
    const struct spot own = {(int)get_local_id(0) + HALO_X, (int)get_local_id(1) * ROWS + HALO_Y,
                             (int)get_local_id(2) + HALO_Z};
    struct pair old[ROWS];

    /* Each work-item's own cells, all loads under way at once; then the halo among all of them. */
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const struct spot s = {own.x, own.y + r, own.z};
        old[r].a = fetch(a_in, s, corner, inside, g);
        old[r].b = fetch(b_in, s, corner, inside, g);
    }
    for (int i = ((int)get_local_id(2) * LY + (int)get_local_id(1)) * LX + (int)get_local_id(0);
         i < HALO; i += GROUP) {
        const struct spot s = halo_spot(i);
        tile_a[tile_at(s)] = fetch(a_in, s, corner, inside, g);
        tile_b[tile_at(s)] = fetch(b_in, s, corner, inside, g);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        tile_a[tile_at(own) + r * TILE_ROW] = old[r].a;
        tile_b[tile_at(own) + r * TILE_ROW] = old[r].b;
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* every work-item comes here, also those outside the grid */

#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int at = tile_at(own) + r * TILE_ROW;
        store_pair(
            a_out, b_out, (corner.x + own.x) * VEC, corner.y + own.y + r, corner.z + own.z, g,
            react(old[r].a, old[r].b, sides_staged(tile_a + at), sides_staged(tile_b + at), m));
    }
}

#endif

#ifdef VARIANT_planes

/* One step of a 3-D grid, blocked in 2.5 dimensions: a work-group owns LX*VEC x LY*ROWS cells of a
 * plane and walks along z through its share of the planes. Each work-item keeps its own cells of
 * 2*RADIUS + 1 planes in registers; the plane in their middle lies in local memory, too, with its
 * halo, two planes in turn: one barrier a plane. The next plane is on its way meanwhile. A share is
 * rounded up to 2*RADIUS planes, of which the last may be computed for nothing.
 *
 * RADIUS, LX, LY, VEC (the spec offers 4), ROWS; DIM is 3. */

#if DIM != 3
#error "the variant planes needs DIM 3"
#endif

#define WINDOW (2 * RADIUS)                    /* planes kept from one plane to the next */
#define HALO_EACH ((HALO + GROUP - 1) / GROUP) /* a work-item, at most */

/* Where in every plane of the grid, of fewer than 2^31 cells, some cells lie: cells before their
 * row, and x. whole: rows are whole vectors; then x lies inside the grid, else anywhere. */
struct site {
    int row, x;
};

static struct site site_at(int x, int y, int whole, struct grid g)
{
    struct site s = {wrap(y, g.h) * g.w, whole ? wrap(x, g.w) : x};
    return s;
}

static cells load_site(__global const float *plane, struct site s, int whole, int w)
{
    if (whole)
        return *(__global const cells *)(plane + s.row + s.x);
    return load_cells(plane + s.row, s.x, w);
}

/* Piece i of the halo: where in the tile, and where in the grid. */
struct piece {
    int at;
    struct site site;
};

static struct piece halo_piece(int i, int left, int top, int whole, struct grid g)
{
    const struct spot s = halo_spot(i);
    struct piece p = {tile_at(s), site_at((left + s.x) * VEC, top + s.y, whole, g)};
    return p;
}

/* A work-item's cells of one chemical: of the planes around, oldest first, in one of its rows; and
 * what is on its way. */
struct column {
    cells plane[WINDOW + 1];
};
struct coming {
    cells own[ROWS], halo[HALO_EACH];
};

static size_t plane_at(int z, struct grid g)
{
    return (size_t)z * (size_t)g.h * (size_t)g.w;
}

/* Own cells of one plane and the halo of another. */
static struct coming load_coming(__global const float *own, __global const float *around,
                                 const struct site *site, const struct piece *halo, int me,
                                 int whole, struct grid g)
{
    struct coming c;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        c.own[r] = load_site(own, site[r], whole, g.w);
#pragma unroll
    for (int e = 0; e < HALO_EACH; e++)
        if (me + e * GROUP < HALO)
            c.halo[e] = load_site(around, halo[e].site, whole, g.w);
    return c;
}

/* The newest plane arrives, and the one in the middle goes into the tile with its halo. */
static void publish(struct column *column, struct coming c, __local cells *tile,
                    const struct piece *halo, int me, int own_at)
{
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        column[r].plane[WINDOW] = c.own[r];
        tile[own_at + r * TILE_ROW] = column[r].plane[RADIUS];
    }
#pragma unroll
    for (int e = 0; e < HALO_EACH; e++)
        if (me + e * GROUP < HALO)
            tile[halo[e].at] = c.halo[e];
}

/* p: the middle's own cells in the tile. */
static cells sides_of_middle(const struct column *c, __local const cells *p)
{
#define IN_PLANES(i, j, k) ((i) == 0 && (j) == 0 ? c->plane[RADIUS + (k)] : p[(j)*TILE_ROW + (i)])
    return SIDES(IN_PLANES);
}

static void forget_oldest(struct column *c)
{
#pragma unroll
    for (int i = 0; i < WINDOW; i++)
        c->plane[i] = c->plane[i + 1];
}

__kernel __attribute__((reqd_work_group_size(LX, LY, 1))) void
gray_scott_planes(__global const float *restrict a_in, __global const float *restrict b_in,
                  __global float *restrict a_out, __global float *restrict b_out, int w, int h,
                  int d, float da, float db, float f, float k, float dt)
{
    __local cells tile_a[2][TILE_CELLS], tile_b[2][TILE_CELLS];
    const struct grid g = {w, h, d};
    const struct model m = model_of(da, db, f, k, dt);
    const int whole = w % VEC == 0;
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1), me = ly * LX + lx;
    const int left = (int)get_group_id(0) * LX - HALO_X;
    const int top = (int)get_group_id(1) * CORE_H - HALO_Y;
    const int x = (left + HALO_X + lx) * VEC, y = top + HALO_Y + ly * ROWS;
    const int own_at = (HALO_Y + ly * ROWS) * TILE_ROW + HALO_X + lx;
    const int share = (d - 1) / (int)get_num_groups(2) + 1;
    const int first = (int)get_group_id(2) * share;
    const int planes = min(share, d - first); /* 0 or less: none */
    int z = wrap(first, d), ahead = wrap(first - RADIUS, d);
    struct site site[ROWS];
    struct piece halo[HALO_EACH];
    struct column a[ROWS], b[ROWS];

#pragma unroll
    for (int r = 0; r < ROWS; r++)
        site[r] = site_at(x, y + r, whole, g);
#pragma unroll
    for (int e = 0; e < HALO_EACH; e++)
        halo[e] = halo_piece(min(me + e * GROUP, HALO - 1), left, top, whole, g);
#pragma unroll
    for (int i = 0; i < WINDOW; i++) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            a[r].plane[i] = load_site(a_in + plane_at(ahead, g), site[r], whole, w);
            b[r].plane[i] = load_site(b_in + plane_at(ahead, g), site[r], whole, w);
        }
        ahead = next_index(ahead, d);
    }
    struct coming next_a =
        load_coming(a_in + plane_at(ahead, g), a_in + plane_at(z, g), site, halo, me, whole, g);
    struct coming next_b =
        load_coming(b_in + plane_at(ahead, g), b_in + plane_at(z, g), site, halo, me, whole, g);

    /* As often for all work-items. WINDOW planes at a time: after so many each has gone all the way
     * through its column, and none need be moved from register to register. */
    for (int i = 0; i < planes; i += WINDOW) {
#pragma unroll
        for (int u = 0; u < WINDOW; u++) {
            __local cells *at_a = tile_a[u % 2], *at_b = tile_b[u % 2]; /* the others may be read */
            publish(a, next_a, at_a, halo, me, own_at);
            publish(b, next_b, at_b, halo, me, own_at);
            barrier(CLK_LOCAL_MEM_FENCE);
            ahead = next_index(ahead, d);
            z = next_index(z, d);
            next_a = load_coming(a_in + plane_at(ahead, g), a_in + plane_at(z, g), site, halo, me,
                                 whole, g);
            next_b = load_coming(b_in + plane_at(ahead, g), b_in + plane_at(z, g), site, halo, me,
                                 whole, g);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const int at = own_at + r * TILE_ROW;
                const struct pair next =
                    react(a[r].plane[RADIUS], b[r].plane[RADIUS], sides_of_middle(&a[r], at_a + at),
                          sides_of_middle(&b[r], at_b + at), m);
                if (i + u < planes)
                    store_pair(a_out, b_out, x, y + r, first + i + u, g, next);
                forget_oldest(&a[r]);
                forget_oldest(&b[r]);
            }
        }
    }
}

#endif

#if defined(VARIANT_fused) || defined(VARIANT_fused3d)

/* STEPS steps in one launch. A work-group holds LX vectors of a row (DIM 2) or LX x LY of a plane
 * (DIM 3), and walks through its share of the lines, which are rows along y or planes along z. Each
 * work-item keeps for every level (the grid after 0, 1, ... STEPS-1 steps) the last lines of its
 * own column in registers, or what they add up to:
 *
 *   level 0   line i     loaded
 *   level 1   line i-R   from lines i-2R .. i of level 0
 *   level 2   line i-2R  from lines i-3R .. i-R of level 1, and so on; the last one is stored
 *
 * so that one pass over the lines makes all steps, and a line is loaded once. Neighbours along the
 * line lie in other work-items: of each level, the line that is next to be completed is published
 * in local memory, two slots in turn: one barrier a line.
 *
 * Redundant work: the outer STEPS*RADIUS cells on either side (MARGIN_X vectors) belong to the
 * neighbouring group; what is computed there goes wrong from the rim inwards, RADIUS cells a step,
 * and is not stored. Before a group's first line come STEPS * WINDOW lines that fill the columns:
 * few long shares, as many as the device runs at once, cost least.
 *
 * DIM, RADIUS, BOX, LX, LY (DIM 3), STEPS; VEC is 4. */

#define MARGIN (STEPS * RADIUS)
#define MARGIN_X ((MARGIN + VEC - 1) / VEC)
#define CORE_W (LX - 2 * MARGIN_X)
#if DIM == 3
#define CORE_H (LY - 2 * MARGIN)
#endif
#ifndef LY
#define LY 1 /* DIM 2: a line is one row */
#endif
#define GROUP (LX * LY)

/* BOX needs neighbours of the newest line too, and so waits a line longer until it is published. */
#define LAG BOX
#define WINDOW (2 * RADIUS + LAG) /* lines kept from one line to the next */
#define PUBLISHED (RADIUS + LAG)

/* What work-items tell each other of a line: where RADIUS is 1 and the line a row, the outermost
 * cells of both chemicals, else all. Kept apart, so that neighbouring work-items use neighbouring
 * banks. */
#define OUTERMOST (DIM == 2 && RADIUS == 1)
#if OUTERMOST
struct told {
    float2 first[GROUP], last[GROUP];
};
#else
struct told {
    cells a[GROUP], b[GROUP];
};
#endif

static void tell(__local struct told *to, int me, struct pair p)
{
#if OUTERMOST
    to->first[me] = (float2)(p.a.x, p.b.x);
    to->last[me] = (float2)(p.a.w, p.b.w);
#else
    to->a[me] = p.a;
    to->b[me] = p.b;
#endif
}

/* Where the work-item's neighbours are among the group's; beyond the rim, the work-item itself. */
struct neighbours {
    int me, west, east;
};

#if RADIUS == 1 && BOX == 0

/* One level of a work-item's column: the newest line, and what its next step will be but for the
 * line to come. What one line gives to the next is worked out as soon as both are there, so that
 * each value stays in the register where it arose. */
struct level {
    struct pair newest, partial;
    struct pair handed; /* from the newest line to the next one, between meet and arrive */
};
#define LINES 1

static struct pair newest_told(const struct level *l)
{
    return l->newest;
}

/* The cells beside the newest line's own, summed. */
#if DIM == 2
#define IN_LINE(i, j, k) ((i) == 0 ? mid : (i) < 0 ? west : east)
static cells beside_newest(cells west, cells mid, cells east, __local const cells *told)
{
    return BESIDE(1, IN_LINE, 0);
}
#else
static cells beside_newest(cells west, cells mid, cells east, __local const cells *told)
{
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1);
    return beside_1(west, mid, east) + told[max(ly - 1, 0) * LX + lx] +
           told[min(ly + 1, LY - 1) * LX + lx];
}
#endif

/* The newest line learns of its neighbours. */
static void meet(struct level *l, __local const struct told *from, struct neighbours n,
                 struct model m)
{
#if OUTERMOST
    const float2 west = from->last[n.west], east = from->first[n.east];
    const cells a = beside_newest((cells)(west.x), l->newest.a, (cells)(east.x), 0);
    const cells b = beside_newest((cells)(west.y), l->newest.b, (cells)(east.y), 0);
#else
    const cells a = beside_newest(from->a[n.west], l->newest.a, from->a[n.east], from->a);
    const cells b = beside_newest(from->b[n.west], l->newest.b, from->b[n.east], from->b);
#endif
    l->partial.a += m.side_a * a;
    l->partial.b += m.side_b * b;
    l->handed.a = m.side_a * l->newest.a + m.feed;
    l->handed.b = m.side_b * l->newest.b;
}

/* A line comes in; the line before it is complete and goes to the next level. */
static struct pair arrive(struct level *l, struct pair fresh, __local const struct told *from,
                          struct neighbours n, struct model m)
{
    const cells abb = fresh.a * fresh.b * fresh.b;
    struct pair complete;
    complete.a = m.side_a * fresh.a + l->partial.a;
    complete.b = m.side_b * fresh.b + l->partial.b;
    l->partial.a = (m.keep_a * fresh.a + l->handed.a) - m.dt * abb;
    l->partial.b = (m.keep_b * fresh.b + l->handed.b) + m.dt * abb;
    l->newest = fresh;
    return complete;
}

#else

/* The lines of one chemical in one level, oldest first, as one work-item holds them, and the cells
 * beside them where older lines need these too. */
struct column {
    cells line[WINDOW + 1];
#if BOX == 1
    cells west[WINDOW], east[WINDOW];
#endif
};

/* One level of a work-item's column. */
struct level {
    struct column a, b;
};

/* After WINDOW lines each line of a column has gone all the way: so many at a time, and none need
 * be moved from register to register, as long as instruction caches hold the loop. */
#if STEPS * WINDOW <= 12
#define LINES WINDOW
#else
#define LINES 1
#endif

static struct pair newest_told(const struct level *l)
{
    struct pair p;
    p.a = l->a.line[PUBLISHED];
    p.b = l->b.line[PUBLISHED];
    return p;
}

/* The line RADIUS of the column, and what lies around it: AT of SIDES. The cells told lie in west,
 * east and, where the line is a plane, `told`. */
#if BOX == 1
#define IN_COLUMN(i, j, k)                                                                         \
    ((i) == 0 ? c->line[1 + (j)] : (i) < 0 ? c->west[1 + (j)] : c->east[1 + (j)])
#elif DIM == 2
#define IN_COLUMN(i, j, k) ((i) == 0 ? c->line[RADIUS + (j)] : (i) < 0 ? west : east)
#else
#define IN_COLUMN(i, j, k)                                                                         \
    ((i) < 0    ? west                                                                             \
     : (i) > 0  ? east                                                                             \
     : (j) == 0 ? c->line[RADIUS + (k)]                                                            \
                : told[clamp((int)get_local_id(1) + (j), 0, LY - 1) * LX + (int)get_local_id(0)])
#endif

static cells sides_in_column(struct column *c, cells west, cells east, __local const cells *told)
{
#if BOX == 1
    c->west[PUBLISHED] = west;
    c->east[PUBLISHED] = east;
#endif
    return SIDES(IN_COLUMN);
}

static void forget_oldest(struct column *c)
{
#pragma unroll
    for (int i = 0; i < WINDOW; i++)
        c->line[i] = c->line[i + 1];
#if BOX == 1
#pragma unroll
    for (int i = 0; i + 1 < WINDOW; i++) {
        c->west[i] = c->west[i + 1];
        c->east[i] = c->east[i + 1];
    }
#endif
}

static void meet(struct level *l, __local const struct told *from, struct neighbours n,
                 struct model m)
{
}

/* A line comes in; the line RADIUS lines before it is complete and goes to the next level. */
static struct pair arrive(struct level *l, struct pair fresh, __local const struct told *from,
                          struct neighbours n, struct model m)
{
    l->a.line[WINDOW] = fresh.a;
    l->b.line[WINDOW] = fresh.b;
#if OUTERMOST
    const float2 west = from->last[n.west], east = from->first[n.east];
    const cells a = sides_in_column(&l->a, (cells)(west.x), (cells)(east.x), 0);
    const cells b = sides_in_column(&l->b, (cells)(west.y), (cells)(east.y), 0);
#else
    const cells a = sides_in_column(&l->a, from->a[n.west], from->a[n.east], from->a);
    const cells b = sides_in_column(&l->b, from->b[n.west], from->b[n.east], from->b);
#endif
    const struct pair complete = react(l->a.line[RADIUS], l->b.line[RADIUS], a, b, m);
    forget_oldest(&l->a);
    forget_oldest(&l->b);
    return complete;
}

#endif

/* Where in the grid a work-item is. whole: rows are whole vectors; then x lies inside the grid,
 * else anywhere. */
struct stream {
    struct grid g;
    int x, y, z, whole;
};

static struct pair load_pair(__global const float *a_in, __global const float *b_in,
                             struct stream s)
{
    const size_t row = ((size_t)s.z * (size_t)s.g.h + (size_t)s.y) * (size_t)s.g.w;
    struct pair p;
    if (s.whole) {
        p.a = *(__global const cells *)(a_in + row + s.x);
        p.b = *(__global const cells *)(b_in + row + s.x);
    } else {
        p.a = load_cells(a_in + row, s.x, s.g.w);
        p.b = load_cells(b_in + row, s.x, s.g.w);
    }
    return p;
}

static void next_line(struct stream *s)
{
#if DIM == 3
    s->z = next_index(s->z, s->g.d);
#else
    s->y = next_index(s->y, s->g.h);
#endif
}

__kernel __attribute__((reqd_work_group_size(LX, LY, 1))) void
gray_scott_fused(__global const float *restrict a_in, __global const float *restrict b_in,
                 __global float *restrict a_out, __global float *restrict b_out, int w, int h,
                 int d, float da, float db, float f, float k, float dt)
{
    __local struct told told[2][STEPS];
    const struct model m = model_of(da, db, f, k, dt);
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1);
    const struct neighbours n = {ly * LX + lx, ly * LX + max(lx - 1, 0),
                                 ly * LX + min(lx + 1, LX - 1)};
    /* The work-item's column, and whether the group owns it. */
    const int x = ((int)get_group_id(0) * CORE_W + lx - MARGIN_X) * VEC;
#if DIM == 3
    const int y = (int)get_group_id(1) * CORE_H + ly - MARGIN;
    const int share = (d - 1) / (int)get_num_groups(2) + 1;
    const int first = (int)get_group_id(2) * share;
    const int lines = max(0, min(share, d - first));
    const int owned =
        lx >= MARGIN_X && lx < LX - MARGIN_X && x < w && ly >= MARGIN && ly < LY - MARGIN && y < h;
    struct stream s = {{w, h, d}, x, wrap(y, h), wrap(first - MARGIN, d), w % VEC == 0};
#else
    const int share = (h - 1) / (int)get_num_groups(1) + 1;
    const int first = (int)get_group_id(1) * share;
    const int lines = max(0, min(share, h - first));
    const int owned = lx >= MARGIN_X && lx < LX - MARGIN_X && x < w;
    struct stream s = {{w, h, d}, x, wrap(first - MARGIN, h), (int)get_group_id(2), w % VEC == 0};
#endif
    const struct level nothing = {0};
    struct level level[STEPS];
    struct pair next;

    if (s.whole)
        s.x = wrap(x, w);
#pragma unroll
    for (int t = 0; t < STEPS; t++)
        level[t] = nothing;
    next = load_pair(a_in, b_in, s);

    for (int i = 0; i < STEPS * WINDOW + lines; i += LINES) { /* as often for all work-items */
#pragma unroll
        for (int u = 0; u < LINES; u++) {
            __local struct told *slot = told[(i + u) % 2]; /* the other one may still be read */
            const int line = first + i + u - STEPS * WINDOW;
            struct pair fresh = next;
#pragma unroll
            for (int t = 0; t < STEPS; t++)
                tell(&slot[t], n.me, newest_told(&level[t]));
            barrier(CLK_LOCAL_MEM_FENCE);
            next_line(&s); /* is on its way while this one is computed */
            next = load_pair(a_in, b_in, s);
            meet(&level[0], &slot[0], n, m);
#pragma unroll
            for (int t = 0; t < STEPS; t++) {
                if (t + 1 < STEPS) /* before its newest line is overwritten */
                    meet(&level[t + 1], &slot[t + 1], n, m);
                fresh = arrive(&level[t], fresh, &slot[t], n, m);
            }
            if (owned && line >= first && line < first + lines) {
#if DIM == 3
                const size_t row = ((size_t)line * (size_t)h + (size_t)y) * (size_t)w;
#else
                const size_t row = ((size_t)s.z * (size_t)h + (size_t)line) * (size_t)w;
#endif
                store_cells(a_out + row, x, w, fresh.a);
                store_cells(b_out + row, x, w, fresh.b);
            }
        }
    }
}

#endif
