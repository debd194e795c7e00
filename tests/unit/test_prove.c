/* test_prove.c: poison, guards, comparison and sampling, on host memory. */
#include "prove.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rng.h"

/* ---- poison ---- */

static void test_poison_every_type(void **state)
{
    (void)state;
    enum { N = 37 };
    _Alignas(8) unsigned char data[N * 8], other[N * 8];
    for (int t = 0; t < TS_ELEM_COUNT; t++) {
        enum ts_elem type = (enum ts_elem)t;
        size_t bytes = ts_elem_table[t].bytes;
        for (int round = 0; round < 2; round++) {
            ts_poison_fill(type, data, N, round);
            ts_poison_fill(type, other, N, 1 - round);
            assert_int_equal(ts_poison_find(type, data, N, round), 0);
            assert_int_equal(ts_poison_find(type, data, N, 1 - round), -1); /* patterns differ */
            for (size_t i = 0; i < N; i++) {
                if (ts_elem_table[t].real)
                    assert_true(isnan(ts_elem_read(type, data, i)));
                ts_elem_write(type, data, i, 3.0);
                assert_int_equal(ts_poison_find(type, data, N, round), i + 1 < N ? (int)i + 1 : -1);
            }
            memcpy(data + 5 * bytes, other + 5 * bytes, bytes);
            assert_int_equal(ts_poison_find(type, data, N, round), -1);
        }
        assert_int_equal(ts_poison_find(type, data, 0, 0), -1);
    }
}

/* The NaN of a computation is not the pattern: it was written. */
static void test_poison_is_not_any_nan(void **state)
{
    (void)state;
    float f[2] = {NAN, -NAN};
    double d[2] = {NAN, -NAN};
    for (int round = 0; round < 2; round++) {
        assert_int_equal(ts_poison_find(TS_FLOAT, f, 2, round), -1);
        assert_int_equal(ts_poison_find(TS_DOUBLE, d, 2, round), -1);
    }
}

/* One element is asked, bit for bit, in the round whose pattern it holds. */
static void test_poison_of_one_element(void **state)
{
    (void)state;
    enum { N = 9 };
    _Alignas(8) unsigned char data[N * 8];
    for (int t = 0; t < TS_ELEM_COUNT; t++) {
        enum ts_elem type = (enum ts_elem)t;
        for (int round = 0; round < 2; round++) {
            ts_poison_fill(type, data, N, round);
            ts_elem_write(type, data, 4, 3.0);
            for (int i = 0; i < N; i++) {
                assert_int_equal(ts_poison_is(type, data, i, round), i != 4);
                assert_false(ts_poison_is(type, data, i, 1 - round));
            }
            data[5 * ts_elem_table[t].bytes] ^= 1; /* one bit is off */
            assert_false(ts_poison_is(type, data, 5, round));
        }
    }
}

/* A whole-number result equal to one round's pattern is seen as written in the other round. */
static void test_poison_two_rounds(void **state)
{
    (void)state;
    unsigned char byte = 0xa5;
    int rounds_unwritten = 0;
    for (int round = 0; round < 2; round++)
        rounds_unwritten += ts_poison_find(TS_UCHAR, &byte, 1, round) == 0;
    assert_int_equal(rounds_unwritten, 1);
}

/* ---- guards ---- */

static void test_guard(void **state)
{
    (void)state;
    enum { N = 4096 };
    _Alignas(8) unsigned char guard[N];
    ts_guard_fill(guard, N);
    assert_int_equal(ts_guard_find(guard, N), -1);
    assert_int_equal(ts_guard_find_last(guard, N), -1);
    for (size_t at = 0; at < N; at += 61) {
        for (int value = 0; value < 256; value++) {
            unsigned char kept = guard[at];
            guard[at] = (unsigned char)value;
            int64_t want = value == kept ? -1 : (int64_t)at;
            assert_int_equal(ts_guard_find(guard, N), want);
            assert_int_equal(ts_guard_find_last(guard, N), want);
            guard[at] = kept;
        }
    }
    guard[100] ^= 1;
    guard[3000] ^= 1;
    assert_int_equal(ts_guard_find(guard, N), 100);
    assert_int_equal(ts_guard_find_last(guard, N), 3000);
}

