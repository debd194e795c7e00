/* simulate_compare.c: `compare`'s rule on made-up runs whose truth is known: how many of its
 * findings are false, and what it finds. scripts/compare-power runs it and draws; it is built with
 * the tests and prints tab separated lines.
 *
 *     simulate_compare fdr [PAIRS [SEED]]     share of false discoveries, by scenario
 *     simulate_compare power [ROUNDS [SEED]]  share of real slow-downs found, by effect and visits
 *     simulate_compare stated [ROUNDS [SEED]] share found of slow-downs of the stated size
 *     simulate_compare check [PAIRS [SEED]]   `fdr` as a test */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "rng.h"

/* Noise of a row's log time, standard deviations; all mean 0 over many. */
struct scenario {
    const char *name;
    size_t rows;             /* configurations compared at a time */
    int visits;              /* a side and run, each in a process of its own */
    int base_runs, new_runs; /* base_runs 0: one run of `ab`, five pairs of visits in each of
                              * `visits` processes */
    double visit_sd;         /* typical; a row's own is drawn around it */
    double spread_df;        /* rows' variances: df / chi-square(df); INFINITY: all alike */
    double process_sd;       /* a process against the next, per row */
    double shared_sd;        /* a process against the next, all rows alike */
    double run_sd;           /* a run against the next, all rows alike: slow days */
    double burst;            /* probability that a neighbour slows a visit, by 5 % on average */
    double control;          /* share of rows that run the same code */
    double changed;          /* share of the others whose time really changed ... */
    double effect;           /* ... by this log ratio, up or down */
    bool quick;              /* the visits of a run are in two processes */
};

static const struct scenario scenarios[] = {
    {"nothing changed, quiet", 40, 5, 1, 1, .01, INFINITY, 0, 0, 0, 0, 0, 0, 0, false},
    {"nothing changed, rows differ in noise", 40, 5, 1, 1, .01, 4, 0, 0, 0, 0, 0, 0, 0, false},
    {"processes differ by twice the visits' noise", 40, 5, 1, 1, .01, 4, .02, 0, 0, 0, 0, 0, 0,
     false},
    {"a busy neighbour", 40, 5, 1, 1, .01, 4, .01, .01, 0, .2, 0, 0, 0, false},
    {"slow days, control of half the rows", 40, 5, 1, 1, .01, 4, .01, .01, .03, .1, .5, 0, 0,
     false},
    {"slow days, 5 runs against 1, no control", 40, 5, 5, 1, .01, 4, .01, .01, .02, .1, 0, 0, 0,
     false},
    {"slow days, 5 runs against 2, control", 40, 5, 5, 2, .01, 4, .01, .01, .03, .1, .5, 0, 0,
     false},
    {"one in ten changed by 10 %", 40, 5, 1, 1, .01, 4, .01, 0, 0, 0, 0, .1, .0953, false},
    {"half changed by 10 %, control of a quarter", 40, 5, 1, 1, .01, 4, .01, .005, .02, .1, .25, .5,
     .0953, false},
    {"three rows, noisy", 3, 5, 1, 1, .02, 4, .02, 0, 0, 0, 0, 0, 0, false},
    {"twelve rows, noisy", 12, 5, 1, 1, .02, 4, .02, 0, 0, 0, 0, 0, 0, false},
    {"eight rows, noisy", 8, 5, 1, 1, .02, 4, .02, 0, 0, 0, 0, 0, 0, false},
    {"400 rows, very noisy", 400, 5, 1, 1, .04, 3, .04, .01, .02, .2, .3, .05, .1823, false},
    {"3 visits", 40, 3, 1, 1, .02, 4, .02, 0, 0, .1, 0, .1, .0953, false},
    {"--quick: 3 visits in two processes", 40, 3, 1, 1, .02, 4, .02, 0, 0, .1, 0, .1, .0953, true},
    {"20 visits", 40, 20, 1, 1, .02, 4, .02, 0, 0, .1, 0, .1, .0953, false},
    {"ab, a busy neighbour", 40, 5, 0, 1, .01, 4, .01, .01, .03, .2, 0, 0, 0, false},
    {"ab, control of half the rows", 40, 5, 0, 1, .01, 4, .01, .01, .03, .2, .5, 0, 0, false},
    {"ab, three rows, noisy", 3, 5, 0, 1, .02, 4, .02, .01, .03, .1, 0, 0, 0, false},
    {"ab, one in ten changed by 10 %, busy", 40, 5, 0, 1, .01, 4, .01, .01, .03, .2, .5, .1, .0953,
     false},
    {"ab, 3 visits, one in ten changed by 10 %", 40, 3, 0, 1, .01, 4, .01, .01, .03, .1, .5, .1,
     .0953, false},
};

