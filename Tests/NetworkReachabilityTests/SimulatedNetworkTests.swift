import Dispatch
import Foundation
import KernelLab
import LinuxSupport
import Logging
import Netlink
import NetworkLab
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import NetworkReachability

/// The simulated network for users' tests.
@Suite struct SimulatedNetworkTests {
    private let network = SimulatedNetwork()

    @Test(arguments: InterfaceType.allCases)
    func `packets leave through an interface of the given type`(type: InterfaceType) throws {
        network.setPath(.reachable(type))
        for host in ["192.0.2.77", "2001:db8:7::7"] {
            let path = try NetworkReachabilityManager(host: host, network: network).path
            #expect(path.status == .reachable(type == .wwan ? .wwan : .ethernetOrWiFi))
            #expect(path.interface?.type == type, "\(path)")
            #expect(path.source != nil && (path.gateway != nil || type == .loopback))
        }
        #expect(try NetworkReachabilityManager(host: "127.0.0.1", network: network).path.interface?.type == .loopback)
    }

    @Test(
        arguments: [
            (.noRoute, .noRoute), (.noCarrier, .noCarrier), (.prohibited, .prohibited),
        ] as [(SimulatedNetwork.Path, NetworkPath.UnsatisfiedReason)]
    )
    func `a missing path has the given reason`(
        path: SimulatedNetwork.Path,
        reason: NetworkPath.UnsatisfiedReason
    ) throws {
        network.setPath(path)
        let manager = try NetworkReachabilityManager(network: network)
        #expect(manager.status == .notReachable)
        #expect(manager.path.reason == reason)
    }

    @Test func `listeners are called for each status, also after denied queries`() throws {
        let manager = try NetworkReachabilityManager(network: network)
        let listener = RecordingListener<NetworkReachabilityStatus>()
        manager.startListening(onQueue: DispatchQueue(label: "test"), onUpdatePerforming: listener.record)
        let statuses: [NetworkReachabilityStatus] = [
            .reachable(.wwan), .notReachable, .reachable(.ethernetOrWiFi), .unknown, .reachable(.wwan),
        ]
        #expect(listener.waitForCount(1))
        for (index, status) in statuses.enumerated() {
            network.setStatus(status)
            #expect(listener.waitForCount(index + 2), "\(status)")
        }
        network.setPath(.reachable(.wwan))
        network.setStatus(.notReachable)
        #expect(listener.waitForCount(7))
        #expect(listener.values == [.reachable(.ethernetOrWiFi)] + statuses + [.notReachable])
    }

    @Test func `one destination can have an individual path`() throws {
        let address = try #require(IPAddress("192.0.2.77"))
        network.setPath(.noCarrier, to: address)
        let (one, other) = (
            try NetworkReachabilityManager(host: "192.0.2.77", network: network),
            try NetworkReachabilityManager(host: "192.0.2.78", network: network)
        )
        #expect(one.path.reason == .noCarrier && other.status.isReachable)
        network.setPath(.noRoute)
        #expect(one.path.reason == .noCarrier && other.path.reason == .noRoute)
        network.setPath(nil, to: address)
        #expect(one.path.reason == .noRoute)
    }

    @Test func `a name has the path of its addresses`() throws {
        let resolver = FakeResolver()
        resolver.set("example.org", addresses: ["192.0.2.77"])
        let manager = try NetworkReachabilityManager(host: "example.org", network: network, resolver: resolver)
        let listener = RecordingListener<NetworkReachabilityStatus>()
        manager.startListening(onQueue: DispatchQueue(label: "test"), onUpdatePerforming: listener.record)
        network.setPath(.noRoute)
        let isLost = { listener.values.last == .notReachable }
        for count in 1...3 where !isLost() { listener.waitForCount(count) }
        #expect(isLost())
    }
}

