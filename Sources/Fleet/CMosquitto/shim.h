/* The headers of libmosquitto. */
#ifndef CMOSQUITTO_SHIM_H
#define CMOSQUITTO_SHIM_H

#include <dlfcn.h>
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* Prevents OpenSSL, which libmosquitto uses, from freeing its memory at exit, because the thread of a connection may still
   use it. Call it before any other function of OpenSSL. 0x00080000 is OPENSSL_INIT_NO_ATEXIT of OPENSSL_init_crypto(3). */
static inline void cmosquitto_keep_openssl(void) {
    int (*initialize)(uint64_t, const void *) = (int (*)(uint64_t, const void *))dlsym(NULL, "OPENSSL_init_crypto");
    if (initialize) initialize(0x00080000, NULL);
}

/* The system call number of connect(2). Swift cannot import the macro. */
enum { cmosquitto_connect_number = SYS_connect };

#endif
