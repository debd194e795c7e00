/* convolution.cl: a (2R+1) x (2R+1) filter over a 2-D image of h rows of w, plain and staged in
 * local memory:
 *
 *   dst(y,x) = sum over j,i in 0 .. 2R of filter(j,i) * src(y + j - R, x + i - R)
 *
 * (the filter is not turned round, as usual with images). Outside the image its edge goes on:
 * indices are clamped. Right on every size of 1 x 1 and larger, also where R exceeds it.
 *
 * A work-group of TX x TY work-items owns TX*VEC x TY*ROWS cells, each work-item VEC neighbouring
 * cells in each of ROWS rows. It walks down the rows of src that it needs; what it has read of a
 * row, its window, serves all its outputs: (VEC + 2R) * (ROWS + 2R) cells are read for VEC * ROWS
 * outputs instead of (2R+1)^2 for each.
 *
 * RADIUS (R), TX, TY, VEC (1, 4, 8 or 16), ROWS, WALK (0: the rows in a loop, 1: written out); the
 * local variant also has
 *   PAD      unused pieces (4 cells, 1 where VEC is 1) after each row of the tile, against bank
 *            conflicts;
 *   TAPS     0: the filter is read where it lies, in constant memory; 1: from a copy in local
 *            memory, four taps at a time;
 *   BALLAST  unused bytes of local memory (a multiple of 4): they compute nothing but occupy the
 *            compute unit's local memory, so that fewer work-groups fit on it at a time. */

#define JOIN(a, b) a##b
#define VECTOR_OF(n) JOIN(float, n)
#define LOAD_OF(n) JOIN(vload, n)
#define STORE_OF(n) JOIN(vstore, n)
#if VEC == 1
typedef float cells;
#define LOAD_CELLS(p) (*(p))
#define STORE_CELLS(v, p) (*(p) = (v))
#else
typedef VECTOR_OF(VEC) cells;
#define LOAD_CELLS(p) LOAD_OF(VEC)(0, (p))
#define STORE_CELLS(v, p) STORE_OF(VEC)((v), 0, (p))
#endif

/* Cells are read in pieces of this many, all aligned where the image's rows are: the window begins
 * REACH cells before the work-item's own, a multiple of a piece that holds the radius. */
#if VEC == 1
#define PIECE 1
#else
#define PIECE 4
#endif
#define REACH ((RADIUS + PIECE - 1) / PIECE * PIECE)
#define WINDOW (VEC + 2 * REACH)
#define SIDE (2 * RADIUS + 1)

/* A wide vector of a CPU reads the row itself, unaligned, once for each tap; a GPU keeps the window
 * in registers. */
#define IN_REGISTERS (VEC <= 8)

/* Adds what row `row` of those that the work-item needs gives to its outputs; at: its first cell,
 * REACH before the work-item's own. Between the first rows and the last, every output takes part:
 * a row of taps for each, fetched four taps at a time by LOAD_TAPS(into, j, i). */
