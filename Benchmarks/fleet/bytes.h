/* A growable byte buffer, and clocks. */
#ifndef BYTES_H
#define BYTES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct bytes {
    unsigned char *data;
    size_t count, room;
};

static inline void die(const char *what) {
    perror(what);
    exit(71);
}

/* Reserves space for `more` bytes at the end, and returns its address. */
static inline unsigned char *bytes_room(struct bytes *bytes, size_t more) {
    if (bytes->count + more > bytes->room) {
        bytes->room = bytes->room * 2 > bytes->count + more ? bytes->room * 2 : bytes->count + more;
        bytes->data = realloc(bytes->data, bytes->room);
        if (!bytes->data) die("realloc");
    }
    return bytes->data + bytes->count;
}

static inline void bytes_add(struct bytes *bytes, const void *data, size_t count) {
    if (count == 0) return;
    memcpy(bytes_room(bytes, count), data, count);
    bytes->count += count;
}

/* Removes the first `count` bytes. An empty buffer is freed: nearly all of the ten thousand connections have nothing to send or to
   parse. */
static inline void bytes_drop(struct bytes *bytes, size_t count) {
    bytes->count -= count;
    if (bytes->count == 0) {
        free(bytes->data);
        *bytes = (struct bytes){0};
    } else if (count > 0) {
        memmove(bytes->data, bytes->data + count, bytes->count);
    }
}

static inline int64_t clock_now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* CLOCK_MONOTONIC in nanoseconds. */
static inline int64_t now(void) { return clock_now(CLOCK_MONOTONIC); }

enum { millisecond = 1000000, second = 1000000000 };

#endif
