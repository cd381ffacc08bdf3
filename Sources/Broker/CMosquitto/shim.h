/* libmosquitto, by its own headers. */
#ifndef CMOSQUITTO_SHIM_H
#define CMOSQUITTO_SHIM_H

#include <dlfcn.h>
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <stddef.h>
#include <stdint.h>

/* OpenSSL, which libmosquitto brings along, frees all it has when the program ends, also what the thread of a connection works with.
   Before anything else of it is called. OPENSSL_init_crypto(3), OPENSSL_INIT_NO_ATEXIT. */
static inline void cmosquitto_keep_openssl(void) {
    int (*initialize)(uint64_t, const void *) = (int (*)(uint64_t, const void *))dlsym(NULL, "OPENSSL_init_crypto");
    if (initialize) initialize(0x00080000, NULL);
}

#endif
