import Foundation
import KernelLab
import LinuxSupport
import NetworkLab
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityLedger
import ReachabilityRetry
import ServiceLab
import TestSupport
import Testing

@testable import ReachabilityService

/// A service with a fake kernel that sends notifications. A test can kill and restart it.
final class NotifyingWorld: Sendable {
    let kernel = FakeKernel.connected()
    let network = PlayedNetwork()
    let waits = EagerClock()
    private let scratch = HistoryDirectory()

    /// The variables that hooks received. `hook` is their result.
    let hooked = Locked<[[String: String]]>([])
    let hook: Locked<@Sendable () async -> String?> = Locked { nil }
    /// The messages for mail programs. The programs end with the statuses in `mailStatus`, then with 0.
    let mailed = Locked<[(path: String, arguments: [String], message: String)]>([])
    let mailStatus = Locked<[Int32]>([])
    let log = RecordingLog()
    var directory: String { scratch.path }
    var journal: String { directory + "/journal" }
    private let timeLimit: Duration
    private let target: ServiceTarget
    private let manager: NetworkReachabilityManager
    private let current = Locked<(service: MonitoringService, writer: HistoryWriter, notifying: Notifier)?>(nil)

    var service: MonitoringService {
        get throws { try #require(current.withLock { $0?.service }) }
    }
    var notifying: Notifier {
        get throws { try #require(current.withLock { $0?.notifying }) }
    }

    /// - Parameters:
    ///   - timeLimit: The timeout of an HTTP request.
    ///   - isChecked: True if the target has checks. ``find(_:_:)`` provides their results.
    ///   - isPushed: True if the target sends pushes.
    init(timeLimit: Duration = .seconds(20), isChecked: Bool = false, isPushed: Bool = false) throws {
        self.timeLimit = timeLimit
        var target = ServiceTarget(name: "internet", host: nil, checks: isChecked ? CheckSettings([.init(nil)]) : nil)
        if isPushed { target.push = PushSettings(interval: .seconds(3600), grace: .zero) }
        self.target = target
        manager = try NetworkReachabilityManager(kernel: kernel)
    }

    /// The limits of the service without probes. Waits take no time here, so probes would follow each other endlessly.
    static func limits() throws -> RetryLimits {
        try RetryLimits(probeInterval: nil, budget: NotifyEnvironment.limits.budget)
    }

    /// Starts the service.
    func start(_ configuration: String) throws {
        let clock = ServiceClock.fake(kernel.clock)
        let writer = HistoryWriter(directory + "/history.sqlite")
        let resume = writer.resume(bootIdentifier: "boot")
        let service = MonitoringService(
            clock: clock,
            resume: resume,
            makeProber: { _, _ in SilentProber() },
            makeManager: { [manager] _ in manager }
        )
        writer.follow(service)
        var environment = NotifyEnvironment(
            coordinator: RetryCoordinator(limits: try Self.limits(), reachability: network, clock: waits),
            pause: { [waits] in try await waits.pause($0) },
            hooks: { [hooked, hook] path, _, _, variables in
                let known = Dictionary(variables.map { ($0.name, $0.value) }) { _, last in last }
                hooked.withLock { $0.append(known.merging(["path": path]) { one, _ in one }) }
                return await hook.withLock(\.self)()
            },
            programs: { [mailed, mailStatus] path, arguments, input, _ in
                mailed.withLock { $0.append((path, arguments, String(decoding: input, as: UTF8.self))) }
                let status = mailStatus.withLock { $0.isEmpty ? 0 : $0.removeFirst() }
                return status == 0 ? nil : (status, "exit status \(status)")
            }
        )
        environment.clock = waits
        environment.journalSocket = journal
        environment.timeLimit = timeLimit
        let notifying = Notifier(
            service,
            history: writer,
            writer: NotificationWriter(
                host: "box",
                OutageReader(service, writer),
                zone: try #require(LocalTime(zone: "Europe/Berlin"))
            ),
            environment: environment,
            logger: log.logger
        )
        notifying.begin()
        current.withLock { $0 = (service, writer, notifying) }
        reload(configuration)
        try service.apply([target])
        flush()
    }

    /// Ends a check with a result.
    func find(_ place: String, _ reason: String) throws {
        let (service, now) = (try service, kernel.clock.boot)
        let turn = try #require(service.state.withLock { $0.checks["internet"]?.turn })
        let finding = CheckFinding(place, reason, sentence: place, steps: [])
        _ = service.take(finding, of: "internet", turn, from: now, to: now)
        flush()
    }

    /// Applies another configuration.
    func reload(_ configuration: String) {
        do throws(ConfigurationProblems) {
            let parsed = try ServiceConfiguration("schema = 1\n" + configuration)
            let use = try notifyingNow.prepare(parsed)
            use()
        } catch {
            Issue.record("\(error.problems.map { $0.description(in: "f") })")
        }
        flush()
    }

    private var notifyingNow: Notifier {
        guard let notifying = current.withLock({ $0?.notifying }) else { fatalError("the notifier was not started") }
        return notifying
    }

    /// Ends the service: orderly, or as with SIGKILL, after which nothing is written.
    func end(orderly: Bool) async throws {
        let (service, writer, notifying) = try #require(current.withLock { $0 })
        if !orderly { writer.stop(at: nil) }
        await notifying.stop()
        if orderly { writer.stop(at: service.snapshot.now) }
        current.withLock { $0 = nil }
    }

    /// Waits until all changes are processed by all listeners.
    func flush() {
        manager.record.monitor.queue.sync {}
        guard let (service, _, notifying) = current.withLock(\.self) else { return }
        service.flush()
        notifying.flush()
    }

    func setCarrier(_ isThere: Bool) {
        kernel.setCarrier("eth0", isThere)
        flush()
    }

    func advance(_ time: Duration) async {
        await kernel.clock.advance(by: time)
        flush()
    }

    /// Takes the network down for a time.
    func lose(for time: Duration) async {
        setCarrier(false)
        await advance(time)
        setCarrier(true)
    }

    /// Returns the names of the fields of a notification.
    func fieldNames() throws -> [String] {
        let (service, writer, _) = try #require(current.withLock { $0 })
        let fields = NotificationWriter(host: "box", OutageReader(service, writer))
        return fields.fields(Incident.test(at: service.snapshot.now), for: "x").map(\.name)
    }

    /// Returns the status of the only notifier.
    func status() throws -> NotifierStatus { try #require(try notifying.status.first) }
}

/// A clock on which every wait ends immediately. It records the durations of the waits. Only a wait of more than a
/// day does not end, because it is longer than the longest delay of a retry.
final class EagerClock: Clock {
    typealias Instant = VirtualWorld.Instant

    private let state = Locked<(now: Swift.Duration, waits: [Swift.Duration])>((.zero, []))

    var now: Instant { Instant(offset: state.withLock { $0.now }) }
    let minimumResolution = Swift.Duration.zero
    var waits: [Swift.Duration] { state.withLock { $0.waits } }

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        try await pause(deadline.offset - now.offset)
    }

    func pause(_ time: Swift.Duration) async throws {
        if time > .seconds(86_400) { return try await Task.sleep(for: .seconds(86_400)) }
        state.withLock { state in
            state.now += max(.zero, time)
            state.waits.append(time)
        }
        await Task.yield()
        try Task.checkCancellation()
    }
}

extension AnswerServer {
    /// The bodies of all requests as JSON objects.
    var objects: [[String: Any]] {
        requests.compactMap { request in
            guard let end = request.firstRange(of: "\r\n\r\n") else { return nil }
            return try? JSONSerialization.jsonObject(with: Data(request[end.upperBound...].utf8)) as? [String: Any]
        }
    }

    /// Returns the values of a header field of all requests.
    func headers(_ name: String) -> [String] {
        requests.compactMap { request in
            request.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }
    }

    /// Waits for a number of requests.
    func expect(_ count: Int, _ location: SourceLocation = #_sourceLocation) async throws {
        let isThere = try await eventually { requests.count >= count }
        #expect(isThere && requests.count == count, "\(requests.count)", sourceLocation: location)
    }
}
