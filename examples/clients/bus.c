/* Prints the state of the network and each change, as the service publishes it over D-Bus.
 *
 *   cc -o bus bus.c $(pkg-config --cflags --libs libsystemd)        Debian: gcc, pkg-config, libsystemd-dev
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define NAME "net.reachability.Monitor1"
#define PATH "/net/reachability/Monitor1"

static int print(sd_bus *bus) {
    char *status = NULL, *headline = NULL;
    int code = sd_bus_get_property_string(bus, NAME, PATH, NAME, "Status", NULL, &status);
    if (code >= 0) code = sd_bus_get_property_string(bus, NAME, PATH, NAME, "Headline", NULL, &headline);
    if (code >= 0) printf("%s: %s\n", status, headline);
    fflush(stdout);
    free(status);
    free(headline);
    return code;
}

static int changed(sd_bus_message *message, void *context, sd_bus_error *error) {
    (void)context, (void)error;
    print(sd_bus_message_get_bus(message));
    return 0;
}

int main(void) {
    sd_bus *bus = NULL;
    int code = sd_bus_open_system(&bus);
    /* Follow the changes first, then read the state, so that no change is missed. */
    if (code >= 0)
        code = sd_bus_match_signal(bus, NULL, NAME, PATH, "org.freedesktop.DBus.Properties", "PropertiesChanged", changed, NULL);
    if (code >= 0) code = print(bus);
    while (code >= 0) {
        code = sd_bus_process(bus, NULL);
        if (code == 0) code = sd_bus_wait(bus, UINT64_MAX);
    }
    fprintf(stderr, "bus: %s\n", strerror(-code));
    sd_bus_unref(bus);
    return 1;
}
