import LinuxSupport
import NetworkReachability
import ServerTrustNIO

/// Probes of web servers: one connection, TLS for `https`, one request of HTTP/1.1, and a reset at the end.
extension Prober {
    /// Sends one request.
    ///
    /// A connection that fails counts as `http` (to a captive portal API as `portalAPI`), a handshake that fails as `tls`. A server that
    /// accepts the connection and sends nothing is silent, with the phases that ended.
    ///
    /// - Parameters:
    ///   - address: The address of the host of the URL.
    ///   - limit: The time limit of the whole probe.
    func fetch(
        _ subject: ProbeSubject,
        _ request: WebRequest,
        at address: IPAddress,
        limit: Duration
    ) async -> ProbeResult {
        await visit(request.kind, subject, request, at: address, limit: limit)
    }

    /// Sends one request with segments that fit through every link, both ways (TCP_MAXSEG). A request that stalled before and is answered
    /// now was lost because of its size. Any response is enough.
    func fetchSmall(
        _ subject: ProbeSubject,
        _ request: WebRequest,
        at address: IPAddress,
        limit: Duration
    ) async -> ProbeResult {
        let (segment, headers) = family == .ipv4 ? (1200, 40) : (1220, 60)
        var binding = binding
        binding.maximumSegment = UInt16(segment)
        let prober = Prober(engine: engine, line: line, binding: binding, trust: trust, gate: gate)
        var trial = request
        trial.isTrial = true
        var result = await prober.visit(.mtu, subject, trial, at: address, limit: limit)
        // The kernel still assumes the MTU of the link, but no larger packets are known to pass.
        result.evidence.pathMTU = result.outcome == .answered ? segment + headers : nil
        return result
    }

    private func visit(
        _ kind: ProbeKind,
        _ subject: ProbeSubject,
        _ request: WebRequest,
        at address: IPAddress,
        limit: Duration
    ) async -> ProbeResult {
        let probe = self.request(kind, subject, address, port: UInt16(request.url.port), limit: limit)
        var result = ProbeResult(probe, generation: line.generation, .cancelled)
        let begun = SystemClock.monotonic
        await gate.pass()
        repeat {
            let visited = await WebTurns.shared.during { await visit(probe, request, at: address) }
            guard let visited else { return result }
            result = visited
            guard result.outcome == .skipped(.noDescriptors), WebTurns.shared.isInUse else { return result }
            // Other probes free descriptors.
            try? await Task.sleep(for: Self.patience)
        } while SystemClock.monotonic - begun < limit && !Task.isCancelled
        return result
    }

    private static let patience = Duration.milliseconds(50)

    private func visit(_ probe: ProbeRequest, _ request: WebRequest, at address: IPAddress) async -> ProbeResult {
        let (port, limit) = (UInt16(request.url.port), probe.limit)
        var settings = settings()
        settings.receiveBuffer = WebLimits.window(request.purpose)
        let connecting = await engine.connect(
            ConnectRequest(
                to: endpoint(address, port: port),
                settings: settings,
                limit: limit,
                afterwards: .keep
            )
        )
        var result = result(probe, connecting, about: address)
        guard case .connected(let connection?) = connecting.end else { return result }
        guard let meter = connection.meter() else {
            connection.reset()
            result.outcome = .skipped(.noDescriptors)
            return result
        }
        let witness = trust.witness(for: request.purpose)
        let client = TrustedHTTPClient(
            tls: request.url.scheme == .https ? try? trust.factory(witness) : nil,
            connector: WebConnector(connection: connection, request: request)
        )
        let limits = request.settings(limit: limit - connecting.duration)
        do throws(TrustedHTTPFailure) {
            let trace = try await client.trace(request.http, settings: limits)
            if request.purpose == .portalAPI { result.evidence.portal = try? PortalInformation(json: trace.body) }
            result.take(WebOutcome(trace, of: request, witness, now: trust.now()), of: request)
        } catch {
            result.take(WebOutcome(end: .failed(error)), of: request)
        }
        // One packet ends the connection, and nothing is sent again long after.
        meter.resetWhenClosed()
        if let information = meter.information { result.take(information) }
        return result
    }
}

extension ProbeResult {
    /// The size of a header of IP and one of TCP with time stamps, in bytes.
    private var header: Int { request.binding.family == .ipv4 ? 52 : 72 }

    /// Adds the counters of the kernel. The round trip stays that of the handshake, because later ones contain the pauses of the server.
    mutating func take(_ information: TCPInformation) {
        evidence.retransmits = information.totalRetransmits
        evidence.lost = information.lost
        evidence.pathMTU = information.pathMTU
        evidence.segmentSize = information.sendSegmentSize
        // One more closes it.
        let packets = (information.segmentsSent ?? 0) + (information.segmentsReceived ?? 0) + 1
        let content = (information.bytesSent ?? 0) + (information.bytesReceived ?? 0)
        cost = ProbeCost(packets: packets, bytes: packets * header + Int(clamping: content))
    }
}

extension Prober {
    /// Sends a request. If the server accepts the connection and then stalls, sends the request once more with small segments.
    ///
    /// A server that is only slow answers the second request too. So an answer to small segments counts only if a third request, with
    /// full-sized segments, stalls again. If it does not, its result replaces those of the first two.
    func fetchBoth(
        _ subject: ProbeSubject,
        _ request: WebRequest,
        at address: IPAddress,
        _ clock: RoundClock,
        mayRepeat: @Sendable () -> Bool = { true }
    ) async -> [ProbeResult] {
        let first = await fetch(subject, request, at: address, limit: clock.left)
        guard first.hasStalled, mayRepeat() else { return [first] }
        var small = await fetchSmall(subject, request, at: address, limit: clock.smallSegments)
        guard small.outcome == .answered else { return [first, small] }
        var control = await fetch(subject, request, at: address, limit: clock.smallSegments)
        if control.hasStalled {
            small.cost = small.cost + control.cost
            return [first, small]
        }
        control.cost = first.cost + small.cost + control.cost
        return [control]
    }
}

extension ProbeResult {
    /// Whether the connection was made, and then nothing arrived.
    fileprivate var hasStalled: Bool {
        phases[.connect] != nil
            && (outcome == .silent || outcome == .invalid(.stalled) || outcome == .invalid(.handshakeSilent))
    }
}

extension IPAddress {
    /// The address in a URL.
    var urlText: String { isIPv6 ? "[\(self)]" : "\(self)" }
}
