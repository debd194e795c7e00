/* digest.h: the name of a content. Floor 0. */
#ifndef TS_DIGEST_H
#define TS_DIGEST_H

#include "base.h"

/* "xxh3:<16 hex digits>" of bytes (XXH3, 64 bits; no defence against forgery); free() it. */
char *ts_digest(const void *bytes, size_t length);

/* XXH3 of 128 bits: what has the same is the same content. */
struct ts_digest128 {
    uint64_t low, high;
};
struct ts_digest128 ts_digest128(const void *bytes, size_t length);
bool ts_digest128_equal(struct ts_digest128 a, struct ts_digest128 b);

#endif
