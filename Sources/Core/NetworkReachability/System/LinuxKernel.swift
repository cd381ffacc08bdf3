import Dispatch
import LinuxPrimitives
import Netlink

/// The kernel this process runs on.
struct LinuxKernel: Kernel {
    /// The network namespace to open; nil for the calling thread's.
    let namespace: NamespaceReference?

    /// Hears what passes the sockets; nil for nobody.
    let tap: (any NetlinkTap)?

    /// The calling thread's namespace when this was made. A retry may come from any thread, whose namespace would be another
    /// network altogether.
    private let home = NamespaceIdentity.current

    init(namespace: NamespaceReference?, tap: (any NetlinkTap)? = nil) {
        self.namespace = namespace
        self.tap = tap
    }

    func connect() throws(NetlinkError) -> any KernelConnection {
        guard let namespace else {
            try checkHome()
            return LinuxConnection(try RouteSockets(tap: tap))
        }
        // Its directory may have been away. Before the look, so that nothing falls in between.
        if namespace.process == nil { SharedFileWatch.shared.renew(namespace.path) }
        return try NamespaceEntry.run(inside: namespace) { identity in
            Result { () throws(NetlinkError) in
                LinuxConnection(try RouteSockets(tap: tap), namespace: namespace, identity: identity)
            }
        }
    }

    func defaultRoutes() throws(NetlinkError) -> [DefaultRoute] {
        guard let namespace else {
            try checkHome()
            return try DefaultRouteQuestion.ask()
        }
        return try NamespaceEntry.run(inside: namespace) { _ in
            Result { () throws(NetlinkError) in try DefaultRouteQuestion.ask() }
        }
    }

    private func checkHome() throws(NetlinkError) {
        guard NamespaceIdentity.current == home else {
            throw NetlinkError("return to the network namespace the manager was made in", .notPermitted)
        }
    }

    func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        guard let namespace else { return nil }
        guard let process = namespace.process else {
            return SharedFileWatch.shared.add(namespace.path, on: queue, changed)
        }
        return ReadSource.watchOnce(process.descriptor, of: process, on: queue, changed)
    }
}
