import Dispatch
import Netlink

/// The kernel this process runs on.
struct LinuxKernel: Kernel {
    /// The path of the network namespace to open; nil for the calling thread's.
    let namespace: String?

    func connect() throws(NetlinkError) -> any KernelConnection {
        guard let namespace else { return LinuxConnection(try RouteSockets(), namespace: nil) }
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
