/* truth.c: inputs and expected outputs by key. */
#include "truth.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "reference.h"
#include "rng.h"

/* A proof on the timed size compares everything up to about a second of reference and this many
 * elements, beyond that a sample. */
#define WHOLE_OPERATIONS 1000000000
#define WHOLE_ELEMENTS ((int64_t)1 << 24)
#define SAMPLE_OPERATIONS 200000000
#define SAMPLE_MIN ((int64_t)1 << 12)
#define SAMPLE_MAX ((int64_t)1 << 20)

enum entry_kind { ENTRY_INPUTS, ENTRY_EXPECTED };

struct entry {
    enum entry_kind kind;
    char *key;
    int64_t bytes;
    uint64_t used; /* the truth's tick when it was last asked for */
    struct ts_inputs inputs;
    void **owned; /* inputs: what inputs.data points to */
    struct ts_expected expected;
};

struct ts_truth {
    struct entry **entries;
    size_t count, capacity;
    uint64_t tick;
    void (*computing)(void *context, bool begins);
    void *context;
};

const char *ts_pattern_name(enum ts_pattern pattern)
{
    static const char *const names[TS_PATTERN_COUNT] = {
        [TS_PATTERN_SPEC] = "the spec's inputs",
        [TS_PATTERN_ONES] = "all inputs 1",
        [TS_PATTERN_DELTA] = "a single 1 among zeros",
        [TS_PATTERN_RAMP] = "a ramp over the index",
    };
    return names[pattern];
}

/* ---- the store ---- */

struct ts_truth *ts_truth_open(void (*computing)(void *context, bool begins), void *context)
{
    struct ts_truth *truth = ts_alloc(1, sizeof(*truth));

    truth->computing = computing;
    truth->context = context;
    return truth;
}

static void tell_computing(const struct ts_truth *truth, bool begins)
{
    if (truth->computing)
        truth->computing(truth->context, begins);
}

static void entry_free(struct entry *entry)
{
    for (size_t i = 0; i < entry->inputs.count; i++)
        free(entry->owned[i]);
    free(entry->owned);
    free(entry->inputs.digests);
    free(entry->inputs.data);
    for (size_t i = 0; i < entry->expected.count; i++) {
        struct ts_want *want = &entry->expected.wants[i];
        free(want->slices);
        free(want->value);
        free(want->scale);
        free(want->array);
        free(want->known);
    }
    free(entry->expected.wants);
    free(entry->key);
    free(entry);
}

void ts_truth_close(struct ts_truth *truth)
{
    if (!truth)
        return;
    for (size_t i = 0; i < truth->count; i++)
        entry_free(truth->entries[i]);
    free(truth->entries);
    free(truth);
}

void ts_truth_trim(struct ts_truth *truth, int64_t max_bytes)
{
    int64_t held = 0;

    for (size_t i = 0; i < truth->count; i++)
        held += truth->entries[i]->bytes;
    while (held > max_bytes && truth->count > 0) {
        size_t oldest = 0;
        for (size_t i = 1; i < truth->count; i++) {
            if (truth->entries[i]->used < truth->entries[oldest]->used)
                oldest = i;
        }
        held -= truth->entries[oldest]->bytes;
        entry_free(truth->entries[oldest]);
        truth->entries[oldest] = truth->entries[--truth->count];
    }
}

static struct entry *find(struct ts_truth *truth, enum entry_kind kind, const char *key)
{
    for (size_t i = 0; i < truth->count; i++) {
        struct entry *entry = truth->entries[i];
        if (entry->kind == kind && !strcmp(entry->key, key)) {
            entry->used = ++truth->tick;
            return entry;
        }
    }
    return NULL;
}

/* Takes key. */
static struct entry *add(struct ts_truth *truth, enum entry_kind kind, char *key)
{
    struct entry *entry = ts_alloc(1, sizeof(*entry));

