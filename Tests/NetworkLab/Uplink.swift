/// A namespace with one uplink, `u0`, to routers that are not there: routes lead to the world, nobody answers.
package final class Uplink: Sendable {
    package let namespace: LabNamespace

    /// - Parameter isConnected: whether the default routes are there from the start.
    package init(isConnected: Bool = true) throws {
        namespace = try LabNamespace()
        try namespace.ip(
            "link set lo up",
            "link add u0 type veth peer name far",
            "link set far up",
            "link set u0 up",
            "addr add 192.0.2.2/24 dev u0",
            "addr add 2001:db8::2/64 dev u0 nodad"
        )
        if isConnected { try connect() }
    }

    /// Adds the default routes. Blocks.
    package func connect() throws {
        try namespace.ip("route add default via 192.0.2.1", "route add default via 2001:db8::1")
    }

    /// Takes the default routes away. Blocks.
    package func disconnect() throws {
        try namespace.ip("-4 route del default", "-6 route del default")
    }

    /// Runs `ip` commands without blocking the caller's thread.
    package func ip(_ commands: String...) async throws {
        try await LabThread.detached { try self.namespace.ip(commands) }
    }
}

extension Uplink {
    /// Makes an uplink without blocking the caller's thread.
    package static func make(isConnected: Bool = true) async throws -> Uplink {
        try await LabThread.detached { try Uplink(isConnected: isConnected) }
    }

    /// Adds or takes away the default routes without blocking the caller's thread.
    package func setConnected(_ isConnected: Bool) async throws {
        try await LabThread.detached { try isConnected ? self.connect() : self.disconnect() }
    }
}
