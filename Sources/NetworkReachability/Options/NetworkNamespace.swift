/// The network namespace to watch: a network of its own, with its own links, addresses and routes.
///
/// Source: `network_namespaces(7)`, `ip-netns(8)`. Watching another namespace needs CAP_SYS_ADMIN, as `setns(2)` does.
public struct NetworkNamespace: Hashable, Sendable {
    /// The file that stands for the namespace; nil for the calling thread's own.
    let path: String?

    /// The namespace of the thread that makes the manager.
    public static let current = NetworkNamespace(path: nil)

    /// The namespace `ip netns add` made by this name: `/run/netns/NAME`.
    public static func named(_ name: String) -> NetworkNamespace {
        NetworkNamespace(path: "/run/netns/\(name)")
    }

    /// The namespace bound to a file, for example `/proc/1234/ns/net`.
    public static func path(_ path: String) -> NetworkNamespace {
        NetworkNamespace(path: path)
    }
}

extension NetworkNamespace: CustomStringConvertible {
    /// The file that stands for the namespace, or `current`.
    public var description: String { path ?? "current" }
}