    entry->kind = kind;
    entry->key = key;
    entry->used = ++truth->tick;
    TS_GROW(truth->entries, truth->count, truth->capacity);
    truth->entries[truth->count++] = entry;
    return entry;
}

static int short_of_memory(struct ts_fault *fault, int64_t bytes)
{
    return ts_fault_set(fault, TS_SKIPPED, "allocation",
                        "the host has no %" PRId64 " B of memory for the proof", bytes);
}

/* ---- inputs ---- */

static bool is_input(const struct ts_job_arg *arg)
{
    return arg->kind == TS_ARG_IN || arg->kind == TS_ARG_INOUT;
}

bool ts_truth_has_random(const struct ts_instance *instance)
{
    for (size_t i = 0; i < instance->arg_count; i++) {
        if (is_input(&instance->args[i]) && instance->args[i].fill.kind == TS_FILL_RANDOM)
            return true;
    }
    return false;
}

static void add_arg_key(struct ts_text *key, const struct ts_job_arg *arg)
{
    ts_text_printf(key, "|%s:%d:%d", arg->name, (int)arg->kind, (int)arg->type);
    for (int d = 0; d < arg->dims; d++)
        ts_text_printf(key, ",%" PRId64, arg->shape[d]);
    if (arg->kind == TS_ARG_SCALAR)
        ts_text_printf(key, "=%" PRId64 "/%.17g", arg->whole_value, arg->real_value);
    if (is_input(arg))
        ts_text_printf(key, "~%d,%.17g,%.17g", (int)arg->fill.kind, arg->fill.low, arg->fill.high);
}

static char *inputs_key(const struct ts_instance *instance, uint64_t seed, enum ts_pattern pattern)
{
    struct ts_text key = {0};

    ts_text_printf(&key, "%" PRIu64 "/%d", seed, (int)pattern);
    for (size_t i = 0; i < instance->arg_count; i++) {
        const struct ts_job_arg *arg = &instance->args[i];
        /* Data is found by the argument's place, so that the key tells also where there is none. */
        if (arg->kind == TS_ARG_LOCAL || arg->kind == TS_ARG_SCRATCH)
            ts_text_printf(&key, "|");
        else
            add_arg_key(&key, arg);
    }
    return key.text;
}

/* Whole types without a range of their own get all their bits from the hash. */
static void fill_random(const struct ts_job_arg *arg, void *data, uint64_t seed)
{
    const struct ts_elem_info *type = &ts_elem_table[arg->type];
    uint64_t stream = XXH3_64bits(arg->name, strlen(arg->name));
    double low = arg->fill.low, span = arg->fill.high - arg->fill.low;
    bool any_bits = !type->real && low == 0 && span == 1;

    for (int64_t i = 0; i < arg->count; i++) {
        uint64_t bits = ts_hash3(seed, stream, (uint64_t)i);
        double unit = (double)(bits >> 11) * 0x1p-53;

        if (any_bits)
            memcpy((char *)data + (size_t)i * type->bytes, &bits, type->bytes);
        else if (arg->type == TS_FLOAT)
            ((float *)data)[i] = (float)(low + span * unit);
        else
            ts_elem_write(arg->type, data, (size_t)i, low + span * unit);
    }
}

/* A prime period: the ramp's jumps never line up with a tile's edge. */
static double ramp(int64_t i)
{
    return (double)(i % 251) / 251.0;
}

static void fill_array(const struct ts_job_arg *arg, void *data, uint64_t seed,
                       enum ts_pattern pattern)
{
    bool real = ts_elem_table[arg->type].real;

