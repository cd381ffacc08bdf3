/* Simulates many machines of a fleet in one thread. They exchange the same MQTT messages with a broker as the agent. Reads commands from
   standard input, one a line, and answers each with a line of JSON.

   usage: fleet-devices PORT [--count N] [--sites N] [--version 4|5] [--keepalive SECONDS] [--refresh SECONDS] [--will-delay SECONDS]
                        [--jitter MILLISECONDS] [--at-once N] [--tls AUTHORITY CERTIFICATE KEY] [--watch]

   connect FIRST COUNT MILLISECONDS   connects machines, each after a random delay of at most this
   drop FIRST COUNT                   closes their connections without DISCONNECT
   leave FIRST COUNT                  publishes their state `leaving`, and disconnects them
   reboot FIRST COUNT                 simulates a restart: a new boot ID and an empty log
   begin FIRST COUNT CAUSE            starts an outage of each
   end FIRST COUNT                    ends their last outage
   skew FIRST COUNT SECONDS           sets their clocks ahead
   flood FIRST RATE SECONDS           lets one machine send RATE messages per second
   settle SECONDS                     waits until no machine has anything to do, or until the timeout
   until KIND COUNT SECONDS           waits until the watcher has received COUNT messages, or until the timeout
   mark                               resets the counts and times of the watcher
   count                              prints the counts */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "watcher.h"

enum { tick = 10 * millisecond };

struct settings settings = {.count = 10000, .sites = 100, .version = 5, .keepalive = 60, .refresh = 900, .will_delay = 30, .jitter = 5000, .at_once = 64};
struct counts counts;
static struct device *devices;
static struct watcher watcher;
static int is_watched;
/* CLOCK_MONOTONIC of the last mark, and the deadline of a command that waits. */
static int64_t marked, deadline;
static enum { nobody, everybody, somebody } awaited;
static int awaited_kind;
static unsigned awaited_count;

static void answer(const char *command, int is_done) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double processor = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    printf("{\"command\":\"%s\",\"done\":%s,\"seconds\":%.3f,\"cpu\":%.3f,\"connected\":%u,\"connecting\":%u,\"lost\":%u,\"refused\":%u,"
           "\"sent\":%u,\"acknowledged\":%u,\"flooded\":%u,\"replayed\":%u",
           command, is_done ? "true" : "false", (now() - marked) / 1e9, processor, counts.connected, counts.connecting, counts.lost, counts.refused,
           counts.sent, counts.acknowledged, counts.flooded, counts.replayed);
    for (int kind = 0; is_watched && kind < heard_kinds; kind++) printf(",\"%s\":%u", heard_names[kind], watcher.heard[kind]);
    if (is_watched)
        printf(",\"doubled\":%u,\"missed\":%u,\"median\":%u,\"p99\":%u,\"longest\":%u", watcher.doubled, watcher.missed,
               watcher_delay(&watcher, 0.5), watcher_delay(&watcher, 0.99), watcher_delay(&watcher, 1));
    puts("}");
    fflush(stdout);
}

static void mark(void) {
    marked = now();
    watcher_mark(&watcher);
}

/* Runs a command. `settle` and `until` are answered later. */
static void obey(const char *line) {
    char name[16] = "", third[24] = "", kind[16];
    unsigned first = 0, count = 0;
    int found = sscanf(line, "%15s %u %u %23s", name, &first, &count, third);
    if (sscanf(line, "until %15s %u %23s", kind, &awaited_count, third) == 3) {
        for (awaited_kind = 0; awaited_kind < heard_kinds && strcmp(kind, heard_names[awaited_kind]); awaited_kind++) {}
        if (awaited_kind < heard_kinds) {
            awaited = somebody;
            deadline = now() + (int64_t)(atof(third) * second);
            return;
        }
    }
    if (strcmp(name, "settle") == 0) {
        awaited = everybody;
        deadline = now() + first * (int64_t)second;
        return;
    }
    if (strcmp(name, "count") != 0) mark();
    int is_known = strcmp(name, "mark") == 0 || strcmp(name, "count") == 0;
    if (strcmp(name, "flood") == 0 && found == 4 && first < settings.count) {
        struct device *device = &devices[first];
        device->flood = count;
        device->flood_begun = now();
        device->flood_end = device->flood_begun + (int64_t)(atof(third) * second);
        device->flood_sent = 0;
        is_known = 1;
        count = 0;
    }
    const char *cause = strdup(third);
    for (unsigned index = first; found >= 3 && index < first + count && index < settings.count; index++) {
        struct device *device = &devices[index];
        is_known = 1;
        if (strcmp(name, "connect") == 0) device_return(device, atoi(third));
        else if (strcmp(name, "drop") == 0) device_drop(device);
        else if (strcmp(name, "leave") == 0) device_leave(device);
        else if (strcmp(name, "reboot") == 0) device_reboot(device);
        else if (strcmp(name, "begin") == 0) device_begin(device, cause);
        else if (strcmp(name, "end") == 0) device_end(device);
        else if (strcmp(name, "skew") == 0) device->skew = atoll(third) * 1000;
        else is_known = 0;
    }
    answer(name, is_known);
}

