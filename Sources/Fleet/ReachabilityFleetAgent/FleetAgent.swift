import Dispatch
import LinuxSupport
package import MQTT
package import NetworkReachability
import ReachabilityFleet

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
