import Glibc

/// A socket that could not be used: what was tried, what the system said, and what helps.
package struct SocketError: Error, Hashable, Sendable {
    /// What was tried.
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
