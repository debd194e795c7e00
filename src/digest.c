/* digest.c: see digest.h. */
#include "digest.h"

#include <inttypes.h>
#include <xxhash.h>

char *ts_digest(const void *bytes, size_t length)
{
    return ts_printf("xxh3:%016" PRIx64, (uint64_t)XXH3_64bits(bytes, length));
}

struct ts_digest128 ts_digest128(const void *bytes, size_t length)
{
    XXH128_hash_t hash = XXH3_128bits(bytes, length);

    return (struct ts_digest128){hash.low64, hash.high64};
}

bool ts_digest128_equal(struct ts_digest128 a, struct ts_digest128 b)
{
    return a.low == b.low && a.high == b.high;
}
