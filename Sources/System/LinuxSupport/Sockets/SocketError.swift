import CLinux
import Glibc

/// A failure of a socket: the attempt, the system's error, and a hint.
package struct SocketError: Error, Hashable, Sendable {
    /// The attempt.
    package enum Step: Hashable, Sendable {
        case openDatagramSocket
        /// A socket for ICMP echoes, which `net.ipv4.ping_group_range` allows or forbids.
        case openPingSocket
        case openStreamSocket
        case bindToInterface(String)
        case bindToAddress(SocketEndpoint)
        case setMark(UInt32)
        /// Any other option, by the name its man page gives it.
        case setOption(String)
        case connect(SocketEndpoint)
        case send(SocketEndpoint)
        case watch
        /// By its path or name.
        case enterNamespace(String)
    }

    /// Why, as far as callers treat it differently.
    package enum Kind: Hashable, Sendable {
        /// EPERM or EACCES of a step that needs a privilege.
        case notPermitted
        /// EPERM of a send or a connect: a packet filter of this machine drops what was sent.
        case blocked
        /// EMFILE or ENFILE.
        case noDescriptors
        /// ENOBUFS or ENOMEM.
        case noBuffers
        /// ENODEV or ENXIO: the interface is not there, or no longer.
        case noInterface
        /// EADDRNOTAVAIL: the source address is not this machine's.
        case noSuchAddress
        /// EMSGSIZE.
        case tooLong
        /// A route that is missing or forbids it: ENETUNREACH, EHOSTUNREACH, ENETDOWN, and EACCES or EINVAL of a connect or a send.
        case noRoute
        case other
    }

    package let step: Step
    package let cause: SystemError

    package init(_ step: Step, _ cause: SystemError) {
        self.step = step
        self.cause = cause
    }

    package var kind: Kind {
        switch cause.rawValue {
        case EPERM: isOnTheWay ? .blocked : .notPermitted
        case EACCES: isOnTheWay ? .noRoute : .notPermitted
        case EINVAL where isOnTheWay: .noRoute
        case EMFILE, ENFILE: .noDescriptors
        case ENOBUFS, ENOMEM: .noBuffers
        case ENODEV, ENXIO: .noInterface
        case EADDRNOTAVAIL: .noSuchAddress
        case EMSGSIZE: .tooLong
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN: .noRoute
        default: .other
        }
    }

    /// Whether packets were to leave.
    private var isOnTheWay: Bool {
        switch step {
        case .connect, .send: true
        default: false
        }
    }
}

extension SocketError.Step {
    /// Whether not even the place was reached that sockets are to be opened in.
    package var isNamespace: Bool { if case .enterNamespace = self { true } else { false } }
}

extension SocketError: CustomStringConvertible {
    /// `cannot open a ping socket: Permission denied; net.ipv4.ping_group_range does not name a group of this process`
    package var description: String {
        "cannot \(step): \(cause)" + (remedy.map { "; \($0)" } ?? "")
    }

    /// What helps, where that is known.
    private var remedy: String? {
        switch (kind, step) {
        case (.notPermitted, .openPingSocket): "net.ipv4.ping_group_range does not name a group of this process"
        case (.notPermitted, .setMark): "it needs CAP_NET_ADMIN or CAP_NET_RAW"
        case (.notPermitted, .bindToInterface): "it needs CAP_NET_RAW"
        case (.notPermitted, .enterNamespace): "it needs CAP_SYS_ADMIN"
        case (.blocked, _): "a packet filter of this machine drops it"
        case (.noDescriptors, _): "raise the limit of open files (ulimit -n), or ask for less at a time"
        case (.noBuffers, _): "send less at a time"
        case (.noInterface, _): "there is no such interface"
        case (.noSuchAddress, _): "no interface of this machine has this address"
        default: nil
        }
    }
}

extension SocketError.Step: CustomStringConvertible {
    /// As it follows "cannot".
    package var description: String {
        switch self {
        case .openDatagramSocket: "open a UDP socket"
        case .openPingSocket: "open a ping socket"
        case .openStreamSocket: "open a TCP socket"
        case .bindToInterface(let name): "bind a socket to the interface \(name)"
        case .bindToAddress(let endpoint): "send from \(endpoint)"
        case .setMark(let mark): "mark packets with \(mark)"
        case .setOption(let name): "set \(name)"
        case .connect(let endpoint): "connect to \(endpoint)"
        case .send(let endpoint): "send to \(endpoint)"
        case .watch: "wait for sockets"
        case .enterNamespace(let name): "enter the network namespace \(name)"
        }
    }
}

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

    /// The first of three times, which software took; zero if there is none.
    private static func time(_ content: UnsafeRawBufferPointer) -> Duration? {
        guard let seconds = content.load(Int.self, at: 0),
            let nanoseconds = content.load(Int.self, at: MemoryLayout<Int>.size),
            (1..<(1 << 36)).contains(seconds), (0..<1_000_000_000).contains(nanoseconds)
        else { return nil }
        return .seconds(seconds) + .nanoseconds(nanoseconds)
    }
}

