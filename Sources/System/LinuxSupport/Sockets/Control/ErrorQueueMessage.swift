import Glibc

/// One message of a socket's error queue: most often an ICMP error, with the address of whoever says it.
///
/// C counterpart: `struct sock_extended_err`, IP_RECVERR of `ip(7)`.
package struct ErrorQueueMessage: Hashable, Sendable {
    package let origin: ErrorOrigin
    /// What the kernel makes of it (`ee_errno`). Different ICMP codes have the same number.
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

    /// Whether somebody sent an ICMP error.
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

    /// Whether the packet's hop limit came to its end on the way.
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
