package import LinuxSupport
import Netlink

/// The network namespace to watch: a network of its own, with its own links, addresses and routes.
///
/// Source: `network_namespaces(7)`, `ip-netns(8)`. Watching another namespace needs CAP_SYS_ADMIN, as `setns(2)` does, in the
/// user namespace that owns it. Open sockets keep a namespace alive; so a manager lets go of it as soon as it is deleted, and
/// its status is then unknown for the reason ``NetworkPath/UnsatisfiedReason/namespaceGone``.
public struct NetworkNamespace: Hashable, Sendable {
    enum Place: Hashable {
        case current
        case file(String)
        case process(Int32)
    }

    let place: Place

    /// The namespace of the process: that of its first thread, also where the thread that makes the manager is in another.
    public static let current = NetworkNamespace(place: .current)

    /// The namespace `ip netns add` made by this name: `/run/netns/NAME`. Deleted and made again, it is watched again.
    public static func named(_ name: String) -> NetworkNamespace {
        .path("/run/netns/\(name)")
    }

    /// The namespace bound to a file. That of a process is better given as ``process(_:)``: nothing tells that
    /// `/proc/1234/ns/net` has gone, so its namespace would live on until the next change in it.
    public static func path(_ path: String) -> NetworkNamespace {
        NetworkNamespace(place: .file(path))
    }

    /// The namespace a process is in: that of its first thread, `/proc/PID/ns/net`.
    ///
    /// A process of another user needs CAP_SYS_PTRACE besides. When the process has ended, the namespace is let go of at
    /// once, and the status stays unknown for the reason ``NetworkPath/UnsatisfiedReason/namespaceGone``: a later process
    /// of the same number is another one, and needs another manager. A process that moves to another namespace (`setns(2)`,
    /// `unshare(2)`) is followed there, but the kernel does not tell: it is noticed with the next question, or with the next
    /// change in the namespace it has left.
    ///
    /// The number is looked up when a manager is made, with `pidfd_open(2)` (Linux 5.3), in the caller's PID namespace.
    public static func process(_ identifier: Int32) -> NetworkNamespace {
        NetworkNamespace(place: .process(identifier))
    }

    /// What stands for the process's own namespace; nil for just that. For tests, of which there are many in one process.
    @TaskLocal package static var standIn: NamespaceReference?

    /// What leads to the namespace from now on; nil for the process's own.
    func makeReference() throws(NetworkReachabilityError) -> NamespaceReference? {
        do throws(NamespaceError) {
            return try reference()
        } catch {
            throw .namespace(self, NetlinkError(error))
        }
    }

    private func reference() throws(NamespaceError) -> NamespaceReference? {
        switch place {
        case .current: Self.standIn
        case .file(let path): NamespaceReference(path: path)
        case .process(let identifier): try NamespaceReference(process: identifier)
        }
    }

    /// Whether this still leads to the namespace that it led to before.
    package func leads(to identity: NamespaceIdentity?) -> Bool {
        guard let reference = try? reference() else { return place == .current }
        return reference.leads(to: identity)
    }

    /// Moves the calling thread into the namespace, for sockets alone: without the files of `/etc/netns`.
    ///
    /// - Throws: The system's error.
    package func enterForSockets() throws(SystemError) {
        do throws(NamespaceError) {
            if let reference = try reference() { try NamespaceEntry.enter(reference) }
        } catch {
            throw error.cause
        }
    }
}

extension NetworkNamespace: CustomStringConvertible {
    /// The file that stands for the namespace, or `current`. What would steer a terminal is shown escaped.
    public var description: String { name.printable }

    /// The same as it is, for programs.
    package var name: String {
        switch place {
        case .current: "current"
        case .file(let path): path
        case .process(let identifier): "/proc/\(identifier)/ns/net"
        }
    }
}

extension NetworkNamespace {
    /// Moves the calling thread into the namespace, with the files that `/etc/netns/NAME` has for it, as `ip netns exec` does. Threads
    /// that it starts from then on are there too.
    package func enter() throws(NetworkReachabilityError) {
        guard let reference = try makeReference() else { return }
        do throws(NamespaceError) {
            try NamespaceEntry.enter(reference)
        } catch {
            throw .namespace(self, NetlinkError(error))
        }
        do throws(SystemError) {
            try NamespaceFiles(of: reference)?.show()
        } catch {
            throw .namespaceUnavailable(
                namespace: name,
                attempt: "use the files in /etc/netns for \(self)",
                cause: error.description
            )
        }
    }
}
