package import Dispatch
package import LinuxSupport
package import Netlink

/// Everything the library learns of the network, it learns through a kernel. Tests play it.
package protocol Kernel: Sendable {
    /// Opens a connection to one network namespace, that of the process where none is named.
    func connect() throws(NetlinkError) -> any KernelConnection

    /// The unicast default routes of the tables that rules lead to, by family and table.
    ///
    /// This walks tables, over sockets of its own. It stands here and not with the connection because nothing that happens
    /// again and again may do so.
    func defaultRoutes() throws(NetlinkError) -> [DefaultRoute]

    /// Runs `changed` on `queue` when the namespace may have been deleted or made again; nil where it has no name.
    func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation?
}

/// The seam: one network namespace, which any thread may ask, and which tells of changes.
///
/// Letting go of the connection closes its descriptors.
package protocol KernelConnection: KernelAnswering, AnyObject, Sendable {
    /// False once the namespace this was opened in is no longer the one it was opened by; holding on would keep a
    /// deleted namespace and its devices alive.
    var isCurrent: Bool { get }

    /// Begins to listen: `heard` runs on `queue` once for each burst of messages. A second call is a programming error.
    ///
    /// - Returns: The names of the groups that this kernel does not have.
    func listen(
        on queue: DispatchQueue,
        _ heard: @escaping @Sendable (EventBurst) -> Void
    ) throws(NetlinkError) -> [String]

    /// Whether more was announced than the listener has been told of: what was answered last may come from that.
    var hasEvents: Bool { get }

    /// Whether the listener may be about to receive events that were read already.
    var isDelivering: Bool { get }

    /// Says which routes are to be heard of, from now on until it is said again or the connection is let go; nil for all.
    /// Every other message is heard of in any case.
    func setFilter(_ filter: RouteFilter?) throws(NetlinkError)

    /// Listens no more. `heard` may still run once if it is just starting.
    func stopListening()
}

extension KernelConnection {
    /// No events are read before the listener receives them.
    package var isDelivering: Bool { false }
}
