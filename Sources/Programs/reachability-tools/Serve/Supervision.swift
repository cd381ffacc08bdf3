import CommandLineSupport
import Dispatch
import LinuxSupport
import ReachabilityServer
import ReachabilityService

/// Tells the service manager how the service does, where one wants to hear.
///
/// Nobody waits for the manager: what it is told goes through a queue. Thread-safe.
///
/// Source: `sd_notify(3)`.
final class Supervision: Sendable {
    /// What this process is offered. Read by the first who asks: before there are threads.
    static let offer = ServiceManagerOffer.take()

    private struct State {
        var hasFailed = false
        /// Whether the manager did not take what was told last: it is not waited for again until it does.
        var isDeaf = false
        /// The sentence that was told last, and whether another is on its way.
        var sentence = ""
        var isSaying = false
        var listener: Cancellation?
        var watchdog: Watchdog?
    }

    private let socket: NotifySocket?
    private let queue = DispatchQueue(label: "reachability.supervision")
    private let state = Locked(State())

    init(_ socket: NotifySocket?) {
        self.socket = socket
    }

    /// The service listens, has its history and observes: waits until a whole round trip has shown that, says so, and from then on says
    /// in a sentence how the targets are, and that it lives, as often as that is wanted.
    func begin(_ service: MonitoringService, _ history: HistoryWriter?, watchdog limit: Duration?) async {
        guard socket != nil else { return }
        await withCheckedContinuation { continuation in
            service.roundTrip(through: history) { _ in continuation.resume() }
        }
        tell("READY=1")
        say(service)
        let listener = service.addListener { [weak self, weak service] _ in
            if let service { self?.say(service) }
        }
        let watchdog = limit.map { limit in
            Watchdog(limit: limit, clock: service.clock.monitor) { [weak service] done in
                service?.roundTrip(through: history, done)
            } tell: { [weak self] in
                self?.tell("WATCHDOG=1")
            }
        }
        state.withLock { ($0.listener, $0.watchdog) = (listener, watchdog) }
    }

    /// Says that the configuration is read again while that is done.
    func reloading(_ body: () -> Void) {
        tell("RELOADING=1\nMONOTONIC_USEC=\(SystemClock.monotonic.nanoseconds / 1000)")
        body()
        tell("READY=1")
    }

    /// The service is about to end; returns when that was told.
    func end() {
        let (listener, watchdog) = state.withLock { ($0.listener.take(), $0.watchdog.take()) }
        listener?.cancel()
        withExtendedLifetime(watchdog) {}
        tell("STOPPING=1")
        queue.sync {}
    }

    /// Says how the targets are, if that is not what was said last. Of many changes at a time the last is told.
    private func say(_ service: MonitoringService) {
        let isFirst = state.withLock { state in
            defer { state.isSaying = true }
            return !state.isSaying
        }
        guard isFirst else { return }
        queue.async { [self] in
            state.withLock { $0.isSaying = false }
            let sentence = service.snapshot.headline.printable
            guard state.withLock({ $0.sentence }) != sentence else { return }
            state.withLock { $0.sentence = sentence }
            send("STATUS=\(sentence).")
        }
    }

    private func tell(_ text: String) {
        queue.async { [self] in send(text) }
    }

    /// On the queue. That it cannot be told is said once.
    private func send(_ text: String) {
        guard let socket else { return }
        do {
            try socket.send(text, patience: state.withLock(\.isDeaf) ? 0 : 5)
            state.withLock { $0.isDeaf = false }
        } catch {
            let isFirst = state.withLock { state in
                defer { (state.hasFailed, state.isDeaf) = (true, true) }
                return !state.hasFailed
            }
            let place = socket.place.printable
            if isFirst { StandardError.write("reachability: the service manager at \(place) cannot be told: \(error)") }
        }
    }
}
