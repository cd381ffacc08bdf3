import LinuxSupport
import NetworkReachability
import ServerTrustNIO

/// Probes of web servers: a connection, TLS for `https`, one HTTP/1.1 request, and a reset at the end.
extension Prober {
    /// Sends a request.
    ///
    /// A failed connection is a result of the kind `http`, or `portalAPI` for a captive portal API. A failed handshake is one of the kind
    /// `tls`. A server that accepts the connection and sends nothing is silent, and the result contains the completed phases.
    ///
    /// - Parameters:
    ///   - address: An address of the URL's host.
    ///   - limit: The time limit of the whole probe.
    func fetch(
        _ subject: ProbeSubject,
        _ request: WebRequest,
        at address: IPAddress,
        limit: Duration
    ) async -> ProbeResult {
        await visit(request.kind, subject, request, at: address, limit: limit)
    }

    /// Sends a request with segments that pass every link in both directions (TCP_MAXSEG). If a request stalled before and is answered now,
    /// it was lost because of its size. Any response is sufficient.
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
        // The kernel still assumes the MTU of the link, but only packets of this size are known to pass.
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
            let visited = await ConcurrencyLimit.shared.during { await visit(probe, request, at: address) }
            guard let visited else { return result }
            result = visited
            guard result.outcome == .skipped(.noDescriptors), ConcurrencyLimit.shared.isInUse else { return result }
            // Other probes will free file descriptors.
            try? await Task.sleep(for: Self.patience)
        } while SystemClock.monotonic - begun < limit && !Task.isCancelled
        return result
    }

    private static let patience = Duration.milliseconds(50)

    private func visit(_ probe: ProbeRequest, _ request: WebRequest, at address: IPAddress) async -> ProbeResult {
        let (port, limit) = (UInt16(request.url.port), probe.limit)
        var settings = settings()
        settings.receiveBuffer = request.window
        let connecting = await engine.connect(
            StreamRequest(
                to: endpoint(address, port: port),
                settings: settings,
                limit: limit,
                finalAction: .keep
            )
        )
        var result = result(probe, connecting, about: address)
        guard let connection = connecting.connection else { return result }
        guard let meter = connection.meter() else {
            connection.reset()
            result.outcome = .skipped(.noDescriptors)
            return result
        }
        let recorder = trust.recorder(for: request.purpose)
        let client = TrustedHTTPClient(
            tls: request.url.scheme == .https ? try? trust.factory(recorder, for: request.purpose) : nil,
            connector: WebConnector(connection: connection, request: request)
        )
        let limits = request.settings(limit: limit - connecting.duration)
        do throws(TrustedHTTPFailure) {
            let trace = try await client.trace(request.http, settings: limits, suffices: request.exchange.searches)
            result.take(trace, of: request, recorder, now: trust.now())
        } catch {
            result.take(error, of: request)
        }
        // A reset ends the connection with one packet, and nothing is retransmitted later.
        meter.resetWhenClosed()
        if let information = meter.information { result.take(information) }
        return result
    }
}

extension ProbeResult {
    /// The size in bytes of an IP header and a TCP header with time stamps.
    private var header: Int { request.binding.family == .ipv4 ? 52 : 72 }

    /// Adds the kernel's counters. The round-trip time stays that of the handshake, because later values contain pauses of the server.
    mutating func take(_ information: TCPInformation) {
        evidence.received = information.bytesReceived.map { Int(clamping: $0) }
        evidence.retransmits = information.totalRetransmits
        evidence.lost = information.lost
        evidence.pathMTU = information.pathMTU
        evidence.segmentSize = information.sendSegmentSize
        // One more packet closes the connection.
        let packets = (information.segmentsSent ?? 0) + (information.segmentsReceived ?? 0) + 1
        let content = (information.bytesSent ?? 0) + (information.bytesReceived ?? 0)
        cost = ProbeCost(packets: packets, bytes: packets * header + Int(clamping: content))
    }
}

extension Prober {
    /// Sends a request. If the server accepts the connection and then stalls, repeats the request with small segments.
    ///
    /// A server that is only slow also answers the second request. An answer to small segments therefore counts only if a third request,
    /// with full-sized segments, stalls again. If it does not stall, its result replaces the first two.
    func fetchBoth(
        _ subject: ProbeSubject,
        _ request: WebRequest,
        at address: IPAddress,
        _ clock: RoundClock,
        mayRepeat: @Sendable () -> Bool = { true }
    ) async -> [ProbeResult] {
        let first = await fetch(subject, request, at: address, limit: clock.left)
        guard first.hasStalled, mayRepeat() else { return [first] }
        var request = request
        request.patience = .zero
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
    /// True if the connection was established, and then the data stopped before it can have filled large segments.
    fileprivate var hasStalled: Bool {
        // The size of segments is not the reason if large ones have arrived.
        if failedPhase == .transfer, evidence.received.map({ $0 >= WebLimits.trial }) == true { return false }
        return phases[.connect] != nil
            && (outcome == .silent || outcome == .invalid(.stalled) || outcome == .invalid(.handshakeSilent))
    }
}

extension IPAddress {
    /// The address in a URL.
    var urlText: String { isIPv6 ? "[\(self)]" : "\(self)" }
}
