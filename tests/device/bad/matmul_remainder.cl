/* C = A B with tiles. `bad` goes over K / TILE tiles and drops the rest of K. */
#ifdef VARIANT_naive
__kernel void naive(__global const float *a, __global const float *b, __global float *c, int m, int n, int k)
{
    const int x = (int)get_global_id(0), y = (int)get_global_id(1);
    float sum = 0.0f;
    if (x >= n || y >= m)
        return;
    for (int i = 0; i < k; i++)
        sum += a[y * k + i] * b[i * n + x];
    c[y * n + x] = sum;
}
#else
#ifdef VARIANT_bad
#define TILES(k) ((k) / TILE)
#else
#define TILES(k) (((k) + TILE - 1) / TILE)
#endif

__kernel void tiled(__global const float *a, __global const float *b, __global float *c, int m, int n, int k)
{
    __local float ta[TILE][TILE], tb[TILE][TILE];
    const int x = (int)get_global_id(0), y = (int)get_global_id(1);
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1);
    float sum = 0.0f;
    for (int t = 0; t < TILES(k); t++) {
        const int ka = t * TILE + lx, kb = t * TILE + ly;
        ta[ly][lx] = y < m && ka < k ? a[y * k + ka] : 0.0f;
        tb[ly][lx] = x < n && kb < k ? b[kb * n + x] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < TILE; i++)
            sum += ta[ly][i] * tb[i][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (x < n && y < m)
        c[y * n + x] = sum;
}
#endif
