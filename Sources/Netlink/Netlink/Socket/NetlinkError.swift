package import LinuxSupport

/// A netlink socket that could not be used: what was tried and what the system said.
package struct NetlinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What stood in the way.
    package enum Stage: Hashable, Sendable {
        /// The network namespace could not be entered: it is missing, or entering it is not permitted.
        case namespace
        /// The socket could not be opened, or did not answer.
        case socket
        /// The kernel took no filter; the socket hears everything.
        case filter
    }

    /// What was tried, as it follows "cannot", for example `open a netlink socket`.
    package let attempt: String

    /// What the system said.
    package let cause: SystemError

    package let stage: Stage

    /// What the attempt would have needed, where that is known to be missing.
    package let capability: Capability?

    package init(_ attempt: String, _ cause: SystemError, stage: Stage = .socket, capability: Capability? = nil) {
        self.capability = capability
        self.attempt = attempt
        self.cause = cause
        self.stage = stage
    }

    package init(_ error: NamespaceError) {
        self.init(
            error.attempt,
            error.cause,
            stage: error.isShortage ? .socket : .namespace,
            capability: error.capability
        )
    }

    /// A namespace may have any name, so the attempt is shown escaped.
    package var description: String { "cannot \(attempt.printable): \(cause)" }
}

extension NamespaceEntry {
    /// Asks the kernel on a thread of its own inside a namespace, and tells `body` which one that is.
    package static func ask<Value: Sendable>(
        inside namespace: NamespaceReference,
        _ body: @escaping @Sendable (NamespaceIdentity) throws(NetlinkError) -> Value
    ) throws(NetlinkError) -> Value {
        let answer: Result<Value, NetlinkError>
        do throws(NamespaceError) {
            answer = try run(inside: namespace) { identity in
                Result { () throws(NetlinkError) in try body(identity) }
            }
        } catch {
            throw NetlinkError(error)
        }
        return try answer.get()
    }
}
