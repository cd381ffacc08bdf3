import LinuxSupport
import NetworkReachability

/// Probes that send datagrams.
extension Prober {
    /// A closed port: the first port of `traceroute(8)`.
    static let closedPort: UInt16 = 33_434
    /// The times at which packets are sent, within the rate limits for errors. When the gateway has answered, its remaining probes are not
    /// sent, which leaves two more tries for routers beyond it.
    private enum SendTimes {
        static let hop: [Duration] = [.zero, .milliseconds(1050)]
        static let closedPort: [Duration] = [.milliseconds(50)]
        static let dying: [Duration] = [.milliseconds(350)]
        static let echo: [Duration] = [.zero]
        /// The times in place of `hop` on a metered line.
        static let singleHop: [Duration] = [.zero]
    }
    /// The time that the kernel needs to find that a neighbour does not answer, with a margin.
    static let resolution = Duration.milliseconds(3200)

    /// Probes the gateway with a datagram to a closed port, an echo, and a datagram towards `destination` whose hop limit expires there.
    /// After the first answer, the remaining packets are not sent. No packet passes the gateway.
    func gateway(towards destination: IPAddress, limit: Duration = resolution) async -> [ProbeResult] {
        guard let gateway = line.gateway else { return [] }
        return await gate.share(lineProbe(.gateway, destination)) {
            await probe(gateway: gateway, towards: destination, limit: limit)
        }
    }

    private func probe(
        gateway: IPAddress,
        towards destination: IPAddress,
        limit: Duration
    ) async -> [ProbeResult] {
        let isAlive = Locked(false)
        func probe(
            _ destination: IPAddress,
            _ content: DatagramRequest.Content,
            _ tries: [Duration],
            hopLimit: UInt8? = nil
        ) async -> ProbeResult {
            let result = await probeLine(.gateway, destination, content, tries, hopLimit: hopLimit, limit: limit) {
                !isAlive.withLock { $0 }
            }
            if result.isAnsweredByGateway { isAlive.withLock { $0 = true } }
            return result
        }
        // A router limits the rate of its ICMP errors, but not of its TCP resets.
        func echo() async -> [ProbeResult] {
            let echo = await probe(gateway, .echo(size: 16), SendTimes.echo)
            guard echo.outcome == .skipped(.notPermitted) else { return [echo] }
            let reset = await connect(toGateway: gateway, limit: limit)
            if reset.isAnsweredByGateway { isAlive.withLock { $0 = true } }
            return [echo, reset]
        }
        async let closed = isThrifty ? [] : [probe(gateway, .payload([0]), SendTimes.closedPort)]
        async let echoes = echo()
        async let dying = probe(destination, .payload([0]), SendTimes.dying, hopLimit: 1)
        return await closed + echoes + [dying]
    }

    /// Connects to a closed port of the gateway.
    private func connect(toGateway gateway: IPAddress, limit: Duration) async -> ProbeResult {
        let before = line.neighbour()?.state ?? .none
        let begun = SystemClock.monotonic
        var result = await connect(.line, to: gateway, port: Self.closedPort, kind: .gateway, limit: limit)
        result.evidence.neighbour = neighbour(before: before, age: SystemClock.monotonic - begun)
        return result
    }

    private func lineProbe(_ kind: ProbeKind, _ destination: IPAddress) -> ProbeGate.LineProbe {
        ProbeGate.LineProbe(
            kind: kind,
            router: router,
            destination: destination,
            source: binding.source,
            mark: binding.mark
        )
    }

    private var router: ProbeGate.Router {
        ProbeGate.Router(namespace: binding.namespace, link: line.link, address: line.gateway)
    }

    private func neighbour(before: NeighbourFacts.State, age: Duration) -> NeighbourFacts? {
        line.neighbour().map { after in
            NeighbourFacts(before: before, after: after.state, age: age, confirmedAge: after.sinceConfirmed)
        }
    }

