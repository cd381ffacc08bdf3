import Glibc
import TestSupport
import Testing

@testable import LinuxSupport

/// The parsing of control messages. Invalid bytes are safe.
///
/// CONTROL_SEED repeats a seed that failed. CHECK_MUTATIONS sets the number of cases.
struct ErrorQueueMessageTests {
    private static let seed = getenv("CONTROL_SEED").flatMap { UInt64(String(cString: $0)) } ?? .random(in: 0 ... .max)
    private static let cases = MutationCount.value

    @Test func `an ICMP error has a sender, a code, a hop limit and a time`() throws {
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

    @Test func `a packet that is too big has the MTU of the next hop`() throws {
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

    @Test func `other control messages are not an error`() {
        var control = ControlBytes()
        control.addHopLimit(64)
        control.addTime(seconds: 1, nanoseconds: 2)
        #expect(ErrorQueueMessage(control: control.bytes) == nil)
        #expect(ErrorQueueMessage(control: []) == nil)
    }

    @Test func `invalid lengths are ignored`() throws {
        var control = ControlBytes()
        control.addError(EHOSTUNREACH, origin: .icmp, type: 3, code: 1, offender: try SocketEndpoint("10.1.0.1"))
        for length in [-1, 0, 15, control.bytes.count + 1, Int.max, Int.min] {
            let bytes = ControlBytes.encoded(length) + control.bytes.dropFirst(8)
            #expect(ErrorQueueMessage(control: bytes) == nil)
        }
        for length in 0..<32 { #expect(ErrorQueueMessage(control: Array(control.bytes.prefix(length))) == nil) }
    }

    @Test func `damaged control messages never trap`() async throws {
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
            let bytes = DamagedBytes.make(from: control.bytes, using: &chance, alignment: 8)
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
        // The damage is limited, so the inner parts of the parser are reached.
        #expect(understood > Self.cases / 10)
    }
}

/// Control messages in the format of the kernel.
struct ControlBytes {
    private(set) var bytes: [UInt8] = []

    /// Adds a message of a level and a type. Messages are aligned to eight bytes.
    mutating func add(_ level: CInt, _ type: CInt, _ content: [UInt8]) {
        append(16 + content.count)
        append(level)
        append(type)
        bytes += content
        while bytes.count % 8 != 0 { bytes.append(0) }
    }

    mutating func addHopLimit(_ limit: CInt) {
        add(0, IP_TTL, ControlBytes.encoded(limit))
    }

    mutating func addTime(seconds: Int, nanoseconds: Int) {
        let none = [UInt8](repeating: 0, count: 32)
        add(SOL_SOCKET, 37, ControlBytes.encoded(seconds) + ControlBytes.encoded(nanoseconds) + none)
    }

    mutating func addError(
        _ number: CInt,
        origin: ErrorOrigin,
        type: UInt8 = 0,
        code: UInt8 = 0,
        information: UInt32 = 0,
        data: UInt32 = 0,
        offender: SocketEndpoint?
    ) {
        let isIPv6 = offender?.family == .ipv6
        let content =
            ControlBytes.encoded(number) + [origin.rawValue, type, code, 0] + ControlBytes.encoded(information)
            + ControlBytes.encoded(data) + (offender?.socketAddress ?? [UInt8](repeating: 0, count: 16))
        add(isIPv6 ? 41 : 0, isIPv6 ? IPV6_RECVERR : IP_RECVERR, content)
    }

    private mutating func append(_ number: some FixedWidthInteger & BitwiseCopyable) {
        bytes += ControlBytes.encoded(number)
    }

    static func encoded(_ number: some FixedWidthInteger & BitwiseCopyable) -> [UInt8] {
        withUnsafeBytes(of: number) { Array($0) }
    }
}

extension SocketEndpoint {
    /// Creates an endpoint from the text of a valid address.
    init(_ text: String, port: UInt16 = 0) throws {
        self.init(try #require(WireAddress(text)), port: port)
    }
}

/// The kernel's measurements of a connection.
struct TCPInformationTests {
    @Test func `the fields have the offsets of the kernel`() throws {
        var bytes = [UInt8](repeating: 0, count: 144)
        func put(_ number: UInt32, at offset: Int) {
            bytes.replaceSubrange(offset..<(offset + 4), with: withUnsafeBytes(of: number) { Array($0) })
        }
        put(1448, at: 16)
        put(7, at: 32)
        put(250, at: 52)
        put(1500, at: 60)
        put(123, at: 68)
        put(9, at: 100)
        put(11, at: 140)
        let information = try #require(TCPInformation(bytes: bytes))
        #expect(information.sendSegmentSize == 1448)
        #expect(information.lost == 7)
        #expect(information.sinceDataReceived == .milliseconds(250))
        #expect(information.pathMTU == 1500)
        #expect(information.roundTrip == .microseconds(123))
        #expect(information.totalRetransmits == 9)
        #expect(information.segmentsReceived == 11)
    }

    @Test func `a shorter structure of an older kernel is read`() throws {
        let information = try #require(TCPInformation(bytes: [UInt8](repeating: 0, count: 104)))
        #expect(information.segmentsSent == nil)
        #expect(information.bytesReceived == nil)
        // Without a handshake the round-trip time is nil, not 0.
        #expect(information.roundTrip == nil)
        #expect(TCPInformation(bytes: [UInt8](repeating: 0, count: 103)) == nil)
    }
}
