/* matmul.cl: C = A * B in single precision; C m x n, row-major. TRANS says how A and B lie in
 * memory, as in BLAS:
 *   0  NN: A as m x k, B as k x n
 *   1  TN: A transposed, as k x m
 *   2  NT: B transposed, as n x k
 *
 * Right on every size of 1 and larger; m, n and k need not be multiples of anything.
 *
 * One element of C a work-item, where ORDER says which dimension of the launch holds C's row:
 *   0  dimension 0: neighbouring work-items compute one column; what they read of A is k apart and
 *      what they write of C is n apart
 *   1  dimension 1: neighbouring work-items compute neighbouring elements of one row
 *
 *   naive      TX x TY work-items a group
 *   tiled      TILE x TILE work-items a group walk along k, staging a TILE x TILE tile of A and one
 *              of B in local memory at each stop. Staging is coalesced in either ORDER. With the
 *              row on dimension 0 the product then reads a column of A's tile: PAD unused elements
 *              after each of its rows spread it over the banks.
 *
 * WM x WN elements a work-item, kept in registers; each element of A or B that it reads serves WN
 * or WM multiply-adds. Columns are vectors of VEC elements.
 *
 *   registers  TX x TY work-items a group, reading A and B where they lie; in NT, vectors of VEC
 *              steps along k of both
 *   blocked    a group computes BM x BN elements of C and stages BM x BK elements of A and BK x BN
 *              of B in local memory at each step along k; see there
 *   packed     the same, but of B alone, a CPU's way; see there
 *
 * VEC is 4 (a GPU) or 16 (a CPU). WM x WN sums and a row of B should fit a CPU's registers: 4 x 16
 * or 8 x 16 where there are 16 of 8 floats (AVX2), 8 x 32 where there are 32 of 16 (AVX-512). */

#if TRANS < 0 || TRANS > 2
#error "TRANS is 0, 1 or 2"
#endif
#define A_ALONG_K (TRANS != 1) /* do rows of A in memory run along k? */
#define B_ALONG_K (TRANS == 2)

#if defined VARIANT_naive || defined VARIANT_tiled
#if ORDER != 0 && ORDER != 1
#error "ORDER is 0 or 1"
#endif
#define ROW_DIMENSION ORDER
#define COLUMN_DIMENSION (1 - ORDER)
#endif

#ifdef VARIANT_naive

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
matmul_naive(__global const float *restrict a, __global const float *restrict b,
             __global float *restrict c, int m, int n, int k)
{
    const int row = (int)get_global_id(ROW_DIMENSION);
    const int column = (int)get_global_id(COLUMN_DIMENSION);
    if (row >= m || column >= n)
        return; /* no barrier follows */
    __global const float *a_row = a + (size_t)row * (A_ALONG_K ? (size_t)k : 1);
    __global const float *b_column = b + (size_t)column * (B_ALONG_K ? (size_t)k : 1);
    const size_t a_step = A_ALONG_K ? 1 : (size_t)m;
    const size_t b_step = B_ALONG_K ? 1 : (size_t)n;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += a_row[(size_t)i * a_step] * b_column[(size_t)i * b_step];
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
#if A_ALONG_K
        tile_a[y][x] = element(a, top + y, start + x, m, k);
#else
        tile_a[x][y] = element(a, start + y, top + x, k, m);
#endif
#if B_ALONG_K
        tile_b[x][y] = element(b, left + y, start + x, n, k);
#else
        tile_b[y][x] = element(b, start + y, left + x, k, n);
#endif
        barrier(CLK_LOCAL_MEM_FENCE); /* the tiles are whole before anyone reads them */
        for (int i = 0; i < TILE; i++)
            sum += tile_a[row][i] * tile_b[i][column];
        barrier(CLK_LOCAL_MEM_FENCE); /* all have read before anyone loads the next */
    }
    if (top + row < m && left + column < n)
        c[(size_t)(top + row) * (size_t)n + (size_t)(left + column)] = sum;
}

#endif

#if defined VARIANT_registers || defined VARIANT_blocked || defined VARIANT_packed

#define JOIN(a, b) a##b
#define VECTOR_OF(n) JOIN(float, n)
#define LOAD_OF(n) JOIN(vload, n)
#define STORE_OF(n) JOIN(vstore, n)
typedef VECTOR_OF(VEC) cells;
#define LOAD_CELLS LOAD_OF(VEC)
#define STORE_CELLS STORE_OF(VEC)
#define WV (WN / VEC) /* vectors of a work-item in a row of C */

