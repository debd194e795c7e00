/* worker_prove.c: proving a configuration right (design.md section 4). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker_private.h"

/* Iterations are proven after one, two and three launches on the check sizes. */
#define ITERATED_PASSES 3

/* One proof under way. */
struct proof {
    struct ts_worker *worker;
    struct ts_rig *rig;
    const struct ts_proof_plan *plan;
    const struct ts_instance *instance;
    const struct ts_inputs *inputs;
    struct ts_outcome *outcome;
    int round;
    int64_t pass; /* from 1 */
    bool poisoned;
    struct ts_digest128 outputs; /* of this pass, those looked at so far */
    void **state; /* per argument: what its buffer must hold as input of this pass (owned copies of
                   * earlier outputs), NULL: the inputs as uploaded */
};

static struct ts_fault *fault_of(struct proof *p)
{
    return &p->outcome->fault;
}

/* " (proof at W=100 H=110, all inputs 1, after 2 launches)": where a fault was seen, as far as it
 * is not plain.
 */
static void add_where(struct proof *p, struct ts_text *text)
{
    ts_text_puts(text, " (proof at ");
    ts_values_print(&p->instance->size, "", " ", text);
    if (p->plan->pattern != TS_PATTERN_SPEC)
        ts_text_printf(text, ", %s", ts_pattern_name(p->plan->pattern));
    if (p->pass > 1)
        ts_text_printf(text, ", after %" PRId64 " launches", p->pass);
    if (!p->poisoned)
        ts_text_puts(text, ", after timing");
    ts_text_puts(text, ")");
}

static int wrong(struct proof *p, const char *code, struct ts_text *text)
{
    const char *prefix = "";

    /* What was right once and then is not depends on something that a proof does not set. */
    if ((p->round > 0 || !p->poisoned) &&
        (!strcmp(code, "mismatch") || !strcmp(code, "unwritten") || !strcmp(code, "not-finite"))) {
        code = "unstable-result";
        prefix = "right on the first launch, not on a later one: ";
    }
    add_where(p, text);
    /* On a CPU device a kernel that is wrong may have written anywhere in this process. */
    fault_of(p)->retire = true;
    ts_fault_set(fault_of(p), TS_WRONG, code, "%s%s", prefix, text->text);
    ts_text_free(text);
    return -1;
}

static void add_index(const struct ts_job_arg *arg, int64_t flat, struct ts_text *text)
{
    int64_t at[4];

    ts_unflatten(flat, arg->shape, arg->dims, at);
    for (int d = 0; d < arg->dims; d++)
        ts_text_printf(text, "[%" PRId64 "]", at[d]);
}

/* ---- the steps of a pass ---- */

/* The argument's data as the device has it now, in the worker's room: valid until the next read.
 * NULL with the fault told. */
static const void *read_back(struct proof *p, size_t arg)
{
    struct ts_worker *worker = p->worker;
    size_t bytes = (size_t)ts_job_arg_bytes(&p->instance->args[arg]);

    if (!worker->room || bytes > ts_ocl_room_bytes(worker->room)) {
        ts_ocl_room_close(worker->room);
        worker->room = ts_ocl_room_open(worker->ocl, bytes);
    }
    if (!worker->room) {
        ts_fault_set(fault_of(p), TS_SKIPPED, "allocation",
                     "the host has no %zu B of memory for the proof", bytes);
        return NULL;
    }
    if (ts_rig_read(p->rig, arg, ts_ocl_room_data(worker->room), fault_of(p)) < 0)
        return NULL;
    return ts_ocl_room_data(worker->room);
}

/* By digest where the input is as it was sent: half the memory to go through. */
static bool is_input_unchanged(const struct proof *p, size_t i, const void *got)
{
    size_t bytes = (size_t)ts_job_arg_bytes(&p->instance->args[i]);

    if (p->state[i])
        return memcmp(got, p->state[i], bytes) == 0;
    return ts_digest128_equal(ts_digest128(got, bytes), p->inputs->digests[i]);
}