    if (arg->fill.kind == TS_FILL_RANDOM && pattern == TS_PATTERN_SPEC) {
        fill_random(arg, data, seed);
        return;
    }
    for (int64_t i = 0; i < arg->count; i++) {
        double value = arg->fill.low;

        if (arg->fill.kind == TS_FILL_RANDOM) {
            value = pattern == TS_PATTERN_ONES    ? 1.0
                    : pattern == TS_PATTERN_DELTA ? (i == arg->count / 2 ? 1.0 : 0.0)
                    : real                        ? ramp(i)
                                                  : (double)(i % 251);
        } else if (arg->fill.kind == TS_FILL_INDEX) {
            value = (double)i;
        } else if (arg->fill.kind == TS_FILL_ZERO) {
            value = 0.0;
        }
        ts_elem_write(arg->type, data, (size_t)i, value);
    }
}

static int fill_arg(struct entry *entry, size_t i, const struct ts_job_arg *arg, uint64_t seed,
                    enum ts_pattern pattern, struct ts_fault *fault)
{
    int64_t bytes = (int64_t)ts_elem_table[arg->type].bytes;

    if (arg->kind == TS_ARG_SCALAR) {
        entry->owned[i] = ts_alloc(1, 8);
        ts_job_scalar_store(arg, entry->owned[i]);
    } else if (is_input(arg)) {
        bytes *= arg->count;
        entry->owned[i] = malloc((size_t)bytes);
        if (!entry->owned[i])
            return short_of_memory(fault, bytes);
        fill_array(arg, entry->owned[i], seed, pattern);
        entry->inputs.digests[i] = ts_digest128(entry->owned[i], (size_t)bytes);
        entry->bytes += bytes;
    }
    entry->inputs.data[i] = entry->owned[i];
    return 0;
}

const struct ts_inputs *ts_truth_inputs(struct ts_truth *truth, const struct ts_instance *instance,
                                        uint64_t seed, enum ts_pattern pattern,
                                        struct ts_fault *fault)
{
    char *key = inputs_key(instance, seed, pattern);
    struct entry *entry = find(truth, ENTRY_INPUTS, key);

    if (entry) {
        free(key);
        return &entry->inputs;
    }
    entry = add(truth, ENTRY_INPUTS, key);
    entry->inputs.key = key;
    entry->inputs.count = instance->arg_count;
    entry->inputs.data = ts_alloc(instance->arg_count, sizeof(*entry->inputs.data));
    entry->inputs.digests = ts_alloc(instance->arg_count, sizeof(*entry->inputs.digests));
    entry->owned = ts_alloc(instance->arg_count, sizeof(*entry->owned));
    for (size_t i = 0; i < instance->arg_count; i++) {
        if (fill_arg(entry, i, &instance->args[i], seed, pattern, fault) < 0) {
            entry_free(entry);
            truth->count--;
            return NULL;
        }
    }
    return &entry->inputs;
}

/* ---- expected, by a built-in reference ---- */

struct request {
    const struct ts_reference *reference;
    const struct ts_instance *instance;
    const struct ts_inputs *inputs;
    struct ts_ref_case c;
    struct ts_ref_arg *args;
    bool whole;
    uint64_t seed;
};

static void make_request(struct request *r, const struct ts_reference *reference,
                         const struct ts_instance *instance, const struct ts_inputs *inputs,
                         int64_t passes)
{
    size_t count = 0;

    r->reference = reference;
    r->instance = instance;
    r->inputs = inputs;
    r->args = ts_alloc(instance->arg_count, sizeof(*r->args));
    for (size_t i = 0; i < instance->arg_count; i++) {
        const struct ts_job_arg *arg = &instance->args[i];
        if (inputs->data[i]) {
            r->args[count++] = (struct ts_ref_arg){arg->name, arg->type, inputs->data[i],
                                                   arg->kind == TS_ARG_SCALAR ? 1 : arg->count};
        }
    }
    r->c = (struct ts_ref_case){&instance->size, &instance->problem, r->args, count,
                                passes * instance->steps};
}

static bool is_output_of(const struct ts_reference *reference, const struct ts_job_arg *arg)
{
    if (arg->kind != TS_ARG_OUT && arg->kind != TS_ARG_INOUT)
        return false;
    for (size_t i = 0; reference->outputs[i]; i++) {
        if (!strcmp(reference->outputs[i], arg->name))
            return true;
    }
    return false;
}

