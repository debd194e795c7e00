/* expr_arithmetic.c: what the operators and functions of expressions do, and the table of them. */
#include "expr_private.h"

static enum fault add(int64_t a, int64_t b, int64_t *r)
{
    return __builtin_add_overflow(a, b, r) ? TOO_LARGE : FINE;
}

static enum fault subtract(int64_t a, int64_t b, int64_t *r)
{
    return __builtin_sub_overflow(a, b, r) ? TOO_LARGE : FINE;
}

static enum fault multiply(int64_t a, int64_t b, int64_t *r)
{
    return __builtin_mul_overflow(a, b, r) ? TOO_LARGE : FINE;
}

/* Quotient towards zero; *rest has the sign of a. */
static enum fault quotient(int64_t a, int64_t b, int64_t *r, int64_t *rest)
{
    if (b == 0)
        return BY_ZERO;
    if (a == INT64_MIN && b == -1)
        return TOO_LARGE;
    *r = a / b;
    *rest = a % b;
    return FINE;
}

static enum fault divide(int64_t a, int64_t b, int64_t *r)
{
    int64_t rest = 0;
    enum fault fault = quotient(a, b, r, &rest);
    return fault ? fault : rest ? REMAINDER : FINE;
}

static enum fault modulo(int64_t a, int64_t b, int64_t *r)
{
    if (b == 0)
        return BY_ZERO;
    *r = b == -1 ? 0 : a % b; /* INT64_MIN % -1 traps on some processors */
    return FINE;
}

static enum fault floor_div(int64_t a, int64_t b, int64_t *r)
{
    int64_t rest = 0;
    enum fault fault = quotient(a, b, r, &rest);
    if (!fault && rest && (rest < 0) != (b < 0))
        --*r;
    return fault;
}

static enum fault ceil_div(int64_t a, int64_t b, int64_t *r)
{
    int64_t rest = 0;
    enum fault fault = quotient(a, b, r, &rest);
    if (!fault && rest && (rest < 0) == (b < 0))
        ++*r;
    return fault;
}

static enum fault round_up(int64_t a, int64_t b, int64_t *r)
{
    if (b <= 0)
        return NOT_POSITIVE;
    int64_t rest = a % b;
    if (rest <= 0)
        return subtract(a, rest, r);
    return add(a, b - rest, r);
}

static enum fault less(int64_t a, int64_t b, int64_t *r)
{
    *r = a < b;
    return FINE;
}

static enum fault less_equal(int64_t a, int64_t b, int64_t *r)
{
    *r = a <= b;
    return FINE;
}

static enum fault greater(int64_t a, int64_t b, int64_t *r)
{
    *r = a > b;
    return FINE;
}

static enum fault greater_equal(int64_t a, int64_t b, int64_t *r)
{
    *r = a >= b;
    return FINE;
}

static enum fault equal(int64_t a, int64_t b, int64_t *r)
{
    *r = a == b;
    return FINE;
}

static enum fault not_equal(int64_t a, int64_t b, int64_t *r)
{
    *r = a != b;
    return FINE;
}

static enum fault smaller_of(int64_t a, int64_t b, int64_t *r)
{
    *r = a < b ? a : b;
    return FINE;
}

static enum fault larger_of(int64_t a, int64_t b, int64_t *r)
{
    *r = a > b ? a : b;
    return FINE;
}

/* With one operand, b is 0. */
static enum fault negate(int64_t a, int64_t b, int64_t *r)
{
    return subtract(b, a, r);
}

static enum fault not(int64_t a, int64_t b, int64_t *r) { *r = a == b; return FINE; }

static enum fault absolute(int64_t a, int64_t b, int64_t *r)
{
    return a < 0 ? subtract(b, a, r) : add(a, b, r);
}

static enum fault is_pow2(int64_t a, int64_t b, int64_t *r)
{
    *r = a > b && (a & (a - 1)) == 0;
    return FINE;
}

const struct operation ts_expr_operations[] = {
    {"||", INFIX, 1, 2, 2, NULL},
    {"&&", INFIX, 2, 2, 2, NULL},
    {"==", INFIX, 3, 2, 2, equal},
    {"!=", INFIX, 3, 2, 2, not_equal},
    {"<=", INFIX, 4, 2, 2, less_equal},
    {">=", INFIX, 4, 2, 2, greater_equal},
    {"<", INFIX, 4, 2, 2, less},
    {">", INFIX, 4, 2, 2, greater},
    {"+", INFIX, 5, 2, 2, add},
    {"-", INFIX, 5, 2, 2, subtract},
    {"*", INFIX, 6, 2, 2, multiply},
    {"/", INFIX, 6, 2, 2, divide},
    {"%", INFIX, 6, 2, 2, modulo},
    {"-", PREFIX, 0, 1, 1, negate},
    {"!", PREFIX, 0, 1, 1, not },
    {"min", FUNCTION, 0, 2, ANY_NUMBER, smaller_of},
    {"max", FUNCTION, 0, 2, ANY_NUMBER, larger_of},
    {"abs", FUNCTION, 0, 1, 1, absolute},
    {"round_up", FUNCTION, 0, 2, 2, round_up},
    {"ceil_div", FUNCTION, 0, 2, 2, ceil_div},
    {"floor_div", FUNCTION, 0, 2, 2, floor_div},
    {"is_pow2", FUNCTION, 0, 1, 1, is_pow2},
};
const size_t ts_expr_operation_count = TS_COUNT(ts_expr_operations);
