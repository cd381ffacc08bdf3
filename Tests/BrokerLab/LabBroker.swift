import Foundation
import LinuxPrimitives
package import MessageBroker
package import NetworkLab

/// A mosquitto of a test's own, on an address of the loopback that is nobody else's.
package final class LabBroker: Sendable {
    private static let program =
        ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto"].first(where: isThere) ?? "mosquitto"

    /// Whether there is one here.
    package static let exists = isThere(program) || searched("mosquitto")

    package let directory: String
    package let address: BrokerAddress
    private let namespace: LabNamespace?
    private let process: Locked<Int32?>
    private let output: String

    /// - Parameters:
    ///   - settings: More lines of its configuration, in which `@` stands for its directory.
    ///   - files: What lies in its directory, by name.
    ///   - host: Its address, one of the loopback.
    package init(
        _ settings: [String] = ["allow_anonymous true"],
        files: [String: [UInt8]] = [:],
        isSecured: Bool = false,
        at host: String = LabBroker.freeHost(),
        in namespace: LabNamespace? = nil
    ) async throws {
        directory = "/tmp/broker-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        address = BrokerAddress(host: host, port: isSecured ? 8883 : 1883, isSecured: isSecured)
        self.namespace = namespace
        process = Locked(nil)
        output = directory + "/log"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        for (name, bytes) in files { try Data(bytes).write(to: URL(filePath: "\(directory)/\(name)")) }
        let lines =
            [
                "listener \(address.port) \(host)", "user root", "log_dest stderr",
                "log_type all", "persistence true", "persistence_location \(directory)/", "autosave_interval 1",
            ] + settings.map { $0.replacing("@", with: directory) }
        try lines.joined(separator: "\n").write(toFile: directory + "/conf", atomically: false, encoding: .utf8)
        try await start()
    }

    /// An address of the loopback that nobody else has.
    package static func freeHost() -> String {
        "127.\(Int.random(in: 1...254)).\(Int.random(in: 0...255)).\(Int.random(in: 1...254))"
    }

    /// Starts it, and waits until it listens.
    package func start() async throws {
        let script = "exec \(Self.program) -c \(directory)/conf >\(output) 2>&1"
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
                throw LabError("no mosquitto")
            }
            return pid
        }
        process.withLock { $0 = identifier }
        let runs = try await eventually(within: .seconds(30), every: .milliseconds(10)) { log.contains(" running") }
        guard runs else { throw LabError("mosquitto does not start: \(log)") }
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

    package var log: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }

    deinit {
        if let identifier = process.withLock({ $0 }) {
            kill(identifier, SIGKILL)
            var status: CInt = 0
            waitpid(identifier, &status, 0)
        }
        try? FileManager.default.removeItem(atPath: directory)
    }

    private static func isThere(_ path: String) -> Bool { access(path, X_OK) == 0 }

    private static func searched(_ name: String) -> Bool {
        (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":").contains { isThere("\($0)/\(name)") }
    }
}
