import CNetlink
import Glibc

/// Entering other network namespaces, always on a thread that ends there.
///
/// C counterpart: `setns(2)` with CLONE_NEWNET.
package enum NamespaceEntry {
    /// Runs `body` on a thread of its own inside the namespace at `path`; a socket opened there stays there.
    package static func run<Value: Sendable>(
        inside path: String,
        _ body: @escaping @Sendable () -> Result<Value, NetlinkError>
    ) throws(NetlinkError) -> Value {
        let outcome: Result<Value, NetlinkError>
        do {
            outcome = try Thread.run {
                do throws(SystemError) {
                    try enter(path)
                } catch {
                    return .failure(NetlinkError("enter the network namespace \(path)", error, stage: .namespace))
                }
                return body()
            }
        } catch {
            throw NetlinkError("start a thread to enter the network namespace \(path)", error)
        }
        return try outcome.get()
    }

    /// Moves the calling thread, which must be about to end, into the namespace at `path`.
    static func enter(_ path: String) throws(SystemError) {
        try enter(Descriptor.open(path))
    }

    /// Moves the calling thread, which must be about to end, into a namespace by a descriptor of it.
    static func enter(_ namespace: borrowing Descriptor) throws(SystemError) {
        guard cnetlink_setns(namespace.number, CInt(cnetlink_new_network_namespace)) == 0 else {
            throw .current
        }
    }
}
