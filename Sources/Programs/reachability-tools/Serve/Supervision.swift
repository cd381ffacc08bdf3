import CommandLineSupport
import Dispatch
import LinuxSupport
import ReachabilityServer
import ReachabilityService

/// Reports the state of the service to the service manager, if there is one.
///
/// Reports pass through a queue, so that the service does not wait for the manager. Thread-safe.
///
/// Source: `sd_notify(3)`.
final class Supervision: Sendable {
    /// The sockets and settings that the service manager passed. Must be read before the first thread is started.
    static let offer = ServiceManagerOffer.take()

    private struct State {
        var hasFailed = false
        /// True if the last report failed. Until a report succeeds, the queue does not wait for the manager.
        var isManagerBlocked = false
        /// The last reported sentence, and whether a report is queued.
        var sentence = ""
        var isReporting = false
        var listener: Cancellation?
        var watchdog: Watchdog?
    }

    private let socket: NotifySocket?
    private let queue = DispatchQueue(label: "reachability.supervision")
    private let state = Locked(State())

    init(_ socket: NotifySocket?) {
        self.socket = socket
    }

    /// Waits for a round trip through the service, reports that it is ready, and then reports a sentence about the targets at each change
    /// and the watchdog's keep-alive at its interval.
    func begin(_ service: MonitoringService, _ history: HistoryWriter?, watchdog limit: Duration?) async {
        guard socket != nil else { return }
        await withCheckedContinuation { continuation in
            service.roundTrip(through: history) { _ in continuation.resume() }
        }
        notify("READY=1")
        reportHeadline(service)
        let listener = service.addListener { [weak self, weak service] _ in
            if let service { self?.reportHeadline(service) }
        }
        let watchdog = limit.map { limit in
            Watchdog(limit: limit, clock: service.clock.monitor) { [weak service] done in
                service?.roundTrip(through: history, done)
            } notify: { [weak self] in
                self?.notify("WATCHDOG=1")
            }
        }
        state.withLock { ($0.listener, $0.watchdog) = (listener, watchdog) }
    }

    /// Reports to the manager that the configuration is read while `body` runs.
    func reloading(_ body: () -> Void) {
        notify("RELOADING=1\nMONOTONIC_USEC=\(SystemClock.monotonic.nanoseconds / 1000)")
        body()
        notify("READY=1")
    }

    /// Reports that the service stops, and returns when the report is sent.
    func end() {
        let (listener, watchdog) = state.withLock { ($0.listener.take(), $0.watchdog.take()) }
        listener?.cancel()
        withExtendedLifetime(watchdog) {}
        notify("STOPPING=1")
        queue.sync {}
    }

    /// Reports the sentence about the targets if it has changed. Of several changes at the same time, the last is reported.
    private func reportHeadline(_ service: MonitoringService) {
        let isFirst = state.withLock { state in
            defer { state.isReporting = true }
            return !state.isReporting
        }
        guard isFirst else { return }
        queue.async { [self] in
            state.withLock { $0.isReporting = false }
            let sentence = service.snapshot.headline.printable
            guard state.withLock({ $0.sentence }) != sentence else { return }
            state.withLock { $0.sentence = sentence }
            send("STATUS=\(sentence).")
        }
    }

    private func notify(_ text: String) {
        queue.async { [self] in send(text) }
    }

    /// Sends a report. Runs on the queue. Only the first failure is printed.
    private func send(_ text: String) {
        guard let socket else { return }
        do {
            try socket.send(text, patience: state.withLock(\.isManagerBlocked) ? 0 : 5)
            state.withLock { $0.isManagerBlocked = false }
        } catch {
            let isFirst = state.withLock { state in
                defer { (state.hasFailed, state.isManagerBlocked) = (true, true) }
                return !state.hasFailed
            }
            let place = socket.address.printable
            if isFirst { StandardError.report("cannot notify the service manager at \(place): \(error)") }
        }
    }
}