static int check_inputs(struct proof *p)
{
    for (size_t i = 0; i < p->instance->arg_count; i++) {
        const struct ts_job_arg *arg = &p->instance->args[i];
        struct ts_text text = {0};
        const void *got;

        if (arg->kind != TS_ARG_IN)
            continue;
        got = read_back(p, i);
        if (!got)
            return -1;
        if (!is_input_unchanged(p, i, got)) {
            ts_text_printf(&text, "writes into its input \"%s\"", arg->name);
            return wrong(p, "input-changed", &text);
        }
    }
    return 0;
}

static struct ts_want *find_want(const struct ts_expected *expected, size_t arg)
{
    for (size_t i = 0; expected && i < expected->count; i++) {
        if (expected->wants[i].arg == arg)
            return &expected->wants[i];
    }
    return NULL;
}

static void note_worst(struct proof *p, const struct ts_job_arg *arg, const struct ts_proof *proof)
{
    struct ts_check *check = &p->outcome->check;

    /* A size counts once, however often it is proven. */
    if (p->poisoned && p->round == 0 && p->pass == 1 && p->plan->pattern == TS_PATTERN_SPEC)
        check->elements += proof->compared;
    if (proof->worst < check->worst || proof->worst_at < 0)
        return;
    check->worst = proof->worst;
    check->at_count = arg->dims;
    ts_unflatten(proof->worst_at, arg->shape, arg->dims, check->at);
    ts_values_free(&check->at_size);
    ts_values_copy(&check->at_size, &p->instance->size);
}

static void compare(struct proof *p, const struct ts_job_arg *arg, const struct ts_want *want,
                    const void *got, struct ts_proof *proof)
{
    int64_t at = 0;

    ts_proof_init(proof);
    if (want->array) {
        ts_proof_add_array(proof, arg->type, got, want->array, arg->count, p->plan->job->tolerance);
        return;
    }
    for (size_t i = 0; i < want->slice_count; i++) {
        ts_proof_add(proof, arg->type, got, want->slices[i].first, want->slices[i].count,
                     want->value + at, want->scale + at, p->plan->job->tolerance);
        at += want->slices[i].count;
    }
}

/* "dst[3][4] was never written, nor were 12 others" */
static int unwritten(struct proof *p, const struct ts_job_arg *arg, const void *got, int64_t at)
{
    struct ts_text text = {0};
    int64_t others = 0;

    for (int64_t i = at + 1; i < arg->count; i++)
        others += ts_poison_is(arg->type, got, i, p->round);
    ts_text_puts(&text, arg->name);
    add_index(arg, at, &text);
    ts_text_puts(&text, " was never written");
    if (others > 0)
        ts_text_printf(&text, ", nor were %" PRId64 " after it", others);
    return wrong(p, "unwritten", &text);
}

/* Compares what the kernel left in an output; proof is told where want is there. */
static int examine_output(struct proof *p, size_t index, const struct ts_want *want,
                          const void *got, struct ts_proof *proof)
{
    const struct ts_job_arg *arg = &p->instance->args[index];
    struct ts_text text = {0};
    int64_t at = -1;

    if (p->poisoned && arg->kind == TS_ARG_OUT && ts_elem_table[arg->type].real)
        at = ts_poison_find(arg->type, got, (size_t)arg->count, p->round);
    if (at >= 0)
        return unwritten(p, arg, got, at);
    at = ts_find_not_finite(arg->type, got, arg->count);
    if (at >= 0) {
        ts_text_printf(&text, "%s", arg->name);
        add_index(arg, at, &text);
        ts_text_printf(&text, " is %g", ts_elem_read(arg->type, got, (size_t)at));
        return wrong(p, "not-finite", &text);
    }
    if (!want)
        return 0;
    compare(p, arg, want, got, proof);
    note_worst(p, arg, proof);
    if (proof->bad == 0)
        return 0;
    ts_text_printf(&text, "%s", arg->name);
    /* A whole number may well equal the poison: only where it is wrong besides was nothing written.
     */
    if (p->poisoned && arg->kind == TS_ARG_OUT &&
        ts_poison_is(arg->type, got, proof->first_bad_at, p->round)) {
        add_index(arg, proof->first_bad_at, &text);
        ts_text_puts(&text, " was never written");
        return wrong(p, "unwritten", &text);
    }
    add_index(arg, proof->worst_at, &text);
    ts_proof_tell_worst(proof, arg->type, p->plan->job->tolerance, &text);
    ts_text_printf(&text, "; %" PRId64 " of %" PRId64 " elements beyond the tolerance, first at ",
                   proof->bad, proof->compared);
    add_index(arg, proof->first_bad_at, &text);
    return wrong(p, "mismatch", &text);
}

