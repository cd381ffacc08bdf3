import Dispatch
import KernelLab
import LinuxSupport
import Logging
import NetworkLab
import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// What is logged, as a handler gets it.
@Suite struct LogTests {
    /// Writes everything down: the message, and what comes with it.
    private struct Recorder: LogHandler {
        let lines: RecordingListener<String>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.record("\(event.message) \(event.metadata.map { "\($0)" } ?? "")")
            for value in (event.metadata ?? [:]).values { lines.record("\(value)") }
        }
    }

    private static let name = "e\u{1b}[2J\u{7}\u{202e}"

    /// A network whose only interface has that name.
    private static func network() async throws -> Uplink {
        let uplink = try await Uplink.make()
        try await LabThread.detached {
            for arguments in [
                ["link", "set", "u0", "down"], ["link", "set", "u0", "name", name], ["link", "set", name, "up"],
                ["route", "add", "default", "via", "192.0.2.1", "dev", name],
            ] {
                let result = try uplink.namespace.run("ip", arguments)
                guard result.status == 0 else { throw LabError(result.errors) }
            }
        }
        return uplink
    }

    @Test(arguments: [nil, "203.0.113.9", "fe80::9%\(name)"])
    func `the name of an interface is logged escaped`(host: String?) async throws {
        let network = try await Self.network()
        let lines = RecordingListener<String>()
        var options = NetworkReachabilityOptions()
        options.networkNamespace = .path(network.namespace.path)
        options.logger = Logger(label: "LogTests") { _ in Recorder(lines: lines) }
        let manager =
            if let host {
                try NetworkReachabilityManager(host: host, options: options)
            } else {
                try NetworkReachabilityManager(options: options)
            }
        let heard = RecordingListener<NetworkPath>()
        let token = manager.addPathListener(onQueue: DispatchQueue(label: "LogTests"), heard.record)
        #expect(await heard.waitForCount(1))
        #expect(heard.last?.interface?.name == Self.name)
        _ = manager.path
        try await LabThread.detached { _ = try network.namespace.run("ip", ["link", "set", Self.name, "down"]) }
        #expect(await heard.waitForCount(2))
        token.cancel()
        #expect(lines.values.contains { $0.contains("e\\u{1b}[2J\\u{7}\\u{202e}") })
        for line in lines.values {
            let bad = line.unicodeScalars.filter { !$0.isPrintable }
            #expect(bad.isEmpty, "\(line.debugDescription)")
        }
    }

    @Test func `what is named by strangers is described escaped, and stays what it is`() throws {
        let path = "/run/netns/\(Self.name)"
        let shown = "/run/netns/e\\u{1b}[2J\\u{7}\\u{202e}"
        #expect(NetworkNamespace.path(path).description == shown)
        var options = NetworkReachabilityOptions()
        options.networkNamespace = .path(path)
        do {
            _ = try NetworkReachabilityManager(options: options)
            Issue.record("there is such a namespace")
        } catch {
            #expect(error.description.contains(shown) && error.description == error.description.printable)
            guard case .namespaceUnavailable(namespace: path, _, _) = error else {
                Issue.record("\(error)")
                return
            }
        }
        let zone = try #require(IPAddress("fe80::1%\(Self.name)"))
        #expect(IPAddress(zone.description) == zone)
        let kernel = FakeKernel()
        let invalid = #expect(throws: NetworkReachabilityError.self) {
            try NetworkReachabilityManager(host: "\(Self.name).example", kernel: kernel)
        }
        #expect(invalid?.description == invalid?.description.printable)
    }
}
