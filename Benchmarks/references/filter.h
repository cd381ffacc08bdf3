// A classic BPF filter that drops route messages for prefixes that cover none of a few targets. It runs in the process that
// makes the change, before a message is queued. A dropped message wakes no process and fills no buffer.
#pragma once

#include <linux/filter.h>
#include <stddef.h>

#include "targets.h"

enum { FILTER_TARGETS = 24 };  // A jump skips at most 255 instructions.

/// For IPv6 only the first 32 bits are compared. The filter may accept irrelevant messages, but drops no relevant one.
static inline void attach_filter(int fd, const struct targets *targets) {
    enum { DESTINATION = 0, LENGTH = 1, ATTRIBUTES = NLMSG_HDRLEN + sizeof(struct rtmsg) };
    struct sock_filter program[32 + 2 * 16 + 5 * FILTER_TARGETS];
    int n = 0;
#define DO(code, k) program[n++] = (struct sock_filter)BPF_STMT(code, k)
#define IF(code, k, then, otherwise) program[n++] = (struct sock_filter)BPF_JUMP(code, k, then, otherwise)
#define PASS DO(BPF_RET | BPF_K, 0xffffffff)
    // The type is in the byte order of the machine. Loads use network byte order.
    DO(BPF_LD | BPF_H | BPF_ABS, offsetof(struct nlmsghdr, nlmsg_type));
    IF(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_NEWROUTE), 2, 0);
    IF(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_DELROUTE), 1, 0);
    PASS;
    DO(BPF_LD | BPF_B | BPF_ABS, NLMSG_HDRLEN + offsetof(struct rtmsg, rtm_dst_len));
    IF(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
    PASS;
    IF(BPF_JMP | BPF_JGT | BPF_K, 32, 0, 1);
    DO(BPF_LD | BPF_IMM, 32);
    DO(BPF_ST, LENGTH);
    // The offset of the destination, its first word, and in X the number of its bits that are not compared.
    DO(BPF_LD | BPF_IMM, ATTRIBUTES);
    DO(BPF_LDX | BPF_IMM, RTA_DST);
    DO(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_NLATTR);
    IF(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
    PASS;
    DO(BPF_MISC | BPF_TAX, 0);
    DO(BPF_LD | BPF_W | BPF_IND, sizeof(struct rtattr));
    DO(BPF_ST, DESTINATION);
    DO(BPF_LD | BPF_IMM, 32);
    DO(BPF_LDX | BPF_MEM, LENGTH);
    DO(BPF_ALU | BPF_SUB | BPF_X, 0);
    DO(BPF_MISC | BPF_TAX, 0);
    for (int set = 0; set < 2; set++) {
        int family = set == 0 ? AF_INET : AF_INET6;
        DO(BPF_LD | BPF_B | BPF_ABS, NLMSG_HDRLEN + offsetof(struct rtmsg, rtm_family));
        int skip = n;
        IF(BPF_JMP | BPF_JEQ | BPF_K, family, 0, 0);
        for (int i = 0; i < targets->count; i++) {
            uint32_t word;
            if (targets->all[i].family != family) continue;
            memcpy(&word, targets->all[i].address, sizeof word);
            DO(BPF_LD | BPF_MEM, DESTINATION);
            DO(BPF_ALU | BPF_XOR | BPF_K, ntohl(word));
            DO(BPF_ALU | BPF_RSH | BPF_X, 0);
            IF(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
            PASS;
        }
        program[skip].jf = n - skip - 1;
    }
    DO(BPF_RET | BPF_K, 0);
#undef PASS
#undef IF
#undef DO
    struct sock_fprog attached = {.len = n, .filter = program};
    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &attached, sizeof attached) < 0) fail("filter");
}
