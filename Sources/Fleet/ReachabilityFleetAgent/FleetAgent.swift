import Dispatch
package import LinuxSupport
package import MQTT
package import NetworkReachability
package import ReachabilityFleet

/// The agent of a machine. It performs the actions of an ``AgentMachine``. All inputs are queued and processed one
/// after another.
package final class FleetAgent: Sendable {
    private let options: AgentOptions
    private let broker: any MessageBroker
    private let source: any EventSource
    private let file: CursorFile?
    private let advice: @Sendable () -> String?
    private let log: @Sendable (String) -> Void
    private let inputs: AsyncStream<AgentMachine.Input>
    private let line: AsyncStream<AgentMachine.Input>.Continuation

    /// Creates an agent. ``run()`` starts it.
    ///
    /// - Parameters:
    ///   - file: The file for the cursor. If nil, the cursor is not saved, and each start sends all events that the
    ///     service has.
    ///   - advice: Called once per day if there is a certificate. Returns a message if the certificate has to be
    ///     renewed. It may block.
    ///   - log: Called with each line of the log.
    package init(
        _ options: AgentOptions,
        broker: any MessageBroker,
        source: any EventSource,
        file: CursorFile?,
        advice: @escaping @Sendable () -> String? = { nil },
        log: @escaping @Sendable (String) -> Void
    ) {
        (self.options, self.broker, self.source, self.file) = (options, broker, source, file)
        (self.advice, self.log) = (advice, log)
        (inputs, line) = AsyncStream.makeStream()
    }

    /// Publishes that the agent ends, with the reason. ``run()`` then returns.
    package func leave(_ reason: String) {
        line.yield(.leave(reason))
    }

    /// Runs until ``leave(_:)`` is called.
    ///
    /// - Throws: An error if the broker's name or address cannot be monitored.
    package func run() async throws(NetworkReachabilityError) {
        let path = try NetworkReachabilityManager(host: options.broker.host, options: .init())
        let internet = try NetworkReachabilityManager(options: .init())
        let queue = DispatchQueue(label: "reachability.agent")
        let listeners = [
            path.addPathListener(onQueue: queue) { [line] path in
                line.yield(.path(isSatisfied: path.status.isReachable, reason: path.reason?.rawValue))
            },
            internet.addListener(onQueue: queue) { [line] status in line.yield(.internet(status.word)) },
        ]
        defer { for listener in listeners { listener.cancel() } }
        await follow(queue)
    }

    private func follow(_ queue: DispatchQueue) async {
        var machine = AgentMachine(options, cursor: file?.read(), .system)
        var connection: (any BrokerConnection)?
        var timer: Cancellation?
        var unsaved = false
        for await input in inputs {
            for action in machine.take(input) {
                switch action {
                case .connect(let options, let number):
                    connection = broker.connect(options) { [line] in line.yield(.broker($0, connection: number)) }
                case .publish(let message, let purpose):
                    if let token = connection?.publish(message) { machine.sent(token, purpose) }
                case .subscribe(let filters): connection?.subscribe(filters)
                case .close: connection?.close()
                case .abandon: connection?.abandon()
                case .read(let position, let waiting, let read):
                    perform { [source, line] in
                        let page = Result { () throws(EventLogError) in
                            try source.events(after: position, waiting: waiting)
                        }
                        line.yield(.page(page, read: read))
                    } failed: { [line] in
                        line.yield(.page(.failure(.unavailable($0)), read: read))
                    }
                case .readHistory(let since, let read):
                    perform { [source, line] in
                        let outages = Result { () throws(EventLogError) in try source.outages(since: since) }
                        line.yield(.history(outages, read: read))
                    } failed: { [line] in
                        line.yield(.history(.failure(.unavailable($0)), read: read))
                    }
                case .answer(let command):
                    perform { [source, line] in
                        line.yield(.answered(source.answer(command)))
                    }
                case .readSummary:
                    perform { [source, line] in
                        // The reads of the log report an unavailable service.
                        line.yield(.summary(try? source.summary()))
                    } failed: { [line] _ in
                        line.yield(.summary(nil))
                    }
                case .save(let cursor): save(cursor, &unsaved)
                case .checkCertificate:
                    perform { [advice, log] in
                        if let text = advice() { log(text) }
                    }
                case .log(let text): log(text)
                case .end: return
                }
            }
            timer = machine.deadline.map { deadline in
                DispatchTimer.schedule(after: max(.zero, deadline - SystemClock.monotonic), on: queue) { [line] in
                    line.yield(.time)
                }
            }
        }
        withExtendedLifetime(timer) {}
    }

    /// Runs a blocking function on its own thread.
    ///
    /// - Parameter failed: Called with the error if no thread can be started. If nil, the error is logged.
    private func perform(_ body: @escaping @Sendable () -> Void, failed: ((String) -> Void)? = nil) {
        do { try Thread.detach(body) } catch {
            (failed ?? log)("cannot start a thread to query the service: \(error)")
        }
    }

    private func save(_ cursor: AgentCursor, _ unsaved: inout Bool) {
        guard let file else { return }
        do {
            try file.write(cursor)
            unsaved = false
        } catch {
            if !unsaved {
                log("cannot write \(file.path.printable): \(error); after a restart some events are sent again")
            }
            unsaved = true
        }
    }
}

