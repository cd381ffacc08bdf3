package import LinuxSupport
import Netlink

/// A network namespace: a separate network stack with its own links, addresses and routes (`network_namespaces(7)`,
/// `ip-netns(8)`).
///
/// To watch another namespace than its own, the process needs CAP_SYS_ADMIN in the user namespace that owns the network
/// namespace (`setns(2)`). Open sockets keep a namespace alive. Therefore a manager closes its sockets as soon as the
/// namespace is deleted. Its status is then unknown for the reason ``NetworkPath/UnsatisfiedReason/namespaceGone``.
public struct NetworkNamespace: Hashable, Sendable {
    enum Place: Hashable {
        case current
        case file(String)
        case process(Int32)
    }

    let place: Place

    /// The network namespace of the process, which is that of its first thread. The namespace of the thread that
    /// creates the manager has no influence.
    public static let current = NetworkNamespace(place: .current)

    /// Returns the namespace that `ip netns add` created with this name, at `/run/netns/NAME`. If the name is deleted
    /// and created again, the new namespace is watched.
    public static func named(_ name: String) -> NetworkNamespace {
        .path("/run/netns/\(name)")
    }

    /// Returns the namespace that is mounted on a file. For the namespace of a process use ``process(_:)``, because the
    /// end of a process is not detected through `/proc/PID/ns/net`. The sockets of the manager would keep that
    /// namespace alive until the next change in it.
    public static func path(_ path: String) -> NetworkNamespace {
        NetworkNamespace(place: .file(path))
    }

    /// Returns the namespace of a process, which is that of its first thread (`/proc/PID/ns/net`).
    ///
    /// The process ID is resolved when a manager is created, with `pidfd_open(2)` (Linux 5.3 or later), in the caller's
    /// PID namespace. A process of another user also requires CAP_SYS_PTRACE.
    ///
    /// When the process ends, the manager closes its sockets immediately. The status stays unknown for the reason
    /// ``NetworkPath/UnsatisfiedReason/namespaceGone``. A later process with the same ID needs a new manager.
    ///
    /// If the process moves to another namespace (`setns(2)`, `unshare(2)`), the manager follows. The kernel sends no
    /// event for the move, so it is noticed at the next query, or at the next change in the old namespace.
    public static func process(_ identifier: Int32) -> NetworkNamespace {
        NetworkNamespace(place: .process(identifier))
    }

    /// The namespace that replaces the process's own in tests, which run many namespaces in one process; nil for the
    /// process's own.
    @TaskLocal package static var standIn: NamespaceReference?

    /// Returns a reference through which the namespace is opened from now on; nil for the process's own.
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

    /// Returns whether this value still refers to the namespace with `identity`.
    package func leads(to identity: NamespaceIdentity?) -> Bool {
        guard let reference = try? reference() else { return place == .current }
        return reference.leads(to: identity)
    }

    /// Moves the calling thread into the namespace to open sockets. The files of `/etc/netns` are not used.
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
    /// The file that represents the namespace, or `current`. Control characters are escaped.
    public var description: String { name.printable }

    /// The file that represents the namespace, or `current`, without escapes.
    package var name: String {
        switch place {
        case .current: "current"
        case .file(let path): path
        case .process(let identifier): "/proc/\(identifier)/ns/net"
        }
    }
}

extension NetworkNamespace {
    /// Moves the calling thread into the namespace and shows it the files of `/etc/netns/NAME`, as `ip netns exec`
    /// does. Threads that it starts afterwards are also in the namespace.
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