static double normal(struct ts_rng *rng)
{
    double u = 1.0 - ts_rng_unit(rng), v = ts_rng_unit(rng);
    return sqrt(-2.0 * log(u)) * cos(2.0 * acos(-1.0) * v);
}

static double chi_square(struct ts_rng *rng, double df)
{
    double sum = 0.0;
    for (int i = 0; i < (int)df; i++) {
        double z = normal(rng);
        sum += z * z;
    }
    return sum;
}

enum { MAX_RUNS = 8, MAX_VISITS = 32, MAX_CLUSTERS = MAX_RUNS * MAX_VISITS };

struct made {
    struct ts_judge_pair *pairs;
    double *truth; /* real log ratio of each */
    struct ts_cluster *clusters;
    enum ts_side sides[MAX_RUNS];
    struct ts_judge_group group;
};

/* What all rows share in one run: its day, and each of its processes. */
struct weather {
    double run[MAX_RUNS], process[MAX_RUNS][MAX_VISITS];
};

static double burst(const struct scenario *s, struct ts_rng *rng)
{
    return ts_rng_unit(rng) < s->burst ? -.05 * log(1.0 - ts_rng_unit(rng)) : 0.0;
}

static size_t make_side(const struct scenario *s, struct ts_rng *rng, const struct weather *weather,
                        enum ts_side side, double sd, double shift, struct ts_cluster *out)
{
    struct ts_judge_visit visits[MAX_RUNS * MAX_VISITS];
    int first = side == TS_BASE ? 0 : s->base_runs,
        runs = side == TS_BASE ? s->base_runs : s->new_runs;
    size_t count = 0;
    for (int r = first; r < first + runs; r++) {
        double own[MAX_VISITS];
        for (int p = 0; p < s->visits; p++)
            own[p] = normal(rng) * s->process_sd * sd;
        for (int v = 0; v < s->visits; v++) {
            int process = s->quick ? v >= (s->visits + 1) / 2 : v;
            double slowed = burst(s, rng);
            visits[count++] =
                (struct ts_judge_visit){shift + weather->run[r] + weather->process[r][process] +
                                            own[process] + slowed + normal(rng) * s->visit_sd * sd,
                                        (size_t)r, process};
        }
    }
    bool several = s->base_runs > 1 || s->new_runs > 1;
    return ts_judge_fold(visits, count, several ? TS_BY_RUN : TS_BY_PROCESS, out);
}

/* Of `ab`: log ratios. What rows share in a process or on a day is in both visits of a pair. */
static size_t make_pairs(const struct scenario *s, struct ts_rng *rng, double sd, double effect,
                         struct ts_cluster *out)
{
    enum { PAIRS = 5 };
    struct ts_judge_visit ratios[MAX_VISITS * PAIRS];
    size_t count = 0;
    for (int process = 0; process < s->visits; process++) {
        double own = (normal(rng) - normal(rng)) * s->process_sd * sd;
        for (int pair = 0; pair < PAIRS; pair++) {
            double noise = (normal(rng) - normal(rng)) * s->visit_sd * sd;
            double slowed = burst(s, rng) - burst(s, rng);
            ratios[count++] = (struct ts_judge_visit){effect + own + noise + slowed, 0, process};
        }
    }
    return ts_judge_fold(ratios, count, TS_BY_PROCESS, out);
}