/* What is read from a guard zone is a NaN, so that a read out of bounds shows in the result. */
static void test_guard_reads_as_nan(void **state)
{
    (void)state;
    _Alignas(8) unsigned char guard[1024];
    ts_guard_fill(guard, sizeof(guard));
    for (size_t i = 0; i < sizeof(guard) / 4; i++)
        assert_true(isnan(ts_elem_read(TS_FLOAT, guard, i)));
    for (size_t i = 0; i < sizeof(guard) / 8; i++)
        assert_true(isnan(ts_elem_read(TS_DOUBLE, guard, i)));
}

/* A neighbour copied into the guard is seen: the pattern is not the same everywhere. */
static void test_guard_shifted(void **state)
{
    (void)state;
    for (size_t byte = 0; byte < 3; byte++) {
        unsigned char guard[256];
        ts_guard_fill(guard, sizeof(guard));
        guard[64 + byte] = guard[60 + byte];
        assert_int_equal(ts_guard_find(guard, sizeof(guard)), 64 + byte);
    }
}

/* ---- comparison ---- */

static struct ts_proof compare_one(enum ts_elem type, double got, double want, double scale,
                                   double k)
{
    uint64_t room = 0;
    ts_elem_write(type, &room, 0, got);
    struct ts_proof proof;
    ts_proof_init(&proof);
    ts_proof_add(&proof, type, &room, 0, 1, &want, &scale, k);
    assert_int_equal(proof.compared, 1);
    return proof;
}

static void test_tolerance_edges(void **state)
{
    (void)state;
    const double eps = ldexp(1.0, -23);
    assert_int_equal(compare_one(TS_FLOAT, 1.0, 1.0, 1.0, 4).bad, 0);
    assert_int_equal(compare_one(TS_FLOAT, 1.0, 1.0 + 4 * eps, 1.0, 4).bad, 0);
    assert_int_equal(compare_one(TS_FLOAT, 1.0, 1.0 - 4 * eps, 1.0, 4).bad, 0);
    assert_int_equal(compare_one(TS_FLOAT, 1.0, 1.0 + 4.001 * eps, 1.0, 4).bad, 1);
    assert_int_equal(compare_one(TS_FLOAT, -1.0, -1.0 - 4.001 * eps, 1.0, 4).bad, 1);
    assert_int_equal(compare_one(TS_FLOAT, 1.0, 1.0 + 8 * eps, 2.0, 4).bad,
                     0); /* scale, not |want| */
    assert_int_equal(compare_one(TS_DOUBLE, 1.0, 1.0 + eps, 1.0, 4).bad, 1);
    assert_int_equal(compare_one(TS_DOUBLE, 1.0, 1.0 + 2 * ldexp(1.0, -52), 1.0, 4).bad, 0);
    struct ts_proof p = compare_one(TS_FLOAT, 1.0, 1.0 + 2 * eps, 1.0, 4);
    assert_true(fabs(p.worst - 2.0) < 1e-12 && p.worst_at == 0);
}

static void test_scale_of_zero(void **state)
{
    (void)state;
    assert_int_equal(compare_one(TS_FLOAT, 0.0, 0.0, 0.0, 4).bad, 0);
    struct ts_proof p = compare_one(TS_FLOAT, 1e-30, 0.0, 0.0, 4);
    assert_int_equal(p.bad, 1);
    assert_true(p.worst == 1e300);
}

