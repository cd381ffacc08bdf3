// GLib's GNetworkMonitor with its defaults. Prints a line for each of its change signals. Built if gio-2.0 is installed.
#include <gio/gio.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void changed(GNetworkMonitor *monitor, gboolean available, gpointer unused) {
    (void)monitor;
    (void)unused;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    char line[64];
    int length = snprintf(line, sizeof line, "%lld %s - - -\n", now.tv_sec * 1000000000LL + now.tv_nsec,
                          available ? "reachable" : "notReachable");
    if (write(STDOUT_FILENO, line, length) < 0) _exit(1);
}

int main(void) {
    g_setenv("GIO_USE_NETWORK_MONITOR", "netlink", TRUE);
    GNetworkMonitor *monitor = g_network_monitor_get_default();
    g_signal_connect(monitor, "network-changed", G_CALLBACK(changed), NULL);
    changed(monitor, g_network_monitor_get_network_available(monitor), NULL);
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
}
