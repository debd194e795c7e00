/* test_check.c: Oclgrind's log into findings, and findings into words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "check_private.h"

/* As Oclgrind 21.10 wrote them. */
#define RACE(item)                                                                                 \
    "\nRead-write data race at local memory address 0x1000000000020\n"                             \
    "\tKernel: bad\n"                                                                              \
    "\t\n"                                                                                         \
    "\tFirst entity:  Global(" item ",0,0) Local(8,0,0) Group(1,0,0)\n"                            \
    "\t  %1 = load float, float addrspace(3)* %arrayidx11, align 4, !dbg !56, !tbaa !47\n"         \
    "\tAt line 12 (column 25) of missing_barrier.cl:\n"                                            \
    "\t  store /* a line of source, the wrong one */\n"                                            \
    "\t\n"                                                                                         \
    "\tSecond entity: Global(7,0,0) Local(7,0,0) Group(1,0,0)\n"                                   \
    "\t  store float %cond, float addrspace(3)* %arrayidx7, align 4, !dbg !52, !tbaa !47\n"        \
    "\tAt line 10 (column 18) of missing_barrier.cl:\n"                                            \
    "\t  #endif\n"                                                                                 \
    "\t\n"
/* The same, seen from the other side. */
#define RACE_BACK                                                                                  \
    "\nRead-write data race at local memory address 0x100000000001c\n"                             \
    "\tKernel: bad\n"                                                                              \
    "\t\n"                                                                                         \
    "\tFirst entity:  Global(8,0,0) Local(8,0,0) Group(1,0,0)\n"                                   \
    "\t  store float %cond, float addrspace(3)* %arrayidx7, align 4, !dbg !52, !tbaa !47\n"        \
    "\tAt line 10 (column 18) of missing_barrier.cl:\n"                                            \
    "\t  #endif\n"                                                                                 \
    "\t\n"                                                                                         \
    "\tSecond entity: Global(7,0,0) Local(7,0,0) Group(1,0,0)\n"                                   \
    "\t  %1 = load float, float addrspace(3)* %arrayidx11, align 4, !dbg !56, !tbaa !47\n"         \
    "\tAt line 12 (column 25) of missing_barrier.cl:\n"                                            \
    "\t  x\n"                                                                                      \
    "\t\n"
#define BARRIER                                                                                    \
    "\nWork-group divergence detected (barrier)\n"                                                 \
    "\tKernel:     bad\n"                                                                          \
    "\tWork-group: (1,0,0)\n"                                                                      \
    "\tOnly 8 out of 16 work-items executed barrier\n"                                             \
    "\t  tail call spir_func void @_Z7barrierj(i32 noundef 1) #6, !dbg !64\n"                      \
    "\tAt line 13 (column 9) of a b.cl:\n"                                                         \
    "\t  #ifdef VARIANT_bad\n"                                                                     \
    "\t\n"
#define BOUNDS                                                                                     \
    "\nInvalid write of size 4 at global memory address 0x2000000000404\n"                         \
    "\tKernel: bad\n"                                                                              \
    "\tEntity: Global(0,0,0) Local(0,0,0) Group(0,0,0)\n"                                          \
    "\t  store float 1.000000e+00, float addrspace(1)* %arrayidx8, align 4, !dbg !45\n"            \
    "\tAt line 9 (column 16) of past_end.cl:\n"                                                    \
    "\t  }\n"                                                                                      \
    "\t\n"
#define INDEX(i)                                                                                   \
    "\nIndex (" i ") exceeds static array size (4)\n"                                              \
    "\tKernel: k\n"                                                                                \
    "\tEntity: Global(3,0,0) Local(3,0,0) Group(0,0,0)\n"                                          \
    "\t  %3 = load float, float* %arrayidx\n"                                                      \
    "\tAt line 2 (column 3) of x.cl:\n"                                                            \
    "\t  }\n"                                                                                      \
    "\t\n"
#define UNINITIALISED                                                                              \
    "\nUninitialized value written to global memory address 0x2000000000000\n"                     \
    "\tKernel: bad\n"                                                                              \
    "\tEntity: Global(0,0,0) Local(0,0,0) Group(0,0,0)\n"                                          \
    "\t  store float %24, float addrspace(1)* %arrayidx32, align 4, !dbg !87\n"                    \
    "\tAt line 16 (column 16) of divergent_barrier.cl:\n"                                          \
    "\t  __local float line[G];\n"                                                                 \
    "\t\n"

static void read_text(struct ts_findings *findings, const char *log)
{
    struct ts_values size = {0};

    memset(findings, 0, sizeof(*findings));
    ts_values_add(&size, "N", 257);
    ts_findings_read(findings, log, strlen(log), &size);
    ts_values_free(&size);
}

static void expect_words(const char *log, enum ts_finding_kind kind, const char *words)
{
    struct ts_findings findings;
    struct ts_text text = {0};

    read_text(&findings, log);
    assert_int_equal(findings.count, 1);
    assert_null(findings.fatal);
    assert_int_equal(findings.items[0].kind, kind);
    ts_finding_print(&findings.items[0], &text);
    assert_string_equal(text.text, words);
    ts_text_free(&text);
    ts_findings_free(&findings);
}

