/* expr.c: a recursive descent parser that emits code for the stack machine of expr_eval.c. */
#include "expr_private.h"

#include <stdlib.h>
#include <string.h>

struct parser {
    struct ts_expr *expr;
    const char *text;
    size_t at;
    int nesting;
    struct ts_err *err;
};

static int column_of(size_t at)
{
    return (int)at + 1;
}

static size_t emit(struct parser *p, enum code code, size_t at, int64_t number,
                   const struct operation *operation)
{
    struct ts_expr *e = p->expr;
    TS_GROW(e->steps, e->step_count, e->step_capacity);
    e->steps[e->step_count] = (struct step){code, column_of(at), number, operation};
    return e->step_count++;
}

/* The jump at `step` goes to the next step to be emitted. */
static void land(struct parser *p, size_t step)
{
    p->expr->steps[step].number = (int64_t)p->expr->step_count;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t word_length(const char *text)
{
    size_t length = 0;
    while (is_letter(text[length]) || is_digit(text[length]))
        length++;
    return length;
}

static void skip_space(struct parser *p)
{
    while (p->text[p->at] && strchr(" \t\r\n", p->text[p->at]))
        p->at++;
}

/* The error says what stands at the current place. */
static int expected(struct parser *p, const char *what)
{
    const char *found = p->text + p->at;
    int column = column_of(p->at);
    size_t length = word_length(found);
    unsigned char byte = (unsigned char)*found;
    if (!*found)
        return ts_err_set(p->err, TS_EXIT_USAGE, "column %d: expected %s, found end of expression",
                          column, what);
    if (byte < 0x20 || byte >= 0x7F)
        return ts_err_set(p->err, TS_EXIT_USAGE, "column %d: expected %s, found byte 0x%02X",
                          column, what, byte);
    return ts_err_set(p->err, TS_EXIT_USAGE, "column %d: expected %s, found \"%.*s\"", column, what,
                      length ? (int)length : 1, found);
}

static int enter(struct parser *p)
{
    if (++p->nesting <= MAX_NESTING + 1) /* the expression itself is the first */
        return 0;
    return ts_err_set(p->err, TS_EXIT_USAGE, "column %d: nested deeper than %d levels",
                      column_of(p->at), MAX_NESTING);
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 16;
}

static int parse_number(struct parser *p)
{
    size_t start = p->at, length = word_length(p->text + start);
    const char *digits = p->text + start;
    bool hex = length > 2 && digits[0] == '0' && (digits[1] | 0x20) == 'x';
    int64_t base = hex ? 16 : 10, value = 0;
    if (digits[length] == '.')
        return ts_err_set(p->err, TS_EXIT_USAGE,
                          "column %d: expected a whole number, found a fraction", column_of(start));
    if (!hex && length > 1 && digits[0] == '0' && is_digit(digits[1]))
        return expected(p, "a number without a leading zero");
    for (size_t i = hex ? 2 : 0; i < length; i++) {
        int digit = digit_value(digits[i]);
        if (digit >= base)
            return expected(p, "a whole number");
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return ts_err_set(p->err, TS_EXIT_USAGE, "column %d: %.*s overflows 64 bits",
                              column_of(start), (int)length, digits);
    }
    p->at += length;
    emit(p, PUSH, start, value, NULL);
    return 0;
}

static size_t name_index(struct ts_expr *e, const char *name, size_t length)
{
    for (size_t i = 0; i < e->name_count; i++)
        if (strlen(e->names[i]) == length && !memcmp(e->names[i], name, length))
            return i;
    TS_GROW(e->names, e->name_count, e->name_capacity);
    e->names[e->name_count] = ts_strndup(name, length);
    return e->name_count++;
}

static int parse_conditional(struct parser *p);

/* After '(' of a call. Operands are folded as they come (min of three is two steps), so that the
 * stack does not grow with their number. */
static int parse_arguments(struct parser *p, const struct operation *function, size_t start)
{
    int count = 0;
    skip_space(p);
    while (p->text[p->at] != ')' || count) {
        if (parse_conditional(p))
            return -1;
        count++;
        if (count >= function->least)
            emit(p, APPLY, start, 0, function);
        skip_space(p);
        char next = p->text[p->at];
        if (next == ')')
            break;
        if (next != ',')
            return expected(p, "\",\" or \")\"");
        p->at++;
    }
    p->at++;
    if (count >= function->least && count <= function->most)
        return 0;
    return ts_err_set(p->err, TS_EXIT_USAGE, "column %d: %s takes %d%s argument%s, got %d",
                      column_of(start), function->text, function->least,
                      function->most == ANY_NUMBER ? " or more" : "",
                      function->least == 1 ? "" : "s", count);
}

static int unknown_function(struct parser *p, size_t start, size_t length)
{
    struct ts_text known = {0};
    for (size_t i = 0; i < ts_expr_operation_count; i++)
        if (ts_expr_operations[i].kind == FUNCTION)
            ts_text_printf(&known, "%s%s", known.length ? ", " : "", ts_expr_operations[i].text);
    ts_err_set(p->err, TS_EXIT_USAGE, "column %d: unknown function \"%.*s\"; there are %s",
               column_of(start), (int)length, p->text + start, known.text);
    ts_text_free(&known);
    return -1;
}

/* A name or a call. */
static int parse_word(struct parser *p)
{
    size_t start = p->at, length = word_length(p->text + start);
    p->at += length;
    skip_space(p);
    if (p->text[p->at] != '(') {
        size_t index = name_index(p->expr, p->text + start, length);
        emit(p, LOOK_UP, start, (int64_t)index, NULL);
        return 0;
    }
    p->at++;
    for (size_t i = 0; i < ts_expr_operation_count; i++) {
        const struct operation *o = &ts_expr_operations[i];
        if (o->kind == FUNCTION && strlen(o->text) == length &&
            !memcmp(o->text, p->text + start, length))
            return parse_arguments(p, o, start);
    }
    return unknown_function(p, start, length);
}

static int parse_primary(struct parser *p)
{
    char c = p->text[p->at];
    if (is_digit(c))
        return parse_number(p);
    if (is_letter(c))
        return parse_word(p);
    if (c != '(')
        return expected(p, "a value");
    p->at++;
    if (parse_conditional(p))
        return -1;
    skip_space(p);
    if (p->text[p->at] != ')')
        return expected(p, "\")\" or an operator");
    p->at++;
    return 0;
}

static int parse_unary(struct parser *p)
{
    skip_space(p);
    size_t start = p->at;
    char c = p->text[start];
    if (!c || !strchr("+-!", c))
        return parse_primary(p);
    if (enter(p))
        return -1;
    p->at++;
    if (parse_unary(p))
        return -1;
    for (size_t i = 0; i < ts_expr_operation_count; i++)
        if (ts_expr_operations[i].kind == PREFIX && ts_expr_operations[i].text[0] == c)
            emit(p, APPLY, start, 0, &ts_expr_operations[i]);
    p->nesting--;
    return 0;
}

static const struct operation *infix_here(struct parser *p)
{
    skip_space(p);
    for (size_t i = 0; i < ts_expr_operation_count; i++) {
        const struct operation *o = &ts_expr_operations[i];
        if (o->kind == INFIX && !strncmp(p->text + p->at, o->text, strlen(o->text)))
            return o;
    }
    return NULL;
}

/* Precedence climbing: operators of at least this precedence, left to right. */
static int parse_infix(struct parser *p, int precedence)
{
    if (parse_unary(p))
        return -1;
    for (;;) {
        const struct operation *o = infix_here(p);
        if (!o || o->precedence < precedence)
            return 0;
        size_t start = p->at, jump = 0;
        p->at += strlen(o->text);
        if (!o->apply)
            jump = emit(p, o->text[0] == '&' ? AND : OR, start, 0, NULL);
        if (parse_infix(p, o->precedence + 1))
            return -1;
        if (o->apply) {
            emit(p, APPLY, start, 0, o);
        } else {
            emit(p, TRUTH, start, 0, NULL);
            land(p, jump);
        }
    }
}

static int parse_conditional(struct parser *p)
{
    if (enter(p) || parse_infix(p, 1))
        return -1;
    skip_space(p);
    if (p->text[p->at] == '?') {
        size_t to_else = emit(p, JUMP_IF_ZERO, p->at++, 0, NULL);
        if (parse_conditional(p))
            return -1;
        skip_space(p);
        if (p->text[p->at] != ':')
            return expected(p, "\":\" or an operator");
        size_t to_end = emit(p, JUMP, p->at++, 0, NULL);
        land(p, to_else);
        if (parse_conditional(p))
            return -1;
        land(p, to_end);
    }
    p->nesting--;
    return 0;
}

static int parse_all(struct parser *p)
{
    if (strlen(p->text) > MAX_LENGTH)
        return ts_err_set(p->err, TS_EXIT_USAGE,
                          "column %d: expected an expression of at most %d bytes", MAX_LENGTH + 1,
                          MAX_LENGTH);
    if (parse_conditional(p))
        return -1;
    skip_space(p);
    if (p->text[p->at])
        return expected(p, "an operator or end of expression");
    return 0;
}

struct ts_expr *ts_expr_compile(const char *text, struct ts_err *err)
{
    struct ts_expr *expr = ts_alloc(1, sizeof(*expr));
    expr->text = ts_strdup(text);
    struct parser p = {.expr = expr, .text = expr->text, .err = err};
    if (parse_all(&p)) {
        ts_expr_free(expr);
        return NULL;
    }
    return expr;
}

void ts_expr_free(struct ts_expr *expr)
{
    if (!expr)
        return;
    for (size_t i = 0; i < expr->name_count; i++)
        free(expr->names[i]);
    free(expr->names);
    free(expr->steps);
    free(expr->text);
    free(expr);
}

const char *ts_expr_text(const struct ts_expr *expr)
{
    return expr->text;
}

const char *const *ts_expr_names(const struct ts_expr *expr, size_t *count)
{
    *count = expr->name_count;
    return (const char *const *)expr->names;
}
