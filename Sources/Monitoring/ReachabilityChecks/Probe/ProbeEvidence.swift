import LinuxSupport
package import NetworkReachability

/// Everything a probe saw besides its outcome; nil where it did not look, or there was nothing.
package struct ProbeEvidence: Hashable, Sendable {
    package var local: IPAddress?
    package var remote: IPAddress?
    /// Who answered, where that need not be whoever was asked: a hop.
    package var speaker: IPAddress?
    package var interface: String?
    /// As the kernel measured it: `tcpi_rtt` of `tcp(7)`, or the difference of its timestamps.
    package var kernelRoundTrip: Duration?
    /// From the first send to the first answer.
    package var firstAnswer: Duration?
    package var retransmits: Int?
    package var lost: Int?
    /// In bytes.
    package var pathMTU: Int?
    /// In bytes.
    package var segmentSize: Int?
    /// The hop limit that the answer arrived with.
    package var replyHopLimit: UInt8?
    package var neighbour: NeighbourFacts?
    /// What `getaddrinfo(3)` gave, in its order.
    package var addresses: [IPAddress] = []
    package var dns: DNSFacts?
    package var http: HTTPFacts?
    package var tls: TLSFacts?
    package var portal: PortalInformation?

    package init() {}
}

/// How the gateway's entry in the neighbour table stood around a probe, `ip-neighbour(8)`.
package struct NeighbourFacts: Hashable, Sendable {
    /// NUD_* of `<linux/neighbour.h>`.
    package enum State: String, Hashable, Sendable, CaseIterable, Codable {
        case none, incomplete, reachable, stale, delay, probe, failed, noarp, permanent
    }

    package var before: State
    package var after: State
    /// From our first packet to the moment `after` was read.
    package var age: Duration
    /// From the kernel's last confirmation to the moment `after` was read; nil without one.
    package var confirmedAge: Duration?
    /// Whether two stations answer for one address (RFC 5227).
    package var isContested: Bool

    package init(
        before: State,
        after: State,
        age: Duration,
        confirmedAge: Duration? = nil,
        isContested: Bool = false
    ) {
        self.before = before
        self.after = after
        self.age = age
        self.confirmedAge = confirmedAge
        self.isContested = isContested
    }

    /// A resolution takes three tries of a second. An earlier failure may belong to one that began before our packet.
    private static let resolution = Duration.seconds(3)

    /// Whether the gateway did not answer when it was asked because of our packet.
    package var provesDeath: Bool { after == .failed && age >= Self.resolution }

    /// Whether the gateway answered later than our packet: it was not known to, or it was confirmed since. The kernel tells of that in
    /// hundredths of a second.
    package var provesLife: Bool {
        guard after == .reachable, let confirmedAge else { return false }
        return before != .reachable || confirmedAge + .milliseconds(20) < age
    }
}

/// What one DNS server answered; of one that is silent, what it was asked for.
package struct DNSFacts: Hashable, Sendable {
    /// A or AAAA, by its number (RFC 1035, RFC 3596).
    package var type: DNSRecordType
    package var code: DNSResponseCode
    package var addresses: [IPAddress]
    /// EDE (RFC 8914).
    package var extendedErrors: [UInt16]
    package var isTruncated: Bool
    /// Whether the server asks others for what it does not know (RA).
    package var isRecursive = true

    package init(
        _ type: DNSRecordType,
        code: DNSResponseCode = .noError,
        addresses: [IPAddress] = [],
        extendedErrors: [UInt16] = [],
        isTruncated: Bool = false
    ) {
        self.type = type
        self.code = code
        self.addresses = addresses
        self.extendedErrors = extendedErrors
        self.isTruncated = isTruncated
    }

    /// The addresses of `ipv4only.arpa` (RFC 7050).
    package static let everybodyKnows = Set([0xc000_00aa, 0xc000_00ab].map { IPAddress(WireAddress(ipv4: $0)) })

    /// Whether a filter made this answer: EDE 15 to 18.
    package var isBlocked: Bool { extendedErrors.contains { (15...18).contains($0) } }
}

/// What an HTTP server answered.
package struct HTTPFacts: Hashable, Sendable {
    package enum Challenge: String, Hashable, Sendable, Codable {
        /// Our random number came back.
        case echoed
        /// It did not, though it was asked for.
        case missing
        case notAsked
    }

    package var status: Int
    package var location: String?
    package var challenge: Challenge
    /// How far the server's clock is from ours (RFC 9110, `Date`).
    package var clockOffset: Duration?
    /// How long it wants not to be asked again (RFC 9110, `Retry-After`).
    package var retryAfter: Duration?

    package init(
        status: Int,
        location: String? = nil,
        challenge: Challenge = .notAsked,
        clockOffset: Duration? = nil,
        retryAfter: Duration? = nil
    ) {
        self.status = status
        self.location = location
        self.challenge = challenge
        self.clockOffset = clockOffset
        self.retryAfter = retryAfter
    }
}

/// What a TLS handshake showed.
package struct TLSFacts: Hashable, Sendable {
    package var version: String?
    package var applicationProtocol: String?
    /// Of the leaf certificate.
    package var issuer: String?
    /// Whether the chain was trusted, for the name that was asked for.
    package var isVerified: Bool

    package init(isVerified: Bool, issuer: String? = nil, version: String? = nil, applicationProtocol: String? = nil) {
        self.isVerified = isVerified
        self.issuer = issuer
        self.version = version
        self.applicationProtocol = applicationProtocol
    }
}
