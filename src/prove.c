/* prove.c: poison, guard zones, comparison, and which elements of a large output are compared. */
#include "prove.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

/* Stands for an infinite deviation in numbers that end in JSON. */
#define DEVIATION_HUGE 1e300

/* ---- poison ---- */

/* The pattern of one element, in the low bytes. For real types a quiet NaN whose payload no
 * arithmetic makes by itself: default NaNs have an empty payload. */
static uint64_t poison_pattern(enum ts_elem type, int round)
{
    const struct ts_elem_info *info = &ts_elem_table[type];
    if (info->real && info->bytes == 4)
        return round ? 0x7fca3c3cu : 0x7fc5a5a5u;
    if (info->real)
        return round ? 0x7ffa3c3c3c3c3c3cu : 0x7ffda5a5a5a5a5a5u;
    return round ? 0x3c3c3c3c3c3c3c3cu : 0xa5a5a5a5a5a5a5a5u;
}

/* The pattern as the bytes of an element of 1, 2, 4 or 8 bytes, whatever the byte order. */
static void poison_bytes(enum ts_elem type, int round, unsigned char bytes[8])
{
    uint64_t u64 = poison_pattern(type, round);
    uint32_t u32 = (uint32_t)u64;
    uint16_t u16 = (uint16_t)u64;
    switch (ts_elem_table[type].bytes) {
    case 1:
        bytes[0] = (unsigned char)u64;
        break;
    case 2:
        memcpy(bytes, &u16, 2);
        break;
    case 4:
        memcpy(bytes, &u32, 4);
        break;
    default:
        memcpy(bytes, &u64, 8);
        break;
    }
}

void ts_poison_fill(enum ts_elem type, void *data, size_t count, int round)
{
    size_t bytes = ts_elem_table[type].bytes;
    unsigned char pattern[8];
    poison_bytes(type, round, pattern);
    unsigned char *out = data;
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * bytes, pattern, bytes);
}

/* Arrays have 10^8 elements and more, so 4-byte types are searched block by block: whether a block
 * holds a hit is a loop that compilers vectorise, where it stands is asked once. */
#define BLOCK 4096

static uint32_t word_at(const unsigned char *in, size_t i)
{
    uint32_t word;
    memcpy(&word, in + 4 * i, 4);
    return word;
}

/* First i with (word & mask) == want, or -1. */
static int64_t find_word(const unsigned char *in, size_t count, uint32_t mask, uint32_t want)
{
    for (size_t begin = 0; begin < count; begin += BLOCK) {
        size_t end = count - begin < BLOCK ? count : begin + BLOCK;
        uint32_t hits = 0;
        for (size_t i = begin; i < end; i++)
            hits |= (word_at(in, i) & mask) == want;
        for (size_t i = begin; hits && i < end; i++)
            if ((word_at(in, i) & mask) == want)
                return (int64_t)i;
    }
    return -1;
}

int64_t ts_poison_find(enum ts_elem type, const void *data, size_t count, int round)
{
    size_t bytes = ts_elem_table[type].bytes;
    unsigned char pattern[8];
    poison_bytes(type, round, pattern);
    const unsigned char *in = data;
    if (bytes == 4)
        return find_word(in, count, UINT32_MAX, word_at(pattern, 0));
    for (size_t i = 0; i < count; i++)
        if (memcmp(in + i * bytes, pattern, bytes) == 0)
            return (int64_t)i;
    return -1;
}

bool ts_poison_is(enum ts_elem type, const void *data, int64_t index, int round)
{
    size_t bytes = ts_elem_table[type].bytes;
    unsigned char pattern[8];
    poison_bytes(type, round, pattern);
    return memcmp((const unsigned char *)data + (size_t)index * bytes, pattern, bytes) == 0;
}

/* ---- guard zones ---- */

/* Read as float or double at any aligned offset it is a NaN, so that a read out of bounds spoils
 * the result too; the low bytes change from place to place, so that a copied neighbour shows. */
