import LinuxSupport
package import NetworkReachability

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

    /// A connection that this machine gave up, without an ICMP error of another one.
    private func refused(_ cause: SystemError, from local: SocketEndpoint?, about address: IPAddress) -> ProbeOutcome {
        guard cause == .hostUnreachable else { return .blockedHere(cause.rawValue) }
        // The kernel did not find the neighbour. It usually sends itself an ICMP error about that.
        let (type, code): (UInt8, UInt8) = family == .ipv4 ? (3, 1) : (1, 3)
        let sender = local.map { IPAddress($0.address) } ?? address
        return .unreachable(ICMPError(family: family, type: type, code: code, sender: sender, speaker: .thisMachine))
    }

    func result(_ request: ProbeRequest, _ outcome: ConnectOutcome, about address: IPAddress) -> ProbeResult {
        let end: ProbeOutcome =
            switch outcome.end {
            case .connected: .answered
            case .failed(.connectionRefused): .refused(.peer)
            case .failed(.connectionReset), .failed(.brokenPipe): .invalid(.reset)
            case .failed(let cause): refused(cause, from: outcome.local, about: address)
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
