package import Dispatch
import LinuxSupport
package import Netlink
package import NetworkReachability

/// Records the inputs of a monitor in the order in which they occur.
///
/// A monitor decides everything on its queue, so the records are one sequence of turns of that queue, which a `Player`
/// repeats. While a monitor is recorded, its clock does not advance between two records of its queue. A replay
/// therefore needs no record of each reading of the clock.
package final class Recorder: Sendable {
    private struct State {
        var encoder: RecordingEncoder
        var room: Int
        var clock: RecordedMoment
        var numbers: UInt64 = 0
        var hasEnded = false
    }

    private let state: Locked<State>
    private let redactor: Redactor?
    private let clock: @Sendable () -> RecordedMoment
    private let write: @Sendable ([UInt8]) -> Void
    private let reachedLimit: @Sendable () -> Void
    /// The queue of the monitor; nil before it begins.
    fileprivate let queue: Locked<DispatchQueue?> = Locked(nil)
    /// The space that is reserved for the record of the end.
    private static let endSize = 256

    /// Returns the smallest limit for a recording in bytes, which is the size of its head and its end.
    package static func leastLimit(_ header: RecordingHeader, redactor: Redactor?) -> Int {
        head(header, redactor).count + endSize
    }

    private static func head(_ header: RecordingHeader, _ redactor: Redactor?) -> [UInt8] {
        RecordingEncoder.head(redactor?.redacted(header) ?? header)
    }

    /// Writes the head of a recording.
    ///
    /// - Parameters:
    ///   - limit: The maximum size in bytes, at least ``leastLimit(_:redactor:)``.
    ///   - redactor: Replaces private data; nil to record everything.
    ///   - clock: Reads the clocks.
    ///   - reachedLimit: Called once if there is no space for another record. The recording has then ended. The
    ///     function is called with a lock held, so it must not call the recorder.
    ///   - write: Receives the next bytes of the file, which are complete records. Never called concurrently.
    package init(
        _ header: RecordingHeader,
        limit: Int,
        redactor: Redactor? = nil,
        clock: @escaping @Sendable () -> RecordedMoment = { .now },
        reachedLimit: @escaping @Sendable () -> Void,
        write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        (self.redactor, self.clock, self.write, self.reachedLimit) = (redactor, clock, write, reachedLimit)
        let head = Self.head(header, redactor)
        let room = limit - head.count - Self.endSize
        state = Locked(State(encoder: RecordingEncoder(header), room: room, clock: header.start))
        write(head)
    }

    /// Returns an environment whose inputs are recorded. Its sockets must have the recorder as their tap.
    package func environment(_ live: MonitorEnvironment) -> MonitorEnvironment {
        let recorded = RecordedEnvironment(live: live, recorder: self)
        var environment = MonitorEnvironment(kernel: recorded, clock: recorded, resolver: recorded)
        environment.filtersRoutes = live.filtersRoutes
        return environment
    }

    /// Runs `body`, which adds the listeners, as one turn of the monitor's queue.
    package func begin(on queue: DispatchQueue, _ body: () -> Void) {
        self.queue.withLock { $0 = queue }
        queue.sync {
            add(.start)
            body()
        }
    }

    /// Returns the time of the last record of the queue. Printed lines have this time, so that a replay prints the same
    /// lines.
    package func moment() -> RecordedMoment { state.withLock { $0.clock } }

    /// Ends the recording.
    package func finish() {
        state.withLock { end("on demand", &$0) }
    }

    /// Returns a new number for an action that is completed later.
    fileprivate func makeNumber() -> UInt64 {
        state.withLock { state in
            state.numbers += 1
            return state.numbers
        }
    }

    fileprivate func add(_ kind: Note.Kind, _ subject: String = "", _ value: String = "") {
        add([.note(Note(kind, subject, value))], isTurn: kind.isTurn)
    }

    private func add(_ contents: [Record.Content], isTurn: Bool = false, isOnQueue: Bool = true) {
        state.withLock { state in
            let now = clock()
            var records = contents.map { Record($0, at: now.monotonic) }
            let expected = state.clock.moved(to: now.monotonic)
            if isTurn, now.isStep(from: expected) {
                records.insert(now.record, at: 0)
                state.clock = now
            } else if isOnQueue {
                state.clock = expected
            }
            if state.hasEnded { return }
            let bytes = records.reduce(into: [UInt8]()) { $0 += state.encoder.bytes(of: redactor?.redacted($1) ?? $1) }
            if bytes.count > state.room {
                end(Note.limit, &state)
                reachedLimit()
            } else {
                state.room -= bytes.count
                write(bytes)
            }
        }
    }

    private func end(_ reason: String, _ state: inout State) {
        if state.hasEnded { return }
        state.hasEnded = true
        write(state.encoder.bytes(of: Record(.end, "", reason, at: clock().monotonic)))
    }
}

extension RecordedMoment {
    /// Returns whether a clock was set or the machine slept. An adjustment of a clock's frequency adds up to a
    /// millisecond in two seconds or more.
    fileprivate func isStep(from expected: RecordedMoment) -> Bool {
        [real - expected.real, boot - expected.boot].contains {
            !(Duration.milliseconds(-1)...(.milliseconds(1))).contains($0)
        }
    }
}

extension Recorder: NetlinkTap {
    /// Records a message. Messages of other processes lead to no decision and are omitted.
    package func received(_ message: [UInt8], from port: UInt32) {
        if port == 0 { add([.messages(.event, message)], isOnQueue: false) }
    }

    package func lost() {
        add([.note(Note(.loss))], isOnQueue: false)
    }