/* A NaN or an infinity never passes, whatever is wanted and however large the tolerance. */
static void test_not_finite_never_passes(void **state)
{
    (void)state;
    const double strange[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < TS_COUNT(strange); i++) {
        for (int t = TS_FLOAT; t <= TS_DOUBLE; t++) {
            for (int k = 0; k <= 1; k++) {
                enum ts_elem type = (enum ts_elem)t;
                double tolerance = k ? 1e200 : 0.0;
                struct ts_proof p = compare_one(type, strange[i], 1.0, 1.0, tolerance);
                assert_int_equal(p.bad, 1);
                assert_true(p.worst == 1e300);
                assert_int_equal(compare_one(type, strange[i], strange[i], 1.0, tolerance).bad, 1);
                /* a reference that went wrong does not pass either */
                p = compare_one(type, 1.0, strange[i], 1.0, 4);
                assert_int_equal(p.bad, 1);
                assert_int_equal(compare_one(type, 1.0, 1.0, NAN, 4).bad, 1);
            }
        }
    }
}

/* Tolerance 0: the float nearest to the wanted double, no other; the zeros are equal. */
static void test_bit_for_bit_real(void **state)
{
    (void)state;
    double tenth = 0.1;
    struct ts_proof p = compare_one(TS_FLOAT, (double)0.1f, tenth, 1.0, 0);
    assert_int_equal(p.bad, 0);
    assert_true(p.worst == 0.0);
    assert_int_equal(compare_one(TS_FLOAT, (double)nextafterf(0.1f, 1.0f), tenth, 1.0, 0).bad, 1);
    assert_int_equal(compare_one(TS_DOUBLE, nextafter(tenth, 1.0), tenth, 1.0, 0).bad, 1);
    assert_int_equal(compare_one(TS_DOUBLE, -0.0, 0.0, 1.0, 0).bad, 0);
}

/* Whole types are compared bit for bit whatever the tolerance. */
static void test_whole_types(void **state)
{
    (void)state;
    for (int t = TS_INT; t < TS_ELEM_COUNT; t++) {
        enum ts_elem type = (enum ts_elem)t;
        struct ts_proof p = compare_one(type, 100, 100, 1.0, 4);
        assert_int_equal(p.bad, 0);
        assert_true(p.worst == 0.0 && p.worst_at == 0);
        p = compare_one(type, 101, 100, 1e9, 1e9);
        assert_int_equal(p.bad, 1);
        assert_true(p.worst == 1e300 && p.worst_got == 101 && p.worst_want == 100);
    }
}

static void test_slices_of_a_whole(void **state)
{
    (void)state;
    enum { N = 50 };
    float got[N];
    double value[N], scale[N];
    for (int i = 0; i < N; i++) {
        got[i] = (float)i;
        value[i] = i;
        scale[i] = 1.0;
    }
    got[20] = 21.0f;
    got[33] = NAN;
    got[40] = 40.5f;
    struct ts_proof p;
    ts_proof_init(&p);
    ts_proof_add(&p, TS_FLOAT, got, 0, 10, value, scale, 4);
    assert_int_equal(p.bad, 0);
    assert_int_equal(p.worst_at, 0);
    ts_proof_add(&p, TS_FLOAT, got, 15, 10, value + 15, scale + 15, 4);
    assert_int_equal(p.bad, 1);
    assert_int_equal(p.worst_at, 20);
    ts_proof_add(&p, TS_FLOAT, got, 30, 20, value + 30, scale + 30, 4);
    assert_int_equal(p.compared, 40);
    assert_int_equal(p.bad, 3);
    assert_int_equal(p.first_bad_at, 20);
    assert_int_equal(p.worst_at, 33);
    assert_true(isnan(p.worst_got) && p.worst_want == 33.0);
}

/* The rule of prove.h for one float, as plainly as it can be said. */
static void expect_float(struct ts_proof *p, int64_t at, double got, double want, double scale,
                         double tolerance)
{
    double difference = fabs(got - want), unit = ldexp(1.0, -23) * fabs(scale);
    double deviation = difference == 0.0 ? 0.0 : difference / unit;
    bool pass = isfinite(got) && difference <= tolerance * unit;
    if (!isfinite(got) || !(deviation <= 1e300))
        deviation = 1e300;
    p->compared++;
    if (p->worst_at < 0 || deviation > p->worst) {
        p->worst = deviation;
        p->worst_at = at;
        p->worst_got = got;
        p->worst_want = want;
    }
    if (pass)
        return;
    p->first_bad_at = p->bad++ == 0 ? at : p->first_bad_at;
}

