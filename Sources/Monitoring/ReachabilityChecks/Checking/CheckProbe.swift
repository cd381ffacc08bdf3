import LinuxSupport
public import NetworkReachability
import ServerTrustNIO

/// A probe of a check, with its observations. A property without an observation is nil.
public struct CheckProbe: Hashable, Sendable {
    let result: ProbeResult

    init(_ result: ProbeResult) {
        self.result = result
    }

    /// The outcome of a probe. The raw value is the name in JSON output.
    public enum Outcome: String, Hashable, Sendable, CaseIterable, Codable {
        /// The expected answer arrived.
        case answered
        /// The destination sent a TCP reset, or an ICMP error about a closed port.
        case refused
        /// An ICMP error arrived: ``CheckProbe/error``.
        case unreachable
        /// This machine refused to send the packet: ``CheckProbe/reason``.
        case blockedHere
        case silent
        /// The answer is not the expected one: ``CheckProbe/reason``.
        case invalid
        /// No packet was sent: ``CheckProbe/reason``.
        case skipped
        case cancelled
    }

    /// An ICMP error and its sender (RFC 792, RFC 4443).
    public struct Error: Hashable, Sendable {
        /// The address of the host or router that sent the error.
        public let sender: IPAddress
        /// The ICMP type, which depends on the address family.
        public let type: UInt8
        /// The ICMP code, which depends on the type.
        public let code: UInt8
        /// The MTU of the next hop in bytes, if the packet was larger.
        public let nextHopMTU: UInt16?
    }

    /// The kind of the probe.
    public var kind: ProbeKind { result.request.kind }
    /// The address family.
    public var family: CheckOptions.Family { .init(result.request.binding.family) }
    /// The destination of packets; nil if only the kernel was queried.
    public var destination: IPAddress? { result.request.destination }
    /// The destination port.
    public var port: UInt16? { result.request.port }
    /// The durations of the completed phases.
    public var phases: [ProbePhase: Duration] { result.phases }
    /// The phase that failed.
    public var failedPhase: ProbePhase? { result.failedPhase }
    /// The packets and bytes that were sent and received.
    public var cost: ProbeCost { result.cost }

    /// The outcome.
    public var outcome: Outcome {
        switch result.outcome {
        case .answered: .answered
        case .refused: .refused
        case .unreachable: .unreachable
        case .blockedHere: .blockedHere
        case .silent: .silent
        case .invalid: .invalid
        case .skipped: .skipped
        case .cancelled: .cancelled
        }
    }

    /// The reason for the outcome; nil if the outcome has none.
    public var reason: ProbeReason? {
        switch result.outcome {
        case .unreachable(let error): error.reason
        case .invalid(let reason): reason
        case .blockedHere(let number): ProbeReason(refusal: number)
        case .skipped(let reason): ProbeReason(rawValue: reason.rawValue)
        default: nil
        }
    }

    /// The ICMP error that ended the probe; nil for another outcome.
    public var error: Error? {
        guard case .unreachable(let error) = result.outcome else { return nil }
        return Error(sender: error.sender, type: error.type, code: error.code, nextHopMTU: error.nextHopMTU)
    }

    // MARK: Observations

