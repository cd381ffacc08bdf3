import LinuxSupport
import NetworkLab
import NetworkReachability
import Testing

/// A network for tests, with a fake kernel or a real one. Changes and expected results are the same for both. The
/// methods block, so call them from a separate thread.
protocol World: AnyObject, Sendable {
    /// Applies changes one after the other.
    func apply(_ changes: [Change]) throws

    /// Applies changes at once, like one process that sends all of them together.
    func batch(_ changes: [Change]) throws

    /// Returns a manager of a host, or of the network at large if the host is nil. Managers of a world share a
    /// monitor.
    func manager(
        of host: String?,
        options: NetworkReachabilityOptions
    ) throws(NetworkReachabilityError) -> NetworkReachabilityManager

    /// Returns a monitor of many hosts. It shares the monitor of the managers.
    func targets(options: NetworkReachabilityOptions) throws(NetworkReachabilityError) -> NetworkReachabilityMonitor

    /// Runs all pending work if the world can determine its end.
    func settle()

    /// Closes the world.
    func close()
}

extension World {
    func apply(_ changes: Change...) throws {
        try apply(changes)
    }

    func manager(of host: String? = nil) throws(NetworkReachabilityError) -> NetworkReachabilityManager {
        try manager(of: host, options: NetworkReachabilityOptions())
    }

    /// Returns a manager of the network at large, and its listener.
    func listeningManager() throws -> (NetworkReachabilityManager, Listener) {
        let (manager, listener) = (try manager(), Listener())
        manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
        return (manager, listener)
    }

    /// Returns a monitor of hosts.
    func targets(_ hosts: [String] = []) throws(NetworkReachabilityError) -> NetworkReachabilityMonitor {
        let targets = try targets(options: NetworkReachabilityOptions())
        try targets.setHosts(hosts)
        return targets
    }

    /// Returns a monitor of hosts, a recorder of its changes, and the token of the recorder.
    func recordedTargets(
        _ hosts: [String] = []
    ) throws -> (NetworkReachabilityMonitor, ChangeRecorder, NetworkReachabilityToken) {
        let (targets, recorder) = (try targets(hosts), ChangeRecorder())
        return (targets, recorder, targets.listen(recorder))
    }
}

/// The kind of world in which a test runs.
enum WorldKind: String, CaseIterable, CustomTestStringConvertible {
    case fake
    case real

    /// Tests in real worlds mostly wait, because the kernel reports carriers once a second for the whole machine.
    private static let fakeGate = ConcurrencyGate(2)
    private static let realGate = ConcurrencyGate(8)

    private var gate: ConcurrencyGate { self == .fake ? WorldKind.fakeGate : WorldKind.realGate }

    var testDescription: String { rawValue }

    /// Runs a test in a new world after these changes, in a separate thread.
    func play(
        _ changes: [Change] = [],
        _ body: @escaping @Sendable (any World, Checks) throws -> Void
    ) async throws {
        let checks = Checks()
        defer { checks.report() }
        do {
            try await gate.run {
                try await LabThread.detached {
                    let world = try make()
                    defer { world.close() }
                    try world.apply(changes)
                    try body(world, checks)
                }
            }
        } catch  where !TunCable.isPermitted && "\(error)".hasPrefix("tun ") {
            print("not played: tun devices need /dev/net/tun, which this user may not open")
        }
    }

    /// Runs a test that requires a fake world.
    static func playFake(
        _ changes: [Change] = [],
        _ body: @escaping @Sendable (FakeWorld, Checks) throws -> Void
    ) async throws {
        try await WorldKind.fake.play(changes) { world, checks in
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

/// The issues that a test finds in a separate thread. There Swift Testing cannot associate them with the test.
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

    /// Waits until a value equals the expected one, and runs the pending work of the world meanwhile.
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

    /// Records the issues in the current test.
    func report() {
        for (comment, location) in found.withLock({ $0 }) {
            Issue.record(Comment(rawValue: comment), sourceLocation: location)
        }
    }
}