static unsigned char guard_byte(size_t offset)
{
    size_t word = offset / 4;
    switch (offset % 4) {
    case 0:
        return (unsigned char)(word * 167 + 89);
    case 1:
        return (unsigned char)(word * 59 + 23);
    case 2:
        return (unsigned char)(0xf0 | ((word * 7 + 5) & 15));
    default:
        return 0x7f;
    }
}

void ts_guard_fill(void *guard, size_t bytes)
{
    unsigned char *out = guard;
    for (size_t i = 0; i < bytes; i++)
        out[i] = guard_byte(i);
}

int64_t ts_guard_find(const void *guard, size_t bytes)
{
    const unsigned char *in = guard;
    for (size_t i = 0; i < bytes; i++)
        if (in[i] != guard_byte(i))
            return (int64_t)i;
    return -1;
}

int64_t ts_guard_find_last(const void *guard, size_t bytes)
{
    const unsigned char *in = guard;
    for (size_t i = bytes; i-- > 0;)
        if (in[i] != guard_byte(i))
            return (int64_t)i;
    return -1;
}

/* ---- comparison ---- */

void ts_proof_init(struct ts_proof *proof)
{
    *proof = (struct ts_proof){.worst_at = -1, .first_bad_at = -1};
}

static double read_real(enum ts_elem type, const void *data, int64_t index)
{
    if (type == TS_FLOAT)
        return ((const float *)data)[index];
    return ((const double *)data)[index];
}

/* Books one compared element. deviation >= 0 in units of eps*scale; pass: within the tolerance. */
static void book(struct ts_proof *proof, int64_t at, double got, double want, double deviation,
                 bool pass)
{
    if (proof->worst_at < 0 || deviation > proof->worst) {
        proof->worst = deviation;
        proof->worst_at = at;
        proof->worst_got = got;
        proof->worst_want = want;
    }
    if (pass)
        return;
    proof->bad++;
    if (proof->first_bad_at < 0)
        proof->first_bad_at = at;
}

/* One real element. A NaN or infinity never passes, not even against the same: a result that can be
 * believed is finite. With tolerance 0, equal values pass (so +0 and -0 do). */
static void compare_real(struct ts_proof *proof, enum ts_elem type, int64_t at, double got,
                         double want, double scale, double tolerance)
{
    proof->compared++;
    if (!isfinite(got)) {
        book(proof, at, got, want, DEVIATION_HUGE, false);
        return;
    }
    double difference = fabs(got - want);
    double unit = ts_elem_table[type].eps * fabs(scale);
    double deviation = difference == 0.0 ? 0.0 : difference / unit;
    bool pass;
    if (tolerance > 0.0)
        pass = difference <= tolerance * unit; /* false for a NaN on any side */
    else
        pass = got == (type == TS_FLOAT ? (double)(float)want : want);
    if (pass && !(tolerance > 0.0))
        deviation = 0.0; /* equal after rounding: nothing is off */
    if (!(deviation <= DEVIATION_HUGE))
        deviation = DEVIATION_HUGE;
    book(proof, at, got, want, deviation, pass);
}

/* One whole element against its wanted bytes. */
static void compare_whole(struct ts_proof *proof, enum ts_elem type, int64_t at, const void *got,
                          const void *want)
{
    proof->compared++;
    bool pass = memcmp(got, want, ts_elem_table[type].bytes) == 0;
    if (pass && proof->worst_at >= 0)
        return; /* cannot change the worst */
    book(proof, at, ts_elem_read(type, got, 0), ts_elem_read(type, want, 0),
         pass ? 0.0 : DEVIATION_HUGE, pass);
}

/* Nearly all elements of a large array are within the tolerance and no worse than the worst so far.
 * For those only the count changes, and that much can be told by a loop without branches and
 * divisions, which compilers vectorise: blocks that it passes are done with, in others each element
 * is asked by the same condition and, where it fails, compared exactly.
 *
 * The condition, with unit = eps*|scale| and limit = min(worst, tolerance) less a margin beyond any
 * rounding: limit*unit - |got-want| >= 0. It implies that got is finite (else NaN or -infinity
 * stands on the left), |got-want| <= tolerance*unit and |got-want| / unit <= worst. Both terms are
 * scaled up, so that the right one is 0 or far from subnormal numbers, where bits are lost;
 * overflow of the right term makes the condition false, of the left one it does no harm. */