/* Stores v at columns `column` on of one row of C, but only columns from first to n. Where
 * `aligned` and VEC is 4, whole vectors are aligned. */
static void store_in_row(__global float *row, int column, int first, int n, int aligned, cells v)
{
    if (column >= first && column <= n - VEC) {
#if VEC == 4
        if (aligned) {
            *(__global cells *)(row + column) = v;
            return;
        }
#endif
        STORE_CELLS(v, 0, row + column);
    } else {
        float each[VEC];
        STORE_CELLS(v, 0, each);
        for (int i = 0; i < VEC; i++) {
            if (column + i >= first && column + i < n)
                row[column + i] = each[i];
        }
    }
}

#endif

#if defined VARIANT_registers && !B_ALONG_K

/* Columns column .. column+VEC of row i of B; columns past the last repeat it. */
static cells right_cells(__global const float *b, int i, int column, int n)
{
    __global const float *row = b + (size_t)i * (size_t)n;
    if (column <= n - VEC)
        return LOAD_CELLS(0, row + column);
    float each[VEC];
    for (int j = 0; j < VEC; j++)
        each[j] = row[min(column + j, n - 1)];
    return LOAD_CELLS(0, each);
}

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
matmul_registers(__global const float *restrict a, __global const float *restrict b,
                 __global float *restrict c, int m, int n, int k)
{
    const int top = (int)get_global_id(1) * WM;
    const int left = (int)get_global_id(0) * WN;
    if (top >= m || left >= n)
        return;                    /* no barrier follows */
    __global const float *row[WM]; /* rows past the last repeat it */
#pragma unroll
    for (int y = 0; y < WM; y++)
        row[y] = a + (size_t)min(top + y, m - 1) * (A_ALONG_K ? (size_t)k : 1);
    const size_t step = A_ALONG_K ? 1 : (size_t)m;

    cells sum[WM][WV];
#pragma unroll
    for (int y = 0; y < WM; y++) {
#pragma unroll
        for (int x = 0; x < WV; x++)
            sum[y][x] = (cells)(0.0f);
    }
    for (int i = 0; i < k; i++) {
        cells right[WV];
#pragma unroll
        for (int x = 0; x < WV; x++)
            right[x] = right_cells(b, i, left + x * VEC, n);
#pragma unroll
        for (int y = 0; y < WM; y++) {
            const float l = row[y][(size_t)i * step];
#pragma unroll
            for (int x = 0; x < WV; x++)
                sum[y][x] += l * right[x];
        }
    }
#pragma unroll
    for (int y = 0; y < WM; y++) {
        if (top + y < m) {
#pragma unroll
            for (int x = 0; x < WV; x++)
                store_in_row(c + (size_t)(top + y) * (size_t)n, left + x * VEC, 0, n, n % 4 == 0,
                             sum[y][x]);
        }
    }
}

#endif

#if defined VARIANT_registers && B_ALONG_K

/* Rows of A and columns of B both run along k: a work-item reads VEC steps of each at once, so that
 * no vector is gathered from different rows. It computes ACROSS columns of DOWN rows at a time.
 * With short vectors, a GPU's, the products of a vector are added one by one; with wide ones, a
 * CPU's, there is a sum for each lane, which are added at the end. */
#if VEC == 4
#define DOWN WM
#define ACROSS WN
typedef float part;
static float total_of(part sum)
{
    return sum;
}
static part add_products(part sum, cells l, cells r)
{
    sum += l.x * r.x;
    sum += l.y * r.y;
    sum += l.z * r.z;
    sum += l.w * r.w;
    return sum;
}
#elif VEC == 16
#define DOWN 4
#define ACROSS 4
typedef cells part;
static part add_products(part sum, cells l, cells r)
{
    return sum + l * r;
}
#include "total.clh"
#else
#error "VEC is 4 or 16"
#endif
#if WM % DOWN || WN % ACROSS
#error "a work-item computes whole blocks"
#endif

/* VEC steps of a row. aligned: are the rows' beginnings aligned to 16 bytes? */
static cells steps_at(__global const float *row, int aligned)
{
#if VEC == 4
    if (aligned)
        return *(__global const cells *)row;
#endif
    return LOAD_CELLS(0, row);
}

