/* space.h: parameters <-> configurations: what a sweep will visit, and a configuration at one size
 * with every expression evaluated. Floor 1; no device, only device facts. */
#ifndef TS_SPACE_H
#define TS_SPACE_H

#include "device.h"
#include "job.h"
#include "spec.h"

/* What the command line restricts or replaces. Zero-initialised: everything, full sets. */
struct ts_selection {
    bool quick;
    bool no_baseline;
    struct ts_axis *sets; /* -s: replace the axis of that name (a problem axis or a parameter) */
    size_t set_count;
    struct ts_values *sizes; /* --size */
    size_t size_count;
    char **variants; /* --variant */
    size_t variant_count;
};

/* One way of computing one problem: what is built and proven once, for all sizes. */
struct ts_config {
    size_t variant;          /* index into spec.variants */
    size_t problem;          /* index into space.problems */
    struct ts_values params; /* of the variant, in its order */
    char *options;           /* full build options: spec's, -DNAME=value..., -DVARIANT_name */
    bool *admitted;          /* per size of space.sizes: `where` holds there */
    bool *admitted_check;    /* per spec.check_sizes */
};

struct ts_space {
    const struct ts_spec *spec;     /* borrowed; outlives the space */
    const struct ts_device *device; /* borrowed, too; may be NULL */
    struct ts_values *sizes;        /* timed sizes */
    size_t size_count;
    struct ts_values
        *problems; /* combinations of the problem axes; one empty when there are none */
    size_t problem_count;
    struct ts_config *configs; /* those that at least one timed size admits; in order: problem,
                                * variant (baseline first), params with the last axis fastest */
    size_t config_count;
    int64_t excluded; /* (configuration, size) pairs that `where` refuses */
};

/* device may be NULL (list without a device): then `where` clauses that need a device fact hold,
 * and geometry that needs one is not checked. A clause whose fact the device does not tell holds,
 * too.
 *
 * Sets and variants that the spec lacks are passed over, since one command line serves several
 * specs: the caller asks ts_spec_has_axis and ts_spec_has_variant. A --size must name exactly the
 * spec's sizes.
 *
 * Every admitted configuration is evaluated at every size, so that these are told before anything
 * is built (exit status 2, `FILE: where[0]: column 3: ... (naive TX=8 TY=4 at W=64 H=64)`): an
 * expression that fails, a global or local size below 1, a global size that is no multiple of the
 * local one, an array of over 2^62 bytes, more than 10^6 (configuration, size) pairs unless yes. */
struct ts_space *ts_space_open(const struct ts_spec *spec, const struct ts_selection *selection,
                               const struct ts_device *device, bool yes, struct ts_err *err);
void ts_space_close(struct ts_space *space);

/* The configuration at a size (a timed or a check size), all expressions evaluated. The caller
 * frees the instance. Array arguments of over 2^62 bytes, sizes < 1 etc. are exit status 2 naming
 * the place. */
int ts_space_instance(const struct ts_space *space, const struct ts_config *config,
                      const struct ts_values *size, const struct ts_device *device,
                      struct ts_instance *instance, struct ts_err *err);

/* Does the configuration stage (contract.md section 1)? By `staged`, else by local_bytes > 0 or a
 * local argument. */
bool ts_space_staged(const struct ts_space *space, const struct ts_config *config,
                     const struct ts_instance *instance);

/* What keeps the configuration's variant from any size on the device: the code of a row's reason,
 * and the words appended to why; NULL: nothing. */
const char *ts_space_lacks(const struct ts_space *space, const struct ts_config *config,
                           const struct ts_device *device, struct ts_text *why);

/* For a reference by variant: that variant's first configuration, in the spec's order, which admits
 * the size; NULL without an error when none does, NULL with one when `where` fails. The caller
 * frees with ts_config_free. */
struct ts_config *ts_space_reference_config(const struct ts_space *space, size_t problem,
                                            const struct ts_values *size,
                                            const struct ts_device *device, struct ts_err *err);
void ts_config_free(struct ts_config *config); /* frees the struct too */

#endif
