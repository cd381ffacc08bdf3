import LinuxSupport
package import NetworkReachability
import ServerTrustNIO

/// Probes that ask web servers: one connection, TLS where the URL says so, one request of HTTP/1.1, a reset at the end. No redirect is
/// followed, and nothing is sent that tells one machine from another.
extension Prober {
    /// Asks once.
    ///
    /// A connection that fails counts as `http` (the portal's as `portalAPI`), a handshake that fails as `tls`. A server that takes the
    /// connection and then says nothing is silent, with the phases that ended.
    ///
    /// - Parameters:
    ///   - address: where the host of the URL is.
    ///   - limit: of all of it.
    package func fetch(
        _ subject: ProbeSubject,
        _ request: WebRequest,
        at address: IPAddress,
        limit: Duration
    ) async -> ProbeResult {
        await visit(request.kind, subject, request, at: address, limit: limit)
    }

    /// The same with segments that fit through everything, each way (TCP_MAXSEG): what stalled before and comes through now is lost for
    /// its size. Whatever is answered will do.
    package func fetchSmall(
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
        // The kernel still believes in the link's; larger ones than these have not been seen to pass.
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
            // Others give theirs back.
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
        guard let meter = connection.meter(), let socket = connection.take() else {
            connection.reset()
            result.outcome = .skipped(.noDescriptors)
            return result
        }
        let visit = WebVisit(request: request, trust: trust, limit: limit - connecting.duration)
        let (web, information) = await visit.outcome(over: socket, meter)
        if request.purpose == .portalAPI { result.evidence.portal = try? PortalInformation(json: web.body) }
        result.take(web, of: request)
        if let information { result.take(information) }
        return result
    }
}

extension ProbeResult {
    /// The size of a header of IP and one of TCP with time stamps, in bytes.
    private var header: Int { request.binding.family == .ipv4 ? 52 : 72 }

    /// Adds what the kernel has counted. The round trip stays that of the handshake: later ones have the server's pauses in them.
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