    /// Sends a datagram whose hop limit expires at the second router. Without a second router, the destination answers.
    func secondHop(towards destination: IPAddress, limit: Duration = resolution) async -> [ProbeResult] {
        await gate.share(lineProbe(.hop, destination)) {
            let tries = isThrifty ? SendTimes.singleHop : SendTimes.hop
            var result = await probeLine(.hop, destination, .payload([0]), tries, hopLimit: 2, limit: limit)
            switch result.outcome {
            case .unreachable(let error) where error.reason == .hopLimitExceeded:
                result.evidence.source = error.sender
            case .refused(.peer): result.evidence.source = destination
            default: return [result]
            }
            result.outcome = .answered
            return [result]
        }
    }

    /// Sends ICMP echoes.
    ///
    /// - Parameters:
    ///   - tries: The times at which echoes are sent. If nil, three times within a second.
    ///   - orReset: Whether to connect to a closed port too if echoes are not permitted. Hosts limit the rate of their ICMP errors, but not
    ///     of their TCP resets.
    func echo(
        _ subject: ProbeSubject,
        to address: IPAddress,
        limit: Duration,
        tries: [Duration]? = nil,
        orReset: Bool = false
    ) async -> ProbeResult {
        let request = request(.echo, subject, address, limit: limit)
        await gate.pass()
        let echo = result(request, await engine.send(self.echo(request, tries: tries)))
        guard echo.outcome == .skipped(.notPermitted) else { return echo }
        guard orReset else { return await closedPort(subject, of: address, limit: limit) }
        return await withTaskGroup(of: ProbeResult.self) { group in
            group.addTask { await reset(subject, of: address, limit: limit) }
            group.addTask { await closedPort(subject, of: address, limit: limit) }
            var (decisive, cost) = (ProbeResult?.none, ProbeCost())
            for await result in group {
                cost = cost + result.cost
                // An answer has priority over an error, and an error over silence.
                if decisive == nil || decisive?.outcome == .silent && result.outcome != .cancelled
                    || result.outcome == .answered
                {
                    decisive = result
                }
                if result.outcome == .answered { group.cancelAll() }
            }
            var result = decisive ?? echo
            result.cost = cost
            return result
        }
    }

    /// Connects to a closed port in place of an echo. A host that refuses the connection is alive.
    func reset(_ subject: ProbeSubject, of address: IPAddress, limit: Duration) async -> ProbeResult {
        let request = request(.udp, subject, address, port: Self.closedPort, limit: limit)
        await gate.pass()
        let outcome = await engine.connect(connection(request))
        var result = result(request, outcome, about: address)
        if case .refused(.peer) = result.outcome { result.answer(.connect, after: outcome.duration) }
        return result
    }

    /// Creates the engine's request for an echo.
    func echo(_ request: ProbeRequest, tries: [Duration]? = nil) -> DatagramRequest {
        let address = request.destination ?? IPAddress(WireAddress(family: family, bits: 0))
        return DatagramRequest(
            to: endpoint(address),
            .echo(size: 56),
            settings: settings(),
            tries: tries ?? [.zero, .milliseconds(350), .seconds(1)],
            limit: request.limit
        )
    }

    private func closedPort(_ subject: ProbeSubject, of address: IPAddress, limit: Duration) async -> ProbeResult {
        let request = closedPortRequest(subject, address, limit: limit)
        return closedPortResult(request, await engine.send(closedPort(request)))
    }

    /// Creates a probe of a closed port with datagrams, in place of an echo that is not permitted. A host that sends an error is alive.
    func closedPortRequest(_ subject: ProbeSubject, _ address: IPAddress, limit: Duration) -> ProbeRequest {
        request(.udp, subject, address, port: Self.closedPort, limit: limit)
    }