#define SIEVE_BLOCK 1024
#define SIEVE_SCALE 0x1p100
#define SIEVE_MARGIN (1.0 - 0x1p-40)
#define SIEVE_MOST 0x1p40

/* The limit, scaled up, for what follows. */
static double sieve_limit(const struct ts_proof *proof, double tolerance)
{
    double limit = proof->worst < tolerance ? proof->worst : tolerance;
    return SIEVE_SCALE * SIEVE_MARGIN * (limit < SIEVE_MOST ? limit : SIEVE_MOST);
}

static inline bool is_sieved(double got, double want, double scale, double limit)
{
    const double eps = 0x1p-23; /* as in ts_elem_table, for float */
    return limit * (eps * fabs(scale)) - SIEVE_SCALE * fabs(got - want) >= 0.0;
}

static bool block_is_sieved(const float *got, const double *value, const double *scale,
                            double limit)
{
    uint32_t missed = 0;
    for (int i = 0; i < SIEVE_BLOCK; i++)
        missed |= !is_sieved((double)got[i], value[i], scale[i], limit);
    return missed == 0;
}

/* ts_proof_add for floats and a tolerance above 0; got begins at element `first`. */
static void add_floats(struct ts_proof *proof, const float *got, int64_t first, int64_t count,
                       const double *value, const double *scale, double tolerance)
{
    for (int64_t begin = 0; begin < count; begin += SIEVE_BLOCK) {
        int64_t end = count - begin < SIEVE_BLOCK ? count : begin + SIEVE_BLOCK;
        bool full = end - begin == SIEVE_BLOCK;
        double limit = sieve_limit(proof, tolerance);
        if (full && proof->worst_at >= 0 &&
            block_is_sieved(got + begin, value + begin, scale + begin, limit)) {
            proof->compared += SIEVE_BLOCK;
            continue;
        }
        for (int64_t i = begin; i < end; i++) {
            if (proof->worst_at >= 0 && is_sieved((double)got[i], value[i], scale[i], limit))
                proof->compared++;
            else
                compare_real(proof, TS_FLOAT, first + i, (double)got[i], value[i], scale[i],
                             tolerance);
        }
    }
}

void ts_proof_add(struct ts_proof *proof, enum ts_elem type, const void *got, int64_t first,
                  int64_t count, const double *value, const double *scale, double tolerance)
{
    const struct ts_elem_info *info = &ts_elem_table[type];
    if (type == TS_FLOAT && tolerance > 0.0) {
        add_floats(proof, (const float *)got + first, first, count, value, scale, tolerance);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t at = first + i;
        if (info->real) {
            compare_real(proof, type, at, read_real(type, got, at), value[i], scale[i], tolerance);
            continue;
        }
        uint64_t want = 0; /* aligned room for any whole type */
        ts_elem_write(type, &want, 0, value[i]);
        compare_whole(proof, type, at, (const char *)got + (size_t)at * info->bytes, &want);
    }
}

/* Root mean square of the finite elements; 0 when there are none. */
static double root_mean_square(enum ts_elem type, const void *data, int64_t count)
{
    /* Scaled by the largest magnitude: squares of doubles could overflow. */
    double largest = 0.0;
    for (int64_t i = 0; i < count; i++) {
        double x = fabs(read_real(type, data, i));
        if (isfinite(x) && x > largest)
            largest = x;
    }
    if (largest <= 0.0)
        return 0.0;
    double sum = 0.0;
    int64_t used = 0;
    for (int64_t i = 0; i < count; i++) {
        double x = read_real(type, data, i) / largest;
        if (!isfinite(x))
            continue;
        sum += x * x;
        used++;
    }
    return largest * sqrt(sum / (double)used);
}