extension NetworkReachabilityStatus {
    /// The value in the state message of a machine.
    fileprivate var word: String {
        switch self {
        case .unknown: "unknown"
        case .notReachable: "notReachable"
        case .reachable: "reachable"
        }
    }
}

extension AgentMachine.Dependencies {
    /// The clocks and the boot id of this machine.
    static var system: Self {
        Self(
            boot: (TextFile.read("/proc/sys/kernel/random/boot_id") ?? "").filter { !$0.isWhitespace },
            now: { SystemClock.monotonic },
            bootTime: { SystemClock.boot },
            wall: { SystemClock.real },
            chance: { Double.random(in: 0...1) }
        )
    }
}

/// The settings of an agent.
package struct AgentOptions: Sendable {
    /// A command that the machine refuses by default, because it costs the machine resources.
    package enum Permission: String, Sendable, CaseIterable {
        case check, report
    }

    package var broker: BrokerAddress
    package var tls: BrokerOptions.TLS
    package var login: BrokerOptions.Login?
    package var place: DeviceID
    /// The maximum random delay before a reconnection. It spreads the reconnections of machines behind one router or at
    /// one broker.
    package var jitter = Duration.seconds(5)
    /// The maximum interval between two state messages.
    package var refresh = Duration.seconds(900)
    /// The time that the broker waits for a reconnection before it publishes the will.
    package var willDelay = Duration.seconds(30)
    package var keepAlive = Duration.seconds(60)
    package var permissions: Set<Permission> = []
    /// The announcement to Home Assistant; nil to publish no announcement.
    package var homeAssistant: HomeAssistant?

    package init(broker: BrokerAddress, tls: BrokerOptions.TLS = .init(), place: DeviceID) {
        (self.broker, self.tls, self.place) = (broker, tls, place)
    }
}

extension AgentOptions {
    /// The expiry of a retained state. After this many missed refreshes the state is no longer reliable.
    var expiry: Duration { refresh * DevicePresence.missedReports }

    func topic(_ kind: FleetTopic.Kind) -> String { FleetTopic.device(place, kind).description }

    /// Returns the options of a connection.
    func connection(session: String, version: ProtocolVersion = .five) -> BrokerOptions {
        var options = BrokerOptions(address: broker, client: place.device)
        (options.tls, options.login) = (tls, login)
        options.version = version
        options.keepAlive = keepAlive
        // The session must outlive the delay of the will. It also keeps commands that arrive in the meantime.
        options.sessionExpiry = max(.seconds(3600), willDelay * 2)
        let will = BrokerMessage(
            topic: topic(.state),
            payload: DeviceState.will(session: session).bytes,
            isRetained: true,
            expiry: expiry
        )
        options.will = BrokerWill(will, delay: willDelay)
        return options
    }
}

/// The log of the service on this machine. All methods block.
package protocol EventSource: Sendable {
    /// Returns the events after a position.
    ///
    /// - Parameters:
    ///   - position: The position in the log; nil for all events that are kept.
    ///   - waiting: Whether to wait up to 30 s for the first event if the log has no further event.
    func events(after position: EventPosition?, waiting: Bool) throws(EventLogError) -> EventPage

    /// Returns the outages that ended at or after a time, or still last, the oldest first. The time is by the wall
    /// clock, since 1970.
    func outages(since wall: Duration) throws(EventLogError) -> [DeviceOutage]

    /// Returns the summary of the target `internet`; nil if the service has no such target.
    func summary() throws(EventLogError) -> DeviceSummary?

    /// Performs a command.
    func answer(_ command: DeviceCommand) -> DeviceAnswer
}

/// An error while reading the log of the service.
package enum EventLogError: Error, Hashable, Sendable {
    /// Events after that position are no longer kept.
    case gone
    /// The service does not answer, or returns an error. The text contains the reason and a hint.
    case unavailable(String)
}