/* Takes one more output into the digest of all. */
static struct ts_digest128 add_output(struct proof *p, size_t index, const void *got)
{
    struct ts_digest128 both[] = {
        p->outputs, ts_digest128(got, (size_t)ts_job_arg_bytes(&p->instance->args[index]))};

    p->outputs = ts_digest128(both, sizeof(both));
    return both[1];
}

static int check_output(struct proof *p, size_t index, struct ts_want *want, const void *got)
{
    const struct ts_job_arg *arg = &p->instance->args[index];
    struct ts_digest128 digest = add_output(p, index, got);
    double tolerance = p->plan->job->tolerance;
    const struct ts_proof *known;
    struct ts_proof proof;

    if (!want)
        return examine_output(p, index, NULL, got, &proof);
    known = ts_truth_known(want, digest, tolerance);
    if (known) {
        note_worst(p, arg, known);
        return 0;
    }
    if (examine_output(p, index, want, got, &proof) < 0)
        return -1;
    ts_truth_learn(want, digest, tolerance, &proof);
    return 0;
}

/* Outputs of this pass are the inputs of the next where a swap says so. */
static void keep_state(struct proof *p, size_t arg, const void *got)
{
    size_t bytes = (size_t)ts_job_arg_bytes(&p->instance->args[arg]);

    for (size_t i = 0; i < p->instance->swap_count && p->pass < p->plan->passes; i++) {
        const struct ts_job_swap *swap = &p->instance->swaps[i];
        size_t other = swap->a == arg ? swap->b : swap->b == arg ? swap->a : SIZE_MAX;
        if (other != SIZE_MAX && p->instance->args[other].kind == TS_ARG_IN) {
            if (!p->state[other])
                p->state[other] = ts_alloc(bytes, 1);
            memcpy(p->state[other], got, bytes);
        }
    }
}

/* copies: the outputs by argument, where they are no longer on the device; NULL: they are. */
static int check_outputs(struct proof *p, const struct ts_expected *expected, void *const *copies)
{
    p->outputs = (struct ts_digest128){0, 0};
    for (size_t i = 0; i < p->instance->arg_count; i++) {
        const void *got;

        if (!ts_worker_is_output(&p->instance->args[i]))
            continue;
        got = copies ? copies[i] : read_back(p, i);
        if (!got || check_output(p, i, find_want(expected, i), got) < 0)
            return -1;
        keep_state(p, i, got);
    }
    return 0;
}

static char *print_digest(struct ts_digest128 digest)
{
    return ts_printf("%016" PRIx64 "%016" PRIx64, digest.high, digest.low);
}

static void free_copies(struct proof *p, void **copies)
{
    for (size_t i = 0; copies && i < p->instance->arg_count; i++)
        free(copies[i]);
    free(copies);
}

/* Are the outputs byte for byte what a proof of this configuration at this size found right? 1, 0,
 * or -1 with the fault told. */
static int are_known(struct proof *p)
{
    char *found;
    int result;

    p->outputs = (struct ts_digest128){0, 0};
    for (size_t i = 0; i < p->instance->arg_count; i++) {
        const void *got = ts_worker_is_output(&p->instance->args[i]) ? read_back(p, i) : NULL;

        if (got)
            add_output(p, i, got);
        else if (ts_worker_is_output(&p->instance->args[i]))
            return -1;
    }
    found = print_digest(p->outputs);
    result = strcmp(found, p->plan->job->right) == 0;
    free(found);
    return result;
}

