import LinuxSupport
import NetworkReachability

/// What happens to a line that its schedule is to know: the kernel's path, the configuration of the name service, the end of a
/// sleep, the network's own server of captivity.
enum LineEvents {
    /// Its path now, and what happens from now on. Letting go of the stream ends it.
    ///
    /// - Parameters:
    ///   - isMetered: what the user says of the line; nil for what the interface suggests.
    ///   - portals: what hears of the network's own server; nil where nobody wants to know.
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
                // A socket keeps a namespace alive that is gone, and another one may have its name.
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

    /// Less may be the time between reading two clocks.
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
            // Somebody may have set the clock.
            if now - before > shortestSleep { continuation.yield(.resumed) }
        }
    }
}
