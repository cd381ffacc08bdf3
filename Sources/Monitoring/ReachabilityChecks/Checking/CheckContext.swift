import Dispatch
import LinuxSupport
import NetworkReachability

/// The kernel's state and the results about the uplink that targets share.
final class CheckContext: Sendable {
    let site: CheckSite
    let line: SharedLine
    /// Whether a host answers in the name of all others.
    let interception: SharedLine
    let nonce: Nonce
    /// Whether the answer of a target is the whole report.
    let isEnough: Bool
    /// The clock that a single target shares with its uplink; nil if each target has its own.
    let single: RoundClock?
    /// What is known of each target before anything is sent.
    let blank: CheckEvidence
    /// Whether the uplink was asked about before any target needed it.
    let isPrepared = Turn()
    /// False after the kernel has refused an ICMP echo.
    let mayEcho = Locked(true)
    /// The number of targets with a round of their own that have not answered yet.
    private let waiting = Locked(0)
    private let segments: SegmentTests
    /// The results over the other family of targets that are checked again and again.
    private let families: RoundMemory?
    fileprivate let epoch: UInt64
    fileprivate let made = ContinuousClock.now

    /// Whether and when the size of packets to a target that answers is tested.
    fileprivate enum SegmentTests: Sendable {
        case never
        case eachTime
        case remembered(RoundMemory)
    }

    fileprivate init(
        _ site: CheckSite,
        _ nonce: Nonce,
        line: SharedLine,
        interception: SharedLine,
        isEnough: Bool,
        isSingle: Bool,
        segments: SegmentTests,
        families: RoundMemory?,
        epoch: UInt64
    ) {
        (self.site, self.nonce, self.line, self.interception) = (site, nonce, line, interception)
        (self.isEnough, self.segments, self.families, self.epoch) = (isEnough, segments, families, epoch)
        single = isSingle ? RoundClock(limit: site.options.timeLimit) : nil
        blank = CheckEvidence(site)
    }

    var clock: RoundClock { single ?? RoundClock(limit: site.options.timeLimit) }

    /// Asks about the uplink after a pause, if targets still wait then.
    func askLine(since: ContinuousClock.Instant?, after pause: Duration) async {
        if pause > .zero {
            do { try await Task.sleep(for: pause) } catch { return }
            guard waiting.withLock({ $0 > 0 }) else { return }
        }
        _ = await line.outcome(since: since)
    }

    /// Makes the round of a target.
    ///
    /// - Parameters:
    ///   - since: The earliest time at which results about the uplink may have been found; nil for their lifetime.
    ///   - first: The first probe, if it has begun.
    func report(
        of target: CheckTarget?,
        since: ContinuousClock.Instant?,
        _ clock: RoundClock,
        first: ProbeUnderWay?
    ) async -> CheckReport {
        var evidence = evidence(of: target)
        var ways: [CheckSite.Way] = []
        if let target {
            waiting.withLock { $0 += 1 }
            defer { waiting.withLock { $0 -= 1 } }
            let outcome = await site.out.during(target.text) {
                await TargetRound(site: site, nonce: nonce, target: target, clock: clock, first: first).run()
            }
            evidence.take(outcome, of: site)
            ways = outcome.ways
        }
        let isAlone = isEnough && target != nil && TargetStage.answers(evidence) != nil
        if !isAlone { evidence.take(await line.outcome(since: since)) }
        if TargetStage.isDoubtful(evidence) { evidence.results += await interception.outcome().results }
        let family = FamilyRound(of: evidence, ways, site)
        let (known, round) = segmentResults(evidence)
        evidence.results += known
        if let round { evidence.results += await run(round) }
        if let families, let family {
            evidence.results += await familyResults(family, families)
            evidence.comparesFamilies = true
        }
        return CheckReport(evidence, of: site, begun: clock.begun)
    }

    func evidence(of target: CheckTarget?) -> CheckEvidence {
        var evidence = blank
        evidence.target = target
        return evidence
    }