    package var subject: ProbeSubject { result.request.subject }
    package var neighbour: NeighbourFacts? { result.evidence.neighbour }
    /// True if the subject of the probe is the target or its name.
    package var isAboutTarget: Bool { result.request.subject == .target || result.purpose == .target }
    /// The end of the validity of the server's certificate, since 1970; nil without a TLS handshake.
    package var certificateEnd: Duration? { result.evidence.tls?.validUntil }
    /// The router or host that answered a probe of a hop.
    public var icmpSource: IPAddress? { result.evidence.source }
    /// The round-trip time that the kernel measured: `tcpi_rtt` of `tcp(7)`, or the difference of its time stamps.
    public var roundTrip: Duration? { result.evidence.kernelRoundTrip }
    /// The number of retransmitted segments (`tcpi_total_retrans`).
    public var retransmits: Int? { result.evidence.retransmits }
    /// The number of segments that the kernel assumes to be lost (`tcpi_lost`).
    public var lost: Int? { result.evidence.lost }
    /// The path MTU of the kernel in bytes (`tcpi_pmtu`).
    public var pathMTU: Int? { result.evidence.pathMTU }
    /// The hop limit of the received answer.
    public var replyHopLimit: UInt8? { result.evidence.replyHopLimit }
    /// The addresses that the name service or a DNS server returned.
    public var addresses: [IPAddress] { result.evidence.dns?.addresses ?? result.evidence.addresses }
    /// The response code of a DNS server (RFC 1035).
    public var responseCode: UInt16? { result.evidence.dns?.code.rawValue }
    /// The extended errors of a DNS server (RFC 8914).
    public var extendedErrors: [UInt16] { result.evidence.dns?.extendedErrors ?? [] }
    /// The HTTP status code.
    public var status: Int? { result.evidence.http?.status }
    /// The target of an HTTP redirect that was not followed.
    public var location: String? { result.evidence.http?.location }
    /// The URL that answered after redirects; nil without redirects.
    public var finalURL: String? { result.evidence.http?.finalURL }
    /// The records of a DNS answer, for types other than A and AAAA.
    public var records: [String] { result.evidence.dns?.records ?? [] }
    /// The identification of an SSH server, for example `SSH-2.0-OpenSSH_9.2`.
    public var sshIdentification: String? { result.evidence.ssh?.identification }
    /// The SHA-256 fingerprint of the host key that an SSH server presented, as `ssh-keygen -l` prints it.
    public var hostKey: String? { result.evidence.ssh?.hostKey }
    /// The stratum of a time server (RFC 5905).
    public var stratum: UInt8? { result.evidence.ntp?.stratum }
    /// True if the anchor echoed the challenge; nil if no challenge was sent.
    public var isChallengeAnswered: Bool? {
        result.evidence.http.flatMap { $0.challenge == .notAsked ? nil : $0.challenge == .echoed }
    }
    /// The offset of the clock of a web server (`Date` of RFC 9110) or a time server. Positive if it is ahead of this machine's clock.
    public var clockOffset: Duration? { result.evidence.http?.clockOffset ?? result.evidence.ntp?.offset }
    /// True if the certificate is trusted for the requested name, or if an SSH server owns an expected host key; nil if neither was
    /// checked.
    public var isVerified: Bool? {
        result.evidence.tls?.isVerified ?? result.evidence.ssh.flatMap { $0.hostKey == nil ? nil : $0.isVerified }
    }
    /// The number of whole days until the server's certificate expires; negative after that.
    public var certificateDays: Int? { result.evidence.tls?.daysLeft }
    /// The issuer of the server's certificate.
    public var issuer: String? { result.evidence.tls?.issuer }
    /// The TLS version: `1.2` or `1.3`.
    public var tlsVersion: String? { result.evidence.tls?.version }
    /// The application protocol of the TLS handshake (ALPN, RFC 7301).
    public var applicationProtocol: String? { result.evidence.tls?.applicationProtocol }
    /// True if the captive portal API reports captivity (RFC 8908); nil if it was not queried.
    public var isCaptive: Bool? { result.evidence.portal?.isCaptive }
}

extension CheckReport {
    /// All probes, in the order in which they ended.
    public var allProbes: [CheckProbe] { probes.map(CheckProbe.init) }
}

extension CheckVerdict {
    /// The probes that decided the verdict. Empty if the kernel's state decided.
    public var decidingProbes: [CheckProbe] { evidence.map(CheckProbe.init) }
}

