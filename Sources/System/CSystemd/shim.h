/* Functions of sd-bus(3). The library is opened at run time: programs start without it, and neither its headers nor the library are needed
   to build them. */
#ifndef CSYSTEMD_SHIM_H
#define CSYSTEMD_SHIM_H

#include <dlfcn.h>
#include <stdint.h>

typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct sd_bus_error sd_bus_error;
typedef int (*csystemd_handler)(sd_bus_message *_Nonnull, void *_Nonnull, sd_bus_error *_Nonnull);

/* The result, the name without the prefix sd_bus_, and the parameters of each function. */
#define CSYSTEMD_FUNCTIONS(F) \
    F(int, new, (sd_bus *_Nullable *_Nonnull)) \
    F(int, set_address, (sd_bus *_Nonnull, const char *_Nonnull)) \
    F(int, set_bus_client, (sd_bus *_Nonnull, int)) \
    F(int, negotiate_fds, (sd_bus *_Nonnull, int)) \
    F(int, start, (sd_bus *_Nonnull)) \
    F(void, close, (sd_bus *_Nonnull)) \
    F(sd_bus *_Nullable, unref, (sd_bus *_Nonnull)) \
    F(int, request_name, (sd_bus *_Nonnull, const char *_Nonnull, uint64_t)) \
    F(int, add_object, (sd_bus *_Nonnull, void *_Nullable, const char *_Nonnull, csystemd_handler _Nonnull, void *_Nonnull)) \
    F(int, process, (sd_bus *_Nonnull, void *_Nullable)) \
    F(int, get_fd, (sd_bus *_Nonnull)) \
    F(int, get_events, (sd_bus *_Nonnull)) \
    F(int, get_timeout, (sd_bus *_Nonnull, uint64_t *_Nonnull)) \
    F(int, send, (sd_bus *_Nullable, sd_bus_message *_Nonnull, void *_Nullable)) \
    F(const char *_Nullable, message_get_sender, (sd_bus_message *_Nonnull)) \
    F(const char *_Nullable, message_get_interface, (sd_bus_message *_Nonnull)) \
    F(const char *_Nullable, message_get_member, (sd_bus_message *_Nonnull)) \
    F(int, message_has_signature, (sd_bus_message *_Nonnull, const char *_Nonnull)) \
    F(int, message_read_basic, (sd_bus_message *_Nonnull, char, void *_Nonnull)) \
    F(int, message_new_method_return, (sd_bus_message *_Nonnull, sd_bus_message *_Nullable *_Nonnull)) \
    F(int, message_new_signal, (sd_bus *_Nonnull, sd_bus_message *_Nullable *_Nonnull, const char *_Nonnull, const char *_Nonnull, \
                                const char *_Nonnull)) \
    F(int, message_open_container, (sd_bus_message *_Nonnull, char, const char *_Nonnull)) \
    F(int, message_close_container, (sd_bus_message *_Nonnull)) \
    F(int, message_append_basic, (sd_bus_message *_Nonnull, char, const void *_Nonnull)) \
    F(sd_bus_message *_Nullable, message_unref, (sd_bus_message *_Nonnull)) \
    F(int, error_set, (sd_bus_error *_Nonnull, const char *_Nonnull, const char *_Nonnull))

struct csystemd {
#define CSYSTEMD_FIELD(result, name, parameters) result (*_Nonnull name) parameters;
    CSYSTEMD_FUNCTIONS(CSYSTEMD_FIELD)
};

/* Opens the library and finds all functions. Returns 0 if the library is missing or too old. */
static inline int csystemd_load(struct csystemd *_Nonnull functions) {
    void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
#define CSYSTEMD_FIND(result, name, parameters) \
    void *found_##name = dlsym(library, "sd_bus_" #name); \
    if (!found_##name) return 0; \
    functions->name = (result (*) parameters)found_##name;
    CSYSTEMD_FUNCTIONS(CSYSTEMD_FIND)
    return 1;
}

#endif