void ts_proof_add_array(struct ts_proof *proof, enum ts_elem type, const void *got,
                        const void *want, int64_t count, double tolerance)
{
    const struct ts_elem_info *info = &ts_elem_table[type];
    double rms = info->real ? root_mean_square(type, want, count) : 0.0;
    for (int64_t i = 0; i < count; i++) {
        if (info->real) {
            double wanted = read_real(type, want, i);
            compare_real(proof, type, i, read_real(type, got, i), wanted, fmax(fabs(wanted), rms),
                         tolerance);
        } else {
            size_t offset = (size_t)i * info->bytes;
            compare_whole(proof, type, i, (const char *)got + offset, (const char *)want + offset);
        }
    }
}

void ts_proof_tell_worst(const struct ts_proof *proof, enum ts_elem type, double tolerance,
                         struct ts_text *out)
{
    ts_text_printf(out, " is %.9g, expected %.9g", proof->worst_got, proof->worst_want);
    if (!ts_elem_table[type].real)
        return;
    ts_text_printf(out, ": off by %.3g", fabs(proof->worst_got - proof->worst_want));
    if (!(tolerance > 0.0))
        ts_text_puts(out, ", tolerance 0: bit for bit");
    else if (proof->worst >= DEVIATION_HUGE)
        ts_text_printf(out, ", tolerance %g eps*scale, which is 0 here", tolerance);
    else
        ts_text_printf(out, " = %.3g eps*scale, tolerance %g", proof->worst, tolerance);
}

int64_t ts_find_not_finite(enum ts_elem type, const void *data, int64_t count)
{
    if (!ts_elem_table[type].real)
        return -1;
    if (type == TS_FLOAT) /* all ones in the exponent: infinity or NaN */
        return find_word(data, (size_t)count, 0x7f800000, 0x7f800000);
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(read_real(type, data, i)))
            return i;
    return -1;
}

/* ---- sampling ---- */

/* Both sides of a row's joint that are always taken together: stencils are seldom wider. */
#define JOINT_HALF 8
/* Longest random run and longest piece of an inner edge, in elements. */
#define RUN_LONGEST 256

