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
 * RADIUS (R), TX, TY, VEC (1, 4, 8 or 16), ROWS, WALK (0: the rows in a loop, 1: written out; in
 * the naive variant also 2: many rows, each read once for all outputs that it reaches). The local
 * variant also has:
 *
 * - PAD, unused pieces (4 cells, 1 where VEC is 1) after each row of the tile, against bank
 *   conflicts;
 * - TAPS, 0: the filter is read where it lies, in constant memory; 1: from a copy in local memory,
 *   four taps at a time;
 * - BALLAST, unused bytes of local memory (a multiple of 4): they compute nothing but occupy the
 *   compute unit's local memory, so that fewer work-groups fit on it at a time. */

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

#include "clamped.clh"
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

#if (defined VARIANT_naive && WALK != 2) || !IN_REGISTERS

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

#endif

#ifdef VARIANT_naive

#if WALK == 2

/* Several rows of outputs are under way at once: each row of src that the work-item comes to adds
 * to all outputs that it reaches, the row of taps j to the one that began j rows ago. So a row is
 * read once, not once for each row of taps, and the taps can stay in registers. VEC is 4. */

#if VEC != 4
#error "VEC is 4 where WALK is 2"
#endif

/* The taps and the sums under way. */
struct slide {
    float tap[SIDE * SIDE];
    float4 sum[SIDE];
};

static void slide_start(struct slide *s, __constant float *filter)
{
#pragma unroll
    for (int i = 0; i < SIDE * SIDE; i++)
        s->tap[i] = filter[i];
#pragma unroll
    for (int j = 0; j < SIDE; j++)
        s->sum[j] = 0.0f;
}

/* The cells i steps into a window, one by one: so compilers keep it in registers. */
static float4 window_cells(const float *window, int i)
{
    return (float4)(window[i], window[i + 1], window[i + 2], window[i + 3]);
}

/* The next row of src comes; afterwards the last sum is complete. */
static void slide_on(struct slide *s, const float *window)
{
#pragma unroll
    for (int j = SIDE - 1; j >= 0; j--) {
        float4 sum = j > 0 ? s->sum[j > 0 ? j - 1 : 0] : (float4)(0.0f);
#pragma unroll
        for (int i = 0; i < SIDE; i++)
            sum += s->tap[j * SIDE + i] * window_cells(window, REACH - RADIUS + i);
        s->sum[j] = sum;
    }
}

/* What lies beside the work-item's own cells in its window. */
struct sides {
    float4 west[REACH / 4], east[REACH / 4];
};

/* A row of the image as a work-item comes to it, also one before the first or after the last. */
struct line {
    __global const float *start;
    int y;
};

static struct line line_at(__global const float *src, int y, int w, int h)
{
    struct line l = {row_at(src, clamp(y, 0, h - 1), w), y};
    return l;
}

static void step_down(struct line *l, int w, int h)
{
    if (l->y >= 0 && l->y < h - 1)
        l->start += w;
    l->y++;
}

static struct sides load_sides(struct line l, int x, int w, int whole)
{
    struct sides s;
#pragma unroll
    for (int i = 0; i < REACH / 4; i++) {
        s.west[i] = piece_at(l.start, x - REACH + 4 * i, w, whole, 0);
        s.east[i] = piece_at(l.start, x + 4 + 4 * i, w, whole, 0);
    }
    return s;
}

/* ROWS rows from y on. The work-item's own cells are on their way AHEAD rows ahead (in `far`),
 * those beside them, which its neighbours have asked for by then, one row (in `near`). */
#define AHEAD 4
static void slide_down(__global const float *src, __constant float *filter, __global float *dst,
                       int x, int y, int w, int h, int whole)
{
    const int rows = min(ROWS, h - y);
    __global float *to = dst + (size_t)w * (size_t)y;
    struct line near = line_at(src, y - RADIUS, w, h), far = near;
    struct sides even = load_sides(near, x, w, whole), odd;
    float4 own[AHEAD];
    struct slide s;
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
        own[u] = piece_at(far.start, x, w, whole, 1);
        step_down(&far, w, h);
    }
    slide_start(&s, filter);
#define SLIDE_ROW(row, own, sides, next_sides)                                                     \
    do {                                                                                           \
        float window[WINDOW];                                                                      \
        _Pragma("unroll") for (int i = 0; i < REACH / 4; i++)                                      \
        {                                                                                          \
            KEEP_PIECE(window + 4 * i, sides.west[i]);                                             \
            KEEP_PIECE(window + REACH + 4 + 4 * i, sides.east[i]);                                 \
        }                                                                                          \
        KEEP_PIECE(window + REACH, own);                                                           \
        own = piece_at(far.start, x, w, whole, 1);                                                 \
        step_down(&far, w, h);                                                                     \
        step_down(&near, w, h);                                                                    \
        next_sides = load_sides(near, x, w, whole);                                                \
        slide_on(&s, window);                                                                      \
        if ((row) >= 2 * RADIUS && (row) < rows + 2 * RADIUS) {                                    \
            if (whole)                                                                             \
                *(__global float4 *)(to + x) = s.sum[SIDE - 1];                                    \
            else                                                                                   \
                store_in_row(to, x, w, s.sum[SIDE - 1]);                                           \
            to += w;                                                                               \
        }                                                                                          \
    } while (0)

