import LinuxPrimitives

/// What the kernel would do with packets to one address.
struct Verdict: Hashable, Sendable {
    /// The way they would take.
    struct Way: Hashable, Sendable {
        /// The index of the link they leave through.
        var link: UInt32
        var gateway: WireAddress?
        var source: WireAddress
        var table: UInt32?
        var mtu: UInt32
        /// The address is one of this machine's own.
        var isLocal: Bool
    }

    /// What stands in their way, and at which link.
    struct Obstacle: Error, Hashable, Sendable {
        var cause: Cause
        /// The index of the link that does.
        var link: UInt32?
        var gateway: WireAddress?
        var source: WireAddress?
        /// Whether it is not the link itself, but what the link runs over.
        var isBelow = false

        init(_ cause: Cause, link: UInt32? = nil) {
            self.cause = cause
            self.link = link
        }

        var reason: NetworkPath.UnsatisfiedReason { cause.reason }
    }

    var destination: IPAddress
    var outcome: Result<Way, Obstacle>
    /// When to ask again although nothing will be announced: an IPv6 route is about to expire.
    var lifetime: Duration?

    /// Whether packets flow, now and without anybody's help.
    var isSatisfied: Bool {
        if case .success = outcome { true } else { false }
    }

    /// Whether everything but the destination itself and the time is the same.
    func leads(likewise other: Verdict) -> Bool {
        destination.isIPv6 == other.destination.isIPv6 && outcome == other.outcome
    }
}

extension Verdict.Obstacle {
    /// The kernel's error number for a lookup without a way (measured; `connect(2)` gives the same).
    init(_ error: SystemError) {
        switch error {
        case .networkUnreachable: self.init(.noRoute)
        case .hostUnreachable: self.init(.unreachable)
        case .accessDenied: self.init(.prohibited)
        case .invalidArgument: self.init(.blackholed)
        case .networkDown: self.init(.linkDown)
        case .noDevice: self.init(.noInterface)
        default: self.init(.refused)
        }
    }
}