/* As many whole vectors as there are along k; returns the first step that is left. */
static int add_vectors(part sum[DOWN][ACROSS], __global const float *const *left,
                       __global const float *const *right, int k, int aligned)
{
    int i = 0;
    for (; i <= k - VEC; i += VEC) {
        cells r[ACROSS];
#pragma unroll
        for (int x = 0; x < ACROSS; x++)
            r[x] = steps_at(right[x] + i, aligned);
#pragma unroll
        for (int y = 0; y < DOWN; y++) {
            const cells l = steps_at(left[y] + i, aligned);
#pragma unroll
            for (int x = 0; x < ACROSS; x++)
                sum[y][x] = add_products(sum[y][x], l, r[x]);
        }
    }
    return i;
}

/* The block of C from row `top` and column `first` on. Rows and columns past the last repeat it. */
static void block_along_k(__global const float *a, __global const float *b, __global float *c,
                          int top, int first, int m, int n, int k)
{
    __global const float *left[DOWN], *right[ACROSS];
#pragma unroll
    for (int y = 0; y < DOWN; y++)
        left[y] = a + (size_t)min(top + y, m - 1) * (size_t)k;
#pragma unroll
    for (int x = 0; x < ACROSS; x++)
        right[x] = b + (size_t)min(first + x, n - 1) * (size_t)k;

    part sum[DOWN][ACROSS];
#pragma unroll
    for (int y = 0; y < DOWN; y++) {
#pragma unroll
        for (int x = 0; x < ACROSS; x++)
            sum[y][x] = (part)(0.0f);
    }
    const int done =
        k % 4 == 0 ? add_vectors(sum, left, right, k, 1) : add_vectors(sum, left, right, k, 0);
    float total[DOWN][ACROSS];
#pragma unroll
    for (int y = 0; y < DOWN; y++) {
#pragma unroll
        for (int x = 0; x < ACROSS; x++)
            total[y][x] = total_of(sum[y][x]);
    }
#pragma unroll 1
    for (int i = done; i < k; i++) {
        float r[ACROSS];
#pragma unroll
        for (int x = 0; x < ACROSS; x++)
            r[x] = right[x][i];
#pragma unroll
        for (int y = 0; y < DOWN; y++) {
            const float l = left[y][i];
#pragma unroll
            for (int x = 0; x < ACROSS; x++)
                total[y][x] += l * r[x];
        }
    }
#pragma unroll
    for (int y = 0; y < DOWN; y++) {
#pragma unroll
        for (int x = 0; x < ACROSS; x++) {
            if (top + y < m && first + x < n)
                c[(size_t)(top + y) * (size_t)n + (size_t)(first + x)] = total[y][x];
        }
    }
}

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
matmul_registers(__global const float *restrict a, __global const float *restrict b,
                 __global float *restrict c, int m, int n, int k)
{
    const int top = (int)get_global_id(1) * WM;
    const int left = (int)get_global_id(0) * WN;
    for (int x = left; x < min(left + WN, n); x += ACROSS) {
        for (int y = top; y < min(top + WM, m); y += DOWN)
            block_along_k(a, b, c, y, x, m, n, k);
    }
}

#endif

#ifdef VARIANT_blocked

/* A group's tile of A lies in local memory with k down and C's rows across, its tile of B with k
 * down and C's columns across: one step along k reads a piece of a row of each, by vectors.
 *
 * While the product of one step runs, the next tiles are on their way into registers. PIPELINE
 *   1  one pair of tiles: product, barrier, registers to local memory, barrier
 *   2  two pairs in turn: one barrier a step
 *
 * WIDTH: elements that a work-item reads at once, 1 or 4. With 4, matrices whose rows are not a
 * multiple of 4 long go the slow way below; 1 is for those.
 *
 * LANES: how 32 neighbouring work-items, which a GPU runs in step, lie in the group's part of C: 0
 * as their ids run, or LANES across (4 or 8) and 32 / LANES down, in pairs one above the other:
 * they then read fewer different elements of the tiles.
 *
 * PAD: unused elements after each row of the tiles, a multiple of VEC: a tile whose rows in global
 * memory run along k is turned while it is stored, which without padding meets few banks.
 *
 * Edges cost the interior nothing: where the matrices are no smaller than the tiles, the last
 * groups shift back until their tiles lie inside and store only what is theirs. What is left along
 * k, and small matrices, go through a loop that checks each element. */

