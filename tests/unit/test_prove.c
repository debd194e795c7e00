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
                assert_int_equal(p.not_finite_at, 0);
                assert_true(p.worst == 1e300);
                assert_int_equal(compare_one(type, strange[i], strange[i], 1.0, tolerance).bad, 1);
                /* a reference that went wrong does not pass either */
                p = compare_one(type, 1.0, strange[i], 1.0, 4);
                assert_int_equal(p.bad, 1);
                assert_int_equal(p.not_finite_at, -1);
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
    assert_int_equal(p.not_finite_at, 33);
    assert_int_equal(p.worst_at, 33);
    assert_true(isnan(p.worst_got) && p.worst_want == 33.0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poison_every_type),
        cmocka_unit_test(test_poison_is_not_any_nan),
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
        cmocka_unit_test(test_against_array),
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
