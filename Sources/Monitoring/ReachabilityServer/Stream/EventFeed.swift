package import Dispatch
package import LinuxSupport
import NIOCore
import NIOHTTP1

/// Sends every event to all who listen, each encoded once, and keeps the latest for those who come again. Thread-safe.
///
/// A client that says where it was gets what came since, or is told of the gap with a snapshot. Neither way an event is missed or told
/// twice: the snapshot carries the number of the last event that is in it.
package final class EventFeed: Sendable {
    /// Calls an action after a time, on a queue.
    package typealias Scheduler =
        @Sendable (Duration, DispatchQueue, @escaping @Sendable () -> Void) -> Cancellation

    /// How everything is at a moment, and the number of the last event that is in it.
    package struct Snapshot {
        let number: UInt64
        let describe: () -> JSONObject

        package init(_ number: UInt64, describe: @escaping () -> JSONObject) {
            (self.number, self.describe) = (number, describe)
        }
    }

    private struct Listener {
        let stream: WebStream
        /// The latest event it knows.
        var last: UInt64
    }

    private struct Waiter {
        /// The latest event it knows.
        let last: UInt64
        let action: OneShot
    }

    private struct State {
        var ring: EventRing
        var listeners: [ObjectIdentifier: Listener] = [:]
        var heartbeat: Cancellation?
        var subscription: Cancellation?
        /// Those who wait for the next event, by their number.
        var waiters: [UInt64: Waiter] = [:]
        var lastWaiter: UInt64 = 0
    }

    /// How long nothing is sent to those who listen.
    static let heartbeatInterval: Duration = .seconds(15)

    /// Another for each run, for numbers begin anew.
    package let epoch: String
    private let newest: @Sendable () -> UInt64
    private let schedule: Scheduler
    private let state: Locked<State>
    private let queue = DispatchQueue(label: "ReachabilityServer.heartbeat")

    /// - Parameters:
    ///   - ring: Nothing is in it that was before, so whoever knows less than its number is given a snapshot.
    ///   - newest: The number of the latest event there is, which may not have been sent yet.
    package init(
        epoch: String,
        ring: EventRing,
        newest: @escaping @Sendable () -> UInt64,
        schedule: @escaping Scheduler
    ) {
        (self.epoch, self.newest, self.schedule) = (epoch, newest, schedule)
        state = Locked(State(ring: ring))
    }

    /// Keeps where its events come from, as long as it lives.
    func keep(_ subscription: Cancellation) { state.withLock { $0.subscription = subscription } }

    /// How many listen now.
    package var count: Int { state.withLock { $0.listeners.count } }

    /// The events that are kept, the oldest first.
    var kept: ArraySlice<EventRing.Entry> { state.withLock(\.ring.all) }

    /// What came after an event; nil where that is not kept, or there was no such event.
    func entries(after position: StreamPosition) -> ArraySlice<EventRing.Entry>? {
        let now = newest()
        return state.withLock { state in
            guard position.epoch == epoch, position.number <= max(now, state.ring.last) else { return nil }
            return state.ring.after(position.number)
        }
    }

    // MARK: Listeners

    /// Begins to send to a client.
    ///
    /// - Parameters:
    ///   - position: Where it was; nil for one that comes for the first time.
    ///   - snapshot: Takes a snapshot.
    package func join(_ stream: WebStream, after position: StreamPosition?, snapshot: () -> Snapshot) {
        stream.send(StreamText.opening, isCounted: false)
        // Again only where the ring has lost, since the snapshot was taken, what came after it.
        while !hasJoined(stream, position, snapshot()) {}
        stream.whenEnded { [weak self] in self?.leave(stream) }
        keepAlive()
    }

    private func hasJoined(_ stream: WebStream, _ position: StreamPosition?, _ snapshot: Snapshot) -> Bool {
        let now = snapshot.number
        return state.withLock { state in
            if let position, position.epoch == epoch, position.number <= max(now, state.ring.last),
                let missed = state.ring.after(position.number)
            {
                for entry in missed { stream.send(entry.bytes, isCounted: false) }
                let last = max(position.number, state.ring.last)
                state.listeners[ObjectIdentifier(stream)] = Listener(stream: stream, last: last)
                return true
            }
            guard let missed = state.ring.after(now) else { return false }
            let here = StreamPosition(epoch: epoch, number: now)
            if let position { stream.send(StreamText.event("gap", here, gap(since: position)), isCounted: false) }
            stream.send(StreamText.event("snapshot", here, snapshot.describe()), isCounted: false)
            for entry in missed { stream.send(entry.bytes, isCounted: false) }
            state.listeners[ObjectIdentifier(stream)] = Listener(stream: stream, last: max(now, state.ring.last))
            return true
        }
    }

    private func gap(since position: StreamPosition) -> JSONObject {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("after", position.description)
        object.add("detail", "what came after this event is not kept; a snapshot follows")
        object.add("kind", "gap")
        return object
    }

    private func leave(_ stream: WebStream) {
        let heartbeat = state.withLock { state -> Cancellation? in
            state.listeners[ObjectIdentifier(stream)] = nil
            return state.listeners.isEmpty ? state.heartbeat.take() : nil
        }
        heartbeat?.cancel()
    }

    // MARK: Waiting

    /// How many wait for the next event.
    var waiterCount: Int { state.withLock(\.waiters.count) }

    /// Calls an action once, on any thread, when an event has come after another, or a time is up.
    ///
    /// - Parameter position: Nil waits for the first that is kept.
    /// - Returns: Ends the wait; the action is not called any more.
    func wait(
        after position: StreamPosition?,
        for time: Duration,
        _ action: @escaping @Sendable () -> Void
    ) -> Cancellation {
        let action = OneShot(action)
        let number = state.withLock { state -> UInt64? in
            let last = position?.number ?? (state.ring.all.isEmpty ? state.ring.last : 0)
            guard last >= state.ring.last else { return nil }
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = Waiter(last: last, action: action)
            return state.lastWaiter
        }
        guard let number else {
            action.run()
            return Cancellation {}
        }
        let timer = schedule(time, queue) { action.run() }
        return Cancellation { [weak self] in
            action.cancel()
            timer.cancel()
            self?.state.withLock { _ = $0.waiters.removeValue(forKey: number) }
        }
    }

    // MARK: Sending

    /// Sends events, in the order of their numbers.
    ///
    /// - Parameter targets: The number of targets, any of which may have events.
    package func send(_ entries: [EventRing.Entry], ofTargets targets: Int = 0) {
        guard let first = entries.first, let last = entries.last else { return }
        let whole = Self.joined(entries)
        let waiters = state.withLock { state in
            state.ring.makeRoom(forTargets: targets)
            for entry in entries where entry.number > state.ring.last { state.ring.append(entry) }
            for (key, listener) in state.listeners where listener.last < last.number {
                let isWhole = listener.last < first.number
                listener.stream.send(isWhole ? whole : Self.joined(entries.filter { $0.number > listener.last }))
                state.listeners[key]?.last = last.number
            }
            return state.waiters.values.filter { $0.last < last.number }
        }
        for waiter in waiters { waiter.action.run() }
    }

    private static func joined(_ entries: [EventRing.Entry]) -> ByteBuffer {
        var whole = ByteBuffer()
        for entry in entries { whole.writeImmutableBuffer(entry.bytes) }
        return whole
    }

    // MARK: Heartbeat

    /// Only while somebody listens, so that an idle service sleeps.
    private func keepAlive() {
        state.withLock { state in
            guard state.heartbeat == nil, !state.listeners.isEmpty else { return }
            state.heartbeat = schedule(Self.heartbeatInterval, queue) { [weak self] in self?.beat() }
        }
    }

    private func beat() {
        state.withLock { state in
            state.heartbeat = nil
            for listener in state.listeners.values { listener.stream.send(StreamText.heartbeat) }
        }
        keepAlive()
    }
}

