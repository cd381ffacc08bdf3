package import Dispatch
package import Netlink

/// Everything the library learns of the network, it learns through a kernel. Tests play it.
package protocol Kernel: Sendable {
    /// Opens one network namespace for asking and listening, in the calling thread's namespace where none is named.
    func connect() throws(NetlinkError) -> any KernelConnection

    /// The unicast default routes of the tables that rules lead to, by family and table.
    ///
    /// This walks tables, over sockets of its own. It stands here and not with the connection because nothing that happens
    /// again and again may do so.
    func defaultRoutes() throws(NetlinkError) -> [DefaultRoute]

    /// Runs `changed` on `queue` when the namespace may have been deleted or made again; nil where it has no name.
    func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation?
}
