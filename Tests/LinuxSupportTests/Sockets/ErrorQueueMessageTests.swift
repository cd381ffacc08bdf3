import Glibc
import TestSupport
import Testing

@testable import LinuxSupport

/// What control messages say, and that no bytes do harm.
///
/// A seed that fails is repeated with CONTROL_SEED; CHECK_MUTATIONS sets how many cases there are.
struct ErrorQueueMessageTests {
    private static let seed = getenv("CONTROL_SEED").flatMap { UInt64(String(cString: $0)) } ?? .random(in: 0 ... .max)
    private static let cases = MutationCount.value

    @Test
    func `an ICMP error has a sender, a code, a hop limit and a time`() throws {
        var control = ControlBytes()
        control.addTime(seconds: 1_700_000_000, nanoseconds: 42_000)
        control.addHopLimit(63)
        control.addError(EHOSTUNREACH, origin: .icmp, type: 3, code: 1, offender: try SocketEndpoint("10.1.0.1"))
        let message = try #require(ErrorQueueMessage(control: control.bytes))
        #expect(message.origin == .icmp)
        #expect(message.type == 3)
        #expect(message.code == 1)
        #expect(message.cause == .hostUnreachable)
        #expect(message.offender == WireAddress("10.1.0.1"))
        #expect(message.hopLimit == 63)
        #expect(message.time == .seconds(1_700_000_000) + .microseconds(42))
        #expect(message.nextHopMTU == nil)
        #expect("\(message)" == "ICMP 3/1 from 10.1.0.1 (No route to host)")
    }

    @Test
    func `a packet that is too big has the MTU of the next hop`() throws {
        var ipv6 = ControlBytes()
        let router = try SocketEndpoint("fd01::1")
        ipv6.addError(EMSGSIZE, origin: .icmp6, type: 2, information: 1300, offender: router)
        #expect(try #require(ErrorQueueMessage(control: ipv6.bytes)).nextHopMTU == 1300)
        var local = ControlBytes()
        local.addError(EMSGSIZE, origin: .local, information: 1400, offender: nil)
        let message = try #require(ErrorQueueMessage(control: local.bytes))
        #expect(message.nextHopMTU == 1400)
        #expect(message.offender == nil)
        #expect(!message.isICMP)
    }

    @Test
    func `other control messages are no error`() {
        var control = ControlBytes()
        control.addHopLimit(64)
        control.addTime(seconds: 1, nanoseconds: 2)
        #expect(ErrorQueueMessage(control: control.bytes) == nil)
        #expect(ErrorQueueMessage(control: []) == nil)
    }

    @Test
    func `lengths that lie are not followed`() throws {
        var control = ControlBytes()
        control.addError(EHOSTUNREACH, origin: .icmp, type: 3, code: 1, offender: try SocketEndpoint("10.1.0.1"))
        for length in [-1, 0, 15, control.bytes.count + 1, Int.max, Int.min] {
            let bytes = ControlBytes.encoded(length) + control.bytes.dropFirst(8)
            #expect(ErrorQueueMessage(control: bytes) == nil)
        }
        for length in 0..<32 { #expect(ErrorQueueMessage(control: Array(control.bytes.prefix(length))) == nil) }
    }

    @Test
    func `spoiled control messages never trap`() async throws {
        var control = ControlBytes()
        control.addTime(seconds: 1_700_000_000, nanoseconds: 42_000)
        control.addHopLimit(63)
        control.addError(EHOSTUNREACH, origin: .icmp, type: 3, code: 1, offender: try SocketEndpoint("10.1.0.1"))
        control.addError(EACCES, origin: .icmp6, type: 1, code: 1, offender: try SocketEndpoint("fd01::1"))
        print("control messages: \(Self.cases) cases, CONTROL_SEED=\(Self.seed)")
        var chance = SeededGenerator(seed: Self.seed)
        var understood = 0
        for round in 0..<Self.cases {
            await takeTurns(in: round)
            let bytes = Spoiler.spoiled(control.bytes, by: &chance)
            if let message = ErrorQueueMessage(control: bytes) {
                understood += 1
                _ = message.description
                _ = message.nextHopMTU
            }
            _ = TCPInformation(bytes: bytes)
            bytes.withUnsafeBytes {
                _ = EchoMessage($0, .ipv4)
                _ = EchoMessage($0, .ipv6)
                _ = SocketEndpoint($0)
            }
        }
        // Spoiled, not destroyed: the depths of the decoder were reached.
        #expect(understood > Self.cases / 10)
    }
}