    package func asked(_ request: [UInt8], _ answer: Result<[UInt8], NetlinkError>) {
        let reply: [Record.Content]
        switch answer {
        case .success(let messages): reply = Record.packets(of: messages).map { .messages(.reply, $0) }
        case .failure(let error): reply = [.note(Note(.failure, "", error.recorded))]
        }
        add([.messages(.request, request)] + reply)
    }
}

/// The kernel, the clock and the name service of a recorded monitor.
private struct RecordedEnvironment {
    let live: MonitorEnvironment
    let recorder: Recorder
}

extension RecordedEnvironment: Kernel {
    func connect() throws(NetlinkError) -> any KernelConnection {
        RecordedConnection(try recorder.noting(.connect, live.kernel.connect), recorder)
    }

    /// Returns the default routes. They are not recorded, because no notification depends on them.
    func defaultRoutes() throws(NetlinkError) -> [DefaultRoute] { try live.kernel.defaultRoutes() }

    func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        recorder.noting(.namespaceChanged, changed) { live.kernel.watchNamespace(on: queue, $0) }
    }
}

extension RecordedEnvironment: MonitorClock {
    var monotonic: Duration { recorder.moment().monotonic }
    var boot: Duration { recorder.moment().boot }

    func schedule(
        after delay: Duration,
        on queue: DispatchQueue,
        _ action: @escaping @Sendable () -> Void
    ) -> Cancellation {
        live.clock.schedule(after: delay, on: queue, planned(after: delay, action))
    }

    func enqueue(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) {
        live.clock.enqueue(on: queue, planned(after: .zero, action))
    }

    private func planned(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let number = recorder.makeNumber()
        recorder.add(.plan, "", "\(number) \(delay.nanoseconds)")
        return { [recorder] in
            recorder.add(.timer, "", "\(number)")
            action()
        }
    }

    func watchForSleep(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation? {
        recorder.noting(.wake, action) { live.clock.watchForSleep(on: queue, $0) }
    }
}

extension RecordedEnvironment: HostResolver {
    func localAddresses(of name: String) -> [NameLookup.Address] {
        let addresses = live.resolver.localAddresses(of: name)
        recorder.add(.hosts, name, addresses.recorded)
        return addresses
    }

    /// Resolves a name. The answer arrives on the monitor's queue, so that it has a position in the sequence.
    func resolve(
        _ name: String,
        _ completion: @escaping @Sendable (Result<[NameLookup.Address], NameLookup.Failure>) -> Void
    ) {
        let number = recorder.makeNumber()
        recorder.add(.lookup, name, "\(number)")
        live.resolver.resolve(name) { [recorder] result in
            let finish: @Sendable () -> Void = {
                recorder.add(.resolved, "\(number)", result.recorded)
                completion(result)
            }
            if let queue = recorder.queue.withLock({ $0 }) { queue.async(execute: finish) } else { finish() }
        }
    }

    func watchConfiguration(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        recorder.noting(.namesChanged, changed) { live.resolver.watchConfiguration(on: queue, $0) }
    }
}

/// A connection to the kernel. Its sockets record netlink queries; the connection records everything else.
private final class RecordedConnection: KernelConnection {
    private let connection: any KernelConnection
    private let recorder: Recorder

    init(_ connection: any KernelConnection, _ recorder: Recorder) {
        (self.connection, self.recorder) = (connection, recorder)
    }

    var isCurrent: Bool {
        let isCurrent = connection.isCurrent
        recorder.add(.current, "", "\(isCurrent)")
        return isCurrent
    }

    /// Not recorded, because no answer depends on it.
    var hasEvents: Bool { connection.hasEvents }
    var isDelivering: Bool { connection.isDelivering }

    func query(_ queries: [KernelQuery]) throws(NetlinkError) -> [KernelResponse] {
        let answers = try connection.query(queries)
        for answered in zip(queries, answers) {
            switch answered {
            case (.hardware(let link), .hardware(let hardware)):
                recorder.add(.hardware, link.recorded, hardware.recorded)
            case (.peers(let link), .peers(let peers)):
                recorder.add(.peers, "\(link)", peers?.recorded ?? TunnelFarEnd.unknown)
            default: break
            }
        }
        return answers
    }

    func listen(
        on queue: DispatchQueue,
        _ received: @escaping @Sendable (EventBurst) -> Void
    ) throws(NetlinkError) -> [String] {
        try recorder.noting(.listen) { () throws(NetlinkError) in
            try connection.listen(on: queue) { [recorder] burst in
                recorder.add(.events)
                received(burst)
            }
        }
    }

    func setFilter(_ filter: RouteFilter?) throws(NetlinkError) {
        try recorder.noting(.filter) { () throws(NetlinkError) in try connection.setFilter(filter) }
    }

    func stopListening() {
        connection.stopListening()
    }
}

extension Recorder {
    /// Records whether an attempt succeeds.
    fileprivate func noting<Value>(
        _ kind: Note.Kind,
        _ attempt: () throws(NetlinkError) -> Value
    ) throws(NetlinkError) -> Value {
        do throws(NetlinkError) {
            let value = try attempt()
            add(kind)
            return value
        } catch {
            add(kind, "", error.recorded)
            throw error
        }
    }

    /// Records each change as a turn, and whether changes can be watched.
    fileprivate func noting(
        _ kind: Note.Kind,
        _ changed: @escaping @Sendable () -> Void,
        _ watch: (@escaping @Sendable () -> Void) -> Cancellation?
    ) -> Cancellation? {
        let cancellation = watch { [self] in
            add(kind)
            changed()
        }
        add(.watch, kind.rawValue, "\(cancellation != nil)")
        return cancellation
    }
}