static void test_words(void **state)
{
    (void)state;
    expect_words(
        RACE("8"), TS_FINDING_RACE,
        "data race in local memory: work-item (8,0,0) reads at missing_barrier.cl:12 what "
        "work-item (7,0,0) writes at missing_barrier.cl:10, work-group (1,0,0), kernel bad "
        "(N=257)");
    expect_words(BARRIER, TS_FINDING_BARRIER,
                 "barrier not reached by the whole work-group: 8 of 16 work-items reach it at a "
                 "b.cl:13, work-group (1,0,0), kernel bad (N=257)");
    expect_words(BOUNDS, TS_FINDING_BOUNDS,
                 "write of 4 B out of bounds in global memory at past_end.cl:9, work-item (0,0,0), "
                 "kernel bad (N=257)");
    expect_words(UNINITIALISED, TS_FINDING_UNINITIALISED,
                 "uninitialised value written to global memory at divergent_barrier.cl:16, "
                 "work-item (0,0,0), kernel bad (N=257)");
}

/* What differs in work-items, addresses, indices and the side it is seen from is one finding. */
static void test_gathers(void **state)
{
    (void)state;
    expect_words(
        RACE("8") RACE("9") RACE_BACK, TS_FINDING_RACE,
        "data race in local memory: work-item (8,0,0) reads at missing_barrier.cl:12 what "
        "work-item (7,0,0) writes at missing_barrier.cl:10, work-group (1,0,0), kernel bad "
        "(N=257; seen 3 times)");
    expect_words(INDEX("4") INDEX("-12") INDEX("7"), TS_FINDING_BOUNDS,
                 "out of bounds: Index (4) exceeds static array size (4) at x.cl:2, work-item "
                 "(3,0,0), kernel k (N=257; seen 3 times)");
}

static void test_keeps_apart(void **state)
{
    struct ts_findings findings;

    (void)state;
    read_text(&findings, RACE("8") BARRIER BOUNDS UNINITIALISED INDEX("4"));
    assert_int_equal(findings.count, 5);
    assert_false(findings.cut);
    assert_null(findings.fatal);
    ts_findings_free(&findings);
}

/* Those of one attempt join those of another: the same are one, seen as often as both. */
static void test_moves(void **state)
{
    struct ts_findings into, from;

    (void)state;
    read_text(&into, RACE("8") RACE("9") BOUNDS);
    read_text(&from, UNINITIALISED RACE_BACK "\nOclgrind: 2000 errors generated - suppressing "
                                             "further errors\n\nSomething else\n");
    ts_findings_move(&into, &from);
    assert_int_equal(into.count, 3);
    assert_int_equal(into.items[0].times, 3);
    assert_int_equal(into.items[1].times, 1);
    assert_int_equal(into.items[2].kind, TS_FINDING_UNINITIALISED);
    assert_true(into.cut);
    assert_string_equal(into.fatal, "Something else");
    assert_int_equal(from.count, 0);
    assert_null(from.items);
    assert_null(from.fatal);
    ts_findings_move(&into, &from); /* nothing */
    assert_int_equal(into.count, 3);
    assert_string_equal(into.fatal, "Something else");
    ts_findings_free(&into);
    ts_findings_free(&from);
}

/* Oclgrind's own failures, and words that are news, are no findings. */
static void test_fatal(void **state)
{
    struct ts_findings findings;

    (void)state;
    read_text(&findings, BOUNDS "\nOCLGRIND FATAL ERROR (./src/core/WorkItem.cpp:1681)\n"
                                "Undefined external function: llvm.x\nWhen creating kernel 'k'\n");
    assert_int_equal(findings.count, 1);
    assert_string_equal(findings.fatal,
                        "OCLGRIND FATAL ERROR (./src/core/WorkItem.cpp:1681); Undefined external "
                        "function: llvm.x; When creating kernel 'k'");
    ts_findings_free(&findings);
    read_text(&findings, "\nSomething else\n\tKernel: bad\n");
    assert_int_equal(findings.count, 0);
    assert_string_equal(findings.fatal, "Something else; Kernel: bad");
    ts_findings_free(&findings);
}

static void test_limit(void **state)
{
    struct ts_findings findings;

    (void)state;
    read_text(&findings,
              BOUNDS "\nOclgrind: 2000 errors generated - suppressing further errors\n\n");
    assert_int_equal(findings.count, 1);
    assert_true(findings.cut);
    assert_null(findings.fatal);
    ts_findings_free(&findings);
}

/* Any bytes are a log: cut anywhere, one of them changed. */
static void test_torn(void **state)
{
    static const char log[] = RACE("8") BARRIER BOUNDS UNINITIALISED INDEX("4");
    struct ts_values size = {0};

    (void)state;
    for (size_t cut = 0; cut < sizeof(log); cut++) {
        struct ts_findings findings = {0};
        struct ts_text words = {0};
        char *torn = ts_strndup(log, sizeof(log) - 1);

        torn[cut > 0 ? cut - 1 : 0] ^= 0x11;
        ts_findings_read(&findings, log, cut, &size);
        ts_findings_read(&findings, torn, sizeof(log) - 1, &size);
        for (size_t i = 0; i < findings.count; i++)
            ts_finding_print(&findings.items[i], &words);
        ts_text_free(&words);
        ts_findings_free(&findings);
        free(torn);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),       cmocka_unit_test(test_gathers),
        cmocka_unit_test(test_keeps_apart), cmocka_unit_test(test_moves),
        cmocka_unit_test(test_fatal),       cmocka_unit_test(test_limit),
        cmocka_unit_test(test_torn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
