import CLinux
import Glibc

/// Entering other network namespaces, always on a thread that ends there.
///
/// C counterpart: `setns(2)` with CLONE_NEWNET.
package enum NamespaceEntry {
    /// Runs `body` on a thread of its own inside a namespace, and tells it which one that is: what leads there may lead
    /// elsewhere a moment later. A socket opened there stays there.
    package static func run<Value: Sendable>(
        inside namespace: NamespaceReference,
        _ body: @escaping @Sendable (NamespaceIdentity) -> Value
    ) throws(NamespaceError) -> Value {
        let outcome: Result<Value, NamespaceError>
        do {
            outcome = try Thread.run {
                Result { () throws(NamespaceError) in try enter(namespace) }.map(body)
            }
        } catch {
            throw NamespaceError(
                "start a thread to enter the network namespace \(namespace.path)",
                error,
                isShortage: true
            )
        }
        return try outcome.get()
    }

    /// Moves the calling thread into a namespace, and says which one it is. It must be about to end, or be the only one of a program
    /// that stays there.
    @discardableResult
    package static func enter(_ namespace: NamespaceReference) throws(NamespaceError) -> NamespaceIdentity {
        let file = try namespace.open()
        do throws(SystemError) {
            let identity = try NamespaceIdentity(of: file)
            try enter(file)
            return identity
        } catch {
            throw NamespaceError(
                "enter the network namespace \(namespace.path)",
                error,
                capability: error == .notPermitted ? .systemAdministration : nil
            )
        }
    }

    /// Moves the calling thread, which must be about to end, into a namespace by a descriptor of it.
    package static func enter(_ namespace: borrowing Descriptor) throws(SystemError) {
        guard clinux_setns(namespace.number, CInt(clinux_clone_newnet)) == 0 else {
            throw .current
        }
    }
}

/// A network namespace that could not be entered: what was tried and what the system said.
package struct NamespaceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried, as it follows "cannot", for example `find process 7`.
    package let attempt: String

    /// What the system said.
    package let cause: SystemError

    /// What the attempt would have needed, where that is known to be missing.
    package let capability: Capability?

    /// Whether nothing is wrong with the namespace; there is only no room to enter it now.
    package let isShortage: Bool

    package init(_ attempt: String, _ cause: SystemError, isShortage: Bool = false, capability: Capability? = nil) {
        (self.attempt, self.cause, self.isShortage, self.capability) = (attempt, cause, isShortage, capability)
    }

    /// A namespace may have any name, so the attempt is shown escaped.
    package var description: String { "cannot \(attempt.printable): \(cause)" }
}
