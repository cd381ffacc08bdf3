/// A netlink socket that could not be used: what was tried and what the system said.
package struct NetlinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried, as it follows "cannot", for example `open a netlink socket`.
    package let attempt: String

    /// What the system said.
    package let cause: SystemError

    package init(_ attempt: String, _ cause: SystemError) {
        self.attempt = attempt
        self.cause = cause
    }

    package var description: String { "cannot \(attempt): \(cause)" }
}
