import LinuxPrimitives
package import NetworkReachability
import Sockets

/// Probes that open TCP connections, and close them with a reset.
extension Prober {
    /// A router says "host unreachable" only after three seconds.
    package static let connectLimit = Duration.milliseconds(3400)

    /// Tries to connect.
    package func connect(
        _ subject: ProbeSubject,
        to address: IPAddress,
        port: UInt16,
        kind: ProbeKind = .tcp,
        limit: Duration = connectLimit
    ) async -> ProbeResult {
        let request = request(kind, subject, address, port: port, limit: limit)
        await gate.pass()
        return result(request, await engine.connect(connection(request)), about: address)
    }

    /// What the engine is asked for.
    func connection(_ request: ProbeRequest) -> ConnectRequest {
        let address = request.destination ?? IPAddress(WireAddress(family: family, bits: 0))
        return ConnectRequest(
            to: endpoint(address, port: request.port ?? 0),
            settings: settings(),
            retries: request.kind == .interception ? 1 : 2,
            limit: request.limit
        )
    }

    /// An address that nobody has: whoever answers intercepts. Of TEST-NET-1 (RFC 5737) or the documentation prefix (RFC 3849).
    static func nobody(_ family: AddressFamily) -> IPAddress {
        IPAddress(
            family == .ipv4
                ? WireAddress(ipv4: 0xc000_0201) : WireAddress(family: .ipv6, bits: 0x2001_0db8 << 96 | 1)
        )
    }

    func result(_ request: ProbeRequest, _ outcome: ConnectOutcome, about address: IPAddress) -> ProbeResult {
        let end: ProbeOutcome =
            switch outcome.end {
            case .connected: .answered
            case .failed(.connectionRefused): .refused(.peer)
            case .failed: .invalid(.reset)
            case .error: outcome.errors.last.map { self.outcome($0, about: address) } ?? .silent
            case .silent: .silent
            case .notSent(let error): ProbeOutcome(error)
            case .cancelled: .cancelled
            }
        var result = ProbeResult(request, generation: line.generation, end)
        result.evidence.local = outcome.local.map { IPAddress($0.address) }
        result.evidence.remote = address
        if let information = outcome.information {
            result.evidence.kernelRoundTrip = information.roundTrip
            result.evidence.retransmits = information.totalRetransmits
            result.evidence.segmentSize = information.sendSegmentSize
            let sent = information.segmentsSent ?? 1
            let received = (information.segmentsReceived ?? 0) + outcome.errors.count
            result.cost = ProbeCost(packets: sent + received, bytes: (sent + received) * 60)
        }
        if end == .answered {
            result.phases[.connect] = outcome.duration
        } else if end != .cancelled {
            result.failedPhase = .connect
        }
        return result
    }
}
