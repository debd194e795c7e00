#pragma once
#ifndef REAL
#define REAL float
#endif

static REAL twice(REAL x)
{
    return x + x;
}
