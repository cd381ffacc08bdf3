#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int lab_sandbox_enter(void) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof program / sizeof *program, .filter = program};
    // Without this flag, only root may install a filter. With it, set-user-ID programs started here get no privileges.
    if (geteuid() != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
}

int lab_sandbox_answer(int sandbox, int error, int milliseconds) {
    struct pollfd event = {.fd = sandbox, .events = POLLIN};
    int ready = poll(&event, 1, milliseconds);
    if (ready <= 0) return ready < 0 && errno != EINTR ? -1 : 0;
    if (!(event.revents & POLLIN)) return -1;
    struct seccomp_notif question;
    memset(&question, 0, sizeof question);
    if (ioctl(sandbox, SECCOMP_IOCTL_NOTIF_RECV, &question) < 0) return errno == ENOENT || errno == EINTR ? 0 : -1;
    struct seccomp_notif_resp answer = {.id = question.id, .error = -error};
    if (error == 0) answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    // The asking process may have been killed in the meantime.
    if (ioctl(sandbox, SECCOMP_IOCTL_NOTIF_SEND, &answer) < 0) return errno == ENOENT ? 0 : -1;
    return 1;
}
