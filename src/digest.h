/* digest.h: the name of a content. Floor 0. */
#ifndef TS_DIGEST_H
#define TS_DIGEST_H

#include "base.h"

/* "xxh3:<16 hex digits>" of bytes (XXH3, 64 bits; no defence against forgery); free() it. */
char *ts_digest(const void *bytes, size_t length);

#endif
