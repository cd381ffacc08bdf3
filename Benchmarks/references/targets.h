// The addresses of the command line, sorted, so that those of a prefix are adjacent.
#pragma once

#include "netlink.h"

/// The path of an address, without other state.
struct target {
    int family;
    unsigned char address[16];
    int reachable, interface;
};

struct targets {
    struct target *all;
    int count;
};

static inline size_t address_length(int family) { return family == AF_INET ? 4 : 16; }

static inline int compare_targets(const void *left, const void *right) {
    const struct target *a = left, *b = right;
    return a->family != b->family ? a->family - b->family : memcmp(a->address, b->address, 16);
}

static inline void add_target(struct targets *targets, const char *text) {
    struct target target = {.family = strchr(text, ':') ? AF_INET6 : AF_INET, .reachable = -1};
    if (inet_pton(target.family, text, target.address) != 1) {
        fprintf(stderr, "no address: %s\n", text);
        exit(64);
    }
    if ((targets->count & (targets->count + 1)) == 0) {  // Doubles: 1, 3, 7 ...
        targets->all = realloc(targets->all, (2 * targets->count + 1) * sizeof target);
        if (!targets->all) fail("realloc");
    }
    targets->all[targets->count++] = target;
}

/// Reads ADDRESS ..., or --file FILE with one address per line.
static inline struct targets read_targets(char **arguments) {
    struct targets targets = {0};
    for (; *arguments; arguments++) {
        if (strcmp(*arguments, "--file") != 0 || !arguments[1]) {
            add_target(&targets, *arguments);
            continue;
        }
        FILE *file = fopen(*++arguments, "r");
        if (!file) fail(*arguments);
        for (char line[128]; fgets(line, sizeof line, file);) {
            line[strcspn(line, "\n")] = 0;
            if (*line) add_target(&targets, line);
        }
        fclose(file);
    }
    if (targets.count) qsort(targets.all, targets.count, sizeof *targets.all, compare_targets);
    return targets;
}

/// Returns the first target that is not below the address.
static inline int lower_bound(const struct targets *targets, const struct target *key) {
    int low = 0, high = targets->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (compare_targets(&targets->all[middle], key) < 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

/// Finds the targets of a prefix: from `*first` up to, but not including, `*end`.
static inline void targets_within(const struct targets *targets, int family, const void *prefix, int length,
                                  int *first, int *end) {
    struct target key = {.family = family};
    memcpy(key.address, prefix, address_length(family));
    *first = lower_bound(targets, &key);
    // The start of the next prefix is the last address of this one plus one.
    for (int bit = length; bit < (int)address_length(family) * 8; bit++) key.address[bit / 8] |= 0x80 >> bit % 8;
    *end = lower_bound(targets, &key);
    if (*end < targets->count && compare_targets(&targets->all[*end], &key) == 0) ++*end;
}
