import LinuxPrimitives

extension StatusFailure {
    /// An answer with these header fields.
    ///
    /// - Parameters:
    ///   - status: The status of the answer.
    ///   - retryAfter: The field Retry-After, if there is one.
    ///   - date: The field Date; where it is missing or wrong, dates are counted from this machine's time.
    package init(status: Int, retryAfter: String?, date: String?) {
        guard let retryAfter else {
            self.init(status: status)
            return
        }
        let here = SystemClock.real.components.seconds
        let now = date.flatMap { HTTPDate.secondsSince1970($0, now: here) } ?? here
        self.init(status: status, retryAfter: RetryAfter.wait(retryAfter, now: now))
    }
}
