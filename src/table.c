/* table.c: column widths, UTF-8 on terminals, numbers with units. */
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One character of UTF-8: its bytes (0 at the end of text) and its code point, or -1 for a byte
 * that is no valid UTF-8. */
static size_t decode(const char *text, int32_t *point)
{
    const unsigned char *c = (const unsigned char *)text;
    *point = -1;
    if (!c[0])
        return 0;
    if (c[0] < 0x80) {
        *point = c[0];
        return 1;
    }
    size_t length = c[0] >= 0xF0 ? 4 : c[0] >= 0xE0 ? 3 : 2;
    if (c[0] < 0xC2 || c[0] > 0xF4)
        return 1;
    int32_t value = c[0] & (0x7F >> length);
    for (size_t i = 1; i < length; i++) {
        if ((c[i] & 0xC0) != 0x80)
            return 1;
        value = value << 6 | (c[i] & 0x3F);
    }
    static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 1;
    *point = value;
    return length;
}

/* Ranges of East Asian Wide and Fullwidth (Unicode UAX 11) and of combining marks, coarsely. */
struct range {
    int32_t first, last;
    size_t columns;
};
static const struct range ranges[] = {
    {0x0300, 0x036F, 0},   {0x1100, 0x115F, 2},   {0x200B, 0x200F, 0},   {0x20D0, 0x20FF, 0},
    {0x2E80, 0x303E, 2},   {0x3041, 0xA4CF, 2},   {0xAC00, 0xD7A3, 2},   {0xF900, 0xFAFF, 2},
    {0xFE00, 0xFE0F, 0},   {0xFE30, 0xFE6F, 2},   {0xFF00, 0xFF60, 2},   {0xFFE0, 0xFFE6, 2},
    {0x1F300, 0x1F64F, 2}, {0x1F900, 0x1F9FF, 2}, {0x20000, 0x3FFFD, 2},
};

static size_t columns_of(int32_t point)
{
    for (size_t i = 0; i < TS_COUNT(ranges); i++)
        if (point >= ranges[i].first && point <= ranges[i].last)
            return ranges[i].columns;
    return 1;
}

size_t ts_text_columns(const char *text)
{
    size_t columns = 0, length;
    int32_t point;
    for (; (length = decode(text, &point)); text += length)
        columns += columns_of(point);
    return columns;
}

size_t ts_text_fit(const char *text, size_t columns)
{
    size_t used = 0, bytes = 0, length;
    int32_t point;
    while ((length = decode(text + bytes, &point))) {
        used += columns_of(point);
        if (used > columns)
            break;
        bytes += length;
    }
    return bytes;
}

static char *printable(const char *text, bool lines)
{
    struct ts_text out = {0};
    ts_text_puts(&out, "");
    size_t length;
    int32_t point;
    for (; (length = decode(text, &point)); text += length) {
        bool kept = lines && (point == '\n' || point == '\t');
        if (!kept && (point < 0x20 || (point >= 0x7F && point < 0xA0))) /* -1 too: invalid bytes */
            ts_text_puts(&out, "?");
        else
            ts_text_add(&out, text, length);
    }
    return out.text;
}

char *ts_text_printable(const char *text)
{
    return printable(text, false);
}

char *ts_text_printable_lines(const char *text)
{
    return printable(text, true);
}

static const char *entity_of(int32_t point)
{
    switch (point) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case 0xFFFE:
    case 0xFFFF:
        return "?"; /* no characters of XML 1.0 */
    }
    return NULL;
}

void ts_text_add_markup(struct ts_text *out, const char *text)
{
    char *clean = ts_text_printable_lines(text ? text : "");
    size_t length;
    int32_t point;
    for (const char *at = clean; (length = decode(at, &point)); at += length) {
        const char *entity = entity_of(point);
        if (entity)
            ts_text_puts(out, entity);
        else
            ts_text_add(out, at, length);
    }
    free(clean);
}

void ts_table_column(struct ts_table *t, const char *title, enum ts_align align)
{
    TS_GROW(t->columns, t->column_count, t->column_capacity);
    t->columns[t->column_count++] =
        (struct ts_table_column){.title = title ? ts_strdup(title) : NULL, .align = align};
}

static void add_cell(struct ts_table *t, const char *text)
{
    TS_GROW(t->cells, t->cell_count, t->cell_capacity);
    t->cells[t->cell_count++] = ts_text_printable(text);
}

void ts_table_cell(struct ts_table *t, const char *format, ...)
{
    struct ts_text text = {0};
    va_list values;
    va_start(values, format);
    ts_text_vprintf(&text, format, values);
    va_end(values);
    add_cell(t, text.text);
    ts_text_free(&text);
}

void ts_table_end_row(struct ts_table *t)
{
    while (t->column_count && t->cell_count % t->column_count)
        add_cell(t, "");
}

