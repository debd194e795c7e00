/* subgroups.c: runs laplacian's variant shuffle where no device has sub-groups: a thread a
 * work-item, and a shuffle is a meeting of the sub-group. Linked with the kernel, which clang
 * compiles for the processor. A shuffle that not all of a sub-group take part in, or that asks a
 * work-item beyond it, aborts.
 *
 *   subgroups SIZE: sub-groups of so many work-items, the last one of what is left
 *
 * TX, TY, VEC, ROWS, POINTS as the kernel has them. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP (TX * TY)
#define TOLERANCE 1e-5 /* of values below 20: far above rounding, far below one wrong cell */

typedef float float4 __attribute__((ext_vector_type(4)));

union word {
    int whole;
    float real;
};

static int size;                         /* of a sub-group */
static pthread_barrier_t meeting[GROUP]; /* one a sub-group */
static pthread_barrier_t launch;         /* before and after each work-group */
static union word offered[GROUP];        /* in a shuffle */
static unsigned shuffles[GROUP];         /* of each kind so far */
static int group_x, group_y;             /* the work-group; group_y -1: no more */
static _Thread_local int me;
static const float *src;
static float *dst;
static int width, height;

/* ---- what the kernel calls, by OpenCL's names for linkers ---- */

size_t global_id(unsigned dimension) __asm__("_Z13get_global_idj");
unsigned lane(void) __asm__("_Z22get_sub_group_local_idv");
unsigned lanes(void) __asm__("_Z18get_sub_group_sizev");
int shuffle_whole(int value, unsigned from) __asm__("_Z17sub_group_shuffleij");
float shuffle_real(float value, unsigned from) __asm__("_Z17sub_group_shufflefj");
void store4(float4 value, size_t at, float *to) __asm__("_Z7vstore4Dv4_fmPU9CLgenericf");
void store4_global(float4 value, size_t at, float *to) __asm__("_Z7vstore4Dv4_fmPU8CLglobalf");
void laplacian_shuffle(const float *src, float *dst, int w, int h);

size_t global_id(unsigned dimension)
{
    return (size_t)(dimension == 0 ? group_x * TX + me % TX : group_y * TY + me / TX);
}

unsigned lane(void)
{
    return (unsigned)(me % size);
}

unsigned lanes(void)
{
    const int first = me / size * size;
    return (unsigned)(first + size <= GROUP ? size : GROUP - first);
}

static union word shuffle(union word value, unsigned from, unsigned kind)
{
    const int first = me / size * size;

    shuffles[me] += kind;
    offered[me] = value;
    pthread_barrier_wait(&meeting[me / size]);
    for (unsigned i = 0; i < lanes(); i++)
        if (shuffles[first + (int)i] != shuffles[me])
            abort();
    if (from >= lanes())
        abort();
    value = offered[first + (int)from];
    pthread_barrier_wait(&meeting[me / size]);
    return value;
}

int shuffle_whole(int value, unsigned from)
{
    return shuffle((union word){.whole = value}, from, 1).whole;
}

float shuffle_real(float value, unsigned from)
{
    return shuffle((union word){.real = value}, from, 0x10000).real;
}

void store4(float4 value, size_t at, float *to)
{
    memcpy(to + 4 * at, &value, sizeof(value));
}

void store4_global(float4 value, size_t at, float *to)
{
    store4(value, at, to);
}

/* ---- the launch ---- */

static void *work_item(void *index)
{
    me = (int)(intptr_t)index;
    for (;;) {
        pthread_barrier_wait(&launch);
        if (group_y < 0)
            return NULL;
        laplacian_shuffle(src, dst, width, height);
        pthread_barrier_wait(&launch);
    }
}

static double cell(int x, int y)
{
    return src[(y + height) % height * width + (x + width) % width];
}

static double expected(int x, int y)
{
    const double beside = cell(x - 1, y) + cell(x + 1, y) + cell(x, y - 1) + cell(x, y + 1);
    const double corners =
        cell(x - 1, y - 1) + cell(x + 1, y - 1) + cell(x - 1, y + 1) + cell(x + 1, y + 1);
    return POINTS == 5 ? beside - 4 * cell(x, y) : (4 * beside + corners - 20 * cell(x, y)) / 6;
}

/* How many cells of a grid are wrong. */
static int wrong_cells(int w, int h)
{
    const int groups_x = ((w + VEC - 1) / VEC + TX - 1) / TX;
    const int groups_y = ((h + ROWS - 1) / ROWS + TY - 1) / TY;
    const size_t bytes = ((size_t)(w * h) * sizeof(float) + 63) / 64 * 64;
    float *in = aligned_alloc(64, bytes);
    int wrong = 0;

    dst = aligned_alloc(64, bytes);
    if (!in || !dst)
        abort();
    for (int i = 0; i < w * h; i++) {
        in[i] = (float)rand() / (float)RAND_MAX;
        dst[i] = NAN;
    }
    src = in;
    width = w;
    height = h;
    for (group_y = 0; group_y < groups_y; group_y++)
        for (group_x = 0; group_x < groups_x; group_x++) {
            pthread_barrier_wait(&launch);
            pthread_barrier_wait(&launch);
        }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            wrong += !(fabs(expected(x, y) - dst[y * w + x]) < TOLERANCE);
    free(in);
    free(dst);
    return wrong;
}

int main(int count, char **words)
{
    static const int sizes[][2] = {{101, 11}, {1, 37}, {38, 1}, {17, 3}, {1, 1}, {160, 9}};
    pthread_t thread[GROUP];
    int status = 0;

    size = count == 2 ? atoi(words[1]) : 0;
    if (size < 1)
        return 2;
    for (int first = 0; first < GROUP; first += size)
        pthread_barrier_init(&meeting[first / size], NULL,
                             (unsigned)(first + size <= GROUP ? size : GROUP - first));
    pthread_barrier_init(&launch, NULL, GROUP + 1);
    for (int i = 0; i < GROUP; i++)
        pthread_create(&thread[i], NULL, work_item, (void *)(intptr_t)i);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        const int wrong = wrong_cells(sizes[i][0], sizes[i][1]);
        if (wrong > 0)
            printf("%d cells of %d x %d are wrong\n", wrong, sizes[i][0], sizes[i][1]);
        status = wrong > 0 ? 1 : status;
    }
    group_y = -1;
    pthread_barrier_wait(&launch);
    for (int i = 0; i < GROUP; i++)
        pthread_join(thread[i], NULL);
    return status;
}