#define TAP_CELLS(at, i) LOAD_CELLS((at) + (REACH - RADIUS + (i)))
#define ADD_ROW(sum, LOAD_TAPS, row, at)                                                           \
    if ((row) >= ROWS - 1 && (row) < SIDE) {                                                       \
        _Pragma("unroll") for (int i = 0; i < SIDE; i += 4)                                        \
        {                                                                                          \
            float tap[ROWS][4];                                                                    \
            _Pragma("unroll") for (int r = 0; r < ROWS; r++) LOAD_TAPS(tap[r], (row)-r, i);        \
            _Pragma("unroll") for (int t = 0; t < min(4, SIDE - i); t++)                           \
            {                                                                                      \
                const cells tapped = TAP_CELLS(at, i + t);                                         \
                _Pragma("unroll") for (int r = 0; r < ROWS; r++) sum[r] += tap[r][t] * tapped;     \
            }                                                                                      \
        }                                                                                          \
    } else {                                                                                       \
        _Pragma("unroll") for (int r = 0; r < ROWS; r++)                                           \
        {                                                                                          \
            const int j = (row)-r;                                                                 \
            if (j >= 0 && j < SIDE) {                                                              \
                _Pragma("unroll") for (int i = 0; i < SIDE; i += 4)                                \
                {                                                                                  \
                    float tap[4];                                                                  \
                    LOAD_TAPS(tap, j, i);                                                          \
                    _Pragma("unroll") for (int t = 0; t < min(4, SIDE - i); t++) sum[r] +=         \
                        tap[t] * TAP_CELLS(at, i + t);                                             \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* For small filters the walk is written out: then each row's taps are known, without a branch, and
 * serve again for the next rows' outputs. */
#if WALK == 1
#define EACH_ROW _Pragma("unroll")
#else
#define EACH_ROW _Pragma("unroll 1")
#endif

/* From the argument; `filter` is in scope. */
#define TAPS_FROM_CONSTANT(into, j, i)                                                             \
    _Pragma("unroll") for (int t = 0; t < min(4, SIDE - (i)); t++)(into)[t] =                      \
        filter[(j)*SIDE + (i) + t]

/* Stores the cells x .. x+VEC that lie inside a row of w. */
static void store_in_row(__global float *row, int x, int w, cells v)
{
    if (x <= w - VEC) {
#if VEC == 4 || VEC == 8
        if (w % 4 == 0) { /* then every piece is aligned */
            __global float4 *to = (__global float4 *)(row + x);
#if VEC == 4
            to[0] = v;
#else
            to[0] = v.lo;
            to[1] = v.hi;
#endif
            return;
        }
#endif
        STORE_CELLS(v, row + x);
    } else {
        float each[VEC];
        STORE_CELLS(v, each);
        for (int i = 0; i < VEC; i++) {
            if (x + i < w)
                row[x + i] = each[i];
        }
    }
}

/* The piece at x of a row of w that goes on beyond its ends, into each[]. */
static void load_piece(float *each, __global const float *row, int x, int w)
{
#if PIECE == 4
    if (x >= 0 && x <= w - 4) {
        float4 v;
        if (w % 4 == 0)
            v = *(__global const float4 *)(row + x);
        else
            v = vload4(0, row + x);
        each[0] = v.x;
        each[1] = v.y;
        each[2] = v.z;
        each[3] = v.w;
        return;
    }
#endif
#pragma unroll
    for (int i = 0; i < PIECE; i++)
        each[i] = row[clamp(x + i, 0, w - 1)];
}

#ifdef VARIANT_naive

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
convolution_naive(__global const float *restrict src, __constant float *filter,
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
    EACH_ROW
    for (int row = 0; row < ROWS + 2 * RADIUS; row++) {
        __global const float *line = src + (size_t)w * (size_t)clamp(y + row - RADIUS, 0, h - 1);
#if !IN_REGISTERS
        if (x >= REACH && x <= w - VEC - REACH) {
            ADD_ROW(sum, TAPS_FROM_CONSTANT, row, line + (x - REACH));
            continue;
        }
#endif
        float window[WINDOW];
#pragma unroll
        for (int i = 0; i < WINDOW; i += PIECE)
            load_piece(window + i, line, x - REACH + i, w);
        ADD_ROW(sum, TAPS_FROM_CONSTANT, row, window);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (y + r < h)
            store_in_row(dst + (size_t)w * (size_t)(y + r), x, w, sum[r]);
    }
}

#endif

#ifdef VARIANT_local

#define TILE_W (TX * VEC + 2 * REACH)
#define TILE_H (TY * ROWS + 2 * RADIUS)
#define PITCH (TILE_W + PAD * PIECE)

#if TAPS == 1
#define TAPS_PITCH ((SIDE + 3) / 4 * 4)
#define LOCAL_TAPS(into, j, i)                                                                     \
    do {                                                                                           \
        const float4 four = *(__local const float4 *)(taps + (j)*TAPS_PITCH + (i));                \
        (into)[0] = four.x;                                                                        \
        (into)[1] = four.y;                                                                        \
        (into)[2] = four.z;                                                                        \
        (into)[3] = four.w;                                                                        \
    } while (0)
#else
#define LOCAL_TAPS TAPS_FROM_CONSTANT
#endif

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
convolution_local(__global const float *restrict src, __constant float *filter,
                  __global float *restrict dst, int w, int h)
{
    /* One array, because a second one that nothing reads would be removed. */
    __local float tile[PITCH * TILE_H + BALLAST / 4] __attribute__((aligned(16)));
    const int lx = (int)get_local_id(0);
    const int ly = (int)get_local_id(1);
#if TAPS == 1
    __local float taps[SIDE * TAPS_PITCH] __attribute__((aligned(16)));
    for (int i = ly * TX + lx; i < SIDE * TAPS_PITCH; i += TX * TY) {
        const int x = i % TAPS_PITCH;
        taps[i] = x < SIDE ? filter[i / TAPS_PITCH * SIDE + x] : 0.0f;
    }
#endif
    const int left = (int)get_group_id(0) * (TX * VEC) - REACH;
    const int top = (int)get_group_id(1) * (TY * ROWS) - RADIUS;

    for (int i = ly * TX + lx; i < TILE_W / PIECE * TILE_H; i += TX * TY) {
        const int tx = i % (TILE_W / PIECE) * PIECE;
        const int ty = i / (TILE_W / PIECE);
        float each[PIECE];
        load_piece(each, src + (size_t)w * (size_t)clamp(top + ty, 0, h - 1), left + tx, w);
#if PIECE == 4
        *(__local float4 *)(tile + ty * PITCH + tx) = (float4)(each[0], each[1], each[2], each[3]);
#else
        tile[ty * PITCH + tx] = each[0];
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* every work-item comes here, also those outside the image */

    const int x = left + REACH + lx * VEC;
    const int y = top + RADIUS + ly * ROWS;
    if (x >= w || y >= h)
        return; /* no barrier follows */
    cells sum[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        sum[r] = 0.0f;
    EACH_ROW
    for (int row = 0; row < ROWS + 2 * RADIUS; row++) {
        __local const float *line = tile + (ly * ROWS + row) * PITCH + lx * VEC;
#if IN_REGISTERS && PIECE == 4
        float window[WINDOW];
#pragma unroll
        for (int i = 0; i < WINDOW; i += 4) {
            const float4 v = *(__local const float4 *)(line + i);
            window[i] = v.x;
            window[i + 1] = v.y;
            window[i + 2] = v.z;
            window[i + 3] = v.w;
        }
        ADD_ROW(sum, LOCAL_TAPS, row, window);
#else
        ADD_ROW(sum, LOCAL_TAPS, row, line);
#endif
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (y + r < h)
            store_in_row(dst + (size_t)w * (size_t)(y + r), x, w, sum[r]);
    }
}

#endif
