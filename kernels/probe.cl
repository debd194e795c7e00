/* probe.cl: small kernels with which a run audits the device's event clock and measures its
 * ceilings. OpenCL C 1.2; builds without any -D. Everything is one-dimensional (dimension 0) and
 * none of the kernels has a bound on the global size other than what is said here.
 *
 *   kernel       launch geometry                         what one launch does
 *   probe_empty  any                                     nothing
 *   probe_busy   any; out: global-size uint              `rounds` dependent steps a work-item
 *   probe_copy   global >= ceil(n4 / UNROLL), rounded    reads 16*n4 bytes, writes 16*n4 bytes;
 *                up to the local size; local: any        n4 = number of float4
 *   probe_fma    any; out: global-size float             16 * FMA_WIDTH * PROBE_FMA_ROUNDS flops a
 *                                                        work-item (a multiply-add counts 2)
 *   probe_local  local == 256 / LOCAL_WIDTH exactly;     rounds * PROBE_LOCAL_READS * 4 *
 *                out: global-size float                  LOCAL_WIDTH bytes read from local memory a
 *                                                        work-item (plus one fill of 11264 B a
 *                                                        work-group: choose rounds >= 100)
 *
 * Which width reaches the ceiling depends on the device: build for several, keep the best rate.
 *   FMA_WIDTH    1, 4, 8 or 16: a GPU's work-item is one lane (1, 4), a CPU's a vector unit of
 *                8 or 16 lanes: its registers hold eight chains of that width, no wider ones
 *   LOCAL_WIDTH  1, 4, 8 or 16: the same; 16 makes bank conflicts on a GPU, 1 stays scalar on a CPU
 *   UNROLL       float4 a work-item of probe_copy (1 is right on most devices)
 * Useful sizes: copy arrays well beyond the last cache; fma and local at least 2048 work-items a
 * compute unit on a GPU, 64 on a CPU; lengthen the launch to a millisecond or more. */

#ifndef UNROLL
#define UNROLL 1
#endif
#ifndef FMA_WIDTH
#define FMA_WIDTH 4
#endif
#ifndef PROBE_FMA_ROUNDS
#define PROBE_FMA_ROUNDS 512
#endif
#ifndef LOCAL_WIDTH
#define LOCAL_WIDTH 4
#endif

/* floatN, and the sum of a floatN's components. */
#if FMA_WIDTH == 1
#define FMA_VECTOR float
#elif FMA_WIDTH == 4
#define FMA_VECTOR float4
#elif FMA_WIDTH == 8
#define FMA_VECTOR float8
#else
#define FMA_VECTOR float16
#endif
#if LOCAL_WIDTH == 1
#define LOCAL_VECTOR float
#elif LOCAL_WIDTH == 4
#define LOCAL_VECTOR float4
#elif LOCAL_WIDTH == 8
#define LOCAL_VECTOR float8
#else
#define LOCAL_VECTOR float16
#endif
#define PROBE_LOCAL_READS 8
#define SUM_1(v) (v)
#define SUM_4(v) ((v).s0 + (v).s1 + (v).s2 + (v).s3)
#define SUM_8(v) (SUM_4((v).lo) + SUM_4((v).hi))
#define SUM_16(v) (SUM_8((v).lo) + SUM_8((v).hi))
#define SUM_NAMED(width) SUM_##width
#define SUM_OF(width) SUM_NAMED(width)

/* The floor of the event clock; the argument makes it cost what a launch with one costs. */
kernel void probe_empty(global uint *out)
{
}

/* Time linear in `rounds`: each step of the xorshift generator (Marsaglia 2003) needs the one
 * before, and no compiler has a closed form for it. */