static void expect_same_proof(const struct ts_proof *p, const struct ts_proof *want)
{
    assert_int_equal(p->compared, want->compared);
    assert_memory_equal(&p->worst, &want->worst, sizeof(double));
    assert_int_equal(p->worst_at, want->worst_at);
    assert_memory_equal(&p->worst_got, &want->worst_got, sizeof(double));
    assert_memory_equal(&p->worst_want, &want->worst_want, sizeof(double));
    assert_int_equal(p->bad, want->bad);
    assert_int_equal(p->first_bad_at, want->first_bad_at);
}

enum { FLOATS = 20000 };

struct floats {
    float got[FLOATS];
    double value[FLOATS], scale[FLOATS];
};

/* Both ways over the whole and over pieces that no block divides. */
static void expect_as_plainly(const struct floats *f, double tolerance)
{
    const int64_t cuts[] = {0, 1, 1030, 9000, 9001, 13097, FLOATS};
    struct ts_proof fast, plain;
    ts_proof_init(&plain);
    for (int64_t i = 0; i < FLOATS; i++)
        expect_float(&plain, i, (double)f->got[i], f->value[i], f->scale[i], tolerance);
    ts_proof_init(&fast);
    ts_proof_add(&fast, TS_FLOAT, f->got, 0, FLOATS, f->value, f->scale, tolerance);
    expect_same_proof(&fast, &plain);
    ts_proof_init(&fast);
    for (size_t i = 0; i + 1 < TS_COUNT(cuts); i++)
        ts_proof_add(&fast, TS_FLOAT, f->got, cuts[i], cuts[i + 1] - cuts[i], f->value + cuts[i],
                     f->scale + cuts[i], tolerance);
    expect_same_proof(&fast, &plain);
}

static double uniform(struct ts_rng *rng)
{
    return (double)ts_rng_below(rng, 1 << 30) * 0x1p-30;
}

/* Results as of a good kernel: off by up to `units` of eps*scale. */
static void make_floats(struct floats *f, struct ts_rng *rng, double units)
{
    for (int i = 0; i < FLOATS; i++) {
        f->value[i] = 200.0 * uniform(rng) - 100.0;
        f->scale[i] = fabs(f->value[i]) + 1.0;
        f->got[i] = (float)(f->value[i] + f->scale[i] * 0x1p-23 * units * uniform(rng));
    }
}

/* What large arrays are compared by is the rule, in every bit. */
static void test_fast_path_is_exact(void **state)
{
    (void)state;
    const double odd[] = {NAN,      -NAN,     INFINITY, -INFINITY, 0.0,   -0.0,
                          1e-310,   5e-324,   -1e-45,   0x1p-1022, 1e300, -1.7e308,
                          0x1p-149, 0x1p1000, 3.4e38,   1.0};
    struct floats *f = ts_alloc(1, sizeof(*f));
    struct ts_rng rng = {11};
    for (int round = 0; round < 40; round++) {
        double units = round % 4 == 0 ? 0.0 : 5.0 * uniform(&rng);
        make_floats(f, &rng, units);
        expect_as_plainly(f, 4.0);
        for (int i = 0; i < round % 8 * 3; i++) { /* a few odd ones in one of the three */
            size_t at = ts_rng_below(&rng, FLOATS), which = ts_rng_below(&rng, TS_COUNT(odd));
            double *to = i % 3 == 1 ? &f->value[at] : &f->scale[at];
            if (i % 3 == 0)
                f->got[at] = (float)odd[which];
            else
                *to = odd[which];
        }
        expect_as_plainly(f, 4.0);
        expect_as_plainly(f, round % 2 ? 1e200 : 1e-30);
        expect_as_plainly(f, round % 2 ? INFINITY : 0x1p-1074);
        expect_as_plainly(f, 0.9 * units + 0.01); /* some are bad */
    }
    for (int round = 0; round < 20; round++) { /* odd ones everywhere: ties, overflow, subnormal */
        for (int i = 0; i < FLOATS; i++) {
            f->got[i] = (float)odd[(size_t)4 + ts_rng_below(&rng, TS_COUNT(odd) - 4)];
            f->value[i] = round % 2 ? (double)f->got[i]
                                    : odd[(size_t)4 + ts_rng_below(&rng, TS_COUNT(odd) - 4)];
            f->scale[i] = odd[(size_t)(round % 3) + ts_rng_below(&rng, TS_COUNT(odd) - 3)];
        }
        expect_as_plainly(f, 4.0);
        expect_as_plainly(f, 1e300);
    }
    free(f);
}