static void print_row(const struct ts_table *t, const size_t *widths, const char *indent,
                      const char *(*cell)(const struct ts_table *, size_t), size_t first,
                      struct ts_text *out)
{
    size_t owed = 0; /* spaces to write before the next text: so a line has none at its end */
    ts_text_puts(out, indent);
    for (size_t i = 0; i < t->column_count; i++) {
        const char *text = cell(t, first + i);
        size_t pad = widths[i] - ts_text_columns(text);
        bool right = t->columns[i].align == TS_RIGHT;
        owed += i ? 2 : 0;
        owed += right ? pad : 0;
        if (text[0]) {
            ts_text_printf(out, "%*s%s", (int)owed, "", text);
            owed = 0;
        }
        owed += right ? 0 : pad;
    }
    ts_text_puts(out, "\n");
}

static const char *title_at(const struct ts_table *t, size_t index)
{
    return t->columns[index].title ? t->columns[index].title : "";
}

static const char *cell_at(const struct ts_table *t, size_t index)
{
    return index < t->cell_count ? t->cells[index] : "";
}

void ts_table_print(const struct ts_table *t, const char *indent, struct ts_text *out)
{
    size_t *widths = ts_alloc(t->column_count, sizeof(*widths));
    bool titled = false;
    for (size_t i = 0; i < t->column_count; i++) {
        titled = titled || t->columns[i].title;
        widths[i] = ts_text_columns(title_at(t, i));
    }
    for (size_t i = 0; i < t->cell_count; i++) {
        size_t columns = ts_text_columns(t->cells[i]);
        if (columns > widths[i % t->column_count])
            widths[i % t->column_count] = columns;
    }
    if (titled)
        print_row(t, widths, indent, title_at, 0, out);
    for (size_t i = 0; i < t->cell_count; i += t->column_count)
        print_row(t, widths, indent, cell_at, i, out);
    free(widths);
}

void ts_table_free(struct ts_table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->column_count; i++)
        free(t->columns[i].title);
    for (size_t i = 0; i < t->cell_count; i++)
        free(t->cells[i]);
    free(t->columns);
    free(t->cells);
    *t = (struct ts_table){0};
}

static const char *copy(char buffer[TS_HUMAN_ROOM], const struct ts_text *text)
{
    snprintf(buffer, TS_HUMAN_ROOM, "%s", text->text);
    return buffer;
}

/* Three significant digits without an exponent: value within [0, 10000). */
static int decimals(double value)
{
    return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

/* value * scale[i] with the unit prefix[i]: the largest scale that leaves at least 1. */
static const char *scaled(double value, const char *const *prefixes, size_t count, double step,
                          const char *unit, char buffer[TS_HUMAN_ROOM])
{
    size_t i = 0;
    while (i + 1 < count && value >= step * 0.9995) {
        value /= step;
        i++;
    }
    struct ts_text text = {0};
    ts_text_printf(&text, "%.*f %s%s", decimals(value), value, prefixes[i], unit);
    copy(buffer, &text);
    ts_text_free(&text);
    return buffer;
}

static const char *dash(char buffer[TS_HUMAN_ROOM])
{
    memcpy(buffer, "-", 2);
    return buffer;
}

const char *ts_human_time(double ns, char buffer[TS_HUMAN_ROOM])
{
    static const char *const prefixes[] = {"p", "n", "u", "m", ""};
    if (!isfinite(ns) || ns < 0)
        return dash(buffer);
    if (ns > 0 && ns < 0.9995)
        return scaled(ns * 1000, prefixes, TS_COUNT(prefixes), 1000, "s", buffer);
    return scaled(ns, prefixes + 1, TS_COUNT(prefixes) - 1, 1000, "s", buffer);
}

const char *ts_human_rate(double value, const char *unit, char buffer[TS_HUMAN_ROOM])
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    if (!isfinite(value) || value < 0)
        return dash(buffer);
    return scaled(value, prefixes, TS_COUNT(prefixes), 1000, unit, buffer);
}

const char *ts_human_bytes(int64_t bytes, char buffer[TS_HUMAN_ROOM])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    if (bytes < 0)
        return dash(buffer);
    double value = (double)bytes;
    size_t i = 0;
    while (i + 1 < TS_COUNT(units) && value >= 1024) {
        value /= 1024;
        i++;
    }
    struct ts_text text = {0};
    bool whole = value == floor(value);
    ts_text_printf(&text, "%.*f %s", whole ? 0 : decimals(value), value, units[i]);
    copy(buffer, &text);
    ts_text_free(&text);
    return buffer;
}

const char *ts_human_span(int64_t ns, char buffer[TS_HUMAN_ROOM])
{
    int64_t s = ns < 0 ? 0 : (ns + 500000000) / 1000000000;
    if (s < 60)
        snprintf(buffer, TS_HUMAN_ROOM, "%lld s", (long long)s);
    else if (s < 3600)
        snprintf(buffer, TS_HUMAN_ROOM, "%lld min %02lld s", (long long)(s / 60),
                 (long long)(s % 60));
    else
        snprintf(buffer, TS_HUMAN_ROOM, "%lld h %02lld min", (long long)(s / 3600),
                 (long long)(s % 3600 / 60));
    return buffer;
}
