package import Dispatch
package import Netlink

/// The seam: everything the library learns of the network, it learns through a kernel. Tests play it.
package protocol Kernel: Sendable {
    /// Opens one network namespace for asking and listening, in the calling thread's namespace where none is named.
    func connect() throws(NetlinkError) -> any KernelConnection

    /// Runs `changed` on `queue` when the namespace may have been deleted or made again; nil where it has no name.
    func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation?
}
