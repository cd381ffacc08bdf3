import Glibc
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

/// A network, and a /run of its own with its own names of namespaces: no other test's are seen there.
final class PrivateMachine: Sendable {
    private let holder: RunningCommand

    private init() async throws {
        // Ends when its standard input does, which is empty; so it is put to sleep.
        let script = "mount -t tmpfs tmpfs /run && ip link set lo up && echo ready && exec sleep infinity"
        holder = try await RunningCommand.start(in: nil) {
            try LabProcess("unshare", ["--net", "--mount", "sh", "-c", script])
        }
        guard try await holder.line() == "ready" else { throw LabError("there is no private machine") }
    }

    static func make() async throws -> PrivateMachine { try await PrivateMachine() }

    private var entry: String { "nsenter --target \(holder.identifier) --mount --net" }

    /// Starts `reachability` there.
    func start(_ arguments: String) async throws -> RunningCommand {
        try await RunningCommand.start(script: "exec \(entry) $R \(arguments)")
    }

    /// Runs `reachability` there to its end, after `prefix`.
    func run(_ prefix: String, _ arguments: String) async throws -> CommandResult {
        try await Command.run(script: "exec \(entry) \(prefix) $R \(arguments)")
    }

    /// Runs a shell script there, which must succeed, and returns its output.
    @discardableResult
    func sh(_ script: String) async throws -> String {
        let identifier = holder.identifier
        let result = try await LabThread.detached {
            let arguments = ["--target", "\(identifier)", "--mount", "--net", "sh", "-ec", script]
            return try LabProcess("nsenter", arguments).wait()
        }
        guard result.status == 0 else { throw LabError("\(script): \(result.errors)") }
        return result.output
    }

    /// Makes a namespace with an uplink; the far end, outside, is named after it and lives as long.
    func add(_ name: String) async throws {
        try await sh(
            """
            ip netns add \(name)
            ip link add far-\(name) type veth peer name u0 netns \(name)
            ip link set far-\(name) up
            ip -n \(name) addr add 192.0.2.2/24 dev u0
            ip -n \(name) link set u0 up
            ip -n \(name) route add default via 192.0.2.1
            """
        )
    }

    /// Waits until the kernel has freed every namespace that is not named, and says whether it came to that.
    func isFreed() async throws -> Bool {
        try await eventually {
            let (links, names) = (try await sh("ip -o link show type veth"), try await sh("ip netns list"))
            return links.count { $0 == "\n" } == names.count { $0 == "\n" }
        }
    }
}

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
