/* prove.h: what makes a result believable (design.md section 4): poison, guards, finite check,
 * scaled comparison. Floor 1; works on host memory only, so it is tested without a device. */
#ifndef TS_PROVE_H
#define TS_PROVE_H

#include "elem.h"
#include "row.h"

/* Outputs and scratch are filled with a pattern before each launch: a NaN with a payload for real
 * types, a byte pattern for whole types. A NaN of that payload is nobody's result, so a real
 * element that holds the pattern was not written. A whole number that equals the pattern may well
 * be the right result: it proves nothing by itself, only an element that is wrong and holds the
 * pattern was (very likely) not written. Two rounds with different patterns, so that no wrong
 * result hides behind one of them. round: 0 or 1. */
void ts_poison_fill(enum ts_elem type, void *data, size_t count, int round);
/* Index of the first element that holds the pattern bit for bit, or -1. For real types: unwritten;
 * for whole types see above. */
int64_t ts_poison_find(enum ts_elem type, const void *data, size_t count, int round);
/* Does this one element hold the pattern bit for bit? */
bool ts_poison_is(enum ts_elem type, const void *data, int64_t index, int round);

/* Guard zones: bytes before and after a buffer. */
void ts_guard_fill(void *guard, size_t bytes);
/* Offset of the first changed byte, or -1; ..._last: of the last changed byte. */
int64_t ts_guard_find(const void *guard, size_t bytes);
int64_t ts_guard_find_last(const void *guard, size_t bytes);

/* Running result of comparing one output. Zero-initialise, worst starts at 0. */
struct ts_proof {
    int64_t compared;
    double worst;     /* largest |got - want| / (eps*scale); whole types: 0 or infinity -> 1e300 */
    int64_t worst_at; /* flat index; -1 none */
    double worst_got, worst_want;
    int64_t bad;          /* elements beyond the tolerance, or not finite */
    int64_t first_bad_at; /* -1 none */
};
void ts_proof_init(struct ts_proof *proof);

/* Compare got[first .. first+count) (got is the whole array) with value/scale of that slice (both
 * of length count). tolerance k: |got-want| <= k*eps*scale; 0: bit for bit (want rounded to the
 * type). */
void ts_proof_add(struct ts_proof *proof, enum ts_elem type, const void *got, int64_t first,
                  int64_t count, const double *value, const double *scale, double tolerance);
/* The same against another array of the type (reference by variant): real types use
 * scale = max(|want|, root mean square of want); whole types bit for bit. */
void ts_proof_add_array(struct ts_proof *proof, enum ts_elem type, const void *got,
                        const void *want, int64_t count, double tolerance);
/* What is wrong with the worst element, for people: " is 1.5, expected 1.25: off by 0.25 = 2
 * eps*scale, tolerance 1"; of whole types, and where eps*scale is no measure, as much of it as
 * makes sense. */
void ts_proof_tell_worst(const struct ts_proof *proof, enum ts_elem type, double tolerance,
                         struct ts_text *out);
/* Every element of a real array finite? Index of the first that is not, or -1. */
int64_t ts_find_not_finite(enum ts_elem type, const void *data, int64_t count);

/* Slices of a large output that are compared when the whole is too dear: all of the first and last
 * row of the slowest dimension, runs at tile seams, and seeded random runs, until `budget`
 * elements. Slices are sorted, disjoint and cover at most about budget elements (at least the
 * edges). shape: slowest dimension first. local: work-group size, fastest dimension first (seams at
 * its multiples). Free with free(). */
struct ts_slice {
    int64_t first, count;
};
struct ts_slice *ts_sample_slices(const int64_t *shape, int dims, const int64_t local[3],
                                  uint64_t seed, int64_t budget, size_t *count);

/* flat index -> index in the shape's order; at has room for dims entries. */
void ts_unflatten(int64_t flat, const int64_t *shape, int dims, int64_t *at);

#endif
