/* err.c: one error, with the context that callers put before it. */
#include "err.h"

#include <stdlib.h>
#include <string.h>

/* Copies text, cut at a UTF-8 character with "..." when it does not fit. */
static void store(struct ts_err *err, const struct ts_text *text)
{
    static const char dots[] = "...";
    size_t room = sizeof(err->text) - 1, length = text->length;
    while (length > 0 && text->text[length - 1] == '\n')
        length--;
    if (length <= room) {
        memcpy(err->text, text->text, length);
        err->text[length] = '\0';
        return;
    }
    length = room - (sizeof(dots) - 1);
    while (length > 0 && ((unsigned char)text->text[length] & 0xC0) == 0x80)
        length--;
    memcpy(err->text, text->text, length);
    memcpy(err->text + length, dots, sizeof(dots));
}

int ts_err_set(struct ts_err *err, int exit_status, const char *format, ...)
{
    if (err->exit_status)
        return -1;
    struct ts_text text = {0};
    va_list values;
    va_start(values, format);
    ts_text_vprintf(&text, format, values);
    va_end(values);
    err->exit_status = exit_status;
    store(err, &text);
    ts_text_free(&text);
    return -1;
}

int ts_err_prepend(struct ts_err *err, const char *format, ...)
{
    if (!err->exit_status)
        return -1;
    struct ts_text text = {0};
    va_list values;
    va_start(values, format);
    ts_text_vprintf(&text, format, values);
    va_end(values);
    ts_text_puts(&text, ": ");
    ts_text_puts(&text, err->text);
    store(err, &text);
    ts_text_free(&text);
    return -1;
}

void ts_err_clear(struct ts_err *err)
{
    err->exit_status = 0;
    err->text[0] = '\0';
}
