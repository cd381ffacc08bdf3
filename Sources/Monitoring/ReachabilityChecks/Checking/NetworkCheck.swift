import LinuxSupport
import NetworkReachability

/// Finds out where it breaks: asks the kernel, sends a few packets, and gives one verdict.
///
/// ```swift
/// let report = try await NetworkCheck(target: CheckTarget("https://www.example.org/")).run()
/// print(report.verdict.place, report.verdict.text)
/// ```
///
/// Without a target and without anchors nobody is contacted but the network itself: the gateway, the DNS servers that are configured,
/// routers that packets die at, and an address that nobody has. No privilege is needed; without that for echoes
/// (`net.ipv4.ping_group_range`) the place is the same and the confidence lower. Any thread may use it, any number at a time.
public struct NetworkCheck: Sendable {
    /// Nil for the internet.
    public let target: CheckTarget?
    /// How it is made, and whom it may contact.
    public let options: CheckOptions
    private let nonce: Nonce

    /// Asks and sends nothing yet.
    ///
    /// - Parameters:
    ///   - target: nil for the internet.
    ///   - options: how it is made, and whom it may contact.
    public init(target: CheckTarget? = nil, options: CheckOptions = CheckOptions()) {
        self.init(target: target, options: options, nonce: Nonce())
    }

    init(target: CheckTarget?, options: CheckOptions, nonce: Nonce) {
        (self.target, self.options, self.nonce) = (target, options, nonce)
    }

    /// One round: at most ``CheckOptions/timeLimit``, and less where everything works. Cancelling the task ends it within milliseconds;
    /// the report is then of what was found so far.
    ///
    /// - Throws: where nothing can be checked at all; a network that is broken is a report.
    public func run() async throws(CheckError) -> CheckReport {
        let latest = Locked<CheckReport?>(nil)
        try await Self.run([target], options, nonce, rate: 1, ProbesOut(), .process) { _, report in
            latest.withLock { $0 = report }
        }
        guard let report = latest.withLock(\.self) else { preconditionFailure("each target has a report") }
        return report
    }

    /// Asks the kernel whether anything can be checked that way, and sends nothing.
    package static func ensureUse(of options: CheckOptions) throws(CheckError) { _ = try CheckSite(options) }

    /// What a program calls before it begins a check that goes on, to be told in time that there are too few descriptors.
    package static func prepare() async throws(CheckError) { try await Footing.make() }

    /// Checks several targets at the same time: the line is asked about once. Of the reports none is kept.
    ///
    /// - Parameters:
    ///   - targets: nil for the internet.
    ///   - rate: how many targets are begun in a second.
    ///   - out: learns what is waited for.
    ///   - tell: is given each report with the number of its target, as soon as there is one.
    package static func run(
        _ targets: [CheckTarget?],
        _ options: CheckOptions,
        rate: Int = 100,
        out: ProbesOut = ProbesOut(),
        tell: @escaping @Sendable (Int, CheckReport) -> Void
    ) async throws(CheckError) {
        // Targets are paced already, and each has a few probes.
        try await run(targets, options, Nonce(), rate: rate, out, ProbeGate(), tell: tell)
    }

    private static func run(
        _ targets: [CheckTarget?],
        _ options: CheckOptions,
        _ nonce: Nonce,
        rate: Int,
        _ out: ProbesOut,
        _ gate: ProbeGate,
        tell: @escaping @Sendable (Int, CheckReport) -> Void
    ) async throws(CheckError) {
        try await Footing.make()
        func round(_ tell: @escaping @Sendable (Int, CheckReport) -> Void) async throws(CheckError) {
            let site = try CheckSite(options, out: out, gate: gate)
            let run = CheckRun(site: site, targets: targets, nonce: nonce, tell: tell)
            if targets.count == 1 { return await run.run() }
            var bulk = BulkRound(run, rate: rate)
            await bulk.run()
        }
        guard targets.count == 1 else { return try await round(tell) }
        let latest = Locked<CheckReport?>(nil)
        try await round { _, report in latest.withLock { $0 = report } }
        // The network changed under way, so nothing holds that was found: once more. A large number of targets is not asked twice.
        if latest.withLock({ $0?.isVoid == true }), !Task.isCancelled {
            try await round { _, report in latest.withLock { $0 = report } }
        }
        if let report = latest.withLock(\.self) { tell(0, report) }
    }
}