extension EventFeed {
    /// Every event from now on, or from where the client was.
    ///
    /// - Throws: ``Problem`` for a parameter that nobody asked about.
    package func answer(
        _ query: Query,
        _ request: WebRequest,
        snapshot: @escaping @Sendable () -> Snapshot
    ) throws(Problem) -> WebAnswer {
        let text = request.headers.first(name: "Last-Event-ID") ?? query.text("after")
        try query.checkNames()
        // A place that is none lies before a gap.
        let position = text.map { StreamPosition($0) ?? StreamPosition(epoch: "", number: 0) }
        var answer = WebAnswer(type: "text/event-stream").unstored
        // nginx keeps an answer back until it is whole, unless it is told not to.
        answer.headers.append(("X-Accel-Buffering", "no"))
        answer.stream = { [self] stream in join(stream, after: position, snapshot: snapshot) }
        return answer
    }

    /// The events that are kept, the oldest first: the same as in the stream, by the same ids. Who asks again with the id of the last one
    /// gets what came since; who says how long to `wait`, and would get nothing, gets what comes first, or nothing when the time is up.
    ///
    /// - Throws: ``Problem`` where what came after an event is not kept any more, or was of another run of the service.
    package func events(_ query: Query, _ request: WebRequest) throws(Problem) -> WebAnswer {
        // What is mistyped is told before what is gone.
        let time = try query.wait
        let page = try events(query)
        var answer = try WebAnswer.list(page, query, request)
        guard let time, page.items.isEmpty else { return answer }
        let position = query.after.flatMap { StreamPosition($0) }
        answer.wait = WebWait { [self] done in
            self.wait(after: position, for: time, done)
        } answer: { [self] in
            let query = Query(request)
            do throws(Problem) {
                _ = try query.wait
                let page = try events(query)
                return try .list(page, query, request)
            } catch {
                return error.answer(as: Representation(of: request))
            }
        }
        return answer
    }

    private func events(_ query: Query) throws(Problem) -> Page {
        let limit = try query.limit
        guard let text = query.after else { return page(kept, limit) }
        guard let position = StreamPosition(text) else {
            throw Problem(.badRequest, "after is the id of an event, such as dn2wpjeg7dyu.5, not \"\(text.printable)\"")
        }
        guard let entries = self.entries(after: position) else {
            throw Problem(
                .gone,
                "what came after \(text.printable) is not kept: ask without after, and for /v1/status"
            )
        }
        return page(entries, limit)
    }

    private func page(_ entries: ArraySlice<EventRing.Entry>, _ limit: Int) -> Page {
        let items = entries.prefix(limit).map { entry in
            let id = StreamPosition(epoch: epoch, number: entry.number).description
            return Item(key: id, object: entry.object, text: entry.line)
        }
        return Page(items, next: entries.count > limit ? items.last?.key : nil)
    }
}
