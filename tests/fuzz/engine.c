/* engine.c: joins a target to libFuzzer (-Dfuzz=true); see fuzz.h. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of just this length, so that a read beyond its NUL is seen. */
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    ts_fuzz_one(text, size);
    free(text);
    return 0;
}
