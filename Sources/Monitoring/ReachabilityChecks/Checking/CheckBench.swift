import Dispatch
import LinuxSupport
import NetworkReachability

/// Checks targets again and again, each when its time has come: all that are checked in one way share a thread for their sockets, and what
/// is found of the line they are on. Sends nothing until it is asked to. Thread-safe.
///
/// The line is asked about only for a target that does not answer, and for the internet itself; by one round, however many wait for it.
package final class CheckBench: Sendable {
    /// How much is to be known of the line, where a target does not answer.
    package enum Diligence: Sendable {
        /// It has just stopped to answer: what was known before that may not be so any more.
        case fresh
        /// It has not answered before: what was found half a minute ago will do.
        case lasting
    }

    /// The kernel's answers and all that hangs on them; made anew after a few seconds, for nobody is told of each change.
    private struct Ground {
        let run: CheckRun
        let epoch: UInt64
        let made: ContinuousClock.Instant
    }

    private struct State {
        var engine: SocketEngine?
        var ground: Ground?
        /// Grows with each change of the network.
        var epoch: UInt64 = 0
        /// Who hears of portals.
        var listening: Cancellation?
        var patience = RoundPatience()
        var rounds = 0
        var isOver = false
    }

    private let options: CheckOptions
    private let state = Locked(State())
    private let portals: PortalAnnouncements
    private let segments = SegmentMemory()
    private let queue = DispatchQueue(label: "ReachabilityChecks.bench")

    /// So long the kernel's answers are taken to hold.
    private static let lifetime = Duration.seconds(5)
    /// So long is taken to hold what was found of the line, for those that last, and that nobody answers for everybody.
    private static let memory = Duration.seconds(30)
    /// What all benches of the process may do together: so many probes begin in a second, and so many targets are checked at a time. Each
    /// has a few sockets.
    private static let gate = ProbeGate(rate: 200, burst: 100)
    private static let turns = WebTurns(count: min(256, OpenFiles.limit / 8))

    /// Whether this process may send ICMP echoes in its network namespace.
    package static var mayEcho: Bool { EchoPermission.isGranted }

    /// - Parameter options: how checks are made, and whom they may contact.
    package init(_ options: CheckOptions) {
        self.options = options
        portals = PortalAnnouncements(in: options.networkNamespace)
    }

    deinit {
        end()
    }

    /// Checks a target when it is its turn.
    ///
    /// Cancelling the task ends what is sent to the target, not the round about the line that others may wait for.
    ///
    /// - Parameter target: nil for the internet.
    /// - Returns: nil where the task is cancelled before anything was sent.
    /// - Throws: where nothing can be checked at all.
    package func check(_ target: CheckTarget?, _ diligence: Diligence) async throws(CheckError) -> CheckReport? {
        try await Footing.make()
        let report = await Self.turns.during { () async -> Result<CheckReport, CheckError> in
            do throws(CheckError) { return .success(try await checkNow(target, diligence)) } catch {
                return .failure(error)
            }
        }
        return try report?.get()
    }

    private func checkNow(_ target: CheckTarget?, _ diligence: Diligence) async throws(CheckError) -> CheckReport {
        let report = await Self.report(of: target, on: try ground(), diligence)
        state.withLock { $0.patience.note(report.probes) }
        // The network changed under way, so nothing holds that was found: once more.
        guard report.isVoid, !Task.isCancelled else { return report }
        forget()
        return await Self.report(of: target, on: try ground(), .fresh)
    }

    private static func report(of target: CheckTarget?, on run: CheckRun, _ diligence: Diligence) async -> CheckReport {
        var run = run
        let now = ContinuousClock.now
        run.since = (diligence == .fresh || target == nil ? now : now - memory, now - memory)
        guard target != nil else { return await run.report(of: nil) }
        // Who does not answer at once will hardly do.
        let early = Task { [run] in await run.askLine(after: CheckRun.targetsFirst) }
        defer { early.cancel() }
        return await run.report(of: target)
    }

    /// The network has changed: what was found holds no more. Lets go of nothing itself, so it may be called under a lock.
    package func forget() {
        state.withLock { $0.epoch += 1 }
        segments.forget()
        guard options.networkNamespace != .current else { return }
        // Sockets keep a namespace alive that is gone, and another one may have its name.
        queue.async { [weak self] in
            let hasLostNamespace = self?.portals.hasLostNamespace ?? false
            let released = self?.state.withLock { state in
                defer {
                    (state.ground, state.engine) = (nil, nil)
                    if hasLostNamespace { state.listening = nil }
                }
                return (state.ground, state.engine, hasLostNamespace ? state.listening : nil)
            }
            released?.2?.cancel()
        }
    }

    /// Ends what is under way of the line.
    package func end() {
        let (ground, listening) = state.withLock { state in
            state.isOver = true
            defer { (state.ground, state.listening) = (nil, nil) }
            return (state.ground, state.listening)
        }
        listening?.cancel()
        guard let run = ground?.run else { return }
        Task {
            await run.line.cancel()
            await run.nobody.cancel()
        }
    }

    // MARK: The ground

    private func ground() throws(CheckError) -> CheckRun {
        let (known, engine, patience, epoch, round) = state.withLock { state in
            state.rounds += 1
            return (state.ground, state.engine, state.patience, state.epoch, state.rounds)
        }
        if let known, known.epoch == epoch, known.made + Self.lifetime > .now { return known.run }
        listen()
        var options = options
        options.timeLimit = patience.limit(options.timeLimit)
        options.announcedPortals = portals.servers
        var site = try CheckSite(options, gate: Self.gate, engine: engine)
        if site.path.isExpensive { site = try CheckSite(options.thrifty(round), gate: Self.gate, engine: site.engine) }
        // What was found of the line outlives the kernel's answers, but not the network it is about.
        let run =
            if let known, known.epoch == epoch {
                CheckRun(site: site, line: known.run.line, nobody: known.run.nobody, segments: segments)
            } else {
                CheckRun(
                    site: site,
                    line: SharedLine(outlivesWaiters: true) { [weak self] in await self?.askLine() ?? LineOutcome() },
                    nobody: SharedLine(outlivesWaiters: true) { [weak self] in
                        await self?.askNobody() ?? LineOutcome()
                    },
                    segments: segments
                )
            }
        let ground = Ground(run: run, epoch: epoch, made: .now)
        // What it takes the place of dies outside.
        let (chosen, previous) = state.withLock { state -> (CheckRun, Ground?) in
            // Somebody was faster: all are to share one.
            if let other = state.ground, other.epoch == epoch, other.made != known?.made { return (other.run, nil) }
            guard !state.isOver else { return (run, nil) }
            defer { (state.ground, state.engine) = (ground, site.engine) }
            return (run, state.ground)
        }
        return withExtendedLifetime(previous) { chosen }
    }

    /// Hears from now on of the network's own server that tells of captivity.
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

    private func askLine() async -> LineOutcome {
        guard let site = try? ground().site else { return LineOutcome() }
        let nonce = Nonce()
        return await LineRound(site: site, names: NameBook(site: site, nonce: nonce), nonce: nonce).run()
    }

    private func askNobody() async -> LineOutcome {
        guard let site = try? ground().site else { return LineOutcome() }
        return LineOutcome(results: await InterceptionRound(site: site, clock: nil).run())
    }
}
