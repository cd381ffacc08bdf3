import LinuxSupport
import NetworkReachability
import ServerTrustNIO

/// The first probe of a target, for a round of very many.
extension Prober {
    /// The probe that the round of a target would begin with, where one packet or connection may decide; the same as `echo`, `connect` and
    /// `fetch` send, and with the same result where the target works.
    ///
    /// - Parameters:
    ///   - mayEcho: whether echoes are permitted, as far as is known.
    ///   - tell: is called on the engine's thread, and must not wait.
    /// - Returns: nil for a target that takes more than that, a handshake of TLS for example.
    func first(
        of target: CheckTarget,
        at address: IPAddress,
        limit: Duration,
        mayEcho: Bool,
        _ tell: @escaping @Sendable (ProbeResult) -> Void
    ) -> EngineJob? {
        switch target.service {
        case .any, .echo:
            guard mayEcho else {
                let probe = closedPortRequest(.target, address, limit: limit)
                return .datagram(closedPort(probe)) { tell(closedPortResult(probe, $0)) }
            }
            let probe = request(.echo, .target, address, limit: limit)
            return .datagram(echo(probe)) { tell(result(probe, $0)) }
        case .tcp(let port):
            let probe = request(.tcp, .target, address, port: port, limit: limit)
            return .connect(connection(probe)) { tell(result(probe, $0, about: address)) }
        case .web(let url) where url.scheme == .http:
            let probe = request(.http, .target, address, port: UInt16(url.port), limit: limit)
            let question = WebRequest(url, expecting: target.expectedStatus)
            return .stream(exchange(probe, question, at: address)) { tell(result(probe, question, $0, at: address)) }
        case .web, .handshake, .name, .dns:
            return nil
        }
    }

    private func exchange(_ probe: ProbeRequest, _ question: WebRequest, at address: IPAddress) -> StreamRequest {
        var settings = settings()
        settings.receiveBuffer = WebLimits.window(question.purpose)
        return StreamRequest(
            to: endpoint(address, port: probe.port ?? 80),
            question.bytes,
            settings: settings,
            limit: probe.limit,
            byteLimit: PlainAnswer.limit,
            isComplete: { PlainAnswer($0) != nil }
        )
    }

    /// Of an answer that leaves no doubt, what `fetch` would have found. With anything else it was given up: that is for `fetch`.
    private func result(
        _ probe: ProbeRequest,
        _ question: WebRequest,
        _ outcome: StreamOutcome,
        at address: IPAddress
    ) -> ProbeResult {
        var connecting = ConnectOutcome(end: .connected(nil))
        (connecting.local, connecting.information) = (outcome.local, outcome.information)
        connecting.duration = outcome.connected ?? .zero
        var result = result(probe, connecting, about: address)
        result.evidence.kernelRoundTrip = outcome.handshake
        let web = WebOutcome(plain: outcome, at: trust.now())
        result.take(web ?? WebOutcome(end: .cancelled), of: question)
        if web == nil { result.phases = [:] }
        if let information = outcome.information { result.take(information) }
        return result
    }
}

extension WebOutcome {
    /// What came back over a connection of the engine's; nil where that is no plain answer.
    ///
    /// - Parameter now: by our clock, since the beginning of 1970.
    init?(plain outcome: StreamOutcome, at now: Duration) {
        guard case .answered = outcome.end, let answer = PlainAnswer(outcome.bytes),
            let connected = outcome.connected, let sent = outcome.sent, let first = outcome.firstByte
        else { return nil }
        self.init(end: .answered, phase: .transfer)
        phases = [.request: sent - connected, .firstByte: first - sent, .transfer: outcome.duration - first]
        self.answer = WebAnswer(answer, at: now)
    }
}

extension WebAnswer {
    fileprivate init(_ answer: PlainAnswer, at now: Duration) {
        self.init(
            status: answer.status,
            location: answer.fields["location"].map { String($0.prefix(WebLimits.location)) },
            response: answer.fields["reachability-response"],
            clockOffset: answer.fields["date"].flatMap { HTTPDate($0) }.map { $0.sinceEpoch - now }
        )
    }
}

extension CheckTarget {
    /// Whether one probe without TLS is all that a target that works takes.
    var decidesAtOnce: Bool {
        switch service {
        case .any, .echo, .tcp: true
        case .web(let url): url.scheme == .http
        case .handshake, .name, .dns: false
        }
    }
}
