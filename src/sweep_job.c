/* sweep_job.c: the jobs of a sweep: a proof on the check sizes, a visit at the timed size. */
#include <stdlib.h>
#include <string.h>

#include "sweep_private.h"

static void add_source(struct job_sources *sources, const struct ts_source *source)
{
    sources->digests[sources->count] = source->digest;
    sources->texts[sources->count++] = source->text;
}

void ts_sweep_begin_job(struct sweep *s, const struct unit *unit, enum ts_job_verb verb,
                        struct ts_job *job, struct job_sources *sources)
{
    struct ts_space *space = s->spaces[unit->space];
    const struct ts_spec *spec = space->spec;
    const struct ts_config *config = &space->configs[unit->config];

    memset(job, 0, sizeof(*job));
    memset(sources, 0, sizeof(*sources));
    job->verb = verb;
    job->seed = s->seed;
    job->tolerance = spec->tolerance;
    job->code.source = ts_strdup(spec->variants[config->variant].source.digest);
    job->code.options = ts_strdup(config->options);
    job->reference = spec->reference_name ? ts_strdup(spec->reference_name) : NULL;
    add_source(sources, &spec->variants[config->variant].source);
}

/* Every output must have its match, or it would go uncompared; and the reference must reach the
 * same step. */
static int check_reference(const struct ts_space *space, const struct ts_instance *instance,
                           const struct ts_instance *reference, struct ts_err *err)
{
    const char *name = space->spec->reference_variant;

    for (size_t i = 0; i < instance->arg_count; i++) {
        const struct ts_job_arg *arg = &instance->args[i], *match = NULL;

        if (arg->kind != TS_ARG_OUT && arg->kind != TS_ARG_INOUT)
            continue;
        for (size_t j = 0; j < reference->arg_count; j++) {
            const struct ts_job_arg *other = &reference->args[j];
            if (!strcmp(other->name, arg->name) && other->type == arg->type &&
                other->count == arg->count && other->kind == arg->kind)
                match = other;
        }
        if (!match)
            return ts_err_set(err, TS_EXIT_USAGE,
                              "%s: reference.variant: \"%s\" has no output \"%s\" of the same type "
                              "and size to compare with",
                              space->spec->path, name, arg->name);
    }
    if (instance->steps % reference->steps != 0)
        return ts_err_set(
            err, TS_EXIT_USAGE,
            "%s: reference.variant: \"%s\" advances %lld steps a launch, which do not "
            "divide %lld",
            space->spec->path, name, (long long)reference->steps, (long long)instance->steps);
    return 0;
}

/* The reference's configuration at one size, into job->reference_instances[i]. All sizes of a job
 * share one build. */
static int add_reference_at(const struct ts_device *device, const struct ts_space *space,
                            size_t problem, size_t i, struct ts_job *job,
                            struct job_sources *sources, struct ts_err *err)
{
    const struct ts_spec *spec = space->spec;
    const struct ts_values *size = &job->instances[i].size;
    struct ts_config *config = ts_space_reference_config(space, problem, size, device, err);
    int result = -1;

    if (!config)
        return err->exit_status
                   ? -1
                   : ts_err_set(
                         err, TS_EXIT_USAGE,
                         "%s: reference.variant: no configuration of \"%s\" admits every size",
                         spec->path, spec->reference_variant);
    if (i == 0) {
        const struct ts_variant *variant = &spec->variants[config->variant];
        job->reference_code.source = ts_strdup(variant->source.digest);
        job->reference_code.options = ts_strdup(config->options);
        add_source(sources, &variant->source);
    }
    if (strcmp(job->reference_code.options, config->options) != 0)
        ts_err_set(
            err, TS_EXIT_USAGE,
            "%s: reference.variant: the first configuration of \"%s\" that admits a size is not "
            "the same for all check sizes; name a variant with one configuration for all",
            spec->path, spec->reference_variant);
    else if (ts_space_instance(space, config, size, device, &job->reference_instances[i], err) == 0)
        result = check_reference(space, &job->instances[i], &job->reference_instances[i], err);
    ts_config_free(config);
    return result;
}

static int add_reference(const struct ts_device *device, const struct ts_space *space,
                         size_t problem, struct ts_job *job, struct job_sources *sources,
                         struct ts_err *err)
{
    if (!space->spec->reference_variant)
        return 0;
    job->reference_instances = ts_alloc(job->instance_count, sizeof(*job->reference_instances));
    for (size_t i = 0; i < job->instance_count; i++) {
        if (add_reference_at(device, space, problem, i, job, sources, err) < 0)
            return -1;
    }
    return 0;
}

int ts_sweep_prove_job(struct sweep *s, const struct unit *unit, struct ts_job *job,
                       struct job_sources *sources, struct ts_err *err)
{
    struct ts_space *space = s->spaces[unit->space];
    const struct ts_spec *spec = space->spec;
    const struct ts_config *config = &space->configs[unit->config];

    ts_sweep_begin_job(s, unit, TS_JOB_PROVE, job, sources);
    job->instances = ts_alloc(spec->check_sizes.count, sizeof(*job->instances));
    for (size_t i = 0; i < spec->check_sizes.count; i++) {
        if (!config->admitted_check[i])
            continue;
        if (ts_space_instance(space, config, &spec->check_sizes.items[i],
                              ts_sweep_team(s, unit->space)->device,
                              &job->instances[job->instance_count], err) < 0)
            return -1;
        job->instance_count++;
    }
    return add_reference(ts_sweep_team(s, unit->space)->device, space, config->problem, job,
                         sources, err);
}

int ts_sweep_time_job(struct sweep *s, size_t row, struct ts_job *job, struct job_sources *sources,
                      struct ts_err *err)
{
    const struct unit *unit = &s->units[s->row_unit[row]];
    struct ts_space *space = s->spaces[unit->space];
    const struct ts_config *config = &space->configs[unit->config];

    const struct ts_clock *clock = ts_sweep_team(s, unit->space)->clock;

    ts_sweep_begin_job(s, unit, TS_JOB_TIME, job, sources);
    job->samples = s->samples;
    job->cold = s->options->cold;
    job->clock.event = clock->event;
    job->clock.tick_ns = clock->tick_ns;
    job->clock.floor_ns = clock->floor_ns;
    job->clock.host_ratio = clock->host_ratio;
    job->instances = ts_alloc(1, sizeof(*job->instances));
    if (ts_space_instance(space, config, &s->run->rows[row].size,
                          ts_sweep_team(s, unit->space)->device, &job->instances[0], err) < 0)
        return -1;
    job->instance_count = 1;
    return add_reference(ts_sweep_team(s, unit->space)->device, space, config->problem, job,
                         sources, err);
}