static void make(struct made *made, const struct scenario *s, struct ts_rng *rng)
{
    struct weather weather;
    size_t runs = (size_t)(s->base_runs + s->new_runs), each = MAX_CLUSTERS;
    for (size_t r = 0; r < runs; r++) {
        made->sides[r] = r < (size_t)s->base_runs ? TS_BASE : TS_NEW;
        weather.run[r] = normal(rng) * s->run_sd;
        for (int p = 0; p < s->visits; p++)
            weather.process[r][p] = normal(rng) * s->shared_sd;
    }
    for (size_t i = 0; i < s->rows; i++) {
        struct ts_judge_pair *pair = &made->pairs[i];
        struct ts_cluster *clusters = &made->clusters[i * 2 * each];
        double sd = isinf(s->spread_df) ? 1.0 : sqrt(s->spread_df / chi_square(rng, s->spread_df));
        bool control = ts_rng_unit(rng) < s->control;
        bool changed = !control && ts_rng_unit(rng) < s->changed;
        double effect = !changed ? 0.0 : ts_rng_below(rng, 2) ? s->effect : -s->effect;
        made->truth[i] = effect;
        *pair = (struct ts_judge_pair){.control = control};
        if (s->base_runs == 0)
            pair->side[TS_NEW] =
                (struct ts_judge_side){clusters, make_pairs(s, rng, sd, effect, clusters)};
        for (int side = TS_BASE; side <= TS_NEW && s->base_runs > 0; side++) {
            struct ts_cluster *mine = clusters + (size_t)side * each;
            pair->side[side].clusters = mine;
            pair->side[side].count = make_side(s, rng, &weather, (enum ts_side)side, sd,
                                               side == TS_NEW ? effect : 0.0, mine);
        }
    }
    made->group = (struct ts_judge_group){.pairs = made->pairs,
                                          .count = s->rows,
                                          .run_count = runs,
                                          .run_side = made->sides,
                                          .paired = s->base_runs == 0};
}

static void made_open(struct made *made, size_t rows)
{
    made->pairs = ts_alloc(rows, sizeof(*made->pairs));
    made->truth = ts_alloc(rows, sizeof(*made->truth));
    made->clusters = ts_alloc(rows * 2 * MAX_CLUSTERS, sizeof(*made->clusters));
}

static void made_close(struct made *made)
{
    free(made->pairs);
    free(made->truth);
    free(made->clusters);
}

/* ---- false discoveries ---- */

static const struct ts_judge_rule rule = {.threshold = 0.05, .fdr = 0.05};

/* 0: not told; 1: told and true; -1: told and false (no change, or the other way). */
static int told(const struct ts_judge_pair *pair, double truth)
{
    if (pair->verdict != TS_SLOWER && pair->verdict != TS_FASTER)
        return 0;
    return (pair->verdict == TS_SLOWER ? truth : -truth) > 0.0 ? 1 : -1;
}

struct rates {
    size_t pairs, wrong;
    double fdr;      /* mean, over comparisons, of the share of the told that is false */
    double any;      /* share of comparisons with any */
    double coverage; /* share of 95 % intervals that hold the truth */
    double power;    /* share of real changes that are told; NaN: there are none */
};

static struct rates rates_of(const struct scenario *s, size_t pairs, uint64_t seed)
{
    struct ts_rng rng = {seed};
    struct made made;
    size_t rounds = (pairs + s->rows - 1) / s->rows, wrong = 0, right = 0, real = 0, nights = 0;
    size_t covered = 0;
    double share = 0.0;
    made_open(&made, s->rows);
    for (size_t round = 0; round < rounds; round++) {
        size_t false_here = 0, true_here = 0;
        make(&made, s, &rng);
        ts_judge(&made.group, 1, &rule);
        for (size_t i = 0; i < s->rows; i++) {
            int t = told(&made.pairs[i], made.truth[i]);
            false_here += t < 0;
            true_here += t > 0;
            real += made.truth[i] != 0.0;
            const struct ts_interval *ratio = &made.pairs[i].ratio;
            covered += log(ratio->low) <= made.truth[i] && made.truth[i] <= log(ratio->high);
        }
        if (false_here > 0)
            share += (double)false_here / (double)(false_here + true_here);
        nights += false_here > 0;
        wrong += false_here;
        right += true_here;
    }
    made_close(&made);
    return (struct rates){
        .pairs = rounds * s->rows,
        .wrong = wrong,
        .fdr = share / (double)rounds,
        .any = (double)nights / (double)rounds,
        .coverage = (double)covered / (double)(rounds * s->rows),
        .power = real > 0 ? (double)right / (double)real : NAN,
    };
}

static void print_fdr(const struct scenario *s, size_t pairs, uint64_t seed)
{
    struct rates r = rates_of(s, pairs, seed);
    printf("%s\t%zu\t%.4f\t%zu\t%.4f\t%.3f\t", s->name, r.pairs, r.fdr, r.wrong, r.any, r.coverage);
    printf(isnan(r.power) ? "-\n" : "%.3f\n", r.power);
}