/// The log entries, as a handler receives them.
@Suite struct LogTests {
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
    func `interface names are escaped in the log`(host: String?) async throws {
        let network = try await Self.network()
        let log = RecordingLog { event in
            (event.metadata ?? [:]).reduce("\(event.message)") { "\($0) \($1.key) \($1.value)" }
        }
        var options = NetworkReachabilityOptions()
        options.networkNamespace = .path(network.namespace.path)
        options.logger = log.logger
        let manager =
            if let host {
                try NetworkReachabilityManager(host: host, options: options)
            } else {
                try NetworkReachabilityManager(options: options)
            }
        let received = RecordingListener<NetworkPath>()
        let token = manager.addPathListener(onQueue: DispatchQueue(label: "LogTests"), received.record)
        #expect(await received.waitForCount(1))
        #expect(received.last?.interface?.name == Self.name)
        _ = manager.path
        try await LabThread.detached { _ = try network.namespace.run("ip", ["link", "set", Self.name, "down"]) }
        #expect(await received.waitForCount(2))
        token.cancel()
        #expect(log.lines.contains { $0.contains("e\\u{1b}[2J\\u{7}\\u{202e}") })
        for line in log.lines {
            let bad = line.unicodeScalars.filter { !$0.isPrintable }
            #expect(bad.isEmpty, "\(line.debugDescription)")
        }
    }

    @Test func `external names are escaped in descriptions only`() throws {
        let path = "/run/netns/\(Self.name)"
        let shown = "/run/netns/e\\u{1b}[2J\\u{7}\\u{202e}"
        #expect(NetworkNamespace.path(path).description == shown)
        var options = NetworkReachabilityOptions()
        options.networkNamespace = .path(path)
        do {
            _ = try NetworkReachabilityManager(options: options)
            Issue.record("the namespace exists")
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

/// The thread that waits for events of the kernel.
@Suite struct EventThreadTests {
    /// Returns the run time in nanoseconds of the thread behind a link such as `/proc/self/task/7` (`proc(5)`,
    /// schedstat).
    private func runTime(_ thread: String) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(thread)/schedstat", encoding: .utf8)
        return try #require(Int(text.prefix { $0 != " " }))
    }

    @Test func `a socket that cannot be read is reported once and ends the thread`() throws {
        let namespace = try LabNamespace()
        let events = try namespace.perform { try EventSocket() }
        _ = try events.join()
        // Replaces the socket by a descriptor that is always readable and not a socket.
        let null = try Descriptor.open("/dev/null")
        try #require(dup2(null.number, events.descriptor) == events.descriptor)
        let received = RecordingListener<(failure: SystemError?, thread: String)>()
        let thread = try EventThread(events)
        try thread.start(on: DispatchQueue(label: "EventThreadTests")) { burst in
            let thread = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            received.record((burst.failure, thread ?? "?"))
        }
        #expect(received.waitForCount(1))
        let first = try #require(received.values.first)
        #expect(first.failure == SystemError(rawValue: ENOTSOCK))
        var isThere: Bool { FileManager.default.fileExists(atPath: "/proc/\(first.thread)") }
        let start = SystemClock.monotonic
        while isThere, SystemClock.monotonic - start < .seconds(30) { usleep(1000) }
        #expect(!isThere)
        #expect(received.count == 1)
    }

    @Test func `the thread sleeps between events, also after a restart`() throws {
        let namespace = try LabNamespace()
        try namespace.ip("link set lo up")
        let connection = try LinuxKernel(namespace: NamespaceReference(path: namespace.path)).connect()
        let queue = DispatchQueue(label: "EventThreadTests")
        let received = RecordingListener<String>()
        for _ in 0..<3 {
            connection.stopListening()
            let missing = try connection.listen(on: queue) { _ in
                // The work of the queue runs on the waiting thread.
                let thread = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
                received.record(thread ?? "?")
            }
            #expect(missing.isEmpty)
        }
        try namespace.ip("route add 198.51.100.0/24 dev lo")
        #expect(received.waitForCount(1))
        let thread = try #require(received.values.last)
        let (before, start) = (try runTime(thread), SystemClock.monotonic)
        for number in 0..<30 { try namespace.ip("route add 203.0.113.\(number)/32 dev lo") }
        let (ran, passed) = (try runTime(thread) - before, SystemClock.monotonic - start)
        #expect(Duration.nanoseconds(ran) < passed / 3, "ran for \(ran) ns of \(passed)")
        connection.stopListening()
    }
}
