/* store_sides.c: a run of `ab` taken apart into the two runs that it stands for. */
#include "store_private.h"

#include <stdlib.h>
#include <string.h>

bool ts_run_has_sides(const struct ts_run *run)
{
    for (size_t i = 0; i < run->row_count; i++)
        if (run->rows[i].side != TS_AB_NONE)
            return true;
    return run->sides != NULL;
}

/* What the run says of this side; NULL: nothing. */
static const cJSON *side_of(const struct ts_run *run, enum ts_ab side)
{
    return ts_json_get(run->sides, ts_ab_name(side));
}

/* The run's header as one of this side alone would have it. at: of the run's sides. */
static int split_header(const struct ts_run *run, enum ts_ab side, const struct ts_place *at,
                        struct ts_run *half, struct ts_err *err)
{
    static const struct ts_field fields[] = {{"measured", TS_FIELD_OBJECT, 0, 0}};
    const struct ts_place place = ts_place_key(at, ts_ab_name(side)),
                          below = ts_place_key(&place, "measured");
    const cJSON *item, *own = side_of(run, side), *measured = ts_json_get(own, "measured");
    if (own && ts_place_fields(&place, own, fields, TS_COUNT(fields), err) != 0)
        return -1;
    cJSON *header = ts_store_header_to_json(run, true);
    cJSON_DeleteItemFromObjectCaseSensitive(header, "sides");
    if (own)
        ts_json_add_item(header, "sides", cJSON_Duplicate(own, true));
    cJSON_ArrayForEach(item, measured)
    {
        cJSON_DeleteItemFromObjectCaseSensitive(header, item->string);
        ts_json_add_item(header, item->string, cJSON_Duplicate(item, true));
    }
    int result = ts_store_read_header(half, &below, header, err);
    cJSON_Delete(header);
    for (size_t i = 0; i < run->sentinel.count; i++)
        ts_sentinel_keep(&half->sentinel, &run->sentinel.points[i]);
    return result;
}

int ts_store_check_sides(const struct ts_run *run, const struct ts_place *at, struct ts_err *err)
{
    const struct ts_place place = ts_place_key(at, "sides");
    int result = 0;
    for (int i = 0; i < 2 && result == 0 && run->sides; i++) {
        struct ts_run half = {0};
        result = split_header(run, i == 0 ? TS_AB_A : TS_AB_B, &place, &half, err);
        ts_run_free(&half);
    }
    return result;
}

/* Moves the rows of a side; a row of neither stays and is dropped with the run. */
static void move_rows(struct ts_run *run, enum ts_ab side, const char *benchmark,
                      struct ts_run *half)
{
    for (size_t i = 0; i < run->row_count; i++) {
        struct ts_row *row = &run->rows[i];
        if (row->side != side)
            continue;
        size_t added = ts_run_add_row(half);
        half->rows[added] = *row;
        half->rows[added].side = TS_AB_NONE;
        ts_row_init(row);
        if (!benchmark)
            continue;
        free(half->rows[added].benchmark);
        half->rows[added].benchmark = ts_strdup(benchmark);
    }
}

int ts_run_split(struct ts_run *run, struct ts_run half[2], struct ts_err *err)
{
    const struct ts_place root = ts_place_root(run->id), at = ts_place_key(&root, "sides");
    int result = 0;
    memset(half, 0, 2 * sizeof(*half));
    for (int i = 0; i < 2 && result == 0; i++)
        result = split_header(run, i == 0 ? TS_AB_A : TS_AB_B, &at, &half[i], err);
    if (result == 0) {
        const char *benchmark = NULL;
        move_rows(run, TS_AB_A, NULL, &half[0]);
        if (half[0].row_count > 0)
            benchmark = half[0].rows[0].benchmark; /* a side is of one benchmark */
        move_rows(run, TS_AB_B, benchmark, &half[1]);
    } else {
        ts_run_free(&half[0]);
        ts_run_free(&half[1]);
    }
    ts_run_free(run);
    return result;
}

const char *ts_run_side_words(const struct ts_run *half)
{
    const char *comma = strrchr(half->device.name, ',');
    bool is = comma && (strcmp(comma, ", side a") == 0 || strcmp(comma, ", side b") == 0);
    return is ? comma + 2 : NULL;
}

static void name_side(struct ts_run *half, enum ts_ab side)
{
    char *name = ts_printf("%s, side %s", half->device.name, ts_ab_name(side));
    free(half->device.name);
    half->device.name = name;
}

int ts_results_split(struct ts_results *results, struct ts_err *err)
{
    struct ts_results split = {0};
    int result = 0;
    for (size_t i = 0; i < results->run_count && result == 0; i++) {
        struct ts_run *run = &results->runs[i], half[2];
        if (!ts_run_has_sides(run)) {
            *ts_results_add(&split) = *run;
            *run = (struct ts_run){0};
            continue;
        }
        result = ts_run_split(run, half, err);
        for (int s = 0; s < 2 && result == 0; s++) {
            name_side(&half[s], s == 0 ? TS_AB_A : TS_AB_B);
            *ts_results_add(&split) = half[s];
        }
    }
    ts_results_free(results);
    *results = split;
    return result;
}
