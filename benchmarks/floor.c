/* The minimal work of an audit of records with two sensitive attributes, as `floors.py` calls it: records are packed,
   dealt to parts that hold equivalence classes whole, and counted, and every figure comes from one pass over the pairs
   of a class and a value. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 512, ATTRIBUTES = 2 };

static inline uint32_t part_of(uint32_t key) { return (key * 2654435769u) >> 23; }

/* One key of the codes of several columns, in mixed radix; how many records each part has. */
void pack(int64_t records, int columns, const uint8_t **codes, const uint32_t *radices, uint32_t *keys, int64_t *held) {
    for (int64_t i = 0; i < records; i++) {
        uint32_t key = 0;
        for (int c = 0; c < columns; c++) key = key * radices[c] + codes[c][i];
        keys[i] = key;
        held[part_of(key)]++;
    }
}

/* Records go to their parts, from `starts` on; `rank` has the place of each wide value among those that occur. */
void deal(int64_t records, const uint32_t *keys, const uint8_t *narrow, const uint32_t *wide, const uint32_t *rank,
          int64_t *starts, uint32_t *key_of, uint16_t **values) {
    for (int64_t i = 0; i < records; i++) {
        int64_t place = starts[part_of(keys[i])]++;
        key_of[place] = keys[i];
        values[0][place] = narrow[i];
        values[1][place] = (uint16_t)rank[wide[i]];
    }
}

/* The figures of one attribute: [pairs, least distinct, least entropy, largest t equal, largest t ordered]. */
static void measure(int64_t classes, const int64_t *ends, const uint16_t *sorted, int64_t values, const double *below,
                    const double *area, double *figures) {
    for (int64_t c = 0, start = 0; c < classes; start = ends[c++]) {
        double size = (double)(ends[c] - start), logs = 0, excess = 0, moved = 0, running = 0;
        int64_t distinct = 0, from = 0;  /* up to `from` the distance by rank is summed */
        for (int64_t i = start; i < ends[c];) {
            int64_t value = sorted[i], first = i;
            while (i < ends[c] && sorted[i] == value) i++;
            double count = (double)(i - first), share = count / size - (below[value + 1] - below[value]);
            if (distinct++ == 0) moved = area[value], from = value;
            logs += count * log(count);
            if (share > 0) excess += share;
            running += count / size;
            int64_t next = i < ends[c] ? sorted[i] : values - 1, low = from, high = next;
            while (low < high) {  /* from `low` on the reference is ahead */
                int64_t middle = (low + high) / 2;
                if (below[middle + 1] < running) low = middle + 1; else high = middle;
            }
            moved += running * (double)(2 * low - from - next) - (2 * area[low] - area[from] - area[next]);
            from = next;
        }
        double entropy = exp(log(size) - logs / size);
        figures[0] += (double)distinct;
        if (distinct < figures[1]) figures[1] = (double)distinct;
        if (entropy < figures[2]) figures[2] = entropy;
        if (excess > figures[3]) figures[3] = excess;
        if (moved / (double)(values - 1) > figures[4]) figures[4] = moved / (double)(values - 1);
    }
}

/* Some parts: their classes, the smallest, and the figures of both attributes. */
void count(int first, int last, const int64_t *offsets, const uint32_t *key_of, uint16_t *const *values,
           const int64_t *domains, const double *const *below, const double *const *area, double *classes_and_least,
           double *figures) {
    for (int part = first; part < last; part++) {
        int64_t start = offsets[part], records = offsets[part + 1] - start, classes = 0, cells = 16;
        while (cells < 2 * records) cells *= 2;
        uint32_t *table = malloc(cells * sizeof *table), *class_of = malloc((records + 1) * sizeof *class_of);
        uint32_t *keys = malloc((records + 1) * sizeof *keys), *order = malloc((records + 1) * sizeof *order);
        int64_t *ends = calloc(records + 1, sizeof *ends);
        uint16_t *sorted = malloc((records + 1) * sizeof *sorted);
        memset(table, 255, cells * sizeof *table);
        for (int64_t i = 0; i < records; i++) {
            uint32_t key = key_of[start + i];
            int64_t cell = (key * 2246822519u >> 7) & (cells - 1);
            while (table[cell] != UINT32_MAX && keys[table[cell]] != key) cell = (cell + 1) & (cells - 1);
            if (table[cell] == UINT32_MAX) keys[table[cell] = (uint32_t)classes++] = key;
            ends[class_of[i] = table[cell]]++;
        }
        for (int64_t c = 0; c < classes; c++)
            if (ends[c] < classes_and_least[1]) classes_and_least[1] = (double)ends[c];
        classes_and_least[0] += (double)classes;
        for (int a = 0; a < ATTRIBUTES; a++) {
            const uint16_t *codes = values[a] + start;
            int64_t *place = calloc(domains[a] + 1, sizeof *place), *into = malloc((classes + 1) * sizeof *into), sum = 0;
            for (int64_t i = 0; i < records; i++) place[codes[i] + 1]++;
            for (int64_t v = 0; v < domains[a]; v++) place[v + 1] += place[v];
            for (int64_t i = 0; i < records; i++) order[place[codes[i]]++] = (uint32_t)i;
            for (int64_t c = 0; c < classes; c++) into[c] = sum, sum += a ? ends[c] - (c ? ends[c - 1] : 0) : ends[c];
            for (int64_t i = 0; i < records; i++) sorted[into[class_of[order[i]]]++] = codes[order[i]];
            if (a == 0) memcpy(ends, into, classes * sizeof *ends);
            measure(classes, ends, sorted, domains[a], below[a], area[a], figures + 5 * a);
            free(place), free(into);
        }
        free(table), free(class_of), free(keys), free(order), free(ends), free(sorted);
    }
}
