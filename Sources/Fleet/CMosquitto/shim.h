/* libmosquitto, by its own headers. */
#ifndef CMOSQUITTO_SHIM_H
#define CMOSQUITTO_SHIM_H

#include <dlfcn.h>
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* Keeps OpenSSL, which libmosquitto uses, from freeing all it has when the program ends: the thread of a connection may still work with
   it. To be called before any other function of OpenSSL. The number is OPENSSL_INIT_NO_ATEXIT of OPENSSL_init_crypto(3). */
static inline void cmosquitto_keep_openssl(void) {
    int (*initialize)(uint64_t, const void *) = (int (*)(uint64_t, const void *))dlsym(NULL, "OPENSSL_init_crypto");
    if (initialize) initialize(0x00080000, NULL);
}

/* The number of connect(2), which Swift cannot import. */
enum { cmosquitto_connect_number = SYS_connect };

#endif
