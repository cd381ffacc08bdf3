import NetworkLab

/// A machine with one cable, `u0`, to a neighbour at 192.0.2.53 that is its name server and its router, and files of its own
/// that say where names are looked for.
final class NameWorld: Sendable {
    let client: LabNamespace
    let neighbour: LabNamespace

    private init() throws {
        client = try LabNamespace()
        neighbour = try LabNamespace()
        try client.ip(
            "link set lo up",
            "link add u0 type veth peer name far netns \(neighbour.path)",
            "link set u0 up",
            "addr add 192.0.2.2/24 dev u0"
        )
        try neighbour.ip("link set lo up", "link set far up", "addr add 192.0.2.53/24 dev far")
        try client.ip("route add default via 192.0.2.53")
    }

    static func make() async throws -> NameWorld { try await LabThread.detached { try NameWorld() } }

    func ip(_ commands: String...) async throws {
        try await LabThread.detached { try self.client.ip(commands) }
    }

    /// Takes the cable out, and puts it in again.
    func plug(_ isIn: Bool) async throws {
        try await LabThread.detached { try self.neighbour.ip("link set far \(isIn ? "up" : "down")") }
    }

    /// Adds a name server.
    func serve(_ behaviour: NameServer.Behaviour) async throws -> NameServer {
        try await LabThread.detached { try NameServer(in: self.neighbour, at: ["192.0.2.53"], behaviour) }
    }

    /// Puts files of its own in place of the machine's, then does `script`.
    static func script(_ script: String, resolv: String, order: String, upstream: String?) -> String {
        var files = "printf '\(resolv)' > /run/resolv && printf '\(order)' > /run/order && "
        files += "mount --bind /run/resolv /etc/resolv.conf && mount --bind /run/order /etc/nsswitch.conf && "
        if let upstream {
            files += "mkdir -p /run/systemd/resolve && printf '\(upstream)' > /run/systemd/resolve/resolv.conf && "
        }
        return "exec unshare --mount sh -c \"mount -t tmpfs tmpfs /run && \(files) \(script)\""
    }

    static let resolv = "nameserver 192.0.2.53\\noptions timeout:1 attempts:1\\n"

    /// Runs a command to its end.
    func run(
        _ arguments: String,
        resolv: String = NameWorld.resolv,
        order: String = "hosts: files dns\\n",
        upstream: String? = nil
    ) async throws -> CommandResult {
        let script = Self.script("exec $R \(arguments)", resolv: resolv, order: order, upstream: upstream)
        return try await Command.run(script: script, in: client)
    }

    /// Starts a command.
    func start(_ arguments: String) async throws -> RunningCommand {
        let order = "hosts: files dns\\n"
        let script = Self.script("exec $R \(arguments)", resolv: Self.resolv, order: order, upstream: nil)
        return try await RunningCommand.start(script: script, in: client)
    }
}
