// The cost of one evaluation of a chain of three certificates in OpenSSL, from DER to the result: signatures, times, purpose,
// strength and host. The store with the root is created once, as in a client. Prints the median in nanoseconds.
//
// usage: verify-chain DIRECTORY COUNT HOST TIME
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct der {
    unsigned char bytes[4096];
    long count;
};

static const char *const names[] = {"leaf", "intermediate", "root"};

static void fail(const char *what) {
    fprintf(stderr, "verify-chain: %s\n", what);
    exit(1);
}

static struct der read_file(const char *directory, const char *name) {
    struct der der;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.der", directory, name);
    FILE *file = fopen(path, "r");
    if (!file) fail(path);
    der.count = (long)fread(der.bytes, 1, sizeof der.bytes, file);
    fclose(file);
    return der;
}

static X509 *parse(const struct der *der) {
    const unsigned char *bytes = der->bytes;
    X509 *certificate = d2i_X509(NULL, &bytes, der->count);
    if (!certificate) fail("a certificate cannot be read");
    return certificate;
}

static void evaluate(X509_STORE *store, const struct der chain[3], const char *host, time_t now) {
    X509 *leaf = parse(&chain[0]);
    STACK_OF(X509) *sent = sk_X509_new_null();
    for (int place = 1; place < 3; place++) sk_X509_push(sent, parse(&chain[place]));

    X509_STORE_CTX *context = X509_STORE_CTX_new();
    if (!context || !X509_STORE_CTX_init(context, store, leaf, sent)) fail("no context");
    X509_VERIFY_PARAM *parameters = X509_STORE_CTX_get0_param(context);
    X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER);
    X509_VERIFY_PARAM_set_auth_level(parameters, 2);
    X509_VERIFY_PARAM_set_time(parameters, now);
    X509_VERIFY_PARAM_set1_host(parameters, host, strlen(host));
    if (X509_verify_cert(context) != 1) fail(X509_verify_cert_error_string(X509_STORE_CTX_get_error(context)));

    X509_STORE_CTX_free(context);
    sk_X509_pop_free(sent, X509_free);
    X509_free(leaf);
}

static int compare(const void *one, const void *other) {
    long long first = *(const long long *)one, second = *(const long long *)other;
    return (first > second) - (first < second);
}

static long long now_in_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 5) fail("usage: verify-chain DIRECTORY COUNT HOST TIME");
    struct der chain[3];
    for (int place = 0; place < 3; place++) chain[place] = read_file(argv[1], names[place]);
    int count = atoi(argv[2]);
    time_t now = (time_t)atoll(argv[4]);

    X509_STORE *store = X509_STORE_new();
    X509 *root = parse(&chain[2]);
    X509_STORE_add_cert(store, root);
    X509_free(root);

    long long *times = calloc((size_t)count, sizeof *times);
    if (count < 1 || !times) fail("no count");
    // The first tenth is not measured.
    for (int round = -count / 10 - 1; round < count; round++) {
        long long before = now_in_nanoseconds();
        evaluate(store, chain, argv[3], now);
        if (round >= 0) times[round] = now_in_nanoseconds() - before;
    }
    qsort(times, (size_t)count, sizeof *times, compare);
    printf("%lld\n", times[count / 2]);
    free(times);
    X509_STORE_free(store);
}
