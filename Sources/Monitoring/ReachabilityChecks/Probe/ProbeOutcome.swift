package import LinuxSupport
package import NetworkReachability

/// Who has spoken.
package enum Speaker: Hashable, Sendable {
    case thisMachine
    case gateway
    /// A router beyond the gateway, and how many hops away where that is known.
    case hop(UInt8?)
    /// Whoever the packet was for.
    case peer
    case unknown
}

/// What an ICMP error says, and who says so (RFC 792, RFC 4443).
package struct ICMPError: Hashable, Sendable {
    package var family: AddressFamily
    package var type: UInt8
    package var code: UInt8
    package var sender: IPAddress
    package var speaker: Speaker
    /// The MTU of the next hop, where the packet was too big for it, in bytes.
    package var nextHopMTU: UInt16?

    package init(
        family: AddressFamily,
        type: UInt8,
        code: UInt8,
        sender: IPAddress,
        speaker: Speaker,
        nextHopMTU: UInt16? = nil
    ) {
        self.family = family
        self.type = type
        self.code = code
        self.sender = sender
        self.speaker = speaker
        self.nextHopMTU = nextHopMTU
    }

    /// What type and code mean; errno alone tells less, and something else in each family.
    package var reason: ProbeReason {
        switch (family, type, code) {
        case (.ipv4, 3, 0), (.ipv4, 3, 6), (.ipv6, 1, 0): .noRouteBeyond
        case (.ipv4, 3, 1), (.ipv4, 3, 7), (.ipv6, 1, 3): .hostUnreachable
        case (.ipv4, 3, 3), (.ipv6, 1, 4): .refusedByFirewall
        case (.ipv4, 3, 4), (.ipv6, 2, _): .fragmentationNeeded
        case (.ipv4, 3, 9), (.ipv4, 3, 10), (.ipv4, 3, 13), (.ipv6, 1, 1), (.ipv6, 1, 5), (.ipv6, 1, 6): .prohibited
        case (.ipv4, 11, _), (.ipv6, 3, _): .hopLimitExceeded
        default: .hostUnreachable
        }
    }
}

/// Why nothing was sent.
package enum SkipReason: String, Hashable, Sendable, Codable {
    case notPermitted, noDescriptors, interfaceGone, overBudget, notNeeded, reversePathFilter
}

/// How a probe ended.
package enum ProbeOutcome: Hashable, Sendable {
    /// As it should; of TLS: with a certificate that is trusted.
    case answered
    /// A reset, or a closed port that its host tells of.
    case refused(Speaker)
    case unreachable(ICMPError)
    /// This machine refused to send it: the error number of `socket(2)`, `bind(2)`, `connect(2)` or `send(2)`. Nothing left the machine.
    case blockedHere(Int32)
    case silent
    /// An answer that is not as it should be.
    case invalid(ProbeReason)
    case skipped(SkipReason)
    case cancelled
}
