import CLinux
import Glibc

/// An error of a socket. The description contains the failed step, the system's error and, if known, a hint.
package struct SocketError: Error, Hashable, Sendable {
    /// The failed step.
    package enum Step: Hashable, Sendable {
        case openDatagramSocket
        /// Opening a socket for ICMP echoes, which `net.ipv4.ping_group_range` permits or forbids.
        case openPingSocket
        case openStreamSocket
        case bindToInterface(String)
        case bindToAddress(SocketEndpoint)
        case setMark(UInt32)
        /// Setting another option, by its name in the man page.
        case setOption(String)
        case connect(SocketEndpoint)
        case send(SocketEndpoint)
        case watch
        /// Entering a network namespace, by its path or name.
        case enterNamespace(String)
    }

    /// The class of an error, as far as callers distinguish it.
    package enum Kind: Hashable, Sendable {
        /// A privilege is missing: EPERM or EACCES of a step other than connect or send.
        case notPermitted
        /// A packet filter of this machine drops the packet: EPERM of connect or send.
        case blocked
        /// EMFILE or ENFILE.
        case noDescriptors
        /// ENOBUFS or ENOMEM.
        case noBuffers
        /// The interface does not exist (any more): ENODEV or ENXIO.
        case noInterface
        /// The source address does not belong to this machine: EADDRNOTAVAIL.
        case noSuchAddress
        /// EMSGSIZE.
        case tooLong
        /// There is no route, or it forbids the packet: ENETUNREACH, EHOSTUNREACH, ENETDOWN, and EACCES or EINVAL of
        /// connect or send.
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
        case EPERM: sendsPackets ? .blocked : .notPermitted
        case EACCES: sendsPackets ? .noRoute : .notPermitted
        case EINVAL where sendsPackets: .noRoute
        case EMFILE, ENFILE: .noDescriptors
        case ENOBUFS, ENOMEM: .noBuffers
        case ENODEV, ENXIO: .noInterface
        case EADDRNOTAVAIL: .noSuchAddress
        case EMSGSIZE: .tooLong
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN: .noRoute
        default: .other
        }
    }

    /// True if the step sends packets.
    private var sendsPackets: Bool {
        switch step {
        case .connect, .send: true
        default: false
        }
    }
}

extension SocketError.Step {
    /// True if the network namespace of the socket could not be entered.
    package var isNamespace: Bool { if case .enterNamespace = self { true } else { false } }
}

extension SocketError: CustomStringConvertible {
    /// A text such as `cannot open a ping socket: Permission denied; net.ipv4.ping_group_range does not name a group of
    /// this process`.
    package var description: String {
        "cannot \(step): \(cause)" + (remedy.map { "; \($0)" } ?? "")
    }

    /// The hint; nil if none is known.
    private var remedy: String? {
        switch (kind, step) {
        case (.notPermitted, .openPingSocket): "net.ipv4.ping_group_range does not name a group of this process"
        case (.notPermitted, .setMark): "this requires CAP_NET_ADMIN or CAP_NET_RAW"
        case (.notPermitted, .bindToInterface): "this requires CAP_NET_RAW"
        case (.notPermitted, .enterNamespace): "this requires CAP_SYS_ADMIN"
        case (.blocked, _): "a packet filter of this machine drops the packet"
        case (.noDescriptors, _): "raise the limit of open files (ulimit -n), or send fewer probes at a time"
        case (.noBuffers, _): "send less at a time"
        case (.noInterface, _): "there is no such interface"
        case (.noSuchAddress, _): "no interface of this machine has this address"
        default: nil
        }
    }
}