#define ITEMS_X (BN / WN)
#define ITEMS_Y (BM / WM)
#define ITEMS (ITEMS_X * ITEMS_Y)
#define PITCH_A (BM + PAD)
#define PITCH_B (BN + PAD)

/* Length of a tile's rows as they lie in global memory. */
#define LINE_A (A_ALONG_K ? BK : BM)
#define LINE_B (B_ALONG_K ? BK : BN)
/* Elements of a tile that one work-item moves. */
#define SHARE_A (BM * BK / ITEMS)
#define SHARE_B (BN * BK / ITEMS)
#if BM * BK % (4 * ITEMS) || BN * BK % (4 * ITEMS)
#error "every work-item moves the same number of vectors of each tile"
#endif
#if ITEMS * WIDTH % LINE_A || ITEMS * WIDTH % LINE_B
#error "a group reads whole rows of a tile at a time"
#endif
#if LANES && ((LANES != 4 && LANES != 8) || ITEMS_X % LANES || ITEMS_Y % (32 / LANES))
#error "32 work-items lie 4 or 8 across and 8 or 4 down"
#endif

#if PIPELINE == 2
#define TILES 2
#else
#define TILES 1
#endif

/* A work-item's way through its group's tiles of one matrix. A tile's rows as they lie in global
 * memory have `line` elements; in each pass the group reads a few whole rows, neighbouring
 * work-items neighbouring elements: WIDTH of them at once. */
struct way {
    __global const float *from; /* the work-item's first elements of the next tile */
    size_t pass, step;          /* from pass to pass, from tile to tile */
    uint to;                    /* where they go in the tile */
};

/* top: the tile's first element in global memory, whose rows are `pitch` apart. turned: do rows in
 * global memory become columns of the tile? */
static struct way way_through(__global const float *top, size_t pitch, size_t step, uint item,
                              uint line, uint tile_pitch, int turned)
{
    const uint y = item * WIDTH / line;
    const uint x = item * WIDTH % line;
    const struct way w = {top + (size_t)y * pitch + x, ITEMS * WIDTH / line * pitch, step,
                          turned ? x * tile_pitch + y : y * tile_pitch + x};
    return w;
}

/* Reads the work-item's `share` elements of a tile into `kept`. */
static void fetch(float *kept, struct way w, uint share)
{
    /* Not w.from itself: Mesa 22.3 changes the caller's structure too, though passed by value. */
    __global const float *from = w.from;
#pragma unroll
    for (uint i = 0; i < share; i += WIDTH) {
#if WIDTH == 4
        const float4 v = *(__global const float4 *)from;
        kept[i] = v.x;
        kept[i + 1] = v.y;
        kept[i + 2] = v.z;
        kept[i + 3] = v.w;
#else
        kept[i] = *from;
#endif
        from += w.pass;
    }
}

/* Puts what `fetch` read into the tile. */
static void keep(__local float *tile, uint tile_pitch, const float *kept, struct way w, uint line,
                 uint share, int turned)
{
    __local float *to = tile + w.to;
#pragma unroll
    for (uint i = 0; i < share; i += WIDTH) {
        const uint y = i * ITEMS / line;
        if (turned) {
#pragma unroll
            for (uint j = 0; j < WIDTH; j++)
                to[y + j * tile_pitch] = kept[i + j];
        } else {
#if WIDTH == 4
            *(__local float4 *)(to + y * tile_pitch) =
                (float4)(kept[i], kept[i + 1], kept[i + 2], kept[i + 3]);
#else
            to[y * tile_pitch] = kept[i];
#endif
        }
    }
}

/* The part of a tile that lies inside the matrix, element by element: tile row i holds step
 * start + i, its column j row or column first + j of C. `extent`: rows or columns of C there are.
 */
static void stage_checked(__local float *tile, int tile_pitch, __global const float *matrix,
                          int along_k, int start, int k, int first, int extent, int width, int item)
{
    for (int at = item; at < width * BK; at += ITEMS) {
        const int i = along_k ? at % BK : at / width;
        const int j = along_k ? at / BK : at % width;
        if (start + i < k && first + j < extent)
            tile[i * tile_pitch + j] =
                matrix[along_k ? (size_t)(first + j) * (size_t)k + (size_t)(start + i)
                               : (size_t)(start + i) * (size_t)extent + (size_t)(first + j)];
        else
            tile[i * tile_pitch + j] = 0.0f;
    }
}

