/* report_text.c: text for gnuplot's files. Whatever comes from outside (device names, parameter
 * words, reasons) is data there: escaped, never a command. */
#include "report_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Titles are broken at this many columns and cut after so many lines, or bytes: gnuplot itself cuts
 * text of over 1,000 bytes, in the middle of a character. */
enum { TITLE_COLUMNS = 80, TITLE_LINES = 8, TITLE_BYTES = 700 };

/* ---- lines ---- */

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* Columns that a character takes, by its first byte: two from U+1000 on, where the wide ones are.
 */
static size_t width_of(char byte)
{
    return (unsigned char)byte >= 0xE1 ? 2 : 1;
}

/* Length in bytes of the next line of text: at most `columns` wide, broken after the last space or
 * joint that fits, else hard. */
static size_t line_length(const char *text, size_t columns)
{
    size_t used = 0, last_break = 0, i = 0;
    for (; text[i] && text[i] != '\n'; i++) {
        if (is_continuation(text[i]))
            continue;
        if (used == columns && text[i] == ' ')
            return i + 1; /* the space is not shown */
        used += width_of(text[i]);
        if (used > columns)
            return last_break > 0 ? last_break : i;
        if (strchr(" -_:,", text[i]) && text[i + 1])
            last_break = i + 1;
    }
    return i;
}

void ts_report_wrap(struct ts_text *out, const char *text, size_t columns, size_t max_lines)
{
    for (size_t line = 0; *text; line++) {
        if (line == max_lines) {
            ts_text_puts(out, "…");
            return;
        }
        size_t length = line_length(text, columns), shown = length;
        while (shown > 0 && text[shown - 1] == ' ')
            shown--;
        if (line > 0)
            ts_text_puts(out, "\n");
        ts_text_add(out, text, shown);
        text += length;
        if (*text == '\n')
            text++;
    }
}

/* ---- fields ---- */

void ts_report_field(struct ts_text *out, const char *text)
{
    for (; text && *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '\n')
            ts_text_puts(out, "\\n");
        else if (byte == '\\')
            ts_text_puts(out, "\\\\");
        else if (byte == '"')
            ts_text_puts(out, "\\042");
        else if (strncmp(text, "\xEF\xBF\xBE", 3) == 0 || strncmp(text, "\xEF\xBF\xBF", 3) == 0)
            ts_text_puts(out, "?"), text += 2; /* no characters: SVG may not hold them */
        else if (strncmp(text, "]]>", 3) == 0)
            ts_text_puts(out, "]] >"), text += 2; /* XML may not hold it, and gnuplot leaves '>' */
        else
            ts_text_add(out, byte < 0x20 || byte == 0x7F ? " " : text, 1);
    }
}

void ts_report_field_cut(struct ts_text *out, const char *text, size_t columns)
{
    struct ts_text cut = {0};
    ts_report_wrap(&cut, text ? text : "", columns, 1);
    ts_report_field(out, cut.text);
    ts_text_free(&cut);
}

void ts_report_axis_label(struct ts_text *out, const char *key, const char *name)
{
    ts_text_printf(out, "%s\t", key);
    ts_report_field_cut(out, name, TITLE_COLUMNS);
    ts_text_puts(out, "\n");
}

void ts_report_label(struct ts_text *out, const char *key, const char *format, ...)
{
    struct ts_text text = {0};
    va_list values;
    va_start(values, format);
    ts_text_vprintf(&text, format, values);
    va_end(values);
    ts_text_printf(out, "%s\t", key);
    ts_report_field(out, text.text ? text.text : "");
    ts_text_puts(out, "\n");
    ts_text_free(&text);
}

void ts_report_title(struct ts_text *out, const struct ts_run *run, const char *title)
{
    struct ts_text wrapped = {0};
    ts_report_wrap(&wrapped, title, TITLE_COLUMNS, TITLE_LINES);
    if (wrapped.length > TITLE_BYTES) {
        wrapped.length = TITLE_BYTES;
        while (is_continuation(wrapped.text[wrapped.length]))
            wrapped.length--;
        ts_text_puts(&wrapped, "…");
    }
    ts_text_puts(&wrapped, "\n");
    ts_report_wrap(&wrapped, run->device.name ? run->device.name : "unknown device", TITLE_COLUMNS,
                   2);
    ts_report_label(out, "title", "%s", wrapped.text);
    ts_text_free(&wrapped);
}

static void add_known(struct ts_text *out, double value, bool known)
{
    if (known && isfinite(value))
        ts_text_printf(out, "%.9g", value);
    else
        ts_text_puts(out, "-");
}

void ts_report_interval_fields(struct ts_text *out, const struct ts_interval *interval, double unit)
{
    add_known(out, interval->mid / unit, true);
    ts_text_puts(out, "\t");
    add_known(out, interval->low / unit, interval->known);
    ts_text_puts(out, "\t");
    add_known(out, interval->high / unit, interval->known);
}
