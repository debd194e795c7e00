/* json_private.h: shared by json*.c alone. */
#ifndef TS_JSON_PRIVATE_H
#define TS_JSON_PRIVATE_H

#include "json.h"

/* Length of the UTF-8 character at s of at most `left` bytes; 0 when it is none. */
size_t ts_utf8_length(const char *s, size_t left);
void ts_utf8_add(struct ts_text *out, unsigned long code);

#endif
