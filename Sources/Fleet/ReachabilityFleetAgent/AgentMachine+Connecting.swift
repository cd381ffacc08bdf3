import LinuxSupport
import MQTT
import ReachabilityFleet

extension AgentMachine {
    /// The interval between checks of the certificate.
    private static let certificateInterval = Duration.seconds(86_400)

    mutating func changePath(_ isSatisfied: Bool, _ reason: String?) {
        if !isSatisfied, link.state != .connected, reason != Self.resolving { logWaiting(reason) }
        lackReason = reason
        if link.changePath(isSatisfied, at: world.now(), chance: world.chance()) == .connect { connect() }
    }

    /// The reason of a path whose host name is still being resolved.
    private static let resolving = "resolving"

    /// Logs once that no attempt is made until there is a path.
    private mutating func logWaiting(_ reason: String?) {
        logOnce("there is no path to \(options.broker)\(reason.map { " (\($0))" } ?? ""); waiting for one")
    }

    mutating func changeInternet(_ word: String) {
        guard internet != word else { return }
        internet = word
        scheduleSummary()
        if link.state == .connected { report() }
    }

    mutating func passTime() {
        let now = world.now()
        if let certificateCheck, now >= certificateCheck {
            self.certificateCheck = now + Self.certificateInterval
            act(.checkCertificate)
        }
        switch link.pass(to: now) {
        case .connect: connect()
        case .abandon:
            act(.abandon)
            if case .leaving = link.state { finish() } else { connectionEnded(BrokerError(options.broker, .silent)) }
        case nil:
            guard link.state == .connected else { return }
            if let refreshAt, now >= refreshAt { report() }
            if let summaryAt, now >= summaryAt { updateSummary() }
        }
    }

    mutating func handle(_ event: BrokerEvent) {
        switch event {
        case .connected:
            guard case .connecting = link.state else { return }
            isAcknowledged = false
            let isOld = link.accept(at: world.now())
            logOnce("connected to \(options.broker), as \(options.place)")
            if isOld { act(.log("\(options.broker) supports MQTT 3.1.1 but not 5: \(Self.shortcoming)")) }
            act(.subscribe([options.topic(.command)]))
            report()
            announce()
            forwarder.begin()
        case .published(let token, let reason): acknowledge(token, reason)
        case .message(let message): perform(message)
        case .subscribed: break
        case .ended(let error):
            switch link.state {
            case .leaving: finish()
            case .connecting: if link.fallsBack(error, at: world.now()) { connect() } else { connectionEnded(error) }
            case .connected: connectionEnded(error)
            // The connection was dropped before.
            case .idle, .waiting, .over: break
            }
        }
    }

    mutating func leave(_ reason: String) {
        switch link.state {
        case .connected:
            link.leave(at: world.now())
            report(.leaving, reason: reason, .leaving)
        case .connecting:
            act(.abandon)
            finish()
        case .leaving, .over: break
        case .idle, .waiting: finish()
        }
    }

    /// Publishes the state of the machine. The will uses the same topic, because MQTT keeps the order of messages only
    /// within a topic.
    mutating func report(
        _ standing: DeviceState.Standing = .online,
        reason: String? = nil,
        _ purpose: Purpose = .state
    ) {
        var report = DeviceState.Report(
            boot: world.boot,
            wall: world.wall(),
            bootTime: world.bootTime(),
            refresh: options.refresh
        )
        report.acknowledged = forwarder.cursor?.published
        report.path = internet
        report.reason = reason
        if options.homeAssistant?.isEnabled ?? false { report.summary = summary ?? DeviceSummary(path: internet) }
        let state = DeviceState(session: session, standing: standing, report: report)
        publish(.state, state.bytes, purpose, isRetained: true)
        refreshAt = world.now() + options.refresh
    }

    private mutating func acknowledge(_ token: PublishToken, _ reason: ReasonCode) {
        guard let purpose = purposes.removeValue(forKey: token) else { return }
        if purpose == .leaving {
            act(.close)
        } else if reason.isRefusal {
            let topic =
                switch purpose {
                case .announcement: options.homeAssistant?.message(for: options.place).topic ?? ""
                case .answer: options.topic(.detail)
                case .state: options.topic(.state)
                case .event, .caughtUp, .leaving: options.topic(.event)
                }
            let advice = "check the broker's access control list"
            logOnce("\(options.broker) refuses messages to \(topic): \(reason); \(advice)")
            if purpose == .answer || purpose == .announcement { return }
            // The broker may accept the message later. Until then the log keeps it.
            act(.abandon)
            link.scheduleReconnect(at: world.now(), chance: world.chance())
            endConnection()
        } else {
            if !isAcknowledged {
                (isAcknowledged, logged) = (true, [])
                link.confirm()
            }
            if purpose == .event { forwarder.acknowledge(token) }
        }
    }

    /// Performs the attempt of ``link``.
    private mutating func connect() {
        session = String(UInt64(world.chance() * 0x1p53), radix: 36) + "-" + String(connection, radix: 36)
        purposes = [:]
        let options = options.connection(session: session, version: link.version)
        act(.connect(options, connection: connection))
    }

    private static let shortcoming =
        "--will-delay has no effect, and the last state is retained without a time limit"

    private mutating func connectionEnded(_ error: BrokerError?) {
        logOnce("\(error.map { "\($0)" } ?? "the connection was closed"); retrying")
        if link.connectionEnded(error?.cause, at: world.now(), chance: world.chance()) {
            let cause = BrokerError.Cause.nameConflict(options.place.device, option: "--device")
            act(.log("\(BrokerError(options.broker, cause))"))
        }
        endConnection()
    }

    private mutating func endConnection() {
        forwarder.end()
        (refreshAt, summaryAt) = (nil, nil)
        if !link.hasPath { logWaiting(lackReason) }
    }

    private mutating func finish() {
        link.end()
        act(.end)
    }
}
