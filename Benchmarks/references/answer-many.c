/* Accepts connections on port 80 of all addresses, responds to each request with 204, and exits at the end of its standard input. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void) {
    static const char answer[] = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(80)};
    if (bind(listener, (struct sockaddr *)&any, sizeof any) < 0 || listen(listener, 4096) < 0) {
        perror("listen");
        return 1;
    }
    int queue = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(queue, EPOLL_CTL_ADD, listener, &event);
    event.data.fd = 0;
    epoll_ctl(queue, EPOLL_CTL_ADD, 0, &event);
    puts("ready");
    fflush(stdout);
    struct epoll_event events[256];
    while (1) {
        int some = epoll_wait(queue, events, 256, -1);
        for (int i = 0; i < some; i++) {
            int fd = events[i].data.fd;
            if (fd == 0) return 0;
            if (fd == listener) {
                int next;
                while ((next = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
                    event.data.fd = next;
                    epoll_ctl(queue, EPOLL_CTL_ADD, next, &event);
                }
                continue;
            }
            char text[2048];
            ssize_t size = recv(fd, text, sizeof text, 0);
            if (size > 0) send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL);
            if (size < 0 && errno == EAGAIN) continue;
            close(fd);
        }
    }
}