#pragma unroll 1
    for (int row = 0; row < ROWS + 2 * RADIUS; row += AHEAD) {
        SLIDE_ROW(row, own[0], even, odd);
        SLIDE_ROW(row + 1, own[1], odd, even);
        SLIDE_ROW(row + 2, own[2], even, odd);
        SLIDE_ROW(row + 3, own[3], odd, even);
    }
}

#endif

__kernel __attribute__((reqd_work_group_size(TX, TY, 1))) void
convolution_naive(__global const float *restrict src, __constant float *filter,
                  __global float *restrict dst, int w, int h)
{
    const int x = (int)get_global_id(0) * VEC;
    const int y = (int)get_global_id(1) * ROWS;
    if (x >= w || y >= h)
        return; /* no barrier follows */
#if WALK == 2
    if (w % 4 == 0)
        slide_down(src, filter, dst, x, y, w, h, 1);
    else
        slide_down(src, filter, dst, x, y, w, h, 0);
#else
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
#endif
}

#endif

#ifdef VARIANT_local

#define TILE_W (TX * VEC + 2 * REACH)
#define TILE_H (TY * ROWS + 2 * RADIUS)
#define PITCH (TILE_W + PAD * PIECE)
#define GROUP (TX * TY)

/* Where VEC is 8, neighbouring work-items read pieces that are two apart, that is, from every other
 * four banks. So every other four pairs of pieces lie in the tile the other way round. */
#if VEC == 8
#define PLACE_OF(x) ((x) ^ ((x) >> 3 & 4))
#else
#define PLACE_OF(x) (x)
#endif

#define TILE_PIECES (TILE_W / PIECE * TILE_H)
#define EACH ((TILE_PIECES + GROUP - 1) / GROUP) /* a work-item, at most */
/* They are loaded in batches of at most 8, all of a batch on their way at a time. */
#define BATCHES ((EACH + 7) / 8)
#define AT_ONCE ((EACH + BATCHES - 1) / BATCHES)

/* Piece i of the tile: where it lies in it. */
struct spot {
    int x, y;
};

static struct spot spot_of(int i)
{
    struct spot s = {i % (TILE_W / PIECE) * PIECE, i / (TILE_W / PIECE)};
    return s;
}

/* Some pieces of the tile whose corner lies at (left, top); whole, inside: as for piece_at, of all
 * of the tile. */
static void load_pieces(piece *p, __global const float *src, const struct spot *spot, int left,
                        int top, int w, int h, int whole, int inside)
{
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
        const int y = top + spot[u].y;
        p[u] = piece_at(row_at(src, inside ? y : clamp(y, 0, h - 1), w), left + spot[u].x, w, whole,
                        inside);
    }
}

#if TAPS == 1
#define TAPS_PITCH ((SIDE + 3) / 4 * 4)
#define LOCAL_TAPS(into, j, i)                                                                     \
    KEEP_PIECE(into, *(__local const float4 *)(taps + (j)*TAPS_PITCH + (i)))
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

#if IN_REGISTERS
    const int whole = w % PIECE == 0;
    const int inside = whole && left >= 0 && left + TILE_W <= w && top >= 0 && top + TILE_H <= h;
    for (int i = ly * TX + lx; i < BATCHES * AT_ONCE * GROUP; i += AT_ONCE * GROUP) {
        piece p[AT_ONCE];
        struct spot spot[AT_ONCE];
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++)
            spot[u] = spot_of(min(i + u * GROUP, TILE_PIECES - 1));
        if (inside)
            load_pieces(p, src, spot, left, top, w, h, 1, 1);
        else if (whole)
            load_pieces(p, src, spot, left, top, w, h, 1, 0);
        else
            load_pieces(p, src, spot, left, top, w, h, 0, 0);
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++) {
            if (i + u * GROUP < TILE_PIECES)
                *(__local piece *)(tile + spot[u].y * PITCH + PLACE_OF(spot[u].x)) = p[u];
        }
    }
#else
    for (int i = ly * TX + lx; i < TILE_PIECES; i += GROUP) {
        const int tx = i % (TILE_W / PIECE) * PIECE;
        const int ty = i / (TILE_W / PIECE);
        float each[PIECE];
        load_piece(each, src + (size_t)w * (size_t)clamp(top + ty, 0, h - 1), left + tx, w);
        *(__local float4 *)(tile + ty * PITCH + tx) = (float4)(each[0], each[1], each[2], each[3]);
    }
#endif
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
#if IN_REGISTERS && PIECE == 4
        __local const float *line = tile + (ly * ROWS + row) * PITCH;
        float window[WINDOW];
#pragma unroll
        for (int i = 0; i < WINDOW / 4; i++)
            KEEP_PIECE(window + 4 * i,
                       *(__local const float4 *)(line + PLACE_OF(lx * VEC + 4 * i)));
        ADD_ROW(sum, LOCAL_TAPS, row, window);
#else
        __local const float *line = tile + (ly * ROWS + row) * PITCH + lx * VEC;
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