/* The outputs by argument, on the host; NULL with the fault told. Ends by free_copies. */
static void **copy_outputs(struct proof *p)
{
    void **copies = ts_alloc(p->instance->arg_count + 1, sizeof(*copies));

    for (size_t i = 0; i < p->instance->arg_count; i++) {
        size_t bytes = (size_t)ts_job_arg_bytes(&p->instance->args[i]);
        const void *got;

        if (!ts_worker_is_output(&p->instance->args[i]))
            continue;
        got = read_back(p, i);
        copies[i] = got ? malloc(bytes) : NULL;
        if (copies[i]) {
            memcpy(copies[i], got, bytes);
            continue;
        }
        if (got)
            ts_fault_set(fault_of(p), TS_SKIPPED, "allocation",
                         "the host has no memory for the proof");
        free_copies(p, copies);
        return NULL;
    }
    return copies;
}

/* ---- proofs ---- */

static const struct ts_expected *expect(struct proof *p)
{
    ts_worker_stage(p->worker, TS_STAGE_PROVE);
    return ts_worker_expect(p->worker, p->plan, p->inputs, p->pass, fault_of(p));
}

static int check_guards(struct proof *p)
{
    struct ts_fault *fault = fault_of(p);
    struct ts_text where = {0};

    if (ts_rig_check_guards(p->rig, fault) == 0)
        return 0;
    if (fault->status == TS_WRONG) {
        size_t used = strlen(fault->text);
        add_where(p, &where);
        snprintf(fault->text + used, sizeof(fault->text) - used, "%s", where.text);
        ts_text_free(&where);
    }
    return -1;
}

static int check_pass(struct proof *p, const struct ts_expected *expected)
{
    if (check_guards(p) < 0 || check_inputs(p) < 0)
        return -1;
    return check_outputs(p, expected, NULL);
}

static int prove_pass(struct proof *p)
{
    /* Before the launch, because a reference by variant borrows the same buffers. */
    const struct ts_expected *expected = expect(p);
    int64_t begin;

    if (fault_of(p)->status != TS_OK)
        return -1;
    if (p->pass > 1)
        ts_rig_swap(p->rig);
    if (ts_rig_poison(p->rig, p->round, fault_of(p)) < 0)
        return -1;
    begin = ts_now_ns();
    if (ts_rig_launch(p->rig, fault_of(p)) < 0 || ts_rig_finish(p->rig, fault_of(p)) < 0)
        return -1;
    if (p->outcome->first_ns < 0)
        p->outcome->first_ns = ts_now_ns() - begin;
    return check_pass(p, expected);
}

static int begin_proof(struct proof *p, struct ts_worker *worker, struct ts_rig *rig,
                       const struct ts_proof_plan *plan, struct ts_outcome *outcome)
{
    memset(p, 0, sizeof(*p));
    p->worker = worker;
    p->rig = rig;
    p->plan = plan;
    p->instance = &plan->job->instances[plan->instance];
    p->outcome = outcome;
    p->inputs =
        ts_truth_inputs(worker->truth, p->instance, plan->job->seed, plan->pattern, fault_of(p));
    if (!p->inputs)
        return -1;
    p->state = ts_alloc(p->instance->arg_count, sizeof(*p->state));
    return 0;
}

static void forget_state(struct proof *p)
{
    for (size_t i = 0; p->state && i < p->instance->arg_count; i++) {
        free(p->state[i]);
        p->state[i] = NULL;
    }
}

int ts_worker_prove_rig(struct ts_worker *worker, struct ts_rig *rig,
                        const struct ts_proof_plan *plan, struct ts_outcome *outcome)
{
    struct proof p;
    int result = begin_proof(&p, worker, rig, plan, outcome);

    p.poisoned = true;
    for (p.round = 0; p.round < plan->rounds && result == 0; p.round++) {
        result = ts_rig_upload(rig, p.inputs, &outcome->fault);
        for (p.pass = 1; p.pass <= plan->passes && result == 0; p.pass++)
            result = prove_pass(&p);
        forget_state(&p);
    }
    if (result == 0 && plan->job->verb == TS_JOB_TIME) {
        free(outcome->right);
        outcome->right = print_digest(p.outputs);
    }
    free(p.state);
    return result;
}

