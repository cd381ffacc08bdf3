import Dispatch
import LinuxSupport
import NetworkReachability

/// The kernel's state, and the results about the uplink, that several targets share.
final class CheckContext: Sendable {
    let site: CheckSite
    let line: SharedLine
    /// The results of the probes that detect an interception: a host that answers in place of all others.
    let interception: SharedLine
    let nonce: Nonce
    /// True if an answer of the target is sufficient for its report, so that the uplink is not probed.
    let isEnough: Bool
    /// The clock that a single target shares with the uplink; nil if each target has its own clock.
    let single: RoundClock?
    /// The evidence about a target before any packet is sent.
    let blank: CheckEvidence
    /// Taken by the first target that starts a probe of the uplink in advance.
    let isPrepared = OnceFlag()
    /// False after the kernel has refused an ICMP echo.
    let mayEcho = Locked(true)
    /// The number of targets whose rounds are in progress.
    private let waiting = Locked(0)
    private let segments: SegmentTests
    /// The results over the second address family, for targets that are checked repeatedly.
    private let families: RoundMemory?
    fileprivate let epoch: UInt64
    fileprivate let made = ContinuousClock.now

    /// The policy for testing large packets to a target that answers.
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

    /// Probes the uplink after a pause, unless all targets have answered by then.
    func probeLine(since: ContinuousClock.Instant?, after pause: Duration) async {
        if pause > .zero {
            do { try await Task.sleep(for: pause) } catch { return }
            guard waiting.withLock({ $0 > 0 }) else { return }
        }
        _ = await line.outcome(since: since)
    }

    /// Runs the round of a target, and returns its report.
    ///
    /// - Parameters:
    ///   - since: The earliest time of usable results about the uplink. If nil, results are usable for their lifetime.
    ///   - first: The first probe, if it was started already.
    func report(
        of target: CheckTarget?,
        since: ContinuousClock.Instant?,
        _ clock: RoundClock,
        first: RunningProbe?
    ) async -> CheckReport {
        var evidence = evidence(of: target)
        var addressPaths: [CheckSite.AddressPath] = []
        if let target {
            waiting.withLock { $0 += 1 }
            defer { waiting.withLock { $0 -= 1 } }
            let outcome = await site.out.during(target.text) {
                await TargetRound(site: site, nonce: nonce, target: target, clock: clock, first: first).run()
            }
            evidence.take(outcome, of: site)
            addressPaths = outcome.addressPaths
        }
        let isAlone = isEnough && target != nil && TargetStage.answers(evidence) != nil
        if !isAlone { evidence.take(await line.outcome(since: since)) }
        if TargetStage.isDoubtful(evidence) { evidence.results += await interception.outcome().results }
        let family = FamilyRound(of: evidence, addressPaths, site)
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

    /// Returns the known results about large packets to a target that answers, and the round that is due, if any.
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

/// Creates and caches the context of an engine. Thread-safe.
final class CheckContexts: Sendable {
    private struct State {
        var engine: SocketEngine?
        var context: CheckContext?
        /// The number of network changes so far.
        var epoch: UInt64 = 0
        var listening: Cancellation?
        var patience = RoundTimeLimit()
        var rounds = 0
        var isOver = false
    }

    /// True if targets are checked repeatedly, false if once.
    let isContinuous: Bool
    /// The limit of probes per second, and the limit of started targets per second.
    let (gate, pace): (ProbeGate, ProbeGate)
    private let options: CheckOptions
    private let targets: Int
    private let nonce: Nonce
    private let out: PendingProbes
    private let state = Locked(State())
    private let portals: PortalAnnouncements
    private let segments = RoundMemory(lifetime: .seconds(600))
    private let families = RoundMemory(lifetime: .seconds(30))
    private let queue = DispatchQueue(label: "ReachabilityChecks.contexts")

    /// The time for which the kernel's state is cached. It is limited because not every change sends an event.
    private static let lifetime = Duration.seconds(5)
    /// The time for which results about the uplink are used for targets that did not answer before.
    private static let lineLifetime = Duration.seconds(30)
    /// The maximum number of targets per run for which large packets are tested.
    private static let segmentTargets = 256
    /// The limit of probes that all continuous engines of the process share.
    private static let continuousGate = ProbeGate(rate: 200, burst: 100)

    /// Creates the contexts for targets that are checked once.
    init(
        once targets: Int,
        _ options: CheckOptions,
        _ nonce: Nonce = Nonce(),
        out: PendingProbes = PendingProbes(),
        gate: ProbeGate = ProbeGate(),
        pace: ProbeGate = ProbeGate()
    ) {
        (isContinuous, self.targets, self.options, self.nonce) = (false, targets, options, nonce)
        (self.out, self.gate, self.pace) = (out, gate, pace)
        portals = PortalAnnouncements(in: options.networkNamespace)
    }

    /// Creates the contexts for targets that are checked repeatedly.
    init(_ options: CheckOptions) {
        (isContinuous, targets, self.options, nonce) = (true, 0, options, Nonce())
        (out, gate, pace) = (PendingProbes(), Self.continuousGate, ProbeGate())
        portals = PortalAnnouncements(in: options.networkNamespace)
    }

    /// True if a check is repeated once when the network changed during it. With many single checks, this is too expensive.
    var repeatsVoidReports: Bool { isContinuous || targets == 1 }

    var targetsFirst: Duration { options.pauses.targetsFirst }

    /// Returns the cached context, or creates one. Queries the kernel on the calling thread. Sends no packet.
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
            site = try CheckSite(options.metered(round), out: out, gate: gate, engine: site.engine)
        }
        let context = context(of: site, after: latest, epoch)
        // The previous context is released outside the lock.
        let (chosen, previous) = state.withLock { state -> (CheckContext, CheckContext?) in
            // Another caller has created a context meanwhile.
            if let other = state.context, other.epoch == epoch, other !== known { return (other, nil) }
            guard !state.isOver else { return (context, nil) }
            defer { (state.context, state.engine) = (context, isContinuous ? site.engine : nil) }
            return (context, state.context)
        }
        return withExtendedLifetime(previous) { chosen }
    }

    /// Creates the context for checks in the network of `site`.
    ///
    /// - Parameter latest: An earlier context of the same network. Its results about the uplink stay valid.
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
            line: latest?.line ?? shared { await $0.probeLine() },
            interception: latest?.interception ?? shared { await $0.probeForInterception() },
            isEnough: isContinuous || site.options.anchors.isEmpty && site.options.expectedAddresses.isEmpty,
            isSingle: !isContinuous && targets == 1,
            segments: isContinuous ? .remembered(segments) : targets <= Self.segmentTargets ? .eachTime : .never,
            families: isContinuous ? families : nil,
            epoch: epoch
        )
    }

    private func probeLine() async -> LineOutcome {
        guard let context = try? current() else { return LineOutcome() }
        let nonce = isContinuous ? Nonce() : nonce
        return await LineRound(site: context.site, nonce: nonce, clock: context.single).run()
    }

    private func probeForInterception() async -> LineOutcome {
        guard let context = try? current() else { return LineOutcome() }
        return LineOutcome(results: await InterceptionRound(site: context.site, clock: context.single).run())
    }

    func note(_ report: CheckReport) {
        state.withLock { $0.patience.note(report.probes) }
    }

    /// Discards the context because the network has changed. Releases no object, so it may be called under a lock.
    func forget() {
        state.withLock { $0.epoch += 1 }
        segments.forget()
        families.forget()
        guard isContinuous, options.networkNamespace != .current else { return }
        // Sockets keep a removed namespace alive, and a new namespace may have the same name.
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