static bool is_whole(const struct request *r, int64_t cost)
{
    int64_t count = 0;

    if (r->whole)
        return true;
    for (size_t i = 0; i < r->instance->arg_count; i++) {
        const struct ts_job_arg *arg = &r->instance->args[i];
        if (is_output_of(r->reference, arg))
            count += arg->count;
    }
    return count <= WHOLE_ELEMENTS && count <= WHOLE_OPERATIONS / cost;
}

static void choose_slices(const struct request *r, struct ts_want *want, int64_t cost)
{
    const struct ts_job_arg *arg = &r->instance->args[want->arg];
    int64_t budget = SAMPLE_OPERATIONS / cost;

    if (is_whole(r, cost)) {
        want->slices = ts_alloc(1, sizeof(*want->slices));
        want->slices[0] = (struct ts_slice){0, arg->count};
        want->slice_count = 1;
        return;
    }
    budget = budget < SAMPLE_MIN ? SAMPLE_MIN : budget > SAMPLE_MAX ? SAMPLE_MAX : budget;
    want->slices = ts_sample_slices(arg->shape, arg->dims, r->instance->launches[0].local, r->seed,
                                    budget, &want->slice_count);
}

static int compute_want(const struct request *r, void *state, struct ts_want *want, int64_t cost,
                        int64_t *held, struct ts_fault *fault)
{
    const struct ts_job_arg *arg = &r->instance->args[want->arg];
    int64_t total = 0, at = 0;

    choose_slices(r, want, cost);
    for (size_t i = 0; i < want->slice_count; i++)
        total += want->slices[i].count;
    want->value = malloc((size_t)total * sizeof(double));
    want->scale = malloc((size_t)total * sizeof(double));
    if (!want->value || !want->scale)
        return short_of_memory(fault, 2 * total * (int64_t)sizeof(double));
    for (size_t i = 0; i < want->slice_count; i++) {
        r->reference->slice(&r->c, state, arg->name, want->slices[i].first, want->slices[i].count,
                            want->value + at, want->scale + at);
        at += want->slices[i].count;
    }
    *held += 2 * total * (int64_t)sizeof(double);
    return 0;
}

static int compute_expected(const struct request *r, struct entry *entry, struct ts_fault *fault)
{
    struct ts_err err = {0};
    void *state = NULL;
    int64_t cost = r->reference->cost(&r->c);
    int result = 0;

    if (cost < 1)
        cost = 1;
    if (r->reference->open && r->reference->open(&r->c, &state, &err) < 0)
        return ts_fault_set(fault, TS_SKIPPED, "allocation", "reference %s: %s", r->reference->name,
                            err.text);
    entry->expected.wants = ts_alloc(r->instance->arg_count, sizeof(*entry->expected.wants));
    for (size_t i = 0; i < r->instance->arg_count && result == 0; i++) {
        if (!is_output_of(r->reference, &r->instance->args[i]))
            continue;
        struct ts_want *want = &entry->expected.wants[entry->expected.count++];
        want->arg = i;
        result = compute_want(r, state, want, cost, &entry->bytes, fault);
    }
    if (r->reference->close)
        r->reference->close(state);
    return result;
}

static char *expected_key(const struct request *r, int64_t passes)
{
    struct ts_text key = {0};
    int64_t cost = r->reference->cost(&r->c);

    ts_text_printf(&key, "%s|%" PRId64 "|", r->reference->name, passes * r->instance->steps);
    ts_values_print(&r->instance->size, "", ",", &key);
    ts_text_puts(&key, "|");
    ts_values_print(&r->instance->problem, "", ",", &key);
    ts_text_printf(&key, "|%s", r->inputs->key);
    if (!is_whole(r, cost < 1 ? 1 : cost)) {
        const struct ts_job_launch *launch = &r->instance->launches[0];
        for (int d = 0; d < launch->dims; d++)
            ts_text_printf(&key, "/%" PRId64, launch->local[d]);
    }
    return key.text;
}

