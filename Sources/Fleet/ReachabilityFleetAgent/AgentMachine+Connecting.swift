import LinuxSupport
import MQTT
import ReachabilityFleet

extension AgentMachine {
    /// So long a connection may take to be made.
    private static let patience = Duration.seconds(20)
    /// So long the broker has to take the farewell.
    private static let farewell = Duration.seconds(3)
    /// The longest wait between attempts that come to nothing, besides the jitter.
    private static let longestWait = Duration.seconds(60)
    /// So often it looks at the certificate, and says that it is to be renewed.
    private static let lookPause = Duration.seconds(86_400)

    mutating func changePath(_ isSatisfied: Bool, _ reason: String?) {
        let had = hasPath
        hasPath = isSatisfied
        if !hasPath, link != .connected, reason != Self.resolving { sayWaiting(reason) }
        lackReason = reason
        switch link {
        case .idle where hasPath:
            // The first attempt of all is made at once; after an outage others come, too.
            if connection == 0 { connect() } else { link = .waiting(until: world.now() + jitter) }
        case .waiting where !hasPath: link = .idle
        case .waiting where hasPath && !had: link = .waiting(until: world.now() + jitter)
        default: break
        }
    }

    /// The path is decided as soon as the name service has answered.
    private static let resolving = "resolving"

    /// Logs once that no attempt is made until there is a path.
    private mutating func sayWaiting(_ reason: String?) {
        complain("there is no path to \(options.broker)\(reason.map { " (\($0))" } ?? ""); waiting for one")
    }

    mutating func changeInternet(_ word: String) {
        guard internet != word else { return }
        internet = word
        if link == .connected { report() }
    }

    mutating func passTime() {
        let now = world.now()
        if let lookAt, now >= lookAt {
            self.lookAt = now + Self.lookPause
            act(.lookAtCertificate)
        }
        switch link {
        case .waiting(let until) where now >= until: connect()
        case .connecting(let until) where now >= until:
            act(.abandon)
            lose(BrokerError(options.broker, .silent))
        case .connected:
            if let refreshAt, now >= refreshAt { report() }
        case .leaving(let until) where now >= until:
            act(.abandon)
            finish()
        default: break
        }
    }

    mutating func hear(_ event: BrokerEvent) {
        switch event {
        case .connected:
            guard case .connecting = link else { return }
            (link, isHeard) = (.connected, false)
            conflict.accept(at: world.now())
            complain("connected to \(options.broker), as \(options.place)")
            settleVersion()
            act(.subscribe([options.topic(.command)]))
            report()
            telling.begin()
        case .published(let token, let reason): acknowledge(token, reason)
        case .message(let message): obey(message)
        case .subscribed: break
        case .ended(let error):
            switch link {
            case .leaving: finish()
            case .connecting: if version.fallsBack(error) { connect() } else { lose(error) }
            case .connected: lose(error)
            // It was given up before.
            case .idle, .waiting, .over: break
            }
        }
    }

    mutating func leave(_ reason: String) {
        switch link {
        case .connected:
            link = .leaving(until: world.now() + Self.farewell)
            report(.leaving, reason: reason, .farewell)
        case .connecting:
            act(.abandon)
            finish()
        case .leaving, .over: break
        case .idle, .waiting: finish()
        }
    }

    /// Says how it is; the same topic has the will, for order is kept within a topic only.
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
        report.acknowledged = telling.cursor?.told
        report.path = internet
        report.reason = reason
        let state = DeviceState(session: session, standing: standing, report: report)
        publish(.state, state.bytes, purpose, isRetained: true)
        refreshAt = world.now() + options.refresh
    }

    private mutating func acknowledge(_ token: PublishToken, _ reason: ReasonCode) {
        guard let purpose = purposes.removeValue(forKey: token) else { return }
        if purpose == .farewell {
            act(.close)
        } else if reason.isRefusal {
            let topic = purpose == .answer ? "detail" : purpose == .state ? "state" : "event"
            complain(
                "\(options.broker) refuses what is published to \(options.topic(.init(rawValue: topic) ?? .state)): \(reason): "
                    + "see the broker's access control list"
            )
            guard purpose != .answer else { return }
            // What it does not take now it may take later; until then the log keeps it.
            act(.abandon)
            retreat()
        } else {
            if !isHeard { (isHeard, failures, complaints) = (true, 0, []) }
            if purpose == .event { telling.acknowledge(token) }
        }
    }

    private mutating func connect() {
        connection += 1
        session = String(UInt64(world.chance() * 0x1p53), radix: 36) + "-" + String(connection, radix: 36)
        link = .connecting(until: world.now() + Self.patience)
        purposes = [:]
        let options = options.connection(session: session, version: version.version)
        act(.connect(options, connection: connection))
    }

    private mutating func settleVersion() {
        guard version.settle() else { return }
        act(
            .say(
                "\(options.broker) speaks MQTT 3.1.1 and not 5: it says at once when the connection is lost, whatever --will-delay, "
                    + "and keeps the last state for ever"
            )
        )
    }

    private mutating func lose(_ error: BrokerError?) {
        complain("\(error.map { "\($0)" } ?? "the connection was closed"); tries again")
        if conflict.lose(error?.cause, at: world.now()) {
            let cause = BrokerError.Cause.nameConflict(options.place.device, option: "--device")
            act(.say("\(BrokerError(options.broker, cause))"))
        }
        retreat()
    }

    private mutating func retreat() {
        // Nothing of the old connection counts any more.
        telling.end()
        refreshAt = nil
        let wait = max(conflict.wait, failures == 0 ? .zero : min(Self.longestWait, .seconds(1 << min(6, failures))))
        failures += 1
        link = hasPath ? .waiting(until: world.now() + wait + jitter) : .idle
        if !hasPath { sayWaiting(lackReason) }
    }

    private mutating func finish() {
        link = .over
        act(.end)
    }

    private var jitter: Duration {
        options.jitter * world.chance()
    }
}
