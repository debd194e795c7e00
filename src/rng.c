/* rng.c: splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA
 * 2014). */
#include "rng.h"

uint64_t ts_rng_next(struct ts_rng *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t ts_rng_below(struct ts_rng *rng, uint64_t bound)
{
    /* The lowest 2^64 mod bound numbers are drawn again, so that each remainder is as likely. */
    uint64_t reject = (0 - bound) % bound, drawn;
    do {
        drawn = ts_rng_next(rng);
    } while (drawn < reject);
    return drawn % bound;
}

double ts_rng_unit(struct ts_rng *rng)
{
    return (double)(ts_rng_next(rng) >> 11) * 0x1p-53;
}

void ts_rng_shuffle(struct ts_rng *rng, size_t *items, size_t count)
{
    for (size_t left = count; left > 1; left--) {
        size_t other = (size_t)ts_rng_below(rng, left);
        size_t item = items[left - 1];
        items[left - 1] = items[other];
        items[other] = item;
    }
}
