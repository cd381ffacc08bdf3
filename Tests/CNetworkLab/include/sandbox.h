#ifndef C_NETWORK_LAB_SANDBOX_H
#define C_NETWORK_LAB_SANDBOX_H

/// Puts the calling thread, and all it starts from now on, into a sandbox that asks before it opens a netlink socket.
/// The descriptor to answer on, closed in children; see seccomp(2), SECCOMP_FILTER_FLAG_NEW_LISTENER.
int lab_sandbox_enter(void);

/// Waits up to so many milliseconds for one question. Denies it with an error number, or allows it if that is 0.
/// Returns 1 for a question answered, 0 when none came, -1 when nobody is left to ask.
int lab_sandbox_answer(int sandbox, int error, int milliseconds);

#endif