    /// Returns the results about the size of packets to a target that answers, and the round that is due, if one is.
    func segmentResults(_ evidence: CheckEvidence) -> (known: [ProbeResult], round: SegmentRound?) {
        switch segments {
        case .never: return ([], nil)
        case .eachTime: return ([], SegmentRound(of: evidence, site))
        case .remembered(let memory):
            guard let address = SegmentRound.address(of: evidence, site) else { return ([], nil) }
            let (known, isDue) = memory.results(for: SocketEndpoint(address.wire))
            guard isDue, let round = SegmentRound(to: address, site) else { return (known, nil) }
            return ([], round)
        }
    }

    private func familyResults(_ round: FamilyRound, _ memory: RoundMemory) async -> [ProbeResult] {
        let (known, isDue) = memory.results(for: round.endpoint)
        guard isDue else { return known }
        let results = await round.run()
        if Task.isCancelled { return known }
        memory.keep(results, for: round.endpoint)
        return results
    }

    func run(_ round: SegmentRound) async -> [ProbeResult] {
        let results = await round.run()
        if case .remembered(let memory) = segments, !Task.isCancelled {
            memory.keep(results, for: SocketEndpoint(round.address.wire))
        }
        return results
    }
}

/// The cached context of an engine. Thread-safe.
final class CheckContexts: Sendable {
    private struct State {
        var engine: SocketEngine?
        var context: CheckContext?
        /// Grows with each change of the network.
        var epoch: UInt64 = 0
        var listening: Cancellation?
        var patience = RoundPatience()
        var rounds = 0
        var isOver = false
    }

    /// Whether targets are checked again and again, and not once.
    let isContinuous: Bool
    /// The limit of probes in a second, and the one of targets.
    let (gate, pace): (ProbeGate, ProbeGate)
    private let options: CheckOptions
    private let targets: Int
    private let nonce: Nonce
    private let out: ProbesOut
    private let state = Locked(State())
    private let portals: PortalAnnouncements
    private let segments = RoundMemory(lifetime: .seconds(600))
    private let families = RoundMemory(lifetime: .seconds(30))
    private let queue = DispatchQueue(label: "ReachabilityChecks.contexts")

    /// How long the kernel's state is used, because not every change sends an event.
    private static let lifetime = Duration.seconds(5)
    /// How long results about the uplink are used for targets that did not answer before.
    private static let lineLifetime = Duration.seconds(30)
    /// The maximum number of targets of a round for which the size of packets is tested.
    private static let segmentTargets = 256
    /// The limit of probes of all continuous engines of the process.
    private static let continuousGate = ProbeGate(rate: 200, burst: 100)

    /// For targets that are checked once.
    init(
        once targets: Int,
        _ options: CheckOptions,
        _ nonce: Nonce = Nonce(),
        out: ProbesOut = ProbesOut(),
        gate: ProbeGate = ProbeGate(),
        pace: ProbeGate = ProbeGate()
    ) {
        (isContinuous, self.targets, self.options, self.nonce) = (false, targets, options, nonce)
        (self.out, self.gate, self.pace) = (out, gate, pace)
        portals = PortalAnnouncements(in: options.networkNamespace)
    }

    /// For targets that are checked again and again.
    init(_ options: CheckOptions) {
        (isContinuous, targets, self.options, nonce) = (true, 0, options, Nonce())
        (out, gate, pace) = (ProbesOut(), Self.continuousGate, ProbeGate())
        portals = PortalAnnouncements(in: options.networkNamespace)
    }

    /// Whether a report is made once more if the network has changed meanwhile. A large number of targets is not.
    var repeatsVoidReports: Bool { isContinuous || targets == 1 }

    var targetsFirst: Duration { options.pauses.targetsFirst }

