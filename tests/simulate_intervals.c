/* simulate_intervals.c: how often does the interval of a row hold the truth? Prints a table; no
 * test.
 *
 *     simulate_intervals [TRIALS]
 *
 * A trial makes the samples of some visits by the rule of a stream, takes the visits' medians and
 * their interval, and asks whether it holds the true median of visit medians, which comes from
 * 400,000 visits of the same rule. Nominal are 95 %. docs/measuring.md holds the table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "rng.h"
#include "stats.h"

enum { SAMPLES = 5, TRUTH_VISITS = 400000 };

static double normal(struct ts_rng *rng)
{
    double u = 1.0 - ts_rng_unit(rng), v = ts_rng_unit(rng);
    return sqrt(-2.0 * log(u)) * cos(2.0 * acos(-1.0) * v);
}

/* at: the visit's place in the run, 0..1. */
static void draw_normal(struct ts_rng *rng, double at, double *x)
{
    double shift = 0.01 * normal(rng);
    (void)at;
    for (int i = 0; i < SAMPLES; i++)
        x[i] = 1000.0 * (1.0 + shift + 0.01 * normal(rng));
}

static void draw_log_normal(struct ts_rng *rng, double at, double *x)
{
    double shift = 0.3 * normal(rng);
    (void)at;
    for (int i = 0; i < SAMPLES; i++)
        x[i] = 1000.0 * exp(shift + 0.3 * normal(rng));
}

/* Samples follow each other within a visit (AR(1), 0.9); visits are apart. */
static void draw_autocorrelated(struct ts_rng *rng, double at, double *x)
{
    double z = normal(rng);
    (void)at;
    for (int i = 0; i < SAMPLES; i++) {
        x[i] = 1000.0 * (1.0 + 0.02 * z);
        z = 0.9 * z + sqrt(1.0 - 0.81) * normal(rng);
    }
}

/* Three samples in ten are a tenth slower. */
static void draw_bimodal_samples(struct ts_rng *rng, double at, double *x)
{
    (void)at;
    for (int i = 0; i < SAMPLES; i++)
        x[i] = (ts_rng_unit(rng) < 0.3 ? 1100.0 : 1000.0) * (1.0 + 0.01 * normal(rng));
}

/* Three visits in ten are a tenth slower: where the code or the buffers lay. */
static void draw_bimodal_visits(struct ts_rng *rng, double at, double *x)
{
    double mode = ts_rng_unit(rng) < 0.3 ? 1100.0 : 1000.0;
    (void)at;
    for (int i = 0; i < SAMPLES; i++)
        x[i] = mode * (1.0 + 0.01 * normal(rng));
}

/* The device grows slower by 1.5 % over the run, with noise of 1 % between visits. */
static void draw_drifting(struct ts_rng *rng, double at, double *x)
{
    double shift = 0.01 * normal(rng) + 0.015 * at;
    for (int i = 0; i < SAMPLES; i++)
        x[i] = 1000.0 * (1.0 + shift + 0.005 * normal(rng));
}

static const struct stream {
    const char *name;
    void (*draw)(struct ts_rng *rng, double at, double *x);
} streams[] = {
    {"normal", draw_normal},
    {"log-normal", draw_log_normal},
    {"autocorrelated", draw_autocorrelated},
    {"bimodal samples", draw_bimodal_samples},
    {"bimodal visits", draw_bimodal_visits},
    {"drifting", draw_drifting},
};
static const size_t visit_counts[] = {3, 5, 10, 20};

static double visit_median(const struct stream *stream, struct ts_rng *rng, double at)
{
    double x[SAMPLES];

    stream->draw(rng, at, x);
    return ts_median(x, SAMPLES);
}

static double true_median(const struct stream *stream)
{
    struct ts_rng rng = {1};
    double *x = ts_alloc(TRUTH_VISITS, sizeof(*x)), median;

    for (size_t i = 0; i < TRUTH_VISITS; i++)
        x[i] = visit_median(stream, &rng, ts_rng_unit(&rng));
    median = ts_median(x, TRUTH_VISITS);
    free(x);
    return median;
}

static double coverage(const struct stream *stream, size_t visits, size_t trials)
{
    struct ts_rng rng = {20260101};
    double truth = true_median(stream), x[64];
    size_t held = 0;

    for (size_t t = 0; t < trials; t++) {
        for (size_t i = 0; i < visits; i++)
            x[i] = visit_median(stream, &rng, ((double)i + 0.5) / (double)visits);
        struct ts_interval in = ts_interval_of_visits(x, visits);
        held += in.low <= truth && truth <= in.high;
    }
    return (double)held / (double)trials;
}

int main(int argc, char **argv)
{
    size_t trials = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 20000;

    printf("%-16s", "visits");
    for (size_t v = 0; v < TS_COUNT(visit_counts); v++)
        printf("%8zu", visit_counts[v]);
    printf("\n");
    for (size_t s = 0; s < TS_COUNT(streams); s++) {
        printf("%-16s", streams[s].name);
        for (size_t v = 0; v < TS_COUNT(visit_counts); v++)
            printf("%6.1f %%", 100.0 * coverage(&streams[s], visit_counts[v], trials));
        printf("\n");
    }
    return 0;
}
