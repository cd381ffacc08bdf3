package import Dispatch
import LinuxPrimitives
package import Netlink
package import NetworkReachability

/// Writes down everything a monitor learns from outside, in the order in which it does.
///
/// Everything a monitor decides happens on its queue, so what is recorded there is one line of events, which a `Player` can
/// walk again step by step.
package final class Recorder: Sendable {
    private struct State {
        var encoder: RecordingEncoder
        var room: Int
        var numbers: UInt64 = 0
        var hasEnded = false
    }

    private let state: Locked<State>
    private let redactor: Redactor?
    private let write: @Sendable ([UInt8]) -> Void
    private let reachedLimit: @Sendable () -> Void
    /// The monitor's queue, once it is known.
    let queue: Locked<DispatchQueue?> = Locked(nil)
    /// The record that says the end must fit too.
    private static let endSize = 32

    /// The least limit for such a recording: room for its head and its end.
    package static func leastLimit(_ header: RecordingHeader, redactor: Redactor?) -> Int {
        head(header, redactor).count + endSize
    }

    private static func head(_ header: RecordingHeader, _ redactor: Redactor?) -> [UInt8] {
        RecordingEncoder.head(redactor?.redacted(header) ?? header)
    }

    /// Writes the head of a recording.
    ///
    /// - Parameters:
    ///   - limit: how many bytes may be written at most, no fewer than ``leastLimit(_:redactor:)``.
    ///   - redactor: replaces what nobody else is to see; nil for nothing.
    ///   - write: takes the next bytes of the file, which are whole records; never called twice at the same time.
    ///   - reachedLimit: called once when there is no room for another record; the recording has ended then. Called with a
    ///     lock held: it must not come back.
    package init(
        _ header: RecordingHeader,
        limit: Int,
        redactor: Redactor? = nil,
        reachedLimit: @escaping @Sendable () -> Void,
        write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.redactor = redactor
        let head = Self.head(header, redactor)
        state = Locked(State(encoder: RecordingEncoder(header), room: limit - head.count - Self.endSize))
        self.write = write
        self.reachedLimit = reachedLimit
        write(head)
    }

    /// The same outside world, with everything it tells written down. Sockets must have been given the recorder as their tap.
    package func environment(_ live: MonitorEnvironment) -> MonitorEnvironment {
        var recorded = MonitorEnvironment(
            kernel: RecordingKernel(live.kernel, self),
            clock: RecordingClock(live.clock, self),
            resolver: RecordingResolver(live.resolver, self)
        )
        recorded.filtersRoutes = live.filtersRoutes
        return recorded
    }

    /// Runs `body`, which lets everybody begin to listen, as one turn of the monitor's queue.
    package func begin(on queue: DispatchQueue, _ body: () -> Void) {
        self.queue.withLock { $0 = queue }
        queue.sync {
            turn(.start)
            body()
        }
    }

    /// The time a line is to be printed with. Call it on the monitor's queue.
    package func moment() -> RecordedMoment {
        let now = RecordedMoment.now
        var encoder = ByteEncoder()
        encoder.add(now.real)
        note(RecordedQuestion(.moment), encoder.bytes, at: now.monotonic)
        return now
    }

    /// Ends the recording; nothing is written after that.
    package func finish() {
        state.withLock { end(.asked, &$0) }
    }

    /// The next number for something whose answer comes later.
    func makeNumber() -> UInt64 {
        state.withLock { state in
            state.numbers += 1
            return state.numbers
        }
    }

    func turn(_ cause: RecordedCause) {
        add(.turn(cause))
    }

    func note(_ question: RecordedQuestion, _ answer: [UInt8], at time: Duration? = nil) {
        add(.asked(question, answer: answer), at: time)
    }

    private func add(_ content: Record.Content, at time: Duration? = nil) {
        state.withLock { state in
            if state.hasEnded { return }
            let record = Record(content, at: time ?? SystemClock.monotonic)
            let frame = state.encoder.frame(redactor?.redacted(record) ?? record)
            if frame.count > state.room {
                end(.limit, &state)
                reachedLimit()
            } else {
                state.room -= frame.count
                write(frame)
            }
        }
    }

    private func end(_ reason: Record.End, _ state: inout State) {
        if state.hasEnded { return }
        state.hasEnded = true
        write(state.encoder.frame(Record(.end(reason), at: SystemClock.monotonic)))
    }
}

extension Recorder: NetlinkTap {
    package func received(_ message: [UInt8], from port: UInt32) {
        add(.message(message, port: port))
    }

    package func lost() {
        add(.lost)
    }

    package func asked(_ request: [UInt8], _ answer: Result<[UInt8], NetlinkError>) {
        note(RecordedQuestion(.netlink, NetlinkMessages.withoutSequence(request)), answer)
    }
}

extension Recorder {
    func note(_ question: RecordedQuestion, _ outcome: Result<[UInt8], NetlinkError>) {
        var encoder = ByteEncoder()
        encoder.add(outcome)
        note(question, encoder.bytes)
    }

    func note(_ question: RecordedQuestion, _ answer: Bool) {
        note(question, [answer ? 1 : 0])
    }
}
