import Foundation
package import KernelLab
import LinuxSupport
package import NetworkReachability
package import NetworkReachabilityTesting
package import ReachabilityLedger
package import TestSupport

@testable package import ReachabilityService

extension ServiceClock {
    /// Returns the clocks of a service with a fake kernel.
    ///
    /// - Parameter wall: The difference between the wall clock and CLOCK_BOOTTIME.
    package static func fake(
        _ clock: ManualClock,
        wall: Duration = .seconds(1_700_000_000),
        boot: String = "boot"
    ) -> ServiceClock {
        ServiceClock(monitor: clock, real: { wall + clock.boot }, bootIdentifier: boot)
    }
}

extension MonitoringService {
    /// Adds a target without checks or other settings.
    package func insert(_ name: String, _ manager: NetworkReachabilityManager) {
        insert(ServiceTarget(name: name, host: nil), manager)
    }
}

/// A service on a machine with a fake kernel.
package protocol ServiceWorld {
    var kernel: FakeKernel { get }
    var manager: NetworkReachabilityManager { get }
    var service: MonitoringService { get }
}

extension ServiceWorld {
    /// Waits until all changes are observed and delivered to listeners.
    package func flush() {
        manager.record.monitor.queue.sync {}
        service.flush()
    }

    /// Sets the carrier after a time.
    package func setCarrier(_ isThere: Bool, after time: Duration = .zero) {
        if time > .zero { kernel.clock.advance(by: time) }
        kernel.setCarrier("eth0", isThere)
        flush()
    }

    /// Returns the time that an account of a target has now.
    package func total(_ account: LedgerAccount, of target: String) -> Duration? {
        let (accounting, now) = (service.snapshot.accounting, service.snapshot.now)
        return accounting.accounts[target]?.total(account, at: now)
    }
}

/// A prober that sends nothing and returns no result, because the test provides the results.
package struct SilentProber: TargetProbing {
    package init() {}

    package func check(isDown: Bool) async -> CheckFinding? { nil }

    package func discardCache() {}
}

/// A directory for a history. It is deleted when it is released.
package final class HistoryDirectory: Sendable {
    package let path = "/tmp/history-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    package var file: String { path + "/history.sqlite" }

    package init() {
        guard mkdir(path, 0o755) == 0 else { fatalError("mkdir \(path): error \(errno)") }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// A simulated machine with boots, clocks and a network, and the runs of a service on it.
package final class HistoryWorld {
    package let directory: HistoryDirectory
    package private(set) var kernel: FakeKernel
    private var manager: NetworkReachabilityManager
    private var boot = "boot-1"
    /// The difference between the wall clock and CLOCK_BOOTTIME.
    private var wall = Duration.seconds(1_700_000_000)
    package private(set) var service: MonitoringService!
    package private(set) var writer: HistoryWriter!
    package let log = RecordingLog()

    package init(_ directory: HistoryDirectory) throws {
        self.directory = directory
        (kernel, manager) = try Self.machine()
    }

    /// Creates a machine whose service has been running for a time.
    package convenience init(_ directory: HistoryDirectory, runningFor time: Duration) throws {
        try self.init(directory)
        start()
        advance(time)
    }

    private static func machine() throws -> (FakeKernel, NetworkReachabilityManager) {
        let kernel = FakeKernel.connected()
        return (kernel, try NetworkReachabilityManager(kernel: kernel))
    }

    /// Starts the service.
    ///
    /// - Parameters:
    ///   - file: The path of the history in the directory.
    ///   - isWritten: False for a service that writes nothing to the history.
    package func start(
        _ options: HistoryWriter.Options = .init(),
        targets: [String] = ["internet"],
        file: String = "history.sqlite",
        isWritten: Bool = true
    ) {
        writer = HistoryWriter(directory.path + "/" + file, options, logger: log.logger)
        let resume = writer.resume(bootIdentifier: boot)
        service = MonitoringService(clock: .fake(kernel.clock, wall: wall, boot: boot), resume: resume)
        if isWritten { writer.follow(service) }
        watch(targets)
    }

    /// Adds targets, by default the network at large.
    package func watch(_ targets: [String] = ["internet"]) {
        for target in targets { service.insert(target, manager) }
        flush()
    }

    /// Stops the service orderly.
    package func stop() {
        writer.stop(at: service.snapshot.now)
        (writer, service) = (nil, nil)
    }

    /// Kills the service, after which nothing is written.
    package func kill() {
        writer.stop(at: nil)
        (writer, service) = (nil, nil)
    }

    /// Reboots the machine after a time, with a wall clock that may be wrong.
    package func reboot(after time: Duration, wallClock: Duration? = nil) throws {
        let now = wall + kernel.clock.boot
        (kernel, manager) = try Self.machine()
        boot = "boot-\(Int(boot.dropFirst(5)) ?? 0 + 1)-\(UInt32.random(in: 0 ... .max))"
        wall = (wallClock ?? now + time) - kernel.clock.boot
    }

    package func advance(_ time: Duration) { kernel.clock.advance(by: time) }

    /// Sets the carrier, and advances the clocks by a time.
    package func setCarrier(_ isThere: Bool, for time: Duration = .zero) {
        kernel.setCarrier("eth0", isThere)
        flush()
        if time > .zero { advance(time) }
    }

    /// Causes an outage of a duration.
    package func lose(for time: Duration) {
        setCarrier(false, for: time)
        setCarrier(true)
    }

    /// Sets the carrier without waiting for the history.
    package func play(_ isThere: Bool) {
        kernel.setCarrier("eth0", isThere)
        manager.record.monitor.queue.sync {}
    }

    /// Records an observation without querying the kernel for evidence.
    package func observe(_ path: Observation.Path) {
        service.record { state, now in
            state.accounting.take(Observation(path: path), of: "internet", at: now, now: now)
        }
    }

    /// Waits until all changes were written to the history, or the attempt has failed.
    package func flush() {
        manager.record.monitor.queue.sync {}
        service.flush()
        writer.flush()
    }

    /// The outages of this run, latest first.
    package var outages: [Outage] {
        let snapshot = service.snapshot
        return snapshot.accounting.outages(OutageFilter(), upTo: snapshot.now, limit: .max, at: snapshot.now)
    }

    /// Returns all stored intervals, earliest first.
    package func intervals() throws -> [LedgerInterval] {
        try
            (writer.store?.intervals(
                of: "internet",
                from: LedgerInstant(nanoseconds: .min),
                to: LedgerInstant(nanoseconds: .max),
                limit: .max
            ) ?? []).reversed()
    }

    /// Returns the stored intervals as texts such as `up 10s`.
    package func texts() throws -> [String] {
        try intervals().map { interval in
            let length = interval.end.map { DurationText.text($0 - interval.start) } ?? "and goes on"
            return "\(interval.state) \(length)"
        }
    }
}
