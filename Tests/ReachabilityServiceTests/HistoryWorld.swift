import Foundation
import KernelLab
import LinuxSupport
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityLedger
import TestSupport

@testable import ReachabilityService

/// A directory for a history. It is deleted when it is released.
final class HistoryDirectory: Sendable {
    let path = "/tmp/history-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    var file: String { path + "/history.sqlite" }

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// A simulated machine with boots, clocks and a network, and the runs of a service on it.
final class HistoryWorld {
    let directory: HistoryDirectory
    private(set) var kernel: FakeKernel
    private var manager: NetworkReachabilityManager
    private var boot = "boot-1"
    /// The difference between the wall clock and CLOCK_BOOTTIME.
    private var wall = Duration.seconds(1_700_000_000)
    private(set) var service: MonitoringService!
    private(set) var writer: HistoryWriter!
    let log = RecordingLog()

    init(_ directory: HistoryDirectory) throws {
        self.directory = directory
        (kernel, manager) = try Self.machine()
    }

    private static func machine() throws -> (FakeKernel, NetworkReachabilityManager) {
        let kernel = FakeKernel()
        kernel.addLink("eth0")
        kernel.addAddress("192.0.2.7/24", to: "eth0")
        kernel.addRoute("default", via: "192.0.2.1")
        return (kernel, try NetworkReachabilityManager(kernel: kernel))
    }

    /// Starts the service.
    func start(_ options: HistoryWriter.Options = .init()) {
        let (clock, wall) = (kernel.clock, wall)
        let serviceClock = ServiceClock(monitor: clock, real: { wall + clock.boot }, bootIdentifier: boot)
        writer = HistoryWriter(directory.file, options, logger: log.logger)
        let resume = writer.resume(bootIdentifier: boot)
        service = MonitoringService(clock: serviceClock, resume: resume)
        writer.follow(service)
        watch()
    }

    /// Adds the network at large as a target.
    func watch() {
        service.insert("internet", manager)
        flush()
    }

    /// Stops the service orderly.
    func stop() {
        writer.stop(at: service.snapshot.now)
        (writer, service) = (nil, nil)
    }

    /// Kills the service, after which nothing is written.
    func kill() {
        writer.stop(at: nil)
        (writer, service) = (nil, nil)
    }

    /// Reboots the machine after a time, with a wall clock that may be wrong.
    func reboot(after time: Duration, wallClock: Duration? = nil) throws {
        let now = wall + kernel.clock.boot
        (kernel, manager) = try Self.machine()
        boot = "boot-\(Int(boot.dropFirst(5)) ?? 0 + 1)-\(UInt32.random(in: 0 ... .max))"
        wall = (wallClock ?? now + time) - kernel.clock.boot
    }

    func advance(_ time: Duration) { kernel.clock.advance(by: time) }

    func setCarrier(_ isThere: Bool) {
        kernel.setCarrier("eth0", isThere)
        flush()
    }

    /// Sets the carrier without waiting for the history.
    func play(_ isThere: Bool) {
        kernel.setCarrier("eth0", isThere)
        manager.record.monitor.queue.sync {}
    }

    /// Records an observation without querying the kernel for evidence.
    func observe(_ path: Observation.Path) {
        service.record { state, now in
            state.books.take(Observation(path: path), of: "internet", at: now, now: now)
        }
    }

    /// Waits until all changes were written to the history, or the attempt has failed.
    func flush() {
        manager.record.monitor.queue.sync {}
        service.flush()
        writer.flush()
    }

    /// The outages of this run, latest first.
    var outages: [Outage] {
        let snapshot = service.snapshot
        return snapshot.books.outages(OutageFilter(), upTo: snapshot.now, limit: .max, at: snapshot.now)
    }

    /// Returns all stored intervals, earliest first.
    func intervals() throws -> [LedgerInterval] {
        try
            (writer.store?.intervals(
                of: "internet",
                from: LedgerInstant(nanoseconds: .min),
                to: LedgerInstant(nanoseconds: .max),
                limit: .max
            ) ?? []).reversed()
    }

    /// Returns the stored intervals as texts such as `up 10s`.
    func words() throws -> [String] {
        try intervals().map { interval in
            let length = interval.end.map { DurationText.text($0 - interval.start) } ?? "and goes on"
            return "\(interval.state) \(length)"
        }
    }
}