    /// Creates the engine's request for a probe of a closed port.
    func closedPort(_ request: ProbeRequest) -> DatagramRequest {
        let address = request.destination ?? IPAddress(WireAddress(family: family, bits: 0))
        return DatagramRequest(
            to: endpoint(address, port: Self.closedPort),
            .payload([0]),
            settings: settings(),
            tries: [.zero, .milliseconds(700)],
            limit: request.limit
        )
    }

    func closedPortResult(_ request: ProbeRequest, _ outcome: DatagramOutcome) -> ProbeResult {
        var result = result(request, outcome)
        if case .refused(.peer) = result.outcome, let timing = outcome.errors.last?.timing {
            result.answer(.request, after: timing.elapsed)
            result.evidence.kernelRoundTrip = timing.roundTrip
        }
        return result
    }

    /// Sends a probe of the uplink, and records the gateway's entry in the neighbour table.
    private func probeLine(
        _ kind: ProbeKind,
        _ destination: IPAddress,
        _ content: DatagramRequest.Content,
        _ tries: [Duration],
        hopLimit: UInt8?,
        limit: Duration,
        isNeeded: @escaping @Sendable () -> Bool = { true }
    ) async -> ProbeResult {
        let limit = min(limit, Self.resolution)
        let request = request(kind, .line, destination, port: Self.closedPort, limit: limit)
        let router = router
        await gate.pass()
        let before = line.neighbour()?.state ?? .none
        let isEcho = if case .echo = content { true } else { false }
        let port = isEcho ? 0 : Self.closedPort
        let outcome = await engine.send(
            DatagramRequest(
                to: endpoint(destination, port: port),
                content,
                settings: settings(hopLimit: hopLimit),
                tries: tries,
                limit: limit,
                maySend: { [gate] in isNeeded() && (isEcho || gate.permitError(router)) }
            )
        )
        var result = result(request, outcome)
        if kind == .gateway { result.evidence.neighbour = neighbour(before: before, age: outcome.duration) }
        return result
    }

    /// Converts the outcome of a datagram for which any answer is sufficient.
    func result(_ request: ProbeRequest, _ outcome: DatagramOutcome) -> ProbeResult {
        let destination = request.destination ?? IPAddress(WireAddress(family: family, bits: 0))
        let end: ProbeOutcome =
            switch outcome.end {
            case .answered: .answered
            case .error: outcome.errors.last.map { self.outcome($0.message, about: destination) } ?? .silent
            case .silent: outcome.failures.first { $0.kind == .blocked }.map(ProbeOutcome.init) ?? .silent
            case .withheld: .skipped(.notNeeded)
            case .notSent(let error): ProbeOutcome(error)
            case .cancelled: .cancelled
            }
        var result = ProbeResult(request, generation: line.generation, end)
        if let answer = outcome.answers.first(where: \.isAccepted) {
            result.phases[.request] = answer.timing.elapsed
            result.evidence.kernelRoundTrip = answer.timing.roundTrip
            result.evidence.firstAnswer = outcome.duration
            result.evidence.replyHopLimit = answer.hopLimit
        } else if end != .cancelled {
            result.failedPhase = .request
        }
        // Errors from this machine were not transmitted.
        let errors = outcome.errors.count { $0.message.offender.map { !line.own.contains($0) } ?? false }
        result.cost = ProbeCost(
            packets: outcome.sent + outcome.answers.count + errors,
            bytes: outcome.sent * 64 + outcome.answers.reduce(0) { $0 + $1.payload.count + 48 } + errors * 96
        )
        return result
    }
}

extension ProbeResult {
    /// Counts the refusal of a closed port as an answer.
    fileprivate mutating func answer(_ phase: ProbePhase, after duration: Duration) {
        (outcome, failedPhase) = (.answered, nil)
        phases[phase] = duration
    }

    /// True if the gateway answered the probe.
    fileprivate var isAnsweredByGateway: Bool {
        [.answered, .refused(.gateway), .refused(.peer)].contains(outcome) || error?.source == .gateway
    }
}
