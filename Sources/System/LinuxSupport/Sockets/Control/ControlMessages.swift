import CLinux
import Glibc

/// What came beside a datagram. Whatever does not fit into its bounds is left out.
///
/// C counterpart: `cmsg(3)`, `struct cmsghdr`.
struct ControlMessages {
    /// IP_TTL or IPV6_HOPLIMIT, as the packet had it when it arrived.
    private(set) var hopLimit: UInt8?
    /// SCM_TIMESTAMPING: when the kernel received or sent the packet, since 1970.
    private(set) var time: Duration?
    /// The content of IP_RECVERR or IPV6_RECVERR, a `struct sock_extended_err` and the offender's address.
    private(set) var extendedError: UnsafeRawBufferPointer?

    init(_ bytes: UnsafeRawBufferPointer) {
        // The length is a size_t; level and type follow it.
        let word = MemoryLayout<Int>.size
        let header = word + 8
        var rest = bytes
        while let length = rest.load(Int.self, at: 0), let level = rest.load(CInt.self, at: word),
            let type = rest.load(CInt.self, at: word + 4), length >= header, length <= rest.count
        {
            take(level, type, rest.bytes(from: header, length: length - header))
            rest = rest.bytes(from: (length + word - 1) / word * word)
        }
    }

    private mutating func take(_ level: CInt, _ type: CInt, _ content: UnsafeRawBufferPointer) {
        switch (level, type) {
        case (OptionLevel.ipv4, IP_TTL), (OptionLevel.ipv6, IPV6_HOPLIMIT):
            hopLimit = content.load(CInt.self, at: 0).flatMap { UInt8(exactly: $0) }
        case (OptionLevel.ipv4, IP_RECVERR), (OptionLevel.ipv6, IPV6_RECVERR):
            extendedError = content
        case (OptionLevel.socket, CInt(clinux_so_timestamping)):
            time = Self.time(content)
        default: break
        }
    }

    /// The first of three times, the one that software took; zero where there is none.
    private static func time(_ content: UnsafeRawBufferPointer) -> Duration? {
        guard let seconds = content.load(Int.self, at: 0),
            let nanoseconds = content.load(Int.self, at: MemoryLayout<Int>.size),
            (1..<(1 << 36)).contains(seconds), (0..<1_000_000_000).contains(nanoseconds)
        else { return nil }
        return .seconds(seconds) + .nanoseconds(nanoseconds)
    }
}
