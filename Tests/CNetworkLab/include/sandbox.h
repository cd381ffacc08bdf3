#ifndef C_NETWORK_LAB_SANDBOX_H
#define C_NETWORK_LAB_SANDBOX_H

/// Puts the calling thread, and all threads and processes that it starts later, into a sandbox that asks before it opens a netlink socket.
/// Returns the descriptor for the answers, which child processes do not inherit; see seccomp(2), SECCOMP_FILTER_FLAG_NEW_LISTENER.
int lab_sandbox_enter(void);

/// Waits at most `milliseconds` for one question. Denies it with an error number, or allows it if the number is 0.
/// Returns 1 after an answer, 0 if there was no question, and -1 if no process of the sandbox is left.
int lab_sandbox_answer(int sandbox, int error, int milliseconds);

#endif
