import CLinux
import Glibc
import LinuxPrimitives

/// Entering other network namespaces, always on a thread that ends there.
///
/// C counterpart: `setns(2)` with CLONE_NEWNET.
package enum NamespaceEntry {
    /// Runs `body` on a thread of its own inside the namespace at `path`; a socket opened there stays there.
    package static func run<Value: Sendable>(
        inside path: String,
        _ body: @escaping @Sendable () -> Result<Value, NetlinkError>
    ) throws(NetlinkError) -> Value {
        try run(inside: NamespaceReference(path: path)) { _ in body() }
    }

    /// Runs `body` on a thread of its own inside a namespace, and tells it which one that is: what leads there may lead
    /// elsewhere a moment later.
    package static func run<Value: Sendable>(
        inside namespace: NamespaceReference,
        _ body: @escaping @Sendable (NamespaceIdentity) -> Result<Value, NetlinkError>
    ) throws(NetlinkError) -> Value {
        let outcome: Result<Value, NetlinkError>
        do {
            outcome = try Thread.run {
                Result { () throws(NetlinkError) in try enter(namespace) }.flatMap(body)
            }
        } catch {
            throw NetlinkError("start a thread to enter the network namespace \(namespace.path)", error)
        }
        return try outcome.get()
    }

    /// Moves the calling thread into a namespace, and says which one it is. It must be about to end, or be the only one of a program
    /// that stays there.
    @discardableResult
    package static func enter(_ namespace: NamespaceReference) throws(NetlinkError) -> NamespaceIdentity {
        let file = try namespace.open()
        do throws(SystemError) {
            let identity = try NamespaceIdentity(of: file)
            try enter(file)
            return identity
        } catch {
            throw NetlinkError(
                "enter the network namespace \(namespace.path)",
                error,
                stage: .namespace,
                capability: error == .notPermitted ? .systemAdministration : nil
            )
        }
    }

    /// Moves the calling thread, which must be about to end, into a namespace by a descriptor of it.
    static func enter(_ namespace: borrowing Descriptor) throws(SystemError) {
        guard clinux_setns(namespace.number, CInt(clinux_clone_newnet)) == 0 else {
            throw .current
        }
    }
}
