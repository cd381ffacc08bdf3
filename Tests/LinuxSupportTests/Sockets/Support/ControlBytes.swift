import Glibc
import Testing

@testable import LinuxSupport

/// Control messages as the kernel writes them.
struct ControlBytes {
    private(set) var bytes: [UInt8] = []

    /// Of a level and a type; the next one begins at a multiple of eight.
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
    /// Of an address in text that is known to be one.
    init(_ text: String, port: UInt16 = 0) throws {
        self.init(try #require(WireAddress(text)), port: port)
    }
}