extension SocketError.Step: CustomStringConvertible {
    /// The text after "cannot".
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

/// The control messages of a datagram. A message that exceeds its bounds is ignored.
///
/// C counterpart: `cmsg(3)`, `struct cmsghdr`.
struct ControlMessages {
    /// The hop limit of the received packet (IP_TTL or IPV6_HOPLIMIT).
    private(set) var hopLimit: UInt8?
    /// The kernel's timestamp of receiving or sending (SCM_TIMESTAMPING), since 1970.
    private(set) var time: Duration?
    /// The content of IP_RECVERR or IPV6_RECVERR: a `struct sock_extended_err`, followed by the sender's address.
    private(set) var extendedError: UnsafeRawBufferPointer?

    init(_ bytes: UnsafeRawBufferPointer) {
        // The length is a size_t, followed by level and type.
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

    /// Returns the first of the three timestamps, which is the software timestamp; nil if it is zero.
    private static func time(_ content: UnsafeRawBufferPointer) -> Duration? {
        guard let seconds = content.load(Int.self, at: 0),
            let nanoseconds = content.load(Int.self, at: MemoryLayout<Int>.size),
            (1..<(1 << 36)).contains(seconds), (0..<1_000_000_000).contains(nanoseconds)
        else { return nil }
        return .seconds(seconds) + .nanoseconds(nanoseconds)
    }
}

/// A message of a socket's error queue. Most messages are ICMP errors, with the address of the sender.
///
/// C counterpart: `struct sock_extended_err`, IP_RECVERR of `ip(7)`.
package struct ErrorQueueMessage: Hashable, Sendable {
    package let origin: ErrorOrigin
    /// The kernel's error number (`ee_errno`). Different ICMP codes may have the same number.
    package let cause: SystemError
    /// The type of the ICMP or ICMPv6 error (RFC 792, RFC 4443).
    package let type: UInt8
    /// The code of the ICMP or ICMPv6 error.
    package let code: UInt8
    /// The field `ee_info`: the MTU of the next hop, if the packet was too big.
    package let information: UInt32
    /// The field `ee_data`: for a timestamp, the number of the sent datagram.
    package let data: UInt32
    /// The sender of the ICMP error; nil for a local error. It is an address of this machine if its packet filter
    /// rejected the packet, or if a neighbour does not answer.
    package let offender: WireAddress?
    /// The hop limit of the received ICMP packet.
    package let hopLimit: UInt8?
    /// The time of arrival of the error, or of sending for a timestamp, since 1970.
    package let time: Duration?

    package init?(control: [UInt8]) {
        guard let message = control.withUnsafeBytes({ ErrorQueueMessage(ControlMessages($0)) }) else { return nil }
        self = message
    }

    init?(_ control: ControlMessages) {
        // Send timestamps arrive as an error too, with the number ENOMSG.
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

    /// The MTU of the next hop in bytes; nil unless the error is that a packet was too big (RFC 1191, RFC 8201).
    package var nextHopMTU: UInt32? {
        let isTooBig =
            switch (origin, type, code) {
            case (.icmp, 3, 4), (.icmp6, 2, _): true
            case (.local, _, _): cause == .messageTooLong
            default: false
            }
        return isTooBig && information > 0 ? information : nil
    }
}

extension ErrorQueueMessage: CustomStringConvertible {
    /// A text such as `ICMP 3/1 from 10.1.0.1 (No route to host)`.
    package var description: String {
        let sender = offender.map { " from \($0)" } ?? ""
        return switch origin {
        case .icmp: "ICMP \(type)/\(code)\(sender) (\(cause))"
        case .icmp6: "ICMPv6 \(type)/\(code)\(sender) (\(cause))"
        default: "\(cause)\(sender)"
        }
    }
}

/// The origin of a message of the error queue.
///
/// C counterpart: SO_EE_ORIGIN_* of `<linux/errqueue.h>`.
package struct ErrorOrigin: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// This machine, without a received packet.
    package static let local = ErrorOrigin(rawValue: 1)
    package static let icmp = ErrorOrigin(rawValue: 2)
    package static let icmp6 = ErrorOrigin(rawValue: 3)
    /// Not an error: a send timestamp.
    package static let timestamping = ErrorOrigin(rawValue: 4)
}
