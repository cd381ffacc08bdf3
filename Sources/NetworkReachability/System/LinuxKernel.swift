import Dispatch
import Netlink

/// The kernel this process runs on.
struct LinuxKernel: Kernel {
    /// The path of the network namespace to open; nil for the calling thread's.
    let namespace: String?

    /// The calling thread's namespace when this was made. A retry may come from any thread, whose namespace would be another
    /// network altogether.
    private let home = NamespaceIdentity.current

    init(namespace: String?) {
        self.namespace = namespace
    }

    func connect() throws(NetlinkError) -> any KernelConnection {
        guard let namespace else {
            guard NamespaceIdentity.current == home else {
                throw NetlinkError("return to the network namespace the manager was made in", .notPermitted)
            }
            return LinuxConnection(try RouteSockets(), namespace: nil)
        }
        let sockets = try NamespaceEntry.run(inside: namespace) {
            Result { () throws(NetlinkError) in try RouteSockets() }
        }
        return LinuxConnection(sockets, namespace: namespace)
    }

    func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        guard let namespace, let watch = try? FileWatch(paths: [namespace]) else { return nil }
        return ReadSource.watch(watch.descriptor, of: watch, on: queue) {
            if watch.drain() { changed() }
        }
    }
}
