import Foundation
package import LinuxSupport
import MQTT
package import NetworkLab

/// A broker of a test's own, on an address of the loopback that is nobody else's: a mosquitto, unless another is asked for.
package final class LabBroker: Sendable {
    /// Whether there is a mosquitto here.
    package static let exists = BrokerKind.mosquitto.program != nil

    package let kind: BrokerKind
    package let directory: String
    package let address: BrokerAddress
    private let namespace: LabNamespace?
    private let process: Locked<Int32?>
    private let output: String

    /// - Parameters:
    ///   - settings: More lines of the configuration of mosquitto, in which `@` stands for its directory.
    ///   - files: What lies in its directory, by name.
    ///   - host: Its address, one of the loopback.
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

    /// An address of the loopback that nobody else has.
    package static func freeHost() -> String {
        "127.\(Int.random(in: 1...254)).\(Int.random(in: 0...255)).\(Int.random(in: 1...254))"
    }

    /// Starts it, and waits until it listens.
    package func start() async throws {
        let script = "exec >\(output) 2>&1 </dev/null\n" + kind.script(in: directory)
        try? FileManager.default.removeItem(atPath: output)
        let identifier = try await LabNamespace.perform(in: namespace) {
            // By a shell, so that nobody has to read what it writes.
            var pid = pid_t()
            let words: [String] = ["sh", "-c", script]
            var pointers = words.map { strdup($0) } + [nil]
            defer { pointers.forEach { free($0) } }
            // Threads of tests block signals, and children inherit that.
            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            var signals = sigset_t()
            sigemptyset(&signals)
            posix_spawnattr_setsigmask(&attributes, &signals)
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
            guard posix_spawnp(&pid, "sh", nil, &attributes, &pointers, environ) == 0 else {
                throw LabError("no \(self.kind)")
            }
            return pid
        }
        process.withLock { $0 = identifier }
        let runs = try await eventually(every: .milliseconds(10)) { log.contains(kind.sign) }
        guard runs else { throw LabError("\(kind) does not start: \(log)") }
    }

    /// Ends it and waits for its end.
    package func end(_ signal: CInt = SIGKILL) async throws {
        let identifier = process.withLock { process in
            defer { process = nil }
            return process
        }
        guard let identifier else { return }
        try await LabThread.detached {
            kill(identifier, signal)
            var status: CInt = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        }
    }

    /// Stops it where it is, as a machine that is gone; SIGCONT lets it go on.
    package func signal(_ number: CInt) {
        process.withLock { if let identifier = $0 { kill(identifier, number) } }
    }

    // Foundation's `String(contentsOfFile:)` leaks its buffer, which Address Sanitizer reports.
    package var log: String { TextFile.read(output) ?? "" }

    deinit {
        if let identifier = process.withLock({ $0 }) {
            kill(identifier, SIGKILL)
            var status: CInt = 0
            waitpid(identifier, &status, 0)
        }
        try? FileManager.default.removeItem(atPath: directory)
    }
}
