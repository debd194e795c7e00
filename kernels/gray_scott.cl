/* gray_scott.cl: one explicit Euler step of Gray-Scott reaction-diffusion on a periodic grid,
 * plain and staged in local memory. Two chemicals a and b:
 *
 *   a += dt * (da * lap(a) - a*b*b + f * (1 - a))
 *   b += dt * (db * lap(b) + a*b*b - (f + k) * b)
 *
 * lap is the Laplacian with grid spacing 1. DIM 2: in the planes of x and y (each of the d planes
 * by itself); DIM 3: in x, y and z. RADIUS 1 to 4: central differences of order 2 * RADIUS along
 * the axes (Fornberg 1988, table 1). BOX 1 (DIM 2, RADIUS 1): the isotropic (1 4 1; 4 -20 4; 1 4
 * 1)/6 instead.
 *
 * A work-group of LX x LY x LZ work-items owns LX*VEC x LY x LZ cells: each work-item VEC
 * neighbouring cells along x (one vector, "cells" below). Right on every grid of 1 x 1 x 1 and
 * larger: whatever lies outside is the periodic image, also where the radius or the tile is larger
 * than the grid or VEC does not divide its width.
 *
 * DIM, RADIUS, BOX, LX, LY, LZ, VEC (1 or 4); the local variant also has PAD: unused cells
 * (vectors where VEC is 4) after each line of the tile, against bank conflicts. */

#include "cells.clh"

#if VEC == 4
#define HALO_X 1 /* in vectors: one on either side holds any radius */
#else
#define HALO_X RADIUS
#endif

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
#define WEIGHTS WEIGHT_1
#elif RADIUS == 2
#define WEIGHT_0 (-5.0f / 2)
#define WEIGHT_1 (4.0f / 3)
#define WEIGHT_2 (-1.0f / 12)
#define WEIGHTS WEIGHT_1, WEIGHT_2
#elif RADIUS == 3
#define WEIGHT_0 (-49.0f / 18)
#define WEIGHT_1 (3.0f / 2)
#define WEIGHT_2 (-3.0f / 20)
#define WEIGHT_3 (1.0f / 90)
#define WEIGHTS WEIGHT_1, WEIGHT_2, WEIGHT_3
#elif RADIUS == 4
#define WEIGHT_0 (-205.0f / 72)
#define WEIGHT_1 (8.0f / 5)
#define WEIGHT_2 (-1.0f / 5)
#define WEIGHT_3 (8.0f / 315)
#define WEIGHT_4 (-1.0f / 560)
#define WEIGHTS WEIGHT_1, WEIGHT_2, WEIGHT_3, WEIGHT_4
#else
#error "RADIUS is 1, 2, 3 or 4"
#endif

/* The grid's size in cells. */
struct grid {
    int w, h, d;
};

struct rates {
    float da, db, f, k, dt;
};

/* The cells at distance k to the west and to the east, summed. west and east are the vectors beside
 * mid. */
#if VEC == 4
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
#define BESIDE(k, AT, y) beside_##k(AT(-1, y, 0), AT(0, y, 0), AT(1, y, 0))
#else
#define BESIDE(k, AT, y) (AT(-k, y, 0) + AT(k, y, 0))
#endif

/* The Laplacian by AT(x, y, z), which gives the cells so many vectors, rows and planes away. */
#if DIM == 3
#define ACROSS(k, AT) (AT(0, -k, 0) + AT(0, k, 0) + AT(0, 0, -k) + AT(0, 0, k))
#else
#define ACROSS(k, AT) (AT(0, -k, 0) + AT(0, k, 0))
#endif
#define TERM(k, AT) (WEIGHT_##k * (BESIDE(k, AT, 0) + ACROSS(k, AT)))
#define CENTRE(AT) ((DIM * WEIGHT_0) * AT(0, 0, 0))

#if BOX == 1
#if DIM != 2 || RADIUS != 1
#error "BOX needs DIM 2 and RADIUS 1"
#endif
#define LAPLACIAN(AT)                                                                              \
    ((4.0f * (BESIDE(1, AT, 0) + ACROSS(1, AT)) + (BESIDE(1, AT, -1) + BESIDE(1, AT, 1)) -         \
      20.0f * AT(0, 0, 0)) *                                                                       \
     (1.0f / 6.0f))
#elif RADIUS == 1
#define LAPLACIAN(AT) (CENTRE(AT) + TERM(1, AT))
#elif RADIUS == 2
#define LAPLACIAN(AT) (CENTRE(AT) + TERM(1, AT) + TERM(2, AT))
#elif RADIUS == 3
#define LAPLACIAN(AT) (CENTRE(AT) + TERM(1, AT) + TERM(2, AT) + TERM(3, AT))
#else
#define LAPLACIAN(AT) (CENTRE(AT) + TERM(1, AT) + TERM(2, AT) + TERM(3, AT) + TERM(4, AT))
#endif

/* i modulo n where -n <= i < 2n: without a branch, so that loads need not wait for each other. */
static int wrap_once(int i, int n)
{
    i = i < 0 ? i + n : i;
    return i >= n ? i - n : i;
}

