import LinuxSupport
import NetworkReachability

extension NetworkCheck {
    /// The verdict as soon as there is one, and whenever it changes: the check goes on until the loop or its task ends.
    ///
    /// ```swift
    /// for await verdict in NetworkCheck().verdicts { print(verdict.place, verdict.text) }
    /// ```
    ///
    /// Changes of the kernel's path, of `resolv.conf(5)` and a sleep of the machine lead to a round at once. While others' connections show
    /// that it works nothing is sent; else two packets a minute are, and what breaks is believed after two of three rounds, or at once
    /// where somebody says so. What is broken is asked at growing distances, and a day has its budget; where
    /// ``NetworkReachability/NetworkPath/isExpensive`` is so, a smaller one. Each loop is a check of its own. It never fails: where nothing
    /// can be asked, the verdict is ``CheckPlace/inconclusive``.
    public var verdicts: some AsyncSequence<CheckVerdict, Never> & Sendable {
        CheckVerdicts { [self] in makeSession() }
    }

    /// Waits until it works, by the same schedule: after each change, and again and again at growing distances.
    ///
    /// - Returns: The first verdict that says so; nil where the task is cancelled.
    public func firstSuccess() async -> CheckVerdict? {
        let session = makeSession()
        return await withTaskGroup(of: CheckVerdict?.self) { group in
            group.addTask {
                await session.run()
                return nil
            }
            group.addTask { await session.firstSuccess() }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    private func makeSession() -> CheckSession {
        let sight = LineSight(target, options)
        let turn = Locked(0)
        return CheckSession(
            CheckSchedule(
                .init(asksOthers: target != nil || !options.anchors.isEmpty, place: MachinePlace.ofThisMachine)
            ),
            errands: CheckSession.Errands(
                events: { sight.events() },
                runRound: { [self] kind in
                    let number = turn.withLock { turn in
                        turn += 1
                        return turn
                    }
                    return await run(kind, sight, number)
                },
                observe: { sight.observe() }
            )
        )
    }

    // MARK: Rounds

    /// - Parameter turn: which round it is: they take turns with the anchors where one of them is asked.
    private func run(_ kind: RoundKind, _ sight: LineSight, _ turn: Int) async -> (CheckVerdict, ProbeCost) {
        do throws(CheckError) {
            if kind == .cheap { return try await probe() }
            var options = sight.isMetered ? options.thrifty(turn) : options
            options.announcedPortals = sight.portals.servers
            if kind == .brief, !options.anchors.isEmpty {
                options.anchors = [options.anchors[turn % options.anchors.count]]
            }
            if case .full(let delay) = kind { try? await Task.sleep(for: delay) }
            options.timeLimit = sight.patience.withLock { $0.limit(options.timeLimit) }
            let report = try await NetworkCheck(target: target, options: options).run()
            sight.patience.withLock { $0.note(report.probes) }
            return (report.verdict, report.cost)
        } catch {
            let finding = Finding(.inconclusive, .notEnoughEvidence, .suspected, error.description)
            return (CheckVerdict(finding), ProbeCost())
        }
    }

    /// One question to a DNS server behind the gateway, else one packet that dies at the second router.
    private func probe() async throws(CheckError) -> (CheckVerdict, ProbeCost) {
        try await Footing.make()
        let site = try CheckSite(options)
        var evidence = CheckEvidence(site)
        // Only these are asked.
        (evidence.anchors, evidence.expectations) = ([], [:])
        let results: [ProbeResult]
        let farServer = (site.servers ?? []).first { server in
            server.mayBeBeyond(routerOf: site.path.source)
                && site.lines.contains { line in
                    line.prober.family == server.wire.family && line.path.gateway != server
                }
        }
        if let farServer, let name = DNSName("ipv4only.arpa"), let prober = try? site.prober(to: farServer).prober {
            let question = DNSQuestion(name, .a, identifier: .random(in: 0 ... .max))
            results = [await prober.ask(farServer, .known, question)]
            evidence.servers = [farServer]
        } else if let line = site.lines.first {
            results = await line.prober.secondHop(towards: line.direction)
            evidence.servers = nil
        } else {
            return (CheckJudge.judge(evidence), ProbeCost())
        }
        evidence.results = results
        return (CheckJudge.judge(evidence), results.reduce(ProbeCost()) { $0 + $1.cost })
    }
}

/// What the kernel shows of the line of a check, from observation to observation.
private final class LineSight: Sendable {
    private struct Proof {
        let path: NetworkPath
        var proof: PassiveProof
    }

    private let target: CheckTarget?
    private let options: CheckOptions
    let portals: PortalAnnouncements
    let patience = Locked(RoundPatience())
    private let proofs: Locked<[AddressFamily: Proof]> = Locked([:])

    init(_ target: CheckTarget?, _ options: CheckOptions) {
        (self.target, self.options) = (target, options)
        portals = PortalAnnouncements(in: options.networkNamespace)
    }

    /// Whether bytes cost money now.
    var isMetered: Bool { manager(over: options.addressFamily)?.path.isExpensive == true }

    /// Ends at once where the kernel cannot be asked.
    func events() -> AsyncStream<ScheduleEvent> {
        guard let manager = manager(over: options.addressFamily) else {
            let (stream, continuation) = AsyncStream.makeStream(of: ScheduleEvent.self)
            // A round says why.
            continuation.yield(.path(CheckLine(NetworkPath(flags: .reachable))))
            return stream
        }
        return LineEvents.stream(of: manager, portals: options.portalAPI == nil ? portals : nil)
    }

    /// What is proof for one family is enough; trouble of one is trouble.
    func observe() -> PassiveFinding {
        let findings = AddressFamily.allCases.compactMap { family in
            options.addressFamily ?? family == family ? observe(over: family) : nil
        }
        func rank(_ finding: PassiveFinding) -> Int {
            switch finding {
            case .trouble: 2
            case .fresh: 1
            case .silent: 0
            }
        }
        let finding = findings.max { rank($0) < rank($1) } ?? .silent
        // Other connections of its host prove nothing about one port.
        if case .fresh = finding, let target, target.decisive != nil { return .silent }
        return finding
    }

    private func observe(over family: AddressFamily) -> PassiveFinding? {
        guard let manager = manager(over: family), case let path = manager.path, path.status.isReachable else {
            return nil
        }
        return proofs.withLock { proofs in
            if proofs[family]?.path.isSame(as: path) != true {
                var binding = ProbeBinding(family: family, namespace: options.networkNamespace)
                if options.firewallMark != 0 { binding.mark = options.firewallMark }
                let peers = target == nil ? nil : path.destination.map { Set([$0]) } ?? []
                let proof = PassiveProof(LineFacts(path, of: manager), binding, peers: peers)
                proofs[family] = Proof(path: path, proof: proof)
            }
            return proofs[family]?.proof.observe().meaning
        }
    }

    private func manager(over family: AddressFamily?) -> NetworkReachabilityManager? {
        var options = options.pathOptions(over: family)
        // Nothing here waits for the name service.
        options.nameResolutionWait = .zero
        guard let target else { return try? NetworkReachabilityManager(options: options) }
        let host = self.options.resolution(of: target.host)?.first?.description ?? target.host
        return try? NetworkReachabilityManager(host: host, options: options)
    }
}