static void read_commands(void) {
    static char line[256];
    static size_t used;
    ssize_t got = read(0, line + used, sizeof line - 1 - used);
    if (got <= 0) exit(0);
    used += got;
    line[used] = 0;
    char *end = strchr(line, '\n');
    if (!end) return;
    *end = 0;
    obey(line);
    used = 0;
}

static void connect_some(int64_t time) {
    static unsigned next;
    for (unsigned seen = 0; seen < settings.count && counts.waiting > 0 && counts.connecting < settings.at_once; seen++, next = (next + 1) % settings.count)
        if (devices[next].phase == waiting && devices[next].due <= time) device_connect(&devices[next]);
}

static void pass(int64_t time) {
    static int64_t last;
    if (time - last < tick) return;
    last = time;
    unsigned busy = is_watched && !watcher.is_ready;
    for (unsigned index = 0; index < settings.count; index++) {
        device_tick(&devices[index], time);
        busy += !device_rests(&devices[index]);
    }
    connect_some(time);
    if (is_watched && watcher.link.phase == link_closed) watcher_connect(&watcher);
    int is_done = awaited == everybody ? busy == 0 : awaited == somebody && watcher.heard[awaited_kind] >= awaited_count;
    if (awaited != nobody && (is_done || time >= deadline)) {
        answer(awaited == everybody ? "settle" : "until", is_done);
        awaited = nobody;
    }
}

static SSL_CTX *secure(const char *authority, const char *certificate, const char *key) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (!context || SSL_CTX_load_verify_file(context, authority) != 1 || SSL_CTX_use_certificate_chain_file(context, certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) {
        fprintf(stderr, "fleet-devices: cannot use %s, %s and %s\n", authority, certificate, key);
        exit(66);
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    return context;
}

static void configure(int count, char **arguments) {
    struct { const char *name; unsigned *value; } numbers[] = {
        {"--count", &settings.count}, {"--sites", &settings.sites}, {"--version", (unsigned *)&settings.version},
        {"--keepalive", &settings.keepalive}, {"--refresh", &settings.refresh}, {"--will-delay", &settings.will_delay},
        {"--jitter", &settings.jitter}, {"--at-once", &settings.at_once},
    };
    if (count < 2) goto usage;
    settings.broker = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(atoi(arguments[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int at = 2; at < count; at++) {
        int is_known = 0;
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers && at + 1 < count && !is_known; n++)
            if ((is_known = strcmp(arguments[at], numbers[n].name) == 0)) *numbers[n].value = atoi(arguments[++at]);
        if (is_known) continue;
        if (strcmp(arguments[at], "--watch") == 0) is_watched = 1;
        else if (strcmp(arguments[at], "--tls") == 0 && at + 3 < count) {
            settings.tls = secure(arguments[at + 1], arguments[at + 2], arguments[at + 3]);
            at += 3;
        } else goto usage;
    }
    if (settings.count > 0 && settings.sites > 0 && settings.keepalive > 0 && settings.refresh > 0) return;
usage:
    fputs("usage: fleet-devices PORT [OPTIONS]; its source says which\n", stderr);
    exit(64);
}

int main(int count, char **arguments) {
    signal(SIGPIPE, SIG_IGN);
    configure(count, arguments);
    struct rlimit files = {settings.count + 100, settings.count + 100};
    if (setrlimit(RLIMIT_NOFILE, &files) < 0) die("setrlimit");
    settings.epoll = epoll_create1(EPOLL_CLOEXEC);
    settings.run = 0x10000000 + (unsigned)clock_now(CLOCK_REALTIME) % 0x10000000;
    srand48(settings.run);
    devices = calloc(settings.count, sizeof *devices);
    watcher.last = calloc(settings.count, sizeof *watcher.last);
    if (!devices || !watcher.last) die("calloc");
    for (unsigned index = 0; index < settings.count; index++) devices[index].index = index;
    struct epoll_event commands = {.events = EPOLLIN, .data.u32 = settings.count + 1}, events[256];
    epoll_ctl(settings.epoll, EPOLL_CTL_ADD, 0, &commands);
    while (1) {
        int ready = epoll_wait(settings.epoll, events, sizeof events / sizeof *events, 10);
        for (int n = 0; n < ready; n++) {
            unsigned index = events[n].data.u32;
            if (index < settings.count) {
                if (devices[index].link.phase != link_closed) device_work(&devices[index]);
            } else if (index == settings.count) {
                if (watcher.link.phase != link_closed) watcher_work(&watcher, devices);
            } else {
                read_commands();
            }
        }
        int64_t time = now();
        if (counts.connecting < settings.at_once) connect_some(time);
        pass(time);
    }
}