/* The same at the size of a test, with room for the chance of so few comparisons. */
static int check(size_t pairs, uint64_t seed)
{
    int bad = 0;
    for (size_t i = 0; i < TS_COUNT(scenarios); i++) {
        struct rates r = rates_of(&scenarios[i], pairs, seed + i);
        bool right = r.fdr <= 0.12 && r.coverage >= 0.92;
        printf("%s %s: false discoveries %.3f, coverage %.3f\n", right ? "ok" : "not ok",
               scenarios[i].name, r.fdr, r.coverage);
        bad += !right;
    }
    return bad > 0;
}

/* ---- power ---- */

/* One row of 40 is slower by `effect` (a share), on a machine with bursts; returns the share of
 * comparisons that say so. */
static double power_of(double effect, int visits, int runs, size_t rounds, uint64_t seed)
{
    struct scenario s = {"power", 40,  visits, runs, runs, .015, 4,    .01,
                         .005,    .01, .1,     .5,   0,    0,    false};
    struct ts_rng rng = {seed};
    struct made made;
    size_t found = 0;
    made_open(&made, s.rows);
    for (size_t round = 0; round < rounds; round++) {
        make(&made, &s, &rng);
        struct ts_judge_side *slow = &made.pairs[0].side[TS_NEW];
        made.pairs[0].control = false;
        for (size_t c = 0; c < slow->count; c++)
            made.clusters[MAX_CLUSTERS + c].log_ns += log1p(effect);
        ts_judge(&made.group, 1, &rule);
        found += made.pairs[0].verdict == TS_SLOWER;
    }
    made_close(&made);
    return (double)found / (double)rounds;
}

static void print_power(size_t rounds, uint64_t seed)
{
    static const int visits[] = {3, 5, 10, 20};
    static const int effects[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50};
    printf("# effect_percent\t3 visits\t5 visits\t10 visits\t20 visits\t5 visits, 3 runs a side\n");
    for (size_t e = 0; e < TS_COUNT(effects); e++) {
        printf("%d", effects[e]);
        for (size_t v = 0; v < TS_COUNT(visits); v++)
            printf("\t%.3f", power_of(effects[e] / 100.0, visits[v], 1, rounds, seed + v));
        printf("\t%.3f\n", power_of(effects[e] / 100.0, 5, 3, rounds, seed + 9));
    }
}

/* A row is made slower by what its own comparison said it would find with 90 %: the noise of the
 * estimate is independent of the estimated noise, so the same night can be used again. */
static void print_stated(size_t rounds, uint64_t seed)
{
    struct scenario s = {"stated", 40, 5, 1, 1, .015, 4, .01, .005, .01, .1, .5, 0, 0, false};
    struct ts_rng rng = {seed};
    struct made made;
    size_t found = 0;
    double sum = 0.0;
    made_open(&made, s.rows);
    for (size_t round = 0; round < rounds; round++) {
        make(&made, &s, &rng);
        made.pairs[0].control = false;
        ts_judge(&made.group, 1, &rule);
        double stated = made.pairs[0].found;
        sum += stated / (double)rounds;
        for (size_t c = 0; c < made.pairs[0].side[TS_NEW].count; c++)
            made.clusters[MAX_CLUSTERS + c].log_ns += log1p(stated);
        ts_judge(&made.group, 1, &rule);
        found += made.pairs[0].verdict == TS_SLOWER;
    }
    made_close(&made);
    printf("%zu\t%.4f\t%.3f\n", rounds, sum, (double)found / (double)rounds);
}

int main(int argc, char **argv)
{
    size_t amount = argc > 2 ? (size_t)strtoull(argv[2], NULL, 10) : 10000;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    if (argc > 1 && !strcmp(argv[1], "fdr")) {
        printf("# scenario\tpairs\tfdr\tfalse\tcomparisons_with_any\tcoverage\tpower\n");
        for (size_t i = 0; i < TS_COUNT(scenarios); i++)
            print_fdr(&scenarios[i], amount, seed + i);
    } else if (argc > 1 && !strcmp(argv[1], "check")) {
        return check(argc > 2 ? amount : 2000, seed);
    } else if (argc > 1 && !strcmp(argv[1], "power")) {
        print_power(amount, seed);
    } else if (argc > 1 && !strcmp(argv[1], "stated")) {
        print_stated(amount, seed);
    } else {
        fprintf(stderr, "usage: simulate_compare fdr|power|stated|check [COUNT [SEED]]\n");
        return 2;
    }
    return 0;
}
