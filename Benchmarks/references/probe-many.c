/* The minimal check of many hosts: sends COUNT echo requests, connections, or HTTP/1.1 requests that expect 204, to consecutive addresses
   from ADDRESS on, many at a time. Prints the number of successes.

   usage: probe-many echo|connect|request ADDRESS COUNT */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { batch = 64, window = 256 };

static struct sockaddr_in address_of(const char *first, unsigned index, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, first, &address.sin_addr);
    address.sin_addr.s_addr = htonl(ntohl(address.sin_addr.s_addr) + index);
    return address;
}

static unsigned echo(const char *first, unsigned count) {
    int fd = socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
    int size = 8 << 20;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
    struct { struct icmphdr head; char rest[56]; } packets[batch] = {0};
    char answers[batch][128];
    struct sockaddr_in names[batch];
    struct iovec parts[batch], rooms[batch];
    struct mmsghdr out[batch] = {0}, in[batch] = {0};
    unsigned sent = 0, answered = 0, silent = 0;
    while (answered < count && silent < 1000) {
        unsigned some = count - sent < batch ? count - sent : batch;
        for (unsigned i = 0; i < some; i++) {
            names[i] = address_of(first, sent + i, 0);
            packets[i].head = (struct icmphdr){.type = ICMP_ECHO, .un.echo.sequence = htons(sent + i)};
            parts[i] = (struct iovec){&packets[i], sizeof packets[i]};
            out[i].msg_hdr = (struct msghdr){.msg_name = &names[i], .msg_namelen = sizeof names[i], .msg_iov = &parts[i], .msg_iovlen = 1};
        }
        if (some > 0) {
            int done = sendmmsg(fd, out, some, 0);
            if (done > 0) sent += done;
        }
        for (unsigned i = 0; i < batch; i++) {
            rooms[i] = (struct iovec){answers[i], sizeof answers[i]};
            in[i].msg_hdr = (struct msghdr){.msg_iov = &rooms[i], .msg_iovlen = 1};
        }
        int got = recvmmsg(fd, in, batch, MSG_DONTWAIT, NULL);
        if (got > 0) {
            answered += got;
            silent = 0;
        } else if (sent == count) {
            silent++;
            usleep(1000);
        }
    }
    return answered;
}

static unsigned connections(const char *first, unsigned count, int asks) {
    static const char request[] = "GET / HTTP/1.1\r\nHost: bench\r\nConnection: close\r\nUser-Agent: probe-many\r\nAccept: */*\r\n\r\n";
    int queue = epoll_create1(EPOLL_CLOEXEC);
    unsigned begun = 0, ended = 0, answered = 0;
    struct epoll_event events[window];
    while (ended < count) {
        while (begun < count && begun - ended < window) {
            struct sockaddr_in address = address_of(first, begun, 80);
            int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
            if (fd < 0 || (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS)) {
                perror("connect");
                exit(1);
            }
            struct epoll_event event = {.events = EPOLLOUT, .data.u32 = fd};
            epoll_ctl(queue, EPOLL_CTL_ADD, fd, &event);
            begun++;
        }
        int some = epoll_wait(queue, events, window, 5000);
        if (some <= 0) break;
        for (int i = 0; i < some; i++) {
            int fd = events[i].data.u32, isOver = 1;
            if (events[i].events & EPOLLOUT) {
                struct tcp_info info;
                socklen_t length = sizeof info;
                getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length);
                if (asks) {
                    isOver = send(fd, request, sizeof request - 1, MSG_NOSIGNAL) < 0;
                    struct epoll_event event = {.events = EPOLLIN, .data.u32 = fd};
                    epoll_ctl(queue, EPOLL_CTL_MOD, fd, &event);
                } else {
                    answered += !(events[i].events & EPOLLERR);
                }
            } else {
                char text[512];
                ssize_t size = recv(fd, text, sizeof text, 0);
                answered += size > 12 && memcmp(text + 9, "204", 3) == 0;
            }
            if (isOver) {
                struct linger now = {1, 0};
                setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
                close(fd);
                ended++;
            }
        }
    }
    return answered;
}

int main(int count, char **words) {
    if (count != 4) return 64;
    unsigned number = atoi(words[3]);
    unsigned answered = strcmp(words[1], "echo") == 0 ? echo(words[2], number)
                                                      : connections(words[2], number, strcmp(words[1], "request") == 0);
    printf("%u\n", answered);
    return answered == number ? 0 : 1;
}
