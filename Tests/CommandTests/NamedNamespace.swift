import NetworkLab

/// A namespace with a name of its own under /run/netns, as `ip netns add` makes it.
final class NamedNamespace: Sendable {
    let uplink: Uplink
    private let entry: NamespaceName
    var name: String { entry.name }

    private init(_ name: String) throws {
        uplink = try Uplink()
        entry = try NamespaceName(name, for: uplink.namespace)
    }

    /// Makes one, of a random name if none is given.
    static func make(_ name: String = "cli-\(UInt64.random(in: 0 ... .max))") async throws -> NamedNamespace {
        try await LabThread.detached { try NamedNamespace(name) }
    }

    /// Takes the name away and lets the namespace go: it is gone unless somebody else holds it.
    func delete() {
        entry.remove()
        uplink.namespace.close()
    }

    deinit {
        delete()
    }
}
