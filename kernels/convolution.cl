/* convolution.cl: a (2R+1) x (2R+1) filter over a 2-D image of h rows of w, plain and staged in
 * local memory:
 *
 *   dst(y,x) = sum over j,i in 0 .. 2R of filter(j,i) * src(y + j - R, x + i - R)
 *
 * (the filter is not turned round, as usual with images). Outside the image its edge goes on:
 * indices are clamped. Right on every size of 1 x 1 and larger, also where R exceeds it.
 *
 * A work-group of TX x TY work-items owns TX*VEC x TY cells, each work-item VEC neighbouring ones
 * along x: taps of neighbouring cells overlap, so that one load can serve up to VEC of them.
 *
 * RADIUS (R), TX, TY, VEC (1 or 4); the local variant also has
 *   PAD      unused cells after each row of the tile, against bank conflicts;
 *   BALLAST  unused bytes of local memory (a multiple of 4): they compute nothing but occupy the
 *            compute unit's local memory, so that fewer work-groups fit on it at a time. */

#include "cells.clh"

#if VEC == 4
#define LOAD_CELLS(p) vload4(0, (p))
#else
#define LOAD_CELLS(p) (*(p))
#endif

#define SIDE (2 * RADIUS + 1)

#ifdef VARIANT_naive

/* The cells x .. x+VEC of a row of w that goes on beyond its ends. */
static cells clamped_cells(__global const float *row, int x, int w)
{
#if VEC == 4
    return (float4)(row[clamp(x, 0, w - 1)], row[clamp(x + 1, 0, w - 1)],
                    row[clamp(x + 2, 0, w - 1)], row[clamp(x + 3, 0, w - 1)]);
#else
    return row[clamp(x, 0, w - 1)];
#endif
}

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
convolution_naive(__global const float *restrict src, __constant float *filter,
                  __global float *restrict dst, int w, int h)
{
    const int x = (int)get_global_id(0) * VEC;
    const int y = (int)get_global_id(1);
    if (x >= w || y >= h)
        return; /* no barrier follows */
    const size_t pitch = (size_t)w;
    const bool inside = x >= RADIUS && x + VEC + RADIUS <= w;
    cells sum = 0.0f;
    for (int j = 0; j < SIDE; j++) {
        __global const float *row = src + pitch * (size_t)clamp(y + j - RADIUS, 0, h - 1);
        if (inside) {
            for (int i = 0; i < SIDE; i++)
                sum += filter[j * SIDE + i] * LOAD_CELLS(row + (x - RADIUS + i));
        } else {
            for (int i = 0; i < SIDE; i++)
                sum += filter[j * SIDE + i] * clamped_cells(row, x - RADIUS + i, w);
        }
    }
    store_cells(dst + pitch * (size_t)y, x, w, sum);
}

#endif

#ifdef VARIANT_local

#define TILE_W (TX * VEC + 2 * RADIUS)
#define TILE_H (TY + 2 * RADIUS)
#define PITCH (TILE_W + PAD)

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
convolution_local(__global const float *restrict src, __constant float *filter,
                  __global float *restrict dst, int w, int h)
{
    /* One array, because a second one that nothing reads would be removed. */
    __local float tile[PITCH * TILE_H + BALLAST / 4];
    const int lx = (int)get_local_id(0);
    const int ly = (int)get_local_id(1);
    const int left = (int)get_group_id(0) * (TX * VEC) - RADIUS;
    const int top = (int)get_group_id(1) * TY - RADIUS;

    for (int i = ly * TX + lx; i < TILE_W * TILE_H; i += TX * TY) {
        const int tx = i % TILE_W;
        const int ty = i / TILE_W;
        tile[ty * PITCH + tx] =
            src[(size_t)w * (size_t)clamp(top + ty, 0, h - 1) + (size_t)clamp(left + tx, 0, w - 1)];
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* every work-item comes here, also those outside the image */

    const int x = left + RADIUS + lx * VEC;
    const int y = top + RADIUS + ly;
    if (x < w && y < h) {
        cells sum = 0.0f;
        for (int j = 0; j < SIDE; j++) {
            __local const float *row = tile + (ly + j) * PITCH + lx * VEC;
            for (int i = 0; i < SIDE; i++)
                sum += filter[j * SIDE + i] * LOAD_CELLS(row + i);
        }
        store_cells(dst + (size_t)w * (size_t)y, x, w, sum);
    }
}

#endif