/* Deviations that differ in the last bit, or not at all: the first of the largest is the worst. */
static void test_fast_path_near_ties(void **state)
{
    (void)state;
    struct floats *f = ts_alloc(1, sizeof(*f));
    for (int i = 0; i < FLOATS; i++) {
        f->scale[i] = f->value[i] = 1.0;
        f->got[i] = 1.0f;
    }
    expect_as_plainly(f, 4.0); /* all exact */
    for (int i = 5000; i < FLOATS; i++)
        f->got[i] = 1.0f + 0x1p-22f;
    expect_as_plainly(f, 4.0);
    f->got[12000] = 1.0f + 0x1p-21f; /* just beyond a tolerance */
    expect_as_plainly(f, 3.999);
    expect_as_plainly(f, 4.0);
    for (int i = 0; i < FLOATS; i++) { /* a last bit more every 1500 elements */
        f->got[i] = 1.0f;
        f->value[i] = 0.5 - i / 1500 * 0x1p-53;
        f->scale[i] = 0x1p22;
    }
    expect_as_plainly(f, 4.0);
    free(f);
}

/* Units and differences of a few of the smallest numbers there are. */
static void test_fast_path_subnormal(void **state)
{
    (void)state;
    struct floats *f = ts_alloc(1, sizeof(*f));
    struct ts_rng rng = {3};
    for (int64_t most = 2; most < 5000; most *= 3) {
        for (int i = 0; i < FLOATS; i++) {
            f->got[i] = 0.0f;
            f->value[i] = (double)ts_rng_below(&rng, (uint64_t)most) * 0x1p-1074;
            f->scale[i] = 0x1p-1051 * (double)(1 + ts_rng_below(&rng, (uint64_t)most * most));
        }
        expect_as_plainly(f, 4.0);
        expect_as_plainly(f, 1.0 / 3.0);
        expect_as_plainly(f, 1e9);
    }
    for (int i = 0; i < FLOATS; i++) { /* 3 / 5, and later 1 / 1, which is more */
        f->value[i] = (i < 10000 ? 3 : 1) * 0x1p-1074;
        f->scale[i] = (i < 10000 ? 5 : 1) * 0x1p-1051;
    }
    expect_as_plainly(f, 4.0);
    free(f);
}

