import LinuxPrimitives
import NetworkReachability
import Sockets

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
        let made: ContinuousClock.Instant
    }

    private struct State {
        var engine: SocketEngine?
        var ground: Ground?
        var line: SharedLine?
        var nobody: SharedLine?
        var patience = RoundPatience()
        var rounds = 0
        var isOver = false
    }

    private let options: CheckOptions
    private let state = Locked(State())

    /// So long the kernel's answers are taken to hold.
    private static let lifetime = Duration.seconds(5)
    /// So long is taken to hold what was found of the line, for those that last, and that nobody answers for everybody.
    private static let memory = Duration.seconds(30)
    /// What all benches of the process may do together: so many probes begin in a second, and so many targets are checked at a time. Each
    /// has a few sockets.
    private static let gate = ProbeGate(rate: 200, burst: 100)
    private static let turns = WebTurns(count: min(128, OpenFiles.limit / 8))

    /// - Parameter options: how checks are made, and whom they may contact.
    package init(_ options: CheckOptions) {
        self.options = options
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

    /// The network has changed: what was found holds no more.
    package func forget() {
        state.withLock { ($0.ground, $0.line, $0.nobody) = (nil, nil, nil) }
    }

    /// Ends what is under way of the line.
    package func end() {
        let lines = state.withLock { state in
            state.isOver = true
            defer { (state.ground, state.line, state.nobody) = (nil, nil, nil) }
            return [state.line, state.nobody]
        }
        for case let line? in lines { Task { await line.cancel() } }
    }

    // MARK: The ground

    private func ground() throws(CheckError) -> CheckRun {
        let (known, engine, patience, round) = state.withLock { state in
            state.rounds += 1
            return (state.ground, state.engine, state.patience, state.rounds)
        }
        if let known, known.made + Self.lifetime > .now { return known.run }
        var options = options
        options.timeLimit = patience.limit(options.timeLimit)
        var site = try CheckSite(options, gate: Self.gate, engine: engine)
        if site.path.isExpensive { site = try CheckSite(options.thrifty(round), gate: Self.gate, engine: site.engine) }
        return state.withLock { [site] state in
            state.engine = site.engine
            let line =
                state.line
                ?? SharedLine(outlivesWaiters: true) { [weak self] in await self?.askLine() ?? LineOutcome() }
            let nobody =
                state.nobody
                ?? SharedLine(outlivesWaiters: true) { [weak self] in await self?.askNobody() ?? LineOutcome() }
            let run = CheckRun(site: site, line: line, nobody: nobody)
            if !state.isOver {
                (state.line, state.nobody) = (line, nobody)
                state.ground = Ground(run: run, made: .now)
            }
            return run
        }
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
