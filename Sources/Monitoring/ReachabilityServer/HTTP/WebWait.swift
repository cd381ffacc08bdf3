import LinuxSupport

/// An answer that is waited for: it is made when there is something to tell, when a time is up, or when the server ends.
package struct WebWait: Sendable {
    /// Begins to wait, and calls back once, on any thread, when the answer is to be made. What is returned ends the wait before; it is
    /// also called when the client has gone away.
    let begin: @Sendable (_ done: @escaping @Sendable () -> Void) -> Cancellation
    /// Makes the answer, on the server's thread.
    let answer: @Sendable () -> WebAnswer
}