/// A message of a socket's error queue: mostly an ICMP error, with the address of its sender.
///
/// C counterpart: `struct sock_extended_err`, IP_RECVERR of `ip(7)`.
package struct ErrorQueueMessage: Hashable, Sendable {
    package let origin: ErrorOrigin
    /// The error number of the kernel (`ee_errno`). Different ICMP codes have the same number.
    package let cause: SystemError
    /// Of the ICMP or ICMPv6 error (RFC 792, RFC 4443).
    package let type: UInt8
    package let code: UInt8
    /// `ee_info`: the MTU of the next hop, where the packet was too big for it.
    package let information: UInt32
    /// `ee_data`: of a time of sending, the number of the datagram.
    package let data: UInt32
    /// Who says so; nil for what is known locally. One of our own addresses where it is this machine: its packet filter, or a
    /// neighbour that does not answer.
    package let offender: WireAddress?
    /// The hop limit that the ICMP error itself arrived with.
    package let hopLimit: UInt8?
    /// When it arrived, or when the datagram was sent, since 1970.
    package let time: Duration?

    /// - Parameter control: control messages as `recvmsg(2)` gives them; nil where there is no error among them.
    package init?(control: [UInt8]) {
        guard let message = control.withUnsafeBytes({ ErrorQueueMessage(ControlMessages($0)) }) else { return nil }
        self = message
    }

    init?(_ control: ControlMessages) {
        // Times of sending come with an error, too, whose number is ENOMSG.
        guard let bytes = control.extendedError, let number = bytes.load(UInt32.self, at: 0),
            let origin = bytes.load(UInt8.self, at: 4), let type = bytes.load(UInt8.self, at: 5),
            let code = bytes.load(UInt8.self, at: 6), let information = bytes.load(UInt32.self, at: 8),
            let data = bytes.load(UInt32.self, at: 12)
        else { return nil }
        self.origin = ErrorOrigin(rawValue: origin)
        cause = SystemError(rawValue: CInt(truncatingIfNeeded: number))
        self.type = type
        self.code = code
        self.information = information
        self.data = data
        let offender = SocketEndpoint(bytes.bytes(from: 16))?.address
        self.offender = offender?.isUnspecified == true ? nil : offender
        hopLimit = control.hopLimit
        time = control.time
    }

    /// True if the message is an ICMP error.
    package var isICMP: Bool { origin == .icmp || origin == .icmp6 }

    /// The MTU of the next hop, in bytes; nil where this does not say that a packet was too big (RFC 1191, RFC 8201).
    package var nextHopMTU: UInt32? {
        let isTooBig =
            switch (origin, type, code) {
            case (.icmp, 3, 4), (.icmp6, 2, _): true
            case (.local, _, _): cause == .messageTooLong
            default: false
            }
        return isTooBig && information > 0 ? information : nil
    }

    /// True if the packet's hop limit was exceeded on the way.
    package var isTimeExceeded: Bool {
        (origin == .icmp && type == 11 && code == 0) || (origin == .icmp6 && type == 3 && code == 0)
    }
}

extension ErrorQueueMessage: CustomStringConvertible {
    /// `ICMP 3/1 from 10.1.0.1 (No route to host)`
    package var description: String {
        let sender = offender.map { " from \($0)" } ?? ""
        return switch origin {
        case .icmp: "ICMP \(type)/\(code)\(sender) (\(cause))"
        case .icmp6: "ICMPv6 \(type)/\(code)\(sender) (\(cause))"
        default: "\(cause)\(sender)"
        }
    }
}

/// Where a message of the error queue comes from.
///
/// C counterpart: SO_EE_ORIGIN_* of `<linux/errqueue.h>`.
package struct ErrorOrigin: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// This machine, without any packet.
    package static let local = ErrorOrigin(rawValue: 1)
    package static let icmp = ErrorOrigin(rawValue: 2)
    package static let icmp6 = ErrorOrigin(rawValue: 3)
    /// No error: the time at which a datagram was sent.
    package static let timestamping = ErrorOrigin(rawValue: 4)
}
