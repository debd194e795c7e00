/* rng.h: seeded random numbers, the same on every machine. Floor 0. */
#ifndef TS_RNG_H
#define TS_RNG_H

#include "base.h"

/* splitmix64 (Steele, Lea, Flood 2014): one state word, any seed. */
struct ts_rng {
    uint64_t state;
};

uint64_t ts_rng_next(struct ts_rng *rng);
/* 0 .. bound-1 without modulo bias; bound > 0. */
uint64_t ts_rng_below(struct ts_rng *rng, uint64_t bound);
double ts_rng_unit(struct ts_rng *rng); /* [0,1), 53 bits */
/* Fisher-Yates. */
void ts_rng_shuffle(struct ts_rng *rng, size_t *items, size_t count);

/* Stateless: the splitmix64 finaliser over (seed, stream, index): element index of argument stream.
 */
static inline uint64_t ts_hash3(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint64_t z = (seed ^ (stream * 0xd1342543de82ef95u)) + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#endif
