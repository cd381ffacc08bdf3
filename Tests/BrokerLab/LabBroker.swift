import Foundation
package import LinuxSupport
import MQTT
package import NetworkLab

/// A separate broker for a test, on a random loopback address. It is a mosquitto unless another kind is requested.
package final class LabBroker: Sendable {
    /// Whether mosquitto is installed.
    package static let exists = BrokerKind.mosquitto.program != nil

    package let kind: BrokerKind
    package let directory: String
    package let address: BrokerAddress
    private let namespace: LabNamespace?
    private let process: Locked<LabProcess?>
    private let output: String

    /// - Parameters:
    ///   - settings: More lines of mosquitto's configuration. `@` is replaced by the directory of the broker.
    ///   - files: The files in the directory of the broker, by name.
    ///   - host: The loopback address of the broker.
    package init(
        _ settings: [String] = ["allow_anonymous true"],
        files: [String: [UInt8]] = [:],
        isSecured: Bool = false,
        at host: String = LabBroker.freeHost(),
        in namespace: LabNamespace? = nil,
        kind: BrokerKind = .mosquitto
    ) async throws {
        self.kind = kind
        directory = "/tmp/broker-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        address = BrokerAddress(host: host, port: isSecured ? 8883 : 1883, isSecured: isSecured)
        self.namespace = namespace
        process = Locked(nil)
        output = directory + "/log"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        for (name, bytes) in files { try Data(bytes).write(to: URL(filePath: "\(directory)/\(name)")) }
        try kind.configuration(address, in: directory, settings)
            .write(toFile: directory + "/conf", atomically: false, encoding: .utf8)
        try await start()
    }

    /// Returns a random loopback address.
    package static func freeHost() -> String {
        "127.\(Int.random(in: 1...254)).\(Int.random(in: 0...255)).\(Int.random(in: 1...254))"
    }

    /// Starts the broker, and waits until it listens.
    package func start() async throws {
        let script = "exec >\(output) 2>&1 </dev/null\n" + kind.script(in: directory)
        try? FileManager.default.removeItem(atPath: output)
        // A shell writes its output to a file, so no reader is needed.
        try await LabNamespace.perform(in: namespace) { [process] in
            try process.withLock { $0 = try LabProcess("sh", ["-c", script]) }
        }
        let runs = try await eventually(every: .milliseconds(10)) { log.contains(kind.sign) }
        guard runs else { throw LabError("\(kind) does not start: \(log)") }
    }

    /// Ends the broker, and waits for its end.
    package func end(_ signal: CInt = SIGKILL) async throws {
        try await LabThread.detached { [process] in
            try process.withLock { process in
                process?.signal(signal)
                _ = try process?.wait()
                process = nil
            }
        }
    }

    /// Sends a signal. SIGSTOP simulates an unreachable broker, and SIGCONT continues it.
    package func signal(_ number: CInt) {
        process.withLock { $0?.signal(number) }
    }

    // Foundation's `String(contentsOfFile:)` leaks its buffer, which Address Sanitizer reports.
    package var log: String { TextFile.read(output) ?? "" }

    deinit {
        // Releasing the process kills the broker.
        process.withLock { $0 = nil }
        try? FileManager.default.removeItem(atPath: directory)
    }
}
