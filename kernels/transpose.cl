/* transpose.cl: dst = transpose of src (h rows of w elements), plain and staged in local memory.
 *
 * A work-group of TILE x ROWS work-items moves a square of TILE x TILE elements, each work-item
 * TILE / ROWS of them (ROWS divides TILE). Plain, neighbouring work-items read neighbouring
 * elements but write h apart. Staged, the square turns in local memory, so that both are
 * contiguous; its columns are then read TILE + PAD apart: without padding, all from few banks.
 *
 * Right on every size of 1 x 1 and larger; the edges are checked element by element.
 *
 * TILE, ROWS; the local variant also has PAD: unused elements after each row of the tile. */

#ifdef VARIANT_naive

__kernel __attribute__((reqd_work_group_size(TILE, ROWS, 1))) void
transpose_naive(__global const float *restrict src, __global float *restrict dst, int w, int h)
{
    const int x = (int)get_group_id(0) * TILE + (int)get_local_id(0);
    const int y = (int)get_group_id(1) * TILE + (int)get_local_id(1);
    for (int r = 0; r < TILE; r += ROWS) {
        if (x < w && y + r < h)
            dst[(size_t)x * (size_t)h + (size_t)(y + r)] =
                src[(size_t)(y + r) * (size_t)w + (size_t)x];
    }
}

#endif

#ifdef VARIANT_local

__kernel __attribute__((reqd_work_group_size(TILE, ROWS, 1))) void
transpose_local(__global const float *restrict src, __global float *restrict dst, int w, int h)
{
    __local float tile[TILE * (TILE + PAD)];
    const int lx = (int)get_local_id(0);
    const int ly = (int)get_local_id(1);
    const int left = (int)get_group_id(0) * TILE;
    const int top = (int)get_group_id(1) * TILE;

    for (int r = ly; r < TILE; r += ROWS) {
        if (left + lx < w && top + r < h)
            tile[r * (TILE + PAD) + lx] = src[(size_t)(top + r) * (size_t)w + (size_t)(left + lx)];
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* every work-item comes here, also those outside the matrix */
    for (int r = ly; r < TILE; r += ROWS) { /* row left + r of dst, column top + lx */
        if (left + r < w && top + lx < h)
            dst[(size_t)(left + r) * (size_t)h + (size_t)(top + lx)] = tile[lx * (TILE + PAD) + r];
    }
}

#endif
