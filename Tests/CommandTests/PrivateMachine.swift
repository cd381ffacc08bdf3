import Glibc
import NetworkLab

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
