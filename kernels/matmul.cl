/* matmul.cl: C = A * B in single precision, row-major: A m x k, B k x n, C m x n. One element of C
 * a work-item.
 *
 * ORDER says which dimension of the launch holds the row of C:
 *   0  the row is on dimension 0: neighbouring work-items compute one column; what they read of A
 *      is k apart and what they write of C is n apart
 *   1  the row is on dimension 1: neighbouring work-items compute neighbouring elements of one row
 *
 * Right on every size of 1 and larger; m, n and k need not be multiples of anything.
 *
 * naive: TX x TY work-items a group.
 *
 * tiled: TILE x TILE work-items a group walk along k, staging a TILE x TILE tile of A and one of B
 * in local memory at each stop. Staging is coalesced in either ORDER. With the row on dimension 0
 * the product then reads a column of A's tile: PAD unused elements after each of its rows spread
 * it over the banks. */

#if ORDER != 0 && ORDER != 1
#error "ORDER is 0 or 1"
#endif
#define ROW_DIMENSION ORDER
#define COLUMN_DIMENSION (1 - ORDER)

#ifdef VARIANT_naive

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
matmul_naive(__global const float *restrict a, __global const float *restrict b,
             __global float *restrict c, int m, int n, int k)
{
    const int row = (int)get_global_id(ROW_DIMENSION);
    const int column = (int)get_global_id(COLUMN_DIMENSION);
    if (row >= m || column >= n)
        return; /* no barrier follows */
    __global const float *a_row = a + (size_t)row * (size_t)k;
    __global const float *b_column = b + column;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += a_row[i] * b_column[(size_t)i * (size_t)n];
    c[(size_t)row * (size_t)n + (size_t)column] = sum;
}

#endif

#ifdef VARIANT_tiled

/* Element (y, x) of a matrix of rows x columns, 0 outside it. */
static float element(__global const float *matrix, int y, int x, int rows, int columns)
{
    return y < rows && x < columns ? matrix[(size_t)y * (size_t)columns + (size_t)x] : 0.0f;
}

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
matmul_tiled(__global const float *restrict a, __global const float *restrict b,
             __global float *restrict c, int m, int n, int k)
{
    __local float tile_a[TILE][TILE + PAD];
    __local float tile_b[TILE][TILE + PAD];
    const int x = (int)get_local_id(0);
    const int y = (int)get_local_id(1);
    const int top = (int)get_group_id(ROW_DIMENSION) * TILE;
    const int left = (int)get_group_id(COLUMN_DIMENSION) * TILE;
    const int row = (int)get_local_id(ROW_DIMENSION);
    const int column = (int)get_local_id(COLUMN_DIMENSION);

    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        tile_a[y][x] = element(a, top + y, start + x, m, k);
        tile_b[y][x] = element(b, start + y, left + x, k, n);
        barrier(CLK_LOCAL_MEM_FENCE); /* the tiles are whole before anyone reads them */
        for (int i = 0; i < TILE; i++)
            sum += tile_a[row][i] * tile_b[i][column];
        barrier(CLK_LOCAL_MEM_FENCE); /* all have read before anyone loads the next */
    }
    if (top + row < m && left + column < n)
        c[(size_t)(top + row) * (size_t)n + (size_t)(left + column)] = sum;
}

#endif