static void test_against_array(void **state)
{
    (void)state;
    /* rms of want is 5 / sqrt(2): small elements are held to it, not to their own size */
    const float want[] = {3.0f, 4.0f}, near[] = {3.0f, 4.0f + 4e-7f}, far[] = {3.0f + 4e-6f, 4.0f};
    struct ts_proof p;
    ts_proof_init(&p);
    ts_proof_add_array(&p, TS_FLOAT, near, want, 2, 1);
    assert_int_equal(p.bad, 0);
    assert_int_equal(p.compared, 2);
    ts_proof_init(&p);
    ts_proof_add_array(&p, TS_FLOAT, far, want, 2, 4);
    assert_int_equal(p.bad, 1);
    assert_int_equal(p.first_bad_at, 0);
    double unit = ldexp(1.0, -23) * sqrt(12.5);
    assert_true(fabs(p.worst - ((double)far[0] - 3.0) / unit) < 1e-9);
    const double small[] = {1e-300, 1e300}, got[] = {2e-300, 1e300};
    ts_proof_init(&p);
    ts_proof_add_array(&p, TS_DOUBLE, got, small, 2, 1);
    assert_int_equal(p.bad, 0); /* 1e-300 beside 1e300 is nothing, and squares do not overflow */
    const int whole[] = {7, 8}, wrong[] = {7, 9};
    ts_proof_init(&p);
    ts_proof_add_array(&p, TS_INT, wrong, whole, 2, 4);
    assert_int_equal(p.bad, 1);
    assert_int_equal(p.worst_at, 1);
    const int64_t big[] = {INT64_MAX}, close[] = {INT64_MAX - 1}; /* equal as doubles */
    ts_proof_init(&p);
    ts_proof_add_array(&p, TS_LONG, close, big, 1, 4);
    assert_int_equal(p.bad, 1);
    const float nan_want[] = {NAN, 1.0f}, nan_got[] = {NAN, 1.0f};
    ts_proof_init(&p);
    ts_proof_add_array(&p, TS_FLOAT, nan_got, nan_want, 2, 4);
    assert_int_equal(p.bad, 1);
}

static void test_find_not_finite(void **state)
{
    (void)state;
    float f[] = {0, -1, 3.4e38f, 1e-40f};
    double d[] = {0, -1, 1e308, -INFINITY};
    int whole[] = {0x7fc00000};
    assert_int_equal(ts_find_not_finite(TS_FLOAT, f, 4), -1);
    f[2] = NAN;
    assert_int_equal(ts_find_not_finite(TS_FLOAT, f, 4), 2);
    assert_int_equal(ts_find_not_finite(TS_DOUBLE, d, 4), 3);
    assert_int_equal(ts_find_not_finite(TS_DOUBLE, d, 3), -1);
    assert_int_equal(ts_find_not_finite(TS_INT, whole, 1), -1);
}

/* ---- sampling ---- */

struct sample {
    struct ts_slice *slices;
    size_t count;
    int64_t covered;
};

static int64_t total_of(const int64_t *shape, int dims)
{
    int64_t total = 1;
    for (int d = 0; d < dims; d++)
        total *= shape[d];
    return total;
}

/* Slices are sorted, disjoint, apart, within the shape, and about as many as the budget allows. */
static struct sample sample(const int64_t *shape, int dims, int64_t lx, int64_t ly, uint64_t seed,
                            int64_t budget)
{
    const int64_t local[3] = {lx, ly, 1};
    struct sample s = {0};
    s.slices = ts_sample_slices(shape, dims, local, seed, budget, &s.count);
    int64_t end = -1, total = total_of(shape, dims);
    for (size_t i = 0; i < s.count; i++) {
        assert_true(s.slices[i].first > end && s.slices[i].count > 0);
        end = s.slices[i].first + s.slices[i].count;
        assert_true(end <= total);
        s.covered += s.slices[i].count;
    }
    return s;
}

static bool covers(const struct sample *s, int64_t at)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->slices[i].first <= at && at < s->slices[i].first + s->slices[i].count)
            return true;
    return false;
}

static void test_sample_whole_when_small(void **state)
{
    (void)state;
    const int64_t shapes[][2] = {{1, 1}, {1, 257}, {257, 1}, {3, 17}, {100, 110}};
    for (size_t i = 0; i < TS_COUNT(shapes); i++) {
        struct sample s = sample(shapes[i], 2, 16, 8, 1, 11000);
        assert_int_equal(s.count, 1);
        assert_int_equal(s.slices[0].first, 0);
        assert_int_equal(s.slices[0].count, shapes[i][0] * shapes[i][1]);
        free(s.slices);
    }
    const int64_t empty[] = {4, 0};
    size_t count = 9;
    const int64_t local[3] = {1, 1, 1};
    free(ts_sample_slices(empty, 2, local, 1, 100, &count));
    assert_int_equal(count, 0);
}

