import LinuxSupport
import NetworkReachability

extension NetworkCheck {
    /// The verdict as soon as it is known, and again each time it changes. The sequence ends with the loop or its task.
    ///
    /// ```swift
    /// for await verdict in NetworkCheck().verdicts { print(verdict.failurePoint, verdict.text) }
    /// ```
    ///
    /// A new round starts immediately when the kernel's path or `resolv.conf(5)` changes, and when the machine resumes from suspension.
    /// While connections of other programs show that the network works, no packet is sent. Otherwise two packets per minute are sent. A
    /// fault is notified after two of three rounds agree, or immediately if a router or host reports it. During a fault, rounds follow at
    /// increasing intervals. There is a daily budget of bytes, which is smaller if `NetworkPath.isExpensive` is true.
    /// Each loop is a separate check. The sequence never fails. If no probe can be sent, the verdict is ``CheckPlace/inconclusive``.
    public var verdicts: some AsyncSequence<CheckVerdict, Never> & Sendable {
        CheckVerdicts { [self] in makeSession() }
    }

    /// Waits until the target works, with the schedule of ``verdicts``.
    ///
    /// - Returns: The first verdict that the target works; nil if the task is cancelled.
    public func firstSuccess() async -> CheckVerdict? {
        let session = makeSession(isAwaited: true)
        let (answers, answered) = AsyncStream.makeStream(of: CheckVerdict.self)
        return await withTaskGroup(of: CheckVerdict?.self) { group in
            group.addTask {
                await session.run(answer: { answered.yield($0) })
                return nil
            }
            group.addTask { await answers.first { _ in true } }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    private func makeSession(isAwaited: Bool = false) -> CheckSession {
        let observer = LineObserver(target, options)
        let turn = Locked(0)
        let schedule = CheckSchedule.Options(
            contactsOthers: target != nil || !options.anchors.isEmpty,
            place: MachinePosition.ofThisMachine,
            isAwaited: isAwaited
        )
        return CheckSession(
            CheckSchedule(schedule),
            work: CheckSession.Work(
                events: { observer.events() },
                runRound: { [self] kind in
                    let number = turn.withLock { turn in
                        turn += 1
                        return turn
                    }
                    return await run(kind, observer, number)
                },
                observe: { observer.observe() }
            )
        )
    }

    // MARK: Rounds

    /// Runs a round.
    ///
    /// - Parameter turn: The number of the round. Brief rounds use the anchors in turn.
    private func run(_ kind: RoundKind, _ observer: LineObserver, _ turn: Int) async -> (CheckVerdict, ProbeCost) {
        do throws(CheckError) {
            if kind == .minimal { return try await probe() }
            var options = observer.isMetered ? options.metered(turn) : options
            options.announcedPortals = observer.portals.servers
            if kind == .brief, !options.anchors.isEmpty {
                options.anchors = [options.anchors[turn % options.anchors.count]]
            }
            if case .full(let delay) = kind { try? await Task.sleep(for: delay) }
            options.timeLimit = observer.patience.withLock { $0.limit(options.timeLimit) }
            let report = try await NetworkCheck(target: target, options: options).run()
            observer.patience.withLock { $0.note(report.probes) }
            return (report.verdict, report.cost)
        } catch {
            let finding = Finding(.inconclusive, .notEnoughEvidence, .suspected, error.description)
            return (CheckVerdict(finding), ProbeCost())
        }
    }

    /// Queries a DNS server behind the gateway. Without one, sends a packet whose hop limit expires at the second router.
    private func probe() async throws(CheckError) -> (CheckVerdict, ProbeCost) {
        try await RuntimeWarmUp.run()
        let site = try CheckSite(options)
        var evidence = CheckEvidence(site)
        // Anchors and names with expected addresses are not probed.
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
            results = [await prober.query(farServer, .known, question)]
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

/// The kernel's view of the line of a check.
private final class LineObserver: Sendable {
    private struct Proof {
        let path: NetworkPath
        var proof: PassiveProof
    }

    private let target: CheckTarget?
    private let options: CheckOptions
    let portals: PortalAnnouncements
    let patience = Locked(RoundTimeLimit())
    private let proofs: Locked<[AddressFamily: Proof]> = Locked([:])

    init(_ target: CheckTarget?, _ options: CheckOptions) {
        (self.target, self.options) = (target, options)
        portals = PortalAnnouncements(in: options.networkNamespace)
    }

    /// True if the line is currently metered.
    var isMetered: Bool { manager(over: options.addressFamily)?.path.isExpensive == true }

    /// Returns the events of the line. If the kernel cannot be queried, there is only one event.
    func events() -> AsyncStream<ScheduleEvent> {
        guard let manager = manager(over: options.addressFamily) else {
            let (stream, continuation) = AsyncStream.makeStream(of: ScheduleEvent.self)
            // The first round reports the reason.
            continuation.yield(.path(CheckLine(NetworkPath(flags: .reachable))))
            return stream
        }
        return LineEvents.stream(of: manager, portals: options.portalAPI == nil ? portals : nil)
    }

    /// Observes both families. Trouble of one family has priority, then proof of one family.
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
        // Other connections to the host prove nothing about a port.
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
            return proofs[family]?.proof.observe()
        }
    }

    private func manager(over family: AddressFamily?) -> NetworkReachabilityManager? {
        var options = options.pathOptions(over: family)
        // Resolving a name must not delay the schedule.
        options.nameResolutionWait = .zero
        guard let target else { return try? NetworkReachabilityManager(options: options) }
        let host = self.options.resolution(of: target.host)?.first?.description ?? target.host
        return try? NetworkReachabilityManager(host: host, options: options)
    }
}

/// The events of a line: the kernel's path, the resolver configuration, the end of a suspension, and the captive portal API.
enum LineEvents {
    /// Returns the current path, and then all events until the stream is released.
    ///
    /// - Parameters:
    ///   - isMetered: The user's setting. If nil, that of the interface.
    ///   - portals: The announcements to listen for; nil for none.
    static func stream(
        of manager: NetworkReachabilityManager,
        isMetered: Bool? = nil,
        portals: PortalAnnouncements? = nil
    ) -> AsyncStream<ScheduleEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: ScheduleEvent.self)
        let monitor = manager.record.monitor
        let paths = manager.paths
        let announcements = Locked<Cancellation?>(nil)
        @Sendable func listen() {
            let listening = portals?.listen(on: monitor.queue) { continuation.yield(.portalChanged) }
            let previous = announcements.withLock { announcements in
                defer { announcements = listening }
                return announcements
            }
            previous?.cancel()
        }
        listen()
        let task = Task {
            for await path in paths {
                // A socket keeps a removed namespace alive, and a new namespace may have the same name.
                if portals?.hasLostNamespace == true { listen() }
                continuation.yield(.path(CheckLine(path, isMetered: isMetered)))
            }
        }
        let configuration = monitor.environment.resolver.watchConfiguration(on: monitor.queue) {
            continuation.yield(.resolverChanged)
        }
        let sleep = watchSleep(of: monitor, continuation)
        continuation.onTermination = { _ in
            task.cancel()
            configuration?.cancel()
            sleep?.cancel()
            announcements.withLock { $0 }?.cancel()
        }
        return stream
    }

    /// The minimum detected suspension. A shorter difference may be the time between the reads of two clocks.
    private static let shortestSleep = Duration.seconds(1)

    private static func watchSleep(
        of monitor: PathMonitor,
        _ continuation: AsyncStream<ScheduleEvent>.Continuation
    ) -> Cancellation? {
        let clock = monitor.environment.clock
        let slept = Locked(clock.boot - clock.monotonic)
        return clock.watchForSleep(on: monitor.queue) {
            let now = clock.boot - clock.monotonic
            let before = slept.withLock { slept in
                defer { slept = now }
                return slept
            }
            // If the clock was only set, the difference is small.
            if now - before > shortestSleep { continuation.yield(.resumed) }
        }
    }
}