/* Adds one step along k. left: the work-item's first row in a row of A's tile; right: its first
 * column in a row of B's. Every other row is added from its last column on: then neighbouring
 * multiply-adds share an element of A or of B, which a GPU need not read from its registers again.
 */
static void add_step(cells sum[WM][WV], __local const float *left, __local const float *right)
{
    float l[WM];
    cells r[WV];
#pragma unroll
    for (int y = 0; y < WM / 4; y++) {
        const float4 v = *(__local const float4 *)(left + y * (4 * ITEMS_Y));
        l[4 * y] = v.x;
        l[4 * y + 1] = v.y;
        l[4 * y + 2] = v.z;
        l[4 * y + 3] = v.w;
    }
#pragma unroll
    for (int x = 0; x < WV; x++)
        r[x] = *(__local const cells *)(right + x * (VEC * ITEMS_X));
#pragma unroll
    for (int y = 0; y < WM; y++) {
#pragma unroll
        for (int i = 0; i < WV; i++) {
            const int x = y % 2 ? WV - 1 - i : i;
            sum[y][x] += l[y] * r[x];
        }
    }
}

__kernel __attribute__((reqd_work_group_size(ITEMS_X, ITEMS_Y, 1))) void
matmul_blocked(__global const float *restrict a, __global const float *restrict b,
               __global float *restrict c, int m, int n, int k)
{
    __local float tile_a[TILES * BK * PITCH_A] __attribute__((aligned(4 * VEC)));
    __local float tile_b[TILES * BK * PITCH_B] __attribute__((aligned(4 * VEC)));
    const int item = (int)(get_local_id(1) * ITEMS_X + get_local_id(0));
#if LANES
    const int item_x = item / 32 % (ITEMS_X / LANES) * LANES + item / 2 % LANES;
    const int item_y =
        (item / 32 / (ITEMS_X / LANES) * (16 / LANES) + item % 32 / (2 * LANES)) * 2 + item % 2;
#else
    const int item_x = (int)get_local_id(0);
    const int item_y = (int)get_local_id(1);
#endif
    /* What is the group's to store begins here; what it computes may begin before. */
    const int own_top = (int)get_group_id(1) * BM;
    const int own_left = (int)get_group_id(0) * BN;
    const int large = m >= BM && n >= BN;
    const int top = large ? min(own_top, m - BM) : own_top;
    const int left = large ? min(own_left, n - BN) : own_left;

    cells sum[WM][WV];
#pragma unroll
    for (int y = 0; y < WM; y++) {
#pragma unroll
        for (int x = 0; x < WV; x++)
            sum[y][x] = (cells)(0.0f);
    }
    /* WIDTH 4 needs every row of A and B to begin at a multiple of 16 bytes. */
    const int readable =
        WIDTH == 1 || ((A_ALONG_K ? k : m) % 4 == 0 && (B_ALONG_K ? k : n) % 4 == 0);
    const int steps = large && readable ? k / BK : 0;
    struct way way_a =
        way_through(a + (size_t)top * (A_ALONG_K ? (size_t)k : 1), (size_t)(A_ALONG_K ? k : m),
                    A_ALONG_K ? BK : BK * (size_t)m, (uint)item, LINE_A, PITCH_A, A_ALONG_K);
    struct way way_b =
        way_through(b + (size_t)left * (B_ALONG_K ? (size_t)k : 1), (size_t)(B_ALONG_K ? k : n),
                    B_ALONG_K ? BK : BK * (size_t)n, (uint)item, LINE_B, PITCH_B, B_ALONG_K);
    const int left_at = item_y * 4;
    const int right_at = item_x * VEC;
    float kept_a[SHARE_A], kept_b[SHARE_B];
#define FETCH_BOTH                                                                                 \
    fetch(kept_a, way_a, SHARE_A);                                                                 \
    fetch(kept_b, way_b, SHARE_B)
#define KEEP_BOTH(tile)                                                                            \
    keep(tile_a + (tile)*BK * PITCH_A, PITCH_A, kept_a, way_a, LINE_A, SHARE_A, A_ALONG_K);        \
    keep(tile_b + (tile)*BK * PITCH_B, PITCH_B, kept_b, way_b, LINE_B, SHARE_B, B_ALONG_K)
#define MULTIPLY(tile)                                                                             \
    _Pragma("unroll") for (int i = 0; i < BK; i++)                                                 \
        add_step(sum, tile_a + ((tile)*BK + i) * PITCH_A + left_at,                                \
                 tile_b + ((tile)*BK + i) * PITCH_B + right_at)
    /* The last step reads its own tiles again, so that the loop needs no branch around a barrier.
     */
#define FETCH_NEXT(step)                                                                           \
    way_a.from += (step) + 1 < steps ? way_a.step : 0;                                             \
    way_b.from += (step) + 1 < steps ? way_b.step : 0;                                             \
    FETCH_BOTH

    if (steps > 0) {
        FETCH_BOTH;
        KEEP_BOTH(0);
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* the first tiles are whole */
    for (int step = 0; step < steps; step++) {
        const int now = TILES == 2 ? step % 2 : 0;
        FETCH_NEXT(step);
        MULTIPLY(now);
#if PIPELINE == 1
        barrier(CLK_LOCAL_MEM_FENCE); /* all have read the tiles */
#endif
        KEEP_BOTH(TILES - 1 - now);
        barrier(CLK_LOCAL_MEM_FENCE); /* the next tiles are whole */
    }
    for (int start = steps * BK; start < k; start += BK) {
        stage_checked(tile_a, PITCH_A, a, A_ALONG_K, start, k, top, m, BM, item);
        stage_checked(tile_b, PITCH_B, b, B_ALONG_K, start, k, left, n, BN, item);
        barrier(CLK_LOCAL_MEM_FENCE); /* the tiles are whole */
        const int rest = min(BK, k - start);
        for (int i = 0; i < rest; i++)
            add_step(sum, tile_a + i * PITCH_A + left_at, tile_b + i * PITCH_B + right_at);
        barrier(CLK_LOCAL_MEM_FENCE); /* all have read them */
    }

    /* The product with 1 gives what is stored registers of its own: a vector store wants its four
     * side by side, and sums that lie so share a bank of registers with the elements of B, of which
     * each multiply-add reads one of both. On an NVIDIA H200 0.70 of the issue slots were used so,
     * and 0.81 without. k is at least 1. */
    const float one = k > 0 ? 1.0f : 0.0f;
#pragma unroll
    for (int y = 0; y < WM; y++) {
        const int row = top + (y / 4 * ITEMS_Y + item_y) * 4 + y % 4;
        if (row >= own_top && row < m) {
#pragma unroll
            for (int x = 0; x < WV; x++)
                store_in_row(c + (size_t)row * (size_t)n, left + (x * ITEMS_X + item_x) * VEC,
                             own_left, n, n % 4 == 0, one * sum[y][x]);
        }
    }
}

#endif

#ifdef VARIANT_packed

/* A group computes BM x BN elements of C and packs BK x BN elements of B in local memory at each
 * step along k, where rows that lie n apart in global memory lie side by side: so a CPU meets few
 * pages and cache sets. A is read where it lies, a word at a time for all lanes of a vector. */

#define ITEMS_X (BN / WN)
#define ITEMS_Y (BM / WM)
#define ITEMS (ITEMS_X * ITEMS_Y)
#define TILE_VECTORS (BN / VEC) /* in a row of the tile */
#if VEC != 16 || BK % VEC
#error "VEC is 16, and divides BK"
#endif

/* Columns column .. column+VEC of B at step i along k; 0 outside. */
static cells packed_cells(__global const float *b, int i, int column, int n, int k)
{
#if !B_ALONG_K
    if (i < k && column <= n - VEC)
        return LOAD_CELLS(0, b + (size_t)i * (size_t)n + (size_t)column);
#endif
    float each[VEC];
    for (int j = 0; j < VEC; j++) {
        const size_t at = (size_t)(column + j);
        each[j] = i >= k || column + j >= n ? 0.0f
                  : B_ALONG_K               ? b[at * (size_t)k + (size_t)i]
                                            : b[(size_t)i * (size_t)n + at];
    }
    return LOAD_CELLS(0, each);
}

#if B_ALONG_K

/* Four steps from i on of columns column .. column+4 of B, into as many rows of the tile. They are
 * read as they lie, along k, and turn in registers. */
static void pack_turned(__local float *to, __global const float *b, int i, int column, int n, int k)
{
    if (i <= k - 4 && column <= n - 4) {
        __global const float *from = b + (size_t)column * (size_t)k + (size_t)i;
        const float4 v0 = vload4(0, from);
        const float4 v1 = vload4(0, from + k);
        const float4 v2 = vload4(0, from + 2 * (size_t)k);
        const float4 v3 = vload4(0, from + 3 * (size_t)k);
        vstore4((float4)(v0.x, v1.x, v2.x, v3.x), 0, to);
        vstore4((float4)(v0.y, v1.y, v2.y, v3.y), 0, to + BN);
        vstore4((float4)(v0.z, v1.z, v2.z, v3.z), 0, to + 2 * BN);
        vstore4((float4)(v0.w, v1.w, v2.w, v3.w), 0, to + 3 * BN);
        return;
    }
    for (int y = 0; y < 4; y++) {
        for (int x = 0; x < 4; x++)
            to[y * BN + x] = i + y < k && column + x < n
                                 ? b[(size_t)(column + x) * (size_t)k + (size_t)(i + y)]
                                 : 0.0f;
    }
}

#endif

__kernel __attribute__((reqd_work_group_size(ITEMS_X, ITEMS_Y, 1))) void
matmul_packed(__global const float *restrict a, __global const float *restrict b,
              __global float *restrict c, int m, int n, int k)
{
    __local cells tile[BK * TILE_VECTORS];
    const int item_x = (int)get_local_id(0);
    const int item_y = (int)get_local_id(1);
    const int item = item_y * ITEMS_X + item_x;
    const int top = (int)get_group_id(1) * BM + item_y * WM;
    const int left = (int)get_group_id(0) * BN;

    cells sum[WM][WV];
#pragma unroll
    for (int y = 0; y < WM; y++) {
#pragma unroll
        for (int x = 0; x < WV; x++)
            sum[y][x] = (cells)(0.0f);
    }
    for (int start = 0; start < k; start += BK) {
        const int steps = min(BK, k - start);
#if B_ALONG_K
        for (int at = item; at < BK / 4 * (BN / 4); at += ITEMS) {
            const int i = at / (BN / 4) * 4;
            const int x = at % (BN / 4) * 4;
            pack_turned((__local float *)tile + i * BN + x, b, start + i, left + x, n, k);
        }
#else
        for (int at = item; at < BK * TILE_VECTORS; at += ITEMS)
            tile[at] =
                packed_cells(b, start + at / TILE_VECTORS, left + at % TILE_VECTORS * VEC, n, k);
#endif
        barrier(CLK_LOCAL_MEM_FENCE);  /* the tile is whole */
        __global const float *row[WM]; /* rows past the last repeat it */
#pragma unroll
        for (int y = 0; y < WM; y++) {
            const size_t at = (size_t)min(top + y, m - 1);
            row[y] =
                a + (A_ALONG_K ? at * (size_t)k + (size_t)start : (size_t)start * (size_t)m + at);
        }
        /* What lives across a barrier lies in memory on a CPU, where the work-items take turns;
         * this copy does not, so that it stays in registers during the product. */
        cells now[WM][WV];
#pragma unroll
        for (int y = 0; y < WM; y++) {
#pragma unroll
            for (int x = 0; x < WV; x++)
                now[y][x] = sum[y][x];
        }
        for (int i = 0; i < steps; i++) {
            cells right[WV];
#pragma unroll
            for (int x = 0; x < WV; x++)
                right[x] = tile[i * TILE_VECTORS + item_x * WV + x];
#pragma unroll
            for (int y = 0; y < WM; y++) {
                const float l = row[y][A_ALONG_K ? (size_t)i : (size_t)i * (size_t)m];
#pragma unroll
                for (int x = 0; x < WV; x++)
                    now[y][x] += l * right[x];
            }
        }
#pragma unroll
        for (int y = 0; y < WM; y++) {
#pragma unroll
            for (int x = 0; x < WV; x++)
                sum[y][x] = now[y][x];
        }
        barrier(CLK_LOCAL_MEM_FENCE); /* all have read it */
    }
#pragma unroll
    for (int y = 0; y < WM; y++) {
        if (top + y < m) {
#pragma unroll
            for (int x = 0; x < WV; x++)
                store_in_row(c + (size_t)(top + y) * (size_t)n, left + item_x * WN + x * VEC, 0, n,
                             n % 4 == 0, sum[y][x]);
        }
    }
}

#endif
