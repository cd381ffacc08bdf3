import Dispatch
package import LinuxSupport
package import MQTT
package import NetworkReachability
package import ReachabilityFleet

/// Performs what an ``AgentMachine`` decides. Whatever happens goes through one line, in which it is taken one after the other.
package final class FleetAgent: Sendable {
    private let options: AgentOptions
    private let broker: any MessageBroker
    private let log: any EventSource
    private let file: CursorFile?
    private let advice: @Sendable () -> String?
    private let say: @Sendable (String) -> Void
    private let inputs: AsyncStream<AgentMachine.Input>
    private let line: AsyncStream<AgentMachine.Input>.Continuation

    /// - Parameters:
    ///   - file: Where the cursor is kept; nil where it is not, and each start tells all that the service keeps.
    ///   - advice: Called once a day where there is a certificate: what to say of its life, if anything is to be done. It may block.
    ///   - say: Called with each line for whoever runs the agent.
    package init(
        _ options: AgentOptions,
        broker: any MessageBroker,
        log: any EventSource,
        file: CursorFile?,
        advice: @escaping @Sendable () -> String? = { nil },
        say: @escaping @Sendable (String) -> Void
    ) {
        (self.options, self.broker, self.log, self.file) = (options, broker, log, file)
        (self.advice, self.say) = (advice, say)
        (inputs, line) = AsyncStream.makeStream()
    }

    /// Says to the broker that it goes, and why; then ``run()`` returns.
    package func leave(_ reason: String) {
        line.yield(.leave(reason))
    }

    /// Runs until it is told to leave.
    ///
    /// - Throws: Where the broker's name or address is none that can be watched.
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
                    perform { [log, line] in
                        let page = Result { () throws(EventLogError) in
                            try log.events(after: position, waiting: waiting)
                        }
                        line.yield(.page(page, read: read))
                    } failed: { [line] in
                        line.yield(.page(.failure(.unavailable($0)), read: read))
                    }
                case .readHistory(let since, let read):
                    perform { [log, line] in
                        let outages = Result { () throws(EventLogError) in try log.outages(since: since) }
                        line.yield(.history(outages, read: read))
                    } failed: { [line] in
                        line.yield(.history(.failure(.unavailable($0)), read: read))
                    }
                case .answer(let command):
                    perform { [log, line] in
                        line.yield(.answered(log.answer(command)))
                    } failed: { [say] in
                        say($0)
                    }
                case .save(let cursor): save(cursor, &unsaved)
                case .lookAtCertificate:
                    perform { [advice, say] in
                        if let text = advice() { say(text) }
                    } failed: { [say] in
                        say($0)
                    }
                case .say(let text): say(text)
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

    /// Does what blocks on a thread of its own.
    ///
    /// - Parameter failed: Called where no thread can be had, with why.
    private func perform(_ body: @escaping @Sendable () -> Void, failed: (String) -> Void) {
        do { try Thread.detach(body) } catch { failed("no thread can be had to ask the service: \(error)") }
    }

    private func save(_ cursor: AgentCursor, _ unsaved: inout Bool) {
        guard let file else { return }
        do {
            try file.write(cursor)
            unsaved = false
        } catch {
            if !unsaved {
                say("cannot write \(file.path.printable): \(error): after a restart some events are told again")
            }
            unsaved = true
        }
    }
}

extension NetworkReachabilityStatus {
    /// As the state of a machine has it.
    fileprivate var word: String {
        switch self {
        case .unknown: "unknown"
        case .notReachable: "notReachable"
        case .reachable: "reachable"
        }
    }
}

extension AgentMachine.Surroundings {
    /// Those of this machine.
    package static var system: Self {
        Self(
            boot: (TextFile.read("/proc/sys/kernel/random/boot_id") ?? "").filter { !$0.isWhitespace },
            now: { SystemClock.monotonic },
            bootTime: { SystemClock.boot },
            wall: { SystemClock.real },
            chance: { Double.random(in: 0...1) }
        )
    }
}

/// What an agent is told.
package struct AgentOptions: Sendable {
    /// A command that is off unless the owner of the machine allows it, for it costs the machine something.
    package enum Permission: String, Sendable, CaseIterable {
        case check, report
    }

    package var broker: BrokerAddress
    package var tls: BrokerOptions.TLS
    package var place: FleetPlace
    /// The longest wait before it connects again, of which a random part is waited: so many machines behind one router, or at one
    /// broker, do not come at once.
    package var jitter = Duration.seconds(5)
    /// So often it says how it is, at least.
    package var refresh = Duration.seconds(900)
    /// So long the broker waits for it before it says that it is gone.
    package var willDelay = Duration.seconds(30)
    package var keepAlive = Duration.seconds(60)
    package var permissions: Set<Permission> = []

    package init(broker: BrokerAddress, tls: BrokerOptions.TLS = .init(), place: FleetPlace) {
        (self.broker, self.tls, self.place) = (broker, tls, place)
    }
}

extension AgentOptions {
    /// After a refresh that was missed so many times nobody believes the last one.
    var expiry: Duration { refresh * DevicePresence.missedReports }

    func topic(_ kind: FleetTopic.Kind) -> String { FleetTopic.device(place, kind).description }

    /// What a connection is made with.
    func connection(session: String, version: ProtocolVersion = .five) -> BrokerOptions {
        var options = BrokerOptions(address: broker, client: place.device)
        options.tls = tls
        options.version = version
        options.keepAlive = keepAlive
        // The session has to outlive the delay of the will, and keeps what the agent is asked for meanwhile.
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

/// The log of the service on this machine, as the agent reads it. Everything blocks.
package protocol EventSource: Sendable {
    /// The events after a place.
    ///
    /// - Parameters:
    ///   - position: Nil for all that are kept.
    ///   - waiting: Whether to wait half a minute for the first of them, where there is none.
    func events(after position: EventPosition?, waiting: Bool) throws(EventLogError) -> EventPage

    /// The outages that lasted at or after a moment, the oldest first.
    func outages(since wall: Duration) throws(EventLogError) -> [DeviceOutage]

    /// Does what somebody has asked for.
    func answer(_ command: DeviceCommand) -> DeviceAnswer
}

package enum EventLogError: Error, Hashable, Sendable {
    /// What came after that place is not kept.
    case gone
    /// The service does not answer, or says something else; the text says what, and what to do.
    case unavailable(String)
}
