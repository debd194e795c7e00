/* truth.h: the inputs a proof sends and the outputs it expects, kept while they are used again.
 * Floor 2, worker's side; host memory only.
 *
 * Everything is found by a key over what decides its content (shapes, fills, seed, reference,
 * steps), so a worker that proves many configurations of one case computes each reference once.
 * Pointers stay valid until ts_truth_trim or ts_truth_close. */
#ifndef TS_TRUTH_H
#define TS_TRUTH_H

#include "digest.h"
#include "job.h"
#include "ocl.h"
#include "prove.h"

/* What the random inputs of a spec are replaced by, one proof each: as the spec says, all ones, a
 * single one, a ramp over the index. */
enum ts_pattern {
    TS_PATTERN_SPEC,
    TS_PATTERN_ONES,
    TS_PATTERN_DELTA,
    TS_PATTERN_RAMP,
    TS_PATTERN_COUNT
};
const char *ts_pattern_name(enum ts_pattern pattern);

struct ts_inputs {
    const void **data; /* per argument of the instance: host array of `in` and `inout`, the value of
                        * a scalar (one element), else NULL */
    struct ts_digest128 *digests; /* of the arrays among them */
    size_t count;
    const char *key;
};

/* An output array that was compared with what was wanted and found right. */
struct ts_known {
    struct ts_digest128 digest; /* of the whole array */
    double tolerance;
    struct ts_proof proof;
};
#define TS_KNOWN_MAX 32

/* One output argument: value and scale over slices, or (reference by variant) an array. */
struct ts_want {
    size_t arg;
    struct ts_slice *slices;
    size_t slice_count;
    double *value, *scale;  /* of all slices, one after the other */
    void *array;            /* the whole output instead; NULL otherwise */
    struct ts_known *known; /* TS_KNOWN_MAX, the oldest gives way; NULL: none yet */
    size_t known_count;     /* so many were ever learned */
};
struct ts_expected {
    struct ts_want *wants;
    size_t count;
};

struct ts_truth;
/* computing (may be NULL) is told when a built-in reference begins and ends to compute, which can
 * take long and is nobody's fault. */
struct ts_truth *ts_truth_open(void (*computing)(void *context, bool begins), void *context);
void ts_truth_close(struct ts_truth *truth);
/* Between jobs: forgets the longest unused until at most max_bytes are held. */
void ts_truth_trim(struct ts_truth *truth, int64_t max_bytes);

/* Has the instance an input that patterns other than SPEC would change? */
bool ts_truth_has_random(const struct ts_instance *instance);

/* NULL with the fault told when memory is short (skipped: allocation). */
const struct ts_inputs *ts_truth_inputs(struct ts_truth *truth, const struct ts_instance *instance,
                                        uint64_t seed, enum ts_pattern pattern,
                                        struct ts_fault *fault);

/* The outputs after `passes` passes over the launches by the built-in reference. Whole where that
 * is cheap, else on a seeded sample (whole: always whole). NULL with the fault told. */
const struct ts_expected *ts_truth_expected(struct ts_truth *truth, const char *reference,
                                            const struct ts_instance *instance,
                                            const struct ts_inputs *inputs, int64_t passes,
                                            bool whole, uint64_t seed, struct ts_fault *fault);

/* Most configurations of a case write the same bytes, and each does so again in every proof: an
 * output that is byte for byte one that was found right, within the same tolerance, is right and
 * need not be compared, which takes ten times as long. NULL: not known. */
const struct ts_proof *ts_truth_known(const struct ts_want *want, struct ts_digest128 digest,
                                      double tolerance);
void ts_truth_learn(struct ts_want *want, struct ts_digest128 digest, double tolerance,
                    const struct ts_proof *proof);

/* The same by a variant: what was stored for this key, or NULL (no fault) when it has not been
 * computed. size: of the instance. */
const struct ts_expected *ts_truth_stored(struct ts_truth *truth, const struct ts_code *code,
                                          const struct ts_values *size,
                                          const struct ts_inputs *inputs, int64_t steps);
/* Stores it: arrays[i] (taken) is the output of argument args[i]. */
const struct ts_expected *ts_truth_store(struct ts_truth *truth, const struct ts_code *code,
                                         const struct ts_values *size,
                                         const struct ts_inputs *inputs, int64_t steps,
                                         const size_t *args, void **arrays, const int64_t *bytes,
                                         size_t count);

#endif
