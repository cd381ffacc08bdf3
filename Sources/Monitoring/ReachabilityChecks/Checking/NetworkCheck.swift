import LinuxSupport
import NIOCore
import NIOPosix
import NetworkReachability

/// Finds the place of a network fault. It queries the kernel, sends a few packets, and returns one verdict.
///
/// ```swift
/// let report = try await NetworkCheck(target: CheckTarget("https://www.example.org/")).run()
/// print(report.verdict.failurePoint, report.verdict.text)
/// ```
///
/// Without a target and without anchors, only the local network is contacted: the gateway, the configured DNS servers, routers at which
/// packets expire, and an unassigned address. No privilege is needed. Without permission for ICMP echoes (`net.ipv4.ping_group_range`), the
/// place is the same and the confidence is lower. Thread-safe.
public struct NetworkCheck: Sendable {
    /// The target; nil for the internet.
    public let target: CheckTarget?
    /// The options of the check, including the hosts that it may contact.
    public let options: CheckOptions
    private let nonce: Nonce

    /// Creates a check. No packet is sent until it runs.
    ///
    /// - Parameters:
    ///   - target: The target; nil for the internet.
    ///   - options: The options of the check, including the hosts that it may contact.
    public init(target: CheckTarget? = nil, options: CheckOptions = CheckOptions()) {
        self.init(target: target, options: options, nonce: Nonce())
    }

    init(target: CheckTarget?, options: CheckOptions, nonce: Nonce) {
        (self.target, self.options, self.nonce) = (target, options, nonce)
    }

    /// Runs one round. It takes at most about ``CheckOptions/timeLimit``, and less if everything works. Cancelling the task ends it within
    /// milliseconds with a report of the results so far.
    ///
    /// - Throws: ``CheckError`` if no probe can be sent. A network fault is not an error, but a report.
    public func run() async throws(CheckError) -> CheckReport {
        let latest = Locked<CheckReport?>(nil)
        try await Self.run([target], CheckContexts(once: 1, options, nonce, gate: .process)) { _, report in
            latest.withLock { $0 = report }
        }
        guard let report = latest.withLock(\.self) else { preconditionFailure("each target has a report") }
        return report
    }

    /// Checks whether these options can be used. Queries the kernel, and sends no packet.
    package static func ensureUse(of options: CheckOptions) throws(CheckError) { _ = try CheckSite(options) }

    /// Opens the resources of a continuous check, so that a program can report early that there are too few file descriptors.
    package static func prepare() async throws(CheckError) { try await RuntimeWarmUp.run() }

    /// Checks several targets in parallel with one round about the uplink. Reports are not stored.
    ///
    /// - Parameters:
    ///   - targets: The targets; nil for the internet.
    ///   - rate: The maximum number of targets that start per second.
    ///   - out: Receives the names of the probes that wait for a response.
    ///   - completion: Receives each report with the index of its target.
    package static func run(
        _ targets: [CheckTarget?],
        _ options: CheckOptions,
        rate: Int = 100,
        out: PendingProbes = PendingProbes(),
        completion: @escaping @Sendable (Int, CheckReport) -> Void
    ) async throws(CheckError) {
        // A burst of 20 ms compensates for late timers.
        let pace = ProbeGate(rate: rate, burst: max(1, rate / 50))
        try await run(
            targets,
            CheckContexts(once: targets.count, options, out: out, pace: pace),
            completion: completion
        )
    }

    private static func run(
        _ targets: [CheckTarget?],
        _ contexts: CheckContexts,
        completion: @escaping @Sendable (Int, CheckReport) -> Void
    ) async throws(CheckError) {
        try await RuntimeWarmUp.run()
        let failure = Locked<CheckError?>(nil)
        var queue = CheckQueue(contexts) { number, report in
            switch report {
            case .success(let report): completion(number, report)
            case .failure(let error): failure.withLock { $0 = error }
            }
        }
        await queue.run(targets)
        if let error = failure.withLock(\.self) { throw error }
    }
}

/// The runtime resources that are opened at their first use: the timer of Dispatch and the event loops of SwiftNIO. Both end the process if
/// there is no file descriptor for them. A check therefore opens them before it starts, while it can still report an error.
enum RuntimeWarmUp {
    /// The event loops for web probes. There are at most two, because each needs three file descriptors, and connections mostly wait.
    static let loops = MultiThreadedEventLoopGroup(numberOfThreads: min(2, System.coreCount))

    /// The number of file descriptors for the runtime, the engine, the kernel's state and some sockets.
    static let descriptors = 24

    private static let isReady = Locked(false)

    /// Starts the event loops and the timer of Swift's concurrency, so that their descriptors are open before the first check.
    ///
    /// - Throws: ``CheckError`` if there are too few file descriptors.
    static func run() async throws(CheckError) {
        guard OpenFiles.haveDescriptors(for: descriptors) else {
            throw .sockets("\(descriptors) file descriptors must be free; raise the limit of open files (ulimit -n)")
        }
        if isReady.withLock({ $0 }) { return }
        _ = loops.next()
        // In a cancelled task the sleep would not start the timer.
        await Task { try? await Task.sleep(for: .nanoseconds(1)) }.value
        isReady.withLock { $0 = true }
    }
}