kernel void probe_busy(global uint *out, uint rounds)
{
    const size_t i = get_global_id(0);
    uint x = (uint)i * 2654435761u + 1u;
    for (uint r = 0; r < rounds; r++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    out[i] = x;
}

/* A work-group copies UNROLL * local-size neighbouring float4; within it, neighbouring work-items
 * copy neighbouring elements. */
kernel void probe_copy(global const float4 *src, global float4 *dst, ulong n4)
{
    const size_t local_size = get_local_size(0);
    const size_t first = get_group_id(0) * local_size * UNROLL + get_local_id(0);
    for (int k = 0; k < UNROLL; k++) {
        const size_t i = first + (size_t)k * local_size;
        if (i < n4)
            dst[i] = src[i];
    }
}

/* Eight independent chains x = x*a + b of FMA_WIDTH lanes. With |a| < 1 they stay finite: pass a =
 * 0.5, b = 0.25. They are arguments so that nothing can be computed beforehand. Written as x*a +
 * b, which every compiler here turns into its fastest form: PoCL makes mad() two instructions,
 * rusticl makes fma() a slow exact routine. Eight variables, because some compilers leave an array
 * in memory. */
kernel void probe_fma(global float *out, float a, float b)
{
    const FMA_VECTOR va = (FMA_VECTOR)(a), vb = (FMA_VECTOR)(b);
    FMA_VECTOR x0 = (FMA_VECTOR)((float)get_local_id(0) * 0.001f);
    FMA_VECTOR x1 = x0 + 1.0f, x2 = x0 + 2.0f, x3 = x0 + 3.0f, x4 = x0 + 4.0f, x5 = x0 + 5.0f,
               x6 = x0 + 6.0f, x7 = x0 + 7.0f;
    for (int r = 0; r < PROBE_FMA_ROUNDS; r++) {
        x0 = x0 * va + vb;
        x1 = x1 * va + vb;
        x2 = x2 * va + vb;
        x3 = x3 * va + vb;
        x4 = x4 * va + vb;
        x5 = x5 * va + vb;
        x6 = x6 * va + vb;
        x7 = x7 * va + vb;
    }
    const FMA_VECTOR sum = ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7));
    out[get_global_id(0)] = SUM_OF(FMA_WIDTH)(sum);
}

#define LOCAL_GROUP (256 / LOCAL_WIDTH)
#define LOCAL_ELEMENTS ((PROBE_LOCAL_READS + 3) * LOCAL_GROUP)

/* Each round reads PROBE_LOCAL_READS elements, neighbouring work-items neighbouring elements; the
 * start moves with the round. mask must be 3; it is an argument so that no compiler knows how many
 * starts there are: one that did kept all of them in registers, and read at four times the speed
 * that the memory has. */
kernel __attribute__((reqd_work_group_size(LOCAL_GROUP, 1, 1))) void
probe_local(global float *out, int rounds, int mask)
{
    local LOCAL_VECTOR tile[LOCAL_ELEMENTS];
    const int lid = (int)get_local_id(0);
    for (int i = lid; i < LOCAL_ELEMENTS; i += LOCAL_GROUP)
        tile[i] = (LOCAL_VECTOR)((float)i * 0.001f);
    barrier(CLK_LOCAL_MEM_FENCE);
    LOCAL_VECTOR s0 = (LOCAL_VECTOR)(0.0f);
    LOCAL_VECTOR s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    /* Never true, but it makes the trip count formally the work-item's own: PoCL runs a loop with a
     * common trip count in lockstep over the work-group and keeps the sums in memory meanwhile. */
    const int own_rounds = rounds + (lid >= LOCAL_GROUP);
    for (int r = 0; r < own_rounds; r++) {
        local const LOCAL_VECTOR *at = tile + (r & mask) * LOCAL_GROUP + lid;
        s0 += at[0 * LOCAL_GROUP];
        s1 += at[1 * LOCAL_GROUP];
        s2 += at[2 * LOCAL_GROUP];
        s3 += at[3 * LOCAL_GROUP];
        s4 += at[4 * LOCAL_GROUP];
        s5 += at[5 * LOCAL_GROUP];
        s6 += at[6 * LOCAL_GROUP];
        s7 += at[7 * LOCAL_GROUP];
    }
    const LOCAL_VECTOR sum = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
    out[get_global_id(0)] = SUM_OF(LOCAL_WIDTH)(sum);
}