struct slices {
    struct ts_slice *items;
    size_t count, capacity;
    int64_t total;   /* elements of the shape */
    int64_t covered; /* sum of counts, overlaps counted twice */
    struct ts_rng rng;
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Uniform in 0 .. bound-1. */
static int64_t random_below(struct slices *s, int64_t bound)
{
    return (int64_t)ts_rng_below(&s->rng, (uint64_t)larger(bound, 1));
}

/* Adds [first, first+count), cut to the shape. */
static void slices_add(struct slices *s, int64_t first, int64_t count)
{
    if (first < 0) {
        count += first;
        first = 0;
    }
    count = smaller(count, s->total - first);
    if (count <= 0)
        return;
    TS_GROW(s->items, s->count, s->capacity);
    s->items[s->count++] = (struct ts_slice){first, count};
    s->covered += count;
}

/* Product of shape[from..dims), saturated. */
static int64_t extent(const int64_t *shape, int from, int dims)
{
    int64_t product = 1;
    for (int d = from; d < dims; d++) {
        if (shape[d] <= 0)
            return 0;
        product = product > INT64_MAX / shape[d] ? INT64_MAX : product * shape[d];
    }
    return product;
}

/* One outer slab (a row, a plane) beginning at `first`: wholly where it fits into the allowance,
 * else its own outer slabs; in the end the two ends of one row. */
static void add_slab(struct slices *s, int64_t first, const int64_t *shape, int from, int dims,
                     int64_t allowance)
{
    int64_t whole = extent(shape, from, dims);
    if (whole <= allowance) {
        slices_add(s, first, whole);
        return;
    }
    if (dims - from <= 1) {
        int64_t half = larger(allowance / 2, 1);
        slices_add(s, first, half);
        slices_add(s, first + whole - half, half);
        return;
    }
    int64_t inner = extent(shape, from + 1, dims);
    add_slab(s, first, shape, from + 1, dims, allowance / 2);
    add_slab(s, first + whole - inner, shape, from + 1, dims, allowance / 2);
}

/* Edges of an inner dimension d: where one slab of it ends the next begins, so the last part of one
 * and the first of the next are taken side by side, at all joints or, evenly spread, at as many as
 * the allowance admits. */
static void add_joints(struct slices *s, const int64_t *shape, int d, int dims, int64_t allowance)
{
    int64_t slab = extent(shape, d, dims), part = extent(shape, d + 1, dims);
    bool fastest = d == dims - 1;
    int64_t run = fastest ? smaller(JOINT_HALF, slab) : smaller(part, RUN_LONGEST);
    int64_t joints = s->total / slab - 1;
    int64_t taken = smaller(joints, allowance / (2 * run));
    if (taken <= 0)
        return;
    int64_t stride = joints / taken;
    for (int64_t i = 0; i < taken; i++) {
        int64_t joint = (1 + i * stride + random_below(s, stride)) * slab;
        int64_t shift = fastest ? 0 : random_below(s, part - run + 1);
        slices_add(s, fastest ? joint - run : joint - part + shift, run);
        slices_add(s, joint + shift, run);
    }
}

/* A coordinate below `size`: uniform, or beside a seam (a multiple of tile), each half of the time.
 */
static int64_t random_coordinate(struct slices *s, int64_t size, int64_t tile)
{
    bool seam = random_below(s, 2) == 0;
    if (!seam || tile <= 1 || tile >= size)
        return random_below(s, size);
    int64_t at = tile * (1 + random_below(s, (size - 1) / tile));
    return at - random_below(s, 2);
}

/* A run along the fastest dimension; half of the runs lie across a seam of it. */
static void add_random_run(struct slices *s, const int64_t *shape, int dims, const int64_t local[3],
                           int64_t run)
{
    int64_t row = 0; /* index of the row in the shape's order */
    for (int d = 0; d < dims - 1; d++) {
        int which = dims - 1 - d; /* local[] has the fastest dimension first */
        row = row * shape[d] + random_coordinate(s, shape[d], which < 3 ? local[which] : 1);
    }
    int64_t width = shape[dims - 1];
    int64_t x = random_coordinate(s, width, local[0]) - run / 2;
    x = larger(0, smaller(x, width - run));
    slices_add(s, row * width + x, run);
}

static int by_first(const void *a, const void *b)
{
    const struct ts_slice *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Sorts and joins slices that touch or overlap. */
static void slices_merge(struct slices *s)
{
    qsort(s->items, s->count, sizeof(*s->items), by_first);
    size_t used = 0;
    for (size_t i = 0; i < s->count; i++) {
        struct ts_slice *last = used ? &s->items[used - 1] : NULL;
        struct ts_slice next = s->items[i];
        if (last && next.first <= last->first + last->count)
            last->count = larger(last->count, next.first + next.count - last->first);
        else
            s->items[used++] = next;
    }
    s->count = used;
}

struct ts_slice *ts_sample_slices(const int64_t *shape, int dims, const int64_t local[3],
                                  uint64_t seed, int64_t budget, size_t *count)
{
    struct slices s = {.total = extent(shape, 0, dims), .rng = {seed}};
    if (s.total <= budget) {
        slices_add(&s, 0, s.total);
        goto out;
    }
    int64_t share = larger(budget / 8, 1);
    if (dims > 1) {
        int64_t slab = extent(shape, 1, dims);
        add_slab(&s, 0, shape, 1, dims, share);
        add_slab(&s, s.total - slab, shape, 1, dims, share);
    } else {
        add_slab(&s, 0, shape, 0, dims, 2 * smaller(share, RUN_LONGEST));
    }
    for (int d = 1; d < dims; d++)
        add_joints(&s, shape, d, dims, share);
    int64_t run = larger(1, smaller(budget / 64, RUN_LONGEST));
    run = smaller(run, shape[dims - 1]);
    while (s.covered + run <= budget)
        add_random_run(&s, shape, dims, local, run);
    slices_merge(&s);
out:
    *count = s.count;
    return s.items;
}

void ts_unflatten(int64_t flat, const int64_t *shape, int dims, int64_t *at)
{
    for (int d = dims - 1; d >= 0; d--) {
        at[d] = shape[d] > 0 ? flat % shape[d] : 0;
        flat = shape[d] > 0 ? flat / shape[d] : 0;
    }
}
