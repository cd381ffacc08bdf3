import Glibc
import NetworkLab

/// A namespace with a name in /run/netns, as created by `ip netns add`.
final class NamedNamespace: Sendable {
    let uplink: Uplink
    private let entry: NamespaceName
    var name: String { entry.name }

    private init(_ name: String) throws {
        uplink = try Uplink()
        entry = try NamespaceName(name, for: uplink.namespace)
    }

    /// Creates a namespace, with a random name by default.
    static func make(_ name: String = "cli-\(UInt64.random(in: 0 ... .max))") async throws -> NamedNamespace {
        try await LabThread.detached { try NamedNamespace(name) }
    }

    /// Removes the name and releases the namespace.
    func delete() {
        entry.remove()
        uplink.namespace.close()
    }

    deinit {
        delete()
    }
}

/// A network namespace with its own /run, so that names of namespaces are independent of other tests.
final class PrivateMachine: Sendable {
    private let holder: RunningCommand

    private init() async throws {
        // The shell would end at the end of its empty standard input, so it sleeps.
        let script = "mount -t tmpfs tmpfs /run && ip link set lo up && echo ready && exec sleep infinity"
        holder = try await RunningCommand.start(in: nil) {
            try LabProcess("unshare", ["--net", "--mount", "sh", "-c", script])
        }
        guard try await holder.line() == "ready" else { throw LabError("there is no private machine") }
    }

    static func make() async throws -> PrivateMachine { try await PrivateMachine() }

    private var entry: String { "nsenter --target \(holder.identifier) --mount --net" }

    /// Starts `reachability` on the machine.
    func start(_ arguments: String) async throws -> RunningCommand {
        try await RunningCommand.start(script: "exec \(entry) $R \(arguments)")
    }

    /// Runs `reachability` on the machine to its end, with `prefix` before it.
    func run(_ prefix: String, _ arguments: String) async throws -> CommandResult {
        try await Command.run(script: "exec \(entry) \(prefix) $R \(arguments)")
    }

    /// Runs a shell script on the machine, which must succeed, and returns its output.
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

    /// Creates a namespace with an uplink. Its far end is outside, has the same name, and exists as long.
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

    /// Waits until the kernel has freed every namespace without a name. Returns whether it did.
    func isFreed() async throws -> Bool {
        try await eventually {
            let (links, names) = (try await sh("ip -o link show type veth"), try await sh("ip netns list"))
            return links.count { $0 == "\n" } == names.count { $0 == "\n" }
        }
    }
}

/// A machine with one cable, `u0`, to a neighbour at 192.0.2.53 that is its name server and its router. The machine
/// has its own configuration files for name resolution.
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

    /// Connects or disconnects the cable.
    func plug(_ isIn: Bool) async throws {
        try await LabThread.detached { try self.neighbour.ip("link set far \(isIn ? "up" : "down")") }
    }

    /// Adds a name server.
    func serve(_ behaviour: NameServer.Behaviour) async throws -> NameServer {
        try await LabThread.detached { try NameServer(in: self.neighbour, at: ["192.0.2.53"], behaviour) }
    }

    /// Returns a script that replaces the files of the machine's name service, and then runs `script`.
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
