/* reference_spec.h: does a spec fit the built-in reference that it names? Floor 2; parent's side.
 * (spec.h, a floor below, cannot see the references.) */
#ifndef TS_REFERENCE_SPEC_H
#define TS_REFERENCE_SPEC_H

#include "spec.h"

/* The reference exists; the spec has the sizes it reads; every variant has its inputs (in, inout,
 * scalar), its outputs (out, inout) and no further one of kind out; no problem axis looks like a
 * misspelt one of the reference's. 0, or -1 with exit status 2 naming the file and the nearest
 * name. 0 for a reference by variant. */
int ts_reference_check(const struct ts_spec *spec, struct ts_err *err);

#endif