const struct ts_expected *ts_truth_expected(struct ts_truth *truth, const char *reference,
                                            const struct ts_instance *instance,
                                            const struct ts_inputs *inputs, int64_t passes,
                                            bool whole, uint64_t seed, struct ts_fault *fault)
{
    const struct ts_reference *found = ts_reference_find(reference);
    struct request r = {.whole = whole, .seed = seed};
    struct entry *entry;
    char *key;

    if (!found) {
        ts_fault_set(fault, TS_LAUNCH_FAILED, "CL_INVALID_VALUE",
                     "this worker has no reference \"%s\"", reference);
        return NULL;
    }
    make_request(&r, found, instance, inputs, passes);
    key = expected_key(&r, passes);
    entry = find(truth, ENTRY_EXPECTED, key);
    if (entry) {
        free(key);
    } else {
        entry = add(truth, ENTRY_EXPECTED, key);
        tell_computing(truth, true);
        if (compute_expected(&r, entry, fault) < 0) {
            entry_free(entry);
            truth->count--;
            entry = NULL;
        }
        tell_computing(truth, false);
    }
    free(r.args);
    return entry ? &entry->expected : NULL;
}

/* ---- outputs that were right ---- */

const struct ts_proof *ts_truth_known(const struct ts_want *want, struct ts_digest128 digest,
                                      double tolerance)
{
    for (size_t i = 0; i < want->known_count && i < TS_KNOWN_MAX; i++) {
        const struct ts_known *known = &want->known[i];
        if (ts_digest128_equal(known->digest, digest) && known->tolerance == tolerance)
            return &known->proof;
    }
    return NULL;
}

void ts_truth_learn(struct ts_want *want, struct ts_digest128 digest, double tolerance,
                    const struct ts_proof *proof)
{
    if (!want->known)
        want->known = ts_alloc(TS_KNOWN_MAX, sizeof(*want->known));
    want->known[want->known_count++ % TS_KNOWN_MAX] = (struct ts_known){digest, tolerance, *proof};
}

/* ---- expected, by a variant ---- */

/* The size by its name, because it may reach the kernel by its geometry alone. */
static char *stored_key(const struct ts_code *code, const struct ts_values *size,
                        const struct ts_inputs *inputs, int64_t steps)
{
    struct ts_text key = {0};

    ts_text_printf(&key, "%s|%s|%" PRId64 "|", code->source, code->options, steps);
    ts_values_print(size, "", ",", &key);
    ts_text_printf(&key, "|%s", inputs->key);
    return key.text;
}

const struct ts_expected *ts_truth_stored(struct ts_truth *truth, const struct ts_code *code,
                                          const struct ts_values *size,
                                          const struct ts_inputs *inputs, int64_t steps)
{
    char *key = stored_key(code, size, inputs, steps);
    struct entry *entry = find(truth, ENTRY_EXPECTED, key);

    free(key);
    return entry ? &entry->expected : NULL;
}

const struct ts_expected *ts_truth_store(struct ts_truth *truth, const struct ts_code *code,
                                         const struct ts_values *size,
                                         const struct ts_inputs *inputs, int64_t steps,
                                         const size_t *args, void **arrays, const int64_t *bytes,
                                         size_t count)
{
    struct entry *entry = add(truth, ENTRY_EXPECTED, stored_key(code, size, inputs, steps));

    entry->expected.wants = ts_alloc(count, sizeof(*entry->expected.wants));
    entry->expected.count = count;
    for (size_t i = 0; i < count; i++) {
        entry->expected.wants[i].arg = args[i];
        entry->expected.wants[i].array = arrays[i];
        entry->bytes += bytes[i];
    }
    return &entry->expected;
}
