import Foundation
package import NetworkLab

/// A private system bus: `dbus-daemon` with the rules of Debian's system bus and the policy of `examples/systemd`.
package final class BusLab: Sendable {
    private let directory: String
    private let daemon: BusDaemon

    package static let (name, path) = ("net.reachability.Monitor1", "/net/reachability/Monitor1")

    /// Whether the programs that the tests need are installed.
    package static var isPossible: Bool { has("dbus-daemon") && has("busctl") }

    /// Returns whether a program is in one of the usual directories.
    package static func has(_ program: String) -> Bool { find(program) != nil }

    /// Returns the path of a program; nil if it is not installed.
    package static func find(_ program: String) -> String? {
        let variable = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return (variable.split(separator: ":").map(String.init) + ["/usr/bin", "/usr/sbin"]).map { "\($0)/\(program)" }
            .first { access($0, X_OK) == 0 }
    }

    /// The address of the bus.
    package var address: String { "unix:path=\(directory)/bus" }

    /// - Parameters:
    ///   - isStarted: Whether the bus is started now.
    ///   - hasPolicy: Whether the policy permits the name.
    package init(isStarted: Bool = true, hasPolicy: Bool = true) async throws {
        directory = "/tmp/bus-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        guard mkdir(directory, 0o755) == 0 else { throw LabError.system("mkdir \(directory)") }
        let policy = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "examples/systemd/\(Self.name).conf").path
        let rules = """
            <busconfig><type>system</type><listen>unix:path=\(directory)/bus</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow user="*"/><deny own="*"/><deny send_type="method_call"/>
            <allow send_type="signal"/><allow send_requested_reply="true" send_type="method_return"/>
            <allow send_requested_reply="true" send_type="error"/><allow receive_type="method_call"/>
            <allow receive_type="method_return"/><allow receive_type="error"/><allow receive_type="signal"/>
            <allow send_destination="org.freedesktop.DBus"/></policy>
            <limit name="max_replies_per_connection">50000</limit>
            \(hasPolicy ? "<include>\(policy)</include>" : "")
            </busconfig>
            """
        try rules.write(toFile: "\(directory)/bus.conf", atomically: true, encoding: .utf8)
        daemon = BusDaemon(["--config-file=\(directory)/bus.conf", "--nofork", "--nopidfile", "--nosyslog"])
        if isStarted { try await start() }
    }

    deinit {
        daemon.stop()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Starts the bus, and returns when it accepts connections.
    package func start() async throws {
        try daemon.start()
        try await waitUntil { try await busctl(["list"]).contains("org.freedesktop.DBus") }
    }

    /// Ends the bus, as a restart of it does.
    package func stop() { daemon.stop() }

    /// Runs `busctl` with the private bus, and returns its output and its errors.
    package func busctl(_ arguments: [String]) async throws -> String {
        let words = ["--address=\(address)"] + arguments
        return try await LabThread.detached {
            let result = try LabProcess("busctl", words).wait()
            return result.output + result.errors
        }
    }

    /// Calls a method of the object, and returns the output of `busctl`.
    package func call(_ interface: String, _ member: String, _ arguments: String...) async throws -> String {
        try await busctl(["call", Self.name, Self.path, interface, member] + arguments)
    }

    /// Returns a property as `busctl` prints it, for example `s "up"`.
    package func property(_ property: String) async throws -> String {
        try await busctl(["get-property", Self.name, Self.path, Self.name, property])
            .trimmingCharacters(in: .newlines)
    }

    /// Returns the unique name of the connection that owns the name, as `busctl` prints it.
    package func owner() async throws -> String {
        let bus = "org.freedesktop.DBus"
        return try await busctl(["call", bus, "/", bus, "GetNameOwner", "s", Self.name])
    }

    /// Starts `busctl monitor`, which prints each signal of the object as one line of JSON, and waits until it follows.
    package func monitor() async throws -> LabProcess {
        let words = ["--address=\(address)", "--json=short", "monitor", "--match=type='signal',path='\(Self.path)'"]
        let process = try LabProcess("busctl", words)
        let isReady = try await eventually {
            _ = process.drain()
            return String(decoding: process.errors, as: UTF8.self).contains("Monitoring")
        }
        guard isReady else { throw LabError("busctl does not follow the bus") }
        return process
    }
}

/// The process of a bus, which can be started again. Thread-safe.
private final class BusDaemon: @unchecked Sendable {
    private let lock = NSLock()
    private let arguments: [String]
    private var process: LabProcess?

    init(_ arguments: [String]) {
        self.arguments = arguments
    }

    func start() throws {
        let started = try LabProcess("dbus-daemon", arguments)
        lock.withLock { process = started }
    }

    /// Ends the process and waits for it.
    func stop() {
        lock.withLock {
            process?.signal(SIGTERM)
            _ = try? process?.wait()
            process = nil
        }
    }
}
