/* Laplacian with tiles. In `bad` the halo is loaded by if/else-if, so that a work-item that is the first and the last of
 * its row loads one side only: wrong where the tile is 1 wide. */
static int wrap(int i, int n)
{
    i %= n;
    return i < 0 ? i + n : i;
}

#ifdef VARIANT_good
#define SECOND if
#else
#define SECOND else if
#endif

__kernel void halo(__global const float *src, __global float *dst, int w, int h)
{
    __local float tile[TY + 2][TX + 2];
    const int x = (int)get_global_id(0), y = (int)get_global_id(1);
    const int lx = (int)get_local_id(0) + 1, ly = (int)get_local_id(1) + 1;
    const int row = wrap(y, h) * w, column = wrap(x, w);
    tile[ly][lx] = src[row + column];
    if (lx == 1)
        tile[ly][0] = src[row + wrap(x - 1, w)];
    SECOND (lx == TX)
        tile[ly][TX + 1] = src[row + wrap(x + 1, w)];
    if (ly == 1)
        tile[0][lx] = src[wrap(y - 1, h) * w + column];
    SECOND (ly == TY)
        tile[TY + 1][lx] = src[wrap(y + 1, h) * w + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x < w && y < h)
        dst[y * w + x] = tile[ly][lx - 1] + tile[ly][lx + 1] + tile[ly - 1][lx] + tile[ly + 1][lx] -
                         4.0f * tile[ly][lx];
}
