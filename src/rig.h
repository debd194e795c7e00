/* rig.h: a configuration set up on the device: kernels with their limits checked, buffers from a
 * pool, arguments bound, launches queued and timed. Floor 2, worker's side.
 *
 * Order: ts_rig_open (builds, checks limits, takes buffers), ts_rig_upload, then any of poison,
 * launch, read, swap. The instance outlives the rig. */
#ifndef TS_RIG_H
#define TS_RIG_H

#include "job.h"
#include "ocl.h"
#include "truth.h"

/* ---- what a worker keeps between jobs ---- */

struct ts_bench; /* programs by (source, options), buffers by (name, type, count) */
/* Sources can be added before there is a device; ts_bench_attach gives it one, once. */
struct ts_bench *ts_bench_open(void);
void ts_bench_attach(struct ts_bench *bench, struct ts_ocl *ocl);
void ts_bench_close(struct ts_bench *bench);
/* Source text by digest; ts_bench_source returns NULL when it was never sent. */
void ts_bench_add_source(struct ts_bench *bench, const char *digest, const char *text);
const char *ts_bench_source(const struct ts_bench *bench, const char *digest);
/* Forgets every buffer that no rig holds; those made from now on hold nothing yet, and have guards
 * around them (plain: none). */
void ts_bench_fresh_buffers(struct ts_bench *bench, bool plain);

/* ---- a rig ---- */

struct ts_rig;

/* What opening found out, also when it failed half way: facts for the row. */
struct ts_rig_facts {
    struct ts_geometry geometry;
    struct ts_build build;
};
void ts_rig_facts_init(struct ts_rig_facts *facts);
void ts_rig_facts_free(struct ts_rig_facts *facts);

/* Compiles (or takes the program kept) and checks every limit; facts may be NULL. NULL with the
 * fault told. */
struct ts_rig *ts_rig_open(struct ts_bench *bench, const struct ts_code *code,
                           const struct ts_instance *instance, struct ts_rig_facts *facts,
                           struct ts_fault *fault);
void ts_rig_close(struct ts_rig *rig);

/* Binds the arguments as they stood at the start and brings every input into its start state.
 * Inputs that the buffers hold already, proven unchanged, are not sent again: a worker whose kernel
 * wrote where it must not is replaced. */
int ts_rig_upload(struct ts_rig *rig, const struct ts_inputs *inputs, struct ts_fault *fault);
/* The pattern of `round` into every output and scratch buffer as bound now. */
int ts_rig_poison(struct ts_rig *rig, int round, struct ts_fault *fault);
/* Queues every launch of one pass, each with its event: ts_rig_finish tells which failed. */
int ts_rig_launch(struct ts_rig *rig, struct ts_fault *fault);
int ts_rig_finish(struct ts_rig *rig, struct ts_fault *fault);
/* The data that argument arg is bound to now, into a host array of the argument's bytes. */
int ts_rig_read(struct ts_rig *rig, size_t arg, void *data, struct ts_fault *fault);
/* Guards of every buffer; out-of-bounds is told with the argument's name. */
int ts_rig_check_guards(struct ts_rig *rig, struct ts_fault *fault);
/* Exchanges the pairs of `iterate.swap`. */
void ts_rig_swap(struct ts_rig *rig);

/* From now on timed passes go over several sets of the arguments in turn, so that `bytes` of other
 * sets are touched before a set's turn comes again: its data are then in no smaller cache. *whole:
 * there are so many; else the device's memory or the number of sets admits only fewer. Call after
 * ts_rig_upload; the sets are kept by the bench, and the turn goes on with the next rig. */
int ts_rig_rotate(struct ts_rig *rig, int64_t bytes, bool *whole, struct ts_fault *fault);

/* `batch` passes timed by the clock, each from the start state; total in ns, >= 1. */
int ts_rig_time(struct ts_rig *rig, const struct ts_clock *clock, int64_t batch, int64_t *total_ns,
                struct ts_fault *fault);
/* The largest batch that ts_rig_time takes. */
int64_t ts_rig_max_batch(const struct ts_rig *rig);

/* Bytes of an array argument. */
int64_t ts_job_arg_bytes(const struct ts_job_arg *arg);

#endif
