// A complete monitor in C. It prints the current state, then reads all pending messages, queries the kernel, and prints changes.
// --paths: also prints changes of interface, gateway and source.
#include <poll.h>

#include "lookup.h"

static void drain(int events) {
    char message[32768];
    for (;;) {
        if (recv(events, message, sizeof message, MSG_DONTWAIT) >= 0 || errno == ENOBUFS || errno == EINTR) continue;
        if (errno == EAGAIN) return;
        fail("recv");
    }
}

int main(int count, char **arguments) {
    bool paths = count > 1 && strcmp(arguments[1], "--paths") == 0;
    int events = open_events(0), questions = open_netlink(0);
    int last_interface = 1;
    struct path told = evaluate(questions, last_interface);
    print_path(&told);
    for (;;) {
        struct pollfd wait = {.fd = events, .events = POLLIN};
        if (poll(&wait, 1, -1) < 0) continue;
        drain(events);
        struct path path = evaluate(questions, last_interface);
        if (path.interface) last_interface = path.interface;
        if (paths ? memcmp(&path, &told, sizeof path) == 0 : path.reachable == told.reachable) continue;
        told = path;
        print_path(&told);
    }
}
