/* expr_private.h: shared by expr*.c alone: the operations, and the code that expressions become.
 *
 *   expr.c             a recursive descent parser that emits code
 *   expr_arithmetic.c  the operations: exact, every overflow told
 *   expr_eval.c        a small stack machine that runs the code */
#ifndef TS_EXPR_PRIVATE_H
#define TS_EXPR_PRIVATE_H

#include "expr.h"

enum {
    MAX_LENGTH = 4096,
    MAX_NESTING = 64,
    /* A level of nesting leaves at most one operand of each of == < + * and one function argument
     * waiting, and the innermost needs two. */
    MAX_STACK = 5 * (MAX_NESTING + 2) + 2,
};

/* ---- operations ---- */

enum fault { FINE, TOO_LARGE, BY_ZERO, REMAINDER, NOT_POSITIVE };

enum kind { INFIX, PREFIX, FUNCTION };
enum { ANY_NUMBER = 1 << 20 };

struct operation {
    const char *text;
    enum kind kind;
    int precedence;                                        /* INFIX: higher binds tighter */
    int least, most;                                       /* operands */
    enum fault (*apply)(int64_t a, int64_t b, int64_t *r); /* NULL: && and ||, which are jumps */
};
/* Where one operator's text begins another's, the longer one comes first. */
extern const struct operation ts_expr_operations[];
extern const size_t ts_expr_operation_count;

/* ---- code ---- */

enum code {
    PUSH,         /* the number */
    LOOK_UP,      /* the value of a name */
    APPLY,        /* an operation to the top one or two */
    AND,          /* pop; when zero, push 0 and jump */
    OR,           /* pop; when not zero, push 1 and jump */
    TRUTH,        /* top becomes 0 or 1 */
    JUMP_IF_ZERO, /* pop; when zero, jump */
    JUMP,
};

struct step {
    enum code code;
    int column;
    int64_t number; /* PUSH: value; LOOK_UP: index of the name; jumps: where to */
    const struct operation *operation;
};

struct ts_expr {
    char *text;
    char **names;
    size_t name_count, name_capacity;
    struct step *steps;
    size_t step_count, step_capacity;
};

#endif
