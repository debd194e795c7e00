/* version.c: the only file that is compiled again when the revision changes. */
#include "version.h"

#include "revision.h"

const char *ts_version(void)
{
    return TS_VERSION;
}

const char *ts_revision(void)
{
    return TS_REVISION;
}
