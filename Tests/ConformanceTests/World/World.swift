import LinuxSupport
import NetworkLab
import NetworkReachability
import Testing

/// A network that tests play, through the one seam or for real. What is done to it, and what the library must say of it, is
/// the same. Its methods block; call them from a thread of your own.
protocol World: AnyObject, Sendable {
    /// Makes changes, one after the other.
    func apply(_ changes: [Change]) throws

    /// Makes changes in one go, as one process that sends them all at once.
    func batch(_ changes: [Change]) throws

    /// A manager of a host, or of the network at large where none is named. Managers of a world share a monitor.
    func manager(
        of host: String?,
        options: NetworkReachabilityOptions
    ) throws(NetworkReachabilityError) -> NetworkReachabilityManager

    /// A monitor of many hosts, which shares with the managers of this world.
    func targets(options: NetworkReachabilityOptions) throws(NetworkReachabilityError) -> NetworkReachabilityMonitor

    /// Lets everything happen that is bound to happen without another change, where that can be told.
    func settle()

    /// Ends everything.
    func close()
}

extension World {
    func apply(_ changes: Change...) throws {
        try apply(changes)
    }

    func manager(of host: String? = nil) throws(NetworkReachabilityError) -> NetworkReachabilityManager {
        try manager(of: host, options: NetworkReachabilityOptions())
    }

    /// A manager of the network at large, and what it tells a listener.
    func listeningManager() throws -> (NetworkReachabilityManager, Listener) {
        let (manager, listener) = (try manager(), Listener())
        manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
        return (manager, listener)
    }

    /// A monitor of these hosts.
    func targets(_ hosts: [String] = []) throws(NetworkReachabilityError) -> NetworkReachabilityMonitor {
        let targets = try targets(options: NetworkReachabilityOptions())
        try targets.setHosts(hosts)
        return targets
    }
}

/// Where a test is played.
enum WorldKind: String, CaseIterable, CustomTestStringConvertible {
    case fake
    case real

    /// Real ones wait most of the time: the kernel tells of carriers once a second for the whole machine.
    private static let fakeGate = ConcurrencyGate(2)
    private static let realGate = ConcurrencyGate(8)

    private var gate: ConcurrencyGate { self == .fake ? WorldKind.fakeGate : WorldKind.realGate }

    var testDescription: String { rawValue }

    /// Plays a test in a new world, on a thread of its own.
    func play(_ body: @escaping @Sendable (any World, Checks) throws -> Void) async throws {
        let checks = Checks()
        defer { checks.report() }
        do {
            try await gate.run {
                try await LabThread.detached {
                    let world = try make()
                    defer { world.close() }
                    try body(world, checks)
                }
            }
        } catch  where !TunCable.isPermitted && "\(error)".hasPrefix("tun ") {
            print("not played: tun devices need /dev/net/tun, which this user may not open")
        }
    }

    /// Plays a test that only a fake world can.
    static func playFake(_ body: @escaping @Sendable (FakeWorld, Checks) throws -> Void) async throws {
        try await WorldKind.fake.play { world, checks in
            guard let world = world as? FakeWorld else { throw LabError("no fake world") }
            try body(world, checks)
        }
    }

    private func make() throws -> any World {
        switch self {
        case .fake: FakeWorld()
        case .real: try RealWorld()
        }
    }
}

/// What a test finds wrong on a thread of its own, where Swift Testing does not know whose issue it is.
final class Checks: Sendable {
    private let found: Locked<[(String, SourceLocation)]> = Locked([])

    func expect(
        _ condition: Bool,
        _ comment: @autoclosure () -> String,
        at location: SourceLocation = #_sourceLocation
    ) {
        if condition { return }
        let entry = (comment(), location)
        found.withLock { $0.append(entry) }
    }

    func expect<Value: Equatable>(
        _ value: Value,
        is expected: Value,
        at location: SourceLocation = #_sourceLocation
    ) {
        expect(value == expected, "\(value), not \(expected)", at: location)
    }

    /// Waits until a value is what it should become, and lets what is bound to happen in the world happen meanwhile.
    func expect<Value: Equatable>(
        in world: any World,
        within limit: Duration = .patience,
        _ value: @autoclosure () -> Value,
        becomes expected: Value,
        at location: SourceLocation = #_sourceLocation
    ) {
        let isReached = Deadline(after: limit).poll(every: .milliseconds(2)) {
            if value() == expected { return true }
            world.settle()
            return value() == expected
        }
        expect(isReached, "\(value()) did not become \(expected)", at: location)
    }

    /// Tells the test that runs now.
    func report() {
        for (comment, location) in found.withLock({ $0 }) {
            Issue.record(Comment(rawValue: comment), sourceLocation: location)
        }
    }
}
