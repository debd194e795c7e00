/* expr_eval.c: runs the code of an expression. The machine has no recursion and no loop of its own:
 * every jump goes forward, so an evaluation ends. */
#include "expr_private.h"

#include <stdio.h>

static int refuse(const struct step *step, enum fault fault, int64_t a, int64_t b,
                  struct ts_err *err)
{
    static const char *const texts[] = {
        [TOO_LARGE] = " overflows 64 bits",
        [BY_ZERO] = " divides by zero",
        [REMAINDER] = " leaves a remainder; write floor_div(a,b) or ceil_div(a,b)",
        [NOT_POSITIVE] = ": expected a multiple above 0",
    };
    const struct operation *o = step->operation;
    char what[96];
    long long left = (long long)a, right = (long long)b;
    if (o->kind == INFIX)
        snprintf(what, sizeof(what), "%lld %s %lld", left, o->text, right);
    else if (o->kind == PREFIX)
        snprintf(what, sizeof(what), "%s(%lld)", o->text, left);
    else if (o->most == 1)
        snprintf(what, sizeof(what), "%s(%lld)", o->text, left);
    else
        snprintf(what, sizeof(what), "%s(%lld,%lld)", o->text, left, right);
    return ts_err_set(err, TS_EXIT_USAGE, "column %d: %s%s", step->column, what, texts[fault]);
}

/* Applies the step's operation to the top of the stack; *top is the number of values on it. */
static int apply(const struct step *step, int64_t *stack, size_t *top, struct ts_err *err)
{
    bool two = step->operation->most > 1;
    int64_t b = two ? stack[--*top] : 0;
    int64_t a = stack[*top - 1];
    enum fault fault = step->operation->apply(a, b, &stack[*top - 1]);
    return fault ? refuse(step, fault, a, b, err) : 0;
}

int ts_expr_eval(const struct ts_expr *expr, ts_expr_lookup lookup, void *context, int64_t *value,
                 struct ts_err *err)
{
    int64_t stack[MAX_STACK];
    size_t top = 0, at = 0;
    while (at < expr->step_count) {
        const struct step *step = &expr->steps[at++];
        size_t target = (size_t)step->number;
        switch (step->code) {
        case PUSH:
            stack[top++] = step->number;
            break;
        case LOOK_UP:
            if (!lookup || !lookup(context, expr->names[target], &stack[top]))
                return ts_err_set(err, TS_EXIT_USAGE, "column %d: unknown name \"%s\"",
                                  step->column, expr->names[target]);
            top++;
            break;
        case APPLY:
            if (apply(step, stack, &top, err))
                return -1;
            break;
        case AND:
        case OR:
            if ((stack[--top] != 0) == (step->code == OR)) {
                stack[top++] = step->code == OR;
                at = target;
            }
            break;
        case TRUTH:
            stack[top - 1] = stack[top - 1] != 0;
            break;
        case JUMP_IF_ZERO:
            at = stack[--top] ? at : target;
            break;
        case JUMP:
            at = target;
            break;
        }
    }
    *value = stack[0];
    return 0;
}