static void test_sample_edges(void **state)
{
    (void)state;
    const int64_t shape[] = {300, 500};
    struct sample s = sample(shape, 2, 16, 8, 1, 40000);
    assert_true(s.covered <= 40000 && s.covered > 20000);
    for (int64_t x = 0; x < 500; x++)
        assert_true(covers(&s, x) && covers(&s, 299 * 500 + x));
    for (int64_t y = 0; y < 300; y++)
        assert_true(covers(&s, y * 500) && covers(&s, y * 500 + 499));
    free(s.slices);
}

/* In 3-D: every corner, the outer planes, and every row's two ends. */
static void test_sample_edges_3d(void **state)
{
    (void)state;
    const int64_t shape[] = {20, 30, 50};
    struct sample s = sample(shape, 3, 8, 4, 1, 24000);
    for (int64_t i = 0; i < 1500; i++)
        assert_true(covers(&s, i) && covers(&s, 19 * 1500 + i));
    for (int64_t z = 0; z < 20; z++)
        for (int64_t x = 0; x < 50; x++)
            assert_true(covers(&s, z * 1500 + x) && covers(&s, z * 1500 + 29 * 50 + x));
    free(s.slices);
}

/* Both sides of the tile seams are there, in x and in y. */
static void test_sample_seams(void **state)
{
    (void)state;
    const int64_t shape[] = {2048, 2048};
    struct sample s = sample(shape, 2, 64, 32, 3, 200000);
    int x_seams = 0, y_before = 0, y_after = 0;
    for (size_t i = 0; i < s.count; i++) {
        int64_t first = s.slices[i].first, last = first + s.slices[i].count - 1;
        if (first / 2048 == last / 2048 && first % 2048 / 64 != last % 2048 / 64)
            x_seams++;
        y_before += first / 2048 % 32 == 31 && s.slices[i].count >= 64;
        y_after += first / 2048 % 32 == 0 && s.slices[i].count >= 64;
    }
    assert_true(x_seams > 100);
    assert_true(y_before > 100);
    assert_true(y_after > 100);
    free(s.slices);
}

static void test_sample_is_seeded(void **state)
{
    (void)state;
    const int64_t shape[] = {1000, 1000};
    struct sample a = sample(shape, 2, 16, 8, 1, 20000), b = sample(shape, 2, 16, 8, 1, 20000),
                  c = sample(shape, 2, 16, 8, 2, 20000);
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.slices, b.slices, a.count * sizeof(*a.slices));
    assert_true(a.count != c.count || memcmp(a.slices, c.slices, a.count * sizeof(*a.slices)) != 0);
    free(a.slices);
    free(b.slices);
    free(c.slices);
}

/* Awkward shapes and budgets: corners always, never much above the budget, no endless loop. */
static void test_sample_awkward(void **state)
{
    (void)state;
    static const struct {
        int dims;
        int64_t shape[4];
    } table[] = {
        {1, {1000000}},          {2, {1, 1000000}},         {2, {1000000, 1}},
        {2, {2, 500000}},        {2, {500000, 2}},          {3, {1, 1, 1000000}},
        {3, {100, 1, 10000}},    {3, {3, 100000, 3}},       {2, {131072, 131072}},
        {1, {1LL << 34}},        {2, {1LL << 33, 2}},       {2, {2, 1LL << 33}},
        {3, {4096, 2048, 2048}}, {4, {64, 64, 2048, 2048}},
    };
    const int64_t budgets[] = {1, 10, 1000, 65536};
    for (size_t i = 0; i < TS_COUNT(table); i++) {
        for (size_t b = 0; b < TS_COUNT(budgets); b++) {
            int64_t total = total_of(table[i].shape, table[i].dims);
            struct sample s = sample(table[i].shape, table[i].dims, 16, 8, 1, budgets[b]);
            assert_true(covers(&s, 0) && covers(&s, total - 1));
            assert_true(s.covered <= budgets[b] + 64);
            free(s.slices);
        }
    }
}