static int launch_again(struct proof *p)
{
    return ts_rig_upload(p->rig, p->inputs, fault_of(p)) < 0 ||
                   ts_rig_launch(p->rig, fault_of(p)) < 0 || ts_rig_finish(p->rig, fault_of(p)) < 0
               ? -1
               : 0;
}

/* The outputs that lie there are compared with what a reference by variant computes, for which it
 * borrows the same buffers. */
static int check_copies(struct proof *p)
{
    void **copies = copy_outputs(p);
    const struct ts_expected *expected = copies ? expect(p) : NULL;
    int result = fault_of(p)->status == TS_OK && copies ? check_outputs(p, expected, copies) : -1;

    free_copies(p, copies);
    return result;
}

/* Whether the outputs are known is seen before a reference is computed, which takes longest. */
static int prove_by_digest(struct proof *p)
{
    const struct ts_expected *expected;
    int known;

    if (launch_again(p) < 0 || check_guards(p) < 0 || check_inputs(p) < 0)
        return -1;
    known = are_known(p);
    if (known != 0)
        return known < 0 ? -1 : 0;
    if (p->plan->job->reference_code.source)
        return check_copies(p);
    expected = expect(p);
    return fault_of(p)->status == TS_OK ? check_outputs(p, expected, NULL) : -1;
}

int ts_worker_prove_again(struct ts_worker *worker, struct ts_rig *rig,
                          const struct ts_proof_plan *plan, struct ts_outcome *outcome)
{
    const struct ts_expected *expected;
    struct proof p;
    int result = begin_proof(&p, worker, rig, plan, outcome);

    p.pass = 1;
    ts_worker_stage(worker, TS_STAGE_PROVE);
    if (result == 0 && plan->job->right) {
        result = prove_by_digest(&p);
    } else if (result == 0) {
        expected = expect(&p);
        result =
            outcome->fault.status == TS_OK && launch_again(&p) == 0 && check_pass(&p, expected) == 0
                ? 0
                : -1;
    }
    forget_state(&p);
    free(p.state);
    return result;
}

/* ---- the verb ---- */

static int prove_instance(struct ts_worker *worker, const struct ts_job *job, size_t index,
                          struct ts_outcome *outcome)
{
    const struct ts_instance *instance = &job->instances[index];
    int patterns = ts_truth_has_random(instance) ? TS_PATTERN_COUNT : 1;
    struct ts_rig *rig;
    int result = 0;

    /* Facts of the geometry are those of the last size; what the build tells is the same for all.
     */
    ts_worker_stage(worker, TS_STAGE_BUILD);
    ts_rig_facts_free(&outcome->facts);
    rig = ts_rig_open(worker->bench, &job->code, instance, &outcome->facts, &outcome->fault);
    if (!rig)
        return -1;
    for (int pattern = 0; pattern < patterns && result == 0; pattern++) {
        struct ts_proof_plan plan = {
            .job = job,
            .instance = index,
            .pattern = (enum ts_pattern)pattern,
            .rounds = pattern == TS_PATTERN_SPEC ? 2 : 1,
            .passes = instance->iterated ? ITERATED_PASSES : 1,
            .whole = true,
        };
        result = ts_worker_prove_rig(worker, rig, &plan, outcome);
    }
    ts_rig_close(rig);
    if (result == 0)
        outcome->check.sizes++;
    return result;
}

void ts_worker_prove(struct ts_worker *worker, const struct ts_job *job, struct ts_outcome *outcome)
{
    for (size_t i = 0; i < job->instance_count; i++) {
        if (prove_instance(worker, job, i, outcome) < 0)
            return;
    }
}
