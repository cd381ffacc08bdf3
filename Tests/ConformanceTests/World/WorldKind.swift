import NetworkLab
import Testing

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