/* i modulo n for any i; the division is kept off the common path. */
static int wrap(int i, int n)
{
    i = wrap_once(i, n);
    if (i < 0 || i >= n) {
        i %= n;
        i = i < 0 ? i + n : i;
    }
    return i;
}

/* Row y of plane z of the periodic extension of src. */
static __global const float *row_at(__global const float *src, int y, int z, struct grid g)
{
    return src + ((size_t)wrap(z, g.d) * (size_t)g.h + (size_t)wrap(y, g.h)) * (size_t)g.w;
}

#include "periodic_cells.clh"

struct pair {
    cells a, b;
};

/* The new cells from the old ones and their Laplacians. */
static struct pair react(cells a, cells b, cells lap_a, cells lap_b, struct rates r)
{
    const cells abb = a * b * b;
    struct pair next;
    next.a = a + r.dt * (r.da * lap_a - abb + r.f * (1.0f - a));
    next.b = b + r.dt * (r.db * lap_b + abb - (r.f + r.k) * b);
    return next;
}

/* Does the work-group's tile with its halo lie inside the grid, whole vectors in every row? The
 * same answer for all work-items of the group. */
static int group_is_inside(struct grid g)
{
    const int x = (int)get_group_id(0) * (LX * VEC);
    const int y = (int)get_group_id(1) * LY;
    const int z = (int)get_group_id(2) * LZ;
    return g.w % VEC == 0 && x >= HALO_X * VEC && x + (LX + HALO_X) * VEC <= g.w && y >= HALO_Y &&
           y + LY + HALO_Y <= g.h && z >= HALO_Z && z + LZ + HALO_Z <= g.d;
}

#ifdef VARIANT_naive

/* Where all neighbours lie inside the grid. p: the cells themselves; row and plane: vectors from
 * one to the next. */
static cells laplacian_inside(__global const cells *p, long row, long plane)
{
#define INSIDE(i, j, k) p[(i) + (j)*row + (k)*plane]
    return LAPLACIAN(INSIDE);
}

/* On the rim of a grid of whole vectors that is no smaller than the halo. p: the grid; x in
 * vectors. */
static cells laplacian_rim(__global const cells *p, int x, int y, int z, struct grid g, long row,
                           long plane)
{
#define RIM(i, j, k)                                                                               \
    p[wrap_once(z + (k), g.d) * plane + wrap_once(y + (j), g.h) * row +                            \
      wrap_once(x + (i), (int)row)]
    return LAPLACIAN(RIM);
}

/* On any grid; x in cells. The loops stay loops: this is rarely used and should be small. */
#if BOX == 1
static cells laplacian_anywhere(__global const float *src, int x, int y, int z, struct grid g)
{
    cells across = (cells)(0.0f), corners = (cells)(0.0f);
    for (int j = -1; j <= 1; j++) {
        __global const float *row = row_at(src, y + j, z, g);
#define IN_ROW(i, j, k) load_cells(row, x + (i)*VEC, g.w)
        const cells beside = BESIDE(1, IN_ROW, 0);
        across += j == 0 ? 4.0f * beside - 20.0f * IN_ROW(0, 0, 0) : 4.0f * IN_ROW(0, 0, 0);
        corners += j == 0 ? (cells)(0.0f) : beside;
    }
    return (across + corners) * (1.0f / 6.0f);
}
#else
static cells laplacian_anywhere(__global const float *src, int x, int y, int z, struct grid g)
{
    const float weight[] = {WEIGHTS};
    __global const float *row = row_at(src, y, z, g);
#define IN_ROW(i, j, k) load_cells(row, x + (i)*VEC, g.w)
    cells sum = CENTRE(IN_ROW) + WEIGHT_1 * BESIDE(1, IN_ROW, 0);
#if RADIUS >= 2
    sum += WEIGHT_2 * BESIDE(2, IN_ROW, 0);
#endif
#if RADIUS >= 3
    sum += WEIGHT_3 * BESIDE(3, IN_ROW, 0);
#endif
#if RADIUS >= 4
    sum += WEIGHT_4 * BESIDE(4, IN_ROW, 0);
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
}
#endif