/// A part of the traffic that a check may send.
public struct CheckTraffic: Hashable, Sendable, CustomStringConvertible {
    /// The destination: an address, or a host that is looked up first.
    public let destination: String
    /// A short description of the packets.
    public let content: String
    /// The maximum number of sent packets.
    public let packets: Int

    /// The traffic as one line. Control characters are escaped.
    public var description: String {
        "\(destination.printable): \(content.printable), at most \(packets) packet\(packets == 1 ? "" : "s")"
    }
}

extension NetworkCheck {
    /// Returns the traffic that a check of these targets may send on the current network. Sends no packet.
    package static func traffic(
        of targets: [CheckTarget?],
        _ options: CheckOptions
    ) throws(CheckError) -> [CheckTraffic] {
        let site = try CheckSite(options)
        var lines: [CheckTraffic] = []
        func add(_ destination: String, _ content: String, _ packets: Int) {
            lines.append(CheckTraffic(destination: destination, content: content, packets: packets))
        }
        for line in site.lines {
            if let gateway = line.path.gateway {
                let echo = "an echo (without permission, a SYN to port 33434)"
                add("\(gateway)", "\(echo), a datagram to a closed port", 4)
                add("\(gateway)", "a datagram towards \(line.direction) that expires there (hop limit 1)", 1)
            }
            add("the second router", "a datagram towards \(line.direction) that expires there (hop limit 2)", 2)
            if let address = line.unassigned {
                add("\(address)", "a SYN to port 80 of this unassigned address; a GET if a host answers", 6)
            }
        }
        if let end = site.lines.lazy.compactMap(\.prober.line.tunnelEnd).first {
            let way = "the far end of the tunnel, \(end)"
            add(way, "\(Self.echo), and datagrams towards it that expire at the first and second router of the path", 8)
        }
        for server in site.servers ?? [] {
            let names = "ipv4only.arpa, A and AAAA, and a random name below .invalid"
            add("\(server)", "DNS: \(names); over TCP if truncated", 27)
            add("\(server)", "if it is silent: \(Self.echo), and a SYN to port 53", 4)
            for name in options.expectedAddresses.keys.sorted() { add("\(server)", "DNS: \(name), A and AAAA", 18) }
        }
        if !options.isPrivate {
            add("the gateway or a neighbour", "GET / on port 80, if DNS returns its address for the random name", 10)
        }
        for anchor in options.anchors {
            let url = "\(anchor.url)".secretsMasked
            let request = "GET \(url) with a random challenge, over each family; \(Self.lookup)"
            add(anchor.host, "\(request); \(Self.echo) if it is silent", 44)
        }
        if let api = site.options.portalAPI { add(api.host, "GET \("\(api.url)".secretsMasked); \(Self.lookup)", 20) }
        for target in targets.compactMap({ $0 }) {
            add(target.host, "\(target.content); \(Self.lookup)", 40)
        }
        return lines
    }

    private static let lookup = "looked up in DNS if it is a name"
    /// An echo, or the packet that replaces it without permission.
    fileprivate static let echo = "an echo (without permission, a datagram to port 33434)"
}

extension CheckTarget {
    fileprivate var content: String {
        switch service {
        case .any: "echoes (without permission, datagrams to port 33434), a SYN to port 443 and one to port 80"
        case .echo: "echoes (without permission, datagrams and a SYN to port 33434)"
        case .tcp(let port): "a SYN to port \(port), \(NetworkCheck.echo) if it is silent"
        case .web: "GET \(text), \(NetworkCheck.echo) if it is silent"
        case .handshake(let url, _): "a TLS handshake with port \(url.port), \(NetworkCheck.echo) if it is silent"
        case .name: "nothing"
        case .dns(let query): "DNS: \(query.name), \(NetworkCheck.echo) if it is silent"
        case .ssh(let port): "the beginning of SSH with port \(port), \(NetworkCheck.echo) if it is silent"
        case .ntp(let port): "a request to the time server at port \(port), \(NetworkCheck.echo) if it is silent"
        }
    }
}
