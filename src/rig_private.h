/* rig_private.h: shared by rig*.c alone. */
#ifndef TS_RIG_PRIVATE_H
#define TS_RIG_PRIVATE_H

#include "rig.h"

struct ts_pool_buffer {
    char *name;
    enum ts_elem type;
    int64_t count;
    struct ts_ocl_buffer *buffer;
    char *holds; /* key of the inputs that it holds unchanged; NULL: anything */
    bool taken;
    uint64_t used;
};

/* A kept program. log and build_ns tell of the build that made it. */
struct ts_kept_program {
    char *source, *options;
    struct ts_ocl_program *program;
    char *log;
    int64_t build_ns;
    uint64_t used;
};

struct ts_bench {
    struct ts_ocl *ocl;
    struct {
        char *digest, *text;
    } * sources;
    size_t source_count, source_capacity;
    struct ts_kept_program *programs;
    size_t program_count, program_capacity;
    struct ts_pool_buffer **buffers;
    size_t buffer_count, buffer_capacity;
    bool plain;  /* buffers are made without guards */
    size_t kept; /* free buffers beyond so many go */
    uint64_t tick;
    uint64_t turn; /* of rotating sets, over all rigs */
};

struct ts_rig {
    struct ts_bench *bench;
    const struct ts_instance *instance;
    struct ts_ocl_kernel **kernels;  /* one a launch */
    struct ts_pool_buffer **buffers; /* per argument: home; NULL for scalars and local memory */
    size_t *bound; /* per argument: index of the argument whose home it is bound to */
    struct ts_ocl_buffer *
        *start; /* per `inout` argument: its start state on the device; else NULL */
    const struct ts_inputs *inputs; /* last uploaded */
    struct ts_pool_buffer **more;   /* arguments of further sets, set by set; see rig_rotate.c */
    size_t set_count;               /* with the first, `buffers` */
    size_t set;                     /* of the pass at hand */
    bool restores;                  /* has an `inout` argument: each pass starts by restoring it */
};

/* NULL with the fault told. The program stays the bench's. */
const struct ts_kept_program *ts_bench_program(struct ts_bench *bench, const struct ts_code *code,
                                               struct ts_build *build, struct ts_fault *fault);
/* A buffer that no rig holds, made when there is none; gives back other free buffers when memory is
 * short. */
struct ts_pool_buffer *ts_bench_take(struct ts_bench *bench, const struct ts_job_arg *arg,
                                     struct ts_fault *fault);
void ts_bench_give(struct ts_bench *bench, struct ts_pool_buffer *buffer);
/* Room for so many besides the usual ones. */
void ts_bench_keep(struct ts_bench *bench, size_t buffers);

/* Of a set; NULL for scalars and local memory. */
struct ts_pool_buffer *ts_rig_buffer(const struct ts_rig *rig, size_t set, size_t arg);
void ts_rig_end_rotation(struct ts_rig *rig);

#endif