__kernel __attribute__((reqd_work_group_size(LX, LY, LZ))) void
gray_scott_naive(__global const float *restrict a_in, __global const float *restrict b_in,
                 __global float *restrict a_out, __global float *restrict b_out, int w, int h,
                 int d, float da, float db, float f, float k, float dt)
{
    const struct grid g = {w, h, d};
    const struct rates r = {da, db, f, k, dt};
    const long row = w / VEC;
    const long plane = row * h;
    const size_t i = get_global_id(2) * (size_t)plane + get_global_id(1) * (size_t)row +
                     get_global_id(0); /* in vectors */
    __global const cells *a = (__global const cells *)a_in;
    __global const cells *b = (__global const cells *)b_in;
    const int x = (int)get_global_id(0);
    const int y = (int)get_global_id(1);
    const int z = (int)get_global_id(2);

    const int in_grid = x * VEC < w && y < h && z < d;
    const int whole = w % VEC == 0 && w >= HALO_X * VEC && h >= HALO_Y && d >= HALO_Z;

    /* No barrier follows: work-items may part. */
    if (group_is_inside(g)) {
        const struct pair next = react(a[i], b[i], laplacian_inside(a + i, row, plane),
                                       laplacian_inside(b + i, row, plane), r);
        ((__global cells *)a_out)[i] = next.a;
        ((__global cells *)b_out)[i] = next.b;
    } else if (in_grid && whole) {
        const struct pair next = react(a[i], b[i], laplacian_rim(a, x, y, z, g, row, plane),
                                       laplacian_rim(b, x, y, z, g, row, plane), r);
        ((__global cells *)a_out)[i] = next.a;
        ((__global cells *)b_out)[i] = next.b;
    } else if (in_grid) {
        const cells a_old = load_cells(row_at(a_in, y, z, g), x * VEC, w);
        const cells b_old = load_cells(row_at(b_in, y, z, g), x * VEC, w);
        const struct pair next = react(a_old, b_old, laplacian_anywhere(a_in, x * VEC, y, z, g),
                                       laplacian_anywhere(b_in, x * VEC, y, z, g), r);
        const size_t start = ((size_t)z * (size_t)h + (size_t)y) * (size_t)w;
        store_cells(a_out + start, x * VEC, w, next.a);
        store_cells(b_out + start, x * VEC, w, next.b);
    }
}

#endif

#ifdef VARIANT_local

/* The tile with its halo, in vectors, rows and planes. */
#define TILE_W (LX + 2 * HALO_X)
#define TILE_H (LY + 2 * HALO_Y)
#define TILE_D (LZ + 2 * HALO_Z)
#define TILE_ROW (TILE_W + PAD)
#define TILE_PLANE (TILE_ROW * TILE_H)
#define GROUP (LX * LY * LZ)

/* Cells of the tile from first on, every GROUP-th: neighbouring work-items fetch neighbouring
 * cells. (left, top, front) is the tile's corner, in vectors, rows and planes. */
static void stage(__global const float *a_in, __global const float *b_in, __local cells *tile_a,
                  __local cells *tile_b, int first, int left, int top, int front, struct grid g)
{
    const int inside = group_is_inside(g);
    for (int i = first; i < TILE_W * TILE_H * TILE_D; i += GROUP) {
        const int tx = i % TILE_W;
        const int ty = i / TILE_W % TILE_H;
        const int tz = i / (TILE_W * TILE_H);
        const int at = tz * TILE_PLANE + ty * TILE_ROW + tx;
        const int x = (left + tx) * VEC;
        if (inside) {
            const size_t row = (size_t)(front + tz) * (size_t)g.h + (size_t)(top + ty);
            const size_t from = row * (size_t)(g.w / VEC) + (size_t)(left + tx);
            tile_a[at] = ((__global const cells *)a_in)[from];
            tile_b[at] = ((__global const cells *)b_in)[from];
        } else {
            tile_a[at] = load_cells(row_at(a_in, top + ty, front + tz, g), x, g.w);
            tile_b[at] = load_cells(row_at(b_in, top + ty, front + tz, g), x, g.w);
        }
    }
}

/* p: the cells themselves in the tile. */
static cells laplacian_staged(__local const cells *p)
{
#define STAGED(x, y, z) p[(x) + (y)*TILE_ROW + (z)*TILE_PLANE]
    return LAPLACIAN(STAGED);
}

__kernel __attribute__((reqd_work_group_size(LX, LY, LZ))) void
gray_scott_local(__global const float *restrict a_in, __global const float *restrict b_in,
                 __global float *restrict a_out, __global float *restrict b_out, int w, int h,
                 int d, float da, float db, float f, float k, float dt)
{
    __local cells tile_a[TILE_PLANE * TILE_D];
    __local cells tile_b[TILE_PLANE * TILE_D];
    const struct grid g = {w, h, d};
    const struct rates r = {da, db, f, k, dt};
    const int lx = (int)get_local_id(0);
    const int ly = (int)get_local_id(1);
    const int lz = (int)get_local_id(2);
    const int left = (int)get_group_id(0) * LX - HALO_X;
    const int top = (int)get_group_id(1) * LY - HALO_Y;
    const int front = (int)get_group_id(2) * LZ - HALO_Z;

    stage(a_in, b_in, tile_a, tile_b, (lz * LY + ly) * LX + lx, left, top, front, g);
    barrier(CLK_LOCAL_MEM_FENCE); /* every work-item comes here, also those outside the grid */

    const int x = (left + HALO_X + lx) * VEC;
    const int y = top + HALO_Y + ly;
    const int z = front + HALO_Z + lz;
    if (x < w && y < h && z < d) {
        const int at = (lz + HALO_Z) * TILE_PLANE + (ly + HALO_Y) * TILE_ROW + lx + HALO_X;
        const struct pair next = react(tile_a[at], tile_b[at], laplacian_staged(tile_a + at),
                                       laplacian_staged(tile_b + at), r);
        const size_t start = ((size_t)z * (size_t)h + (size_t)y) * (size_t)w;
        store_cells(a_out + start, x, w, next.a);
        store_cells(b_out + start, x, w, next.b);
    }
}

#endif