    /// Returns the cached context, or a new one. Queries the kernel on the calling thread; sends nothing.
    func current() throws(CheckError) -> CheckContext {
        let (known, engine, patience, epoch, round) = state.withLock { state in
            state.rounds += 1
            return (state.context, state.engine, state.patience, state.epoch, state.rounds)
        }
        let latest = known.flatMap { $0.epoch == epoch ? $0 : nil }
        if let latest, !isContinuous || latest.made + Self.lifetime > .now { return latest }
        var options = options
        options.timeLimit = patience.limit(options.timeLimit)
        if isContinuous {
            listen()
            options.announcedPortals = portals.servers
        }
        var site = try CheckSite(options, out: out, gate: gate, engine: engine)
        if isContinuous, site.path.isExpensive {
            site = try CheckSite(options.thrifty(round), out: out, gate: gate, engine: site.engine)
        }
        let context = context(of: site, after: latest, epoch)
        // The previous context dies outside the lock.
        let (chosen, previous) = state.withLock { state -> (CheckContext, CheckContext?) in
            // Another caller was faster.
            if let other = state.context, other.epoch == epoch, other !== known { return (other, nil) }
            guard !state.isOver else { return (context, nil) }
            defer { (state.context, state.engine) = (context, isContinuous ? site.engine : nil) }
            return (context, state.context)
        }
        return withExtendedLifetime(previous) { chosen }
    }

    /// - Parameter latest: A context of the same network, whose results about the uplink remain valid.
    private func context(of site: CheckSite, after latest: CheckContext?, _ epoch: UInt64) -> CheckContext {
        func shared(_ round: @escaping @Sendable (CheckContexts) async -> LineOutcome) -> SharedLine {
            SharedLine(lifetime: isContinuous ? Self.lineLifetime : .seconds(5), outlivesWaiters: isContinuous) {
                [weak self] in
                guard let self else { return LineOutcome() }
                return await round(self)
            }
        }
        return CheckContext(
            site,
            nonce,
            line: latest?.line ?? shared { await $0.askLine() },
            interception: latest?.interception ?? shared { await $0.askForInterception() },
            isEnough: isContinuous || site.options.anchors.isEmpty && site.options.expectedAddresses.isEmpty,
            isSingle: !isContinuous && targets == 1,
            segments: isContinuous ? .remembered(segments) : targets <= Self.segmentTargets ? .eachTime : .never,
            families: isContinuous ? families : nil,
            epoch: epoch
        )
    }

    private func askLine() async -> LineOutcome {
        guard let context = try? current() else { return LineOutcome() }
        let nonce = isContinuous ? Nonce() : nonce
        return await LineRound(site: context.site, nonce: nonce, clock: context.single).run()
    }

    private func askForInterception() async -> LineOutcome {
        guard let context = try? current() else { return LineOutcome() }
        return LineOutcome(results: await InterceptionRound(site: context.site, clock: context.single).run())
    }

    func note(_ report: CheckReport) {
        state.withLock { $0.patience.note(report.probes) }
    }

    /// Discards the context, because the network has changed. Destroys nothing itself, so it may be called under a lock.
    func forget() {
        state.withLock { $0.epoch += 1 }
        segments.forget()
        families.forget()
        guard isContinuous, options.networkNamespace != .current else { return }
        // Sockets keep a removed namespace alive, and another one may have its name.
        queue.async { [weak self] in
            let hasLostNamespace = self?.portals.hasLostNamespace ?? false
            let released = self?.state.withLock { state in
                defer {
                    (state.context, state.engine) = (nil, nil)
                    if hasLostNamespace { state.listening = nil }
                }
                return (state.context, state.engine, hasLostNamespace ? state.listening : nil)
            }
            released?.2?.cancel()
        }
    }

    /// Stops the probes of the uplink.
    func end() {
        let (context, listening) = state.withLock { state in
            state.isOver = true
            defer { (state.context, state.listening) = (nil, nil) }
            return (state.context, state.listening)
        }
        listening?.cancel()
        guard let context else { return }
        Task {
            await context.line.cancel()
            await context.interception.cancel()
        }
    }

    /// Listens for the captive portal API that the network announces.
    private func listen() {
        guard options.portalAPI == nil, state.withLock({ $0.listening == nil && !$0.isOver }) else { return }
        let listening = portals.listen(on: queue) { [weak self] in self?.forget() } ?? Cancellation {}
        let surplus = state.withLock { state -> Cancellation? in
            guard state.listening == nil, !state.isOver else { return listening }
            state.listening = listening
            return nil
        }
        surplus?.cancel()
    }
}