/* Local sizes that are no tile: 1, 0, larger than the shape. */
static void test_sample_strange_local(void **state)
{
    (void)state;
    const int64_t shape[] = {100, 100}, locals[] = {0, 1, 99, 100, 4096, INT64_MAX};
    for (size_t i = 0; i < TS_COUNT(locals); i++) {
        struct sample s = sample(shape, 2, locals[i], locals[i], 1, 2000);
        assert_true(s.covered > 1000);
        free(s.slices);
    }
}

static void test_unflatten(void **state)
{
    (void)state;
    const int64_t shape[] = {5, 7, 11};
    int64_t at[3];
    ts_unflatten(0, shape, 3, at);
    assert_true(at[0] == 0 && at[1] == 0 && at[2] == 0);
    ts_unflatten(3 * 77 + 4 * 11 + 9, shape, 3, at);
    assert_true(at[0] == 3 && at[1] == 4 && at[2] == 9);
    ts_unflatten(5 * 77 - 1, shape, 3, at);
    assert_true(at[0] == 4 && at[1] == 6 && at[2] == 10);
}

/* Compares one element and tells of it. */
static void expect_told(enum ts_elem type, double got, double want, double scale, double tolerance,
                        const char *told)
{
    struct ts_proof proof = compare_one(type, got, want, scale, tolerance);
    struct ts_text text = {0};

    ts_proof_tell_worst(&proof, type, tolerance, &text);
    assert_string_equal(text.text, told);
    ts_text_free(&text);
}

static void test_worst_is_told(void **state)
{
    (void)state;
    /* 2^-18 = 2 * 2^-23 * 16 */
    expect_told(TS_FLOAT, 1 + 0x1p-18, 1, 16, 1e-6,
                " is 1.00000381, expected 1: off by 3.81e-06 = 2 eps*scale, tolerance 1e-06");
    expect_told(TS_DOUBLE, 3, 2, 0, 4,
                " is 3, expected 2: off by 1, tolerance 4 eps*scale, which is 0 here");
    expect_told(TS_FLOAT, 3, 2, 1, 0, " is 3, expected 2: off by 1, tolerance 0: bit for bit");
    expect_told(TS_INT, 3, 2, 1, 4, " is 3, expected 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poison_every_type),
        cmocka_unit_test(test_poison_is_not_any_nan),
        cmocka_unit_test(test_poison_of_one_element),
        cmocka_unit_test(test_poison_two_rounds),
        cmocka_unit_test(test_guard),
        cmocka_unit_test(test_guard_reads_as_nan),
        cmocka_unit_test(test_guard_shifted),
        cmocka_unit_test(test_tolerance_edges),
        cmocka_unit_test(test_scale_of_zero),
        cmocka_unit_test(test_not_finite_never_passes),
        cmocka_unit_test(test_bit_for_bit_real),
        cmocka_unit_test(test_whole_types),
        cmocka_unit_test(test_slices_of_a_whole),
        cmocka_unit_test(test_fast_path_is_exact),
        cmocka_unit_test(test_fast_path_near_ties),
        cmocka_unit_test(test_fast_path_subnormal),
        cmocka_unit_test(test_against_array),
        cmocka_unit_test(test_worst_is_told),
        cmocka_unit_test(test_find_not_finite),
        cmocka_unit_test(test_sample_whole_when_small),
        cmocka_unit_test(test_sample_edges),
        cmocka_unit_test(test_sample_edges_3d),
        cmocka_unit_test(test_sample_seams),
        cmocka_unit_test(test_sample_is_seeded),
        cmocka_unit_test(test_sample_awkward),
        cmocka_unit_test(test_sample_strange_local),
        cmocka_unit_test(test_unflatten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
