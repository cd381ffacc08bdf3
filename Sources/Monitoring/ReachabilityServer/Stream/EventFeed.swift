package import Dispatch
package import LinuxSupport
import NIOCore
import NIOHTTP1

/// The event stream of a service or a hub. It encodes each event once, sends it to all clients, and keeps the latest events. Thread-safe.
///
/// A client that reconnects with its position receives the events since then. If they are not kept, it receives `gap` and a snapshot. No
/// event is lost or repeated, because a snapshot has the number of its last event.
package final class EventFeed: Sendable {
    /// A function that calls an action on a queue after a delay.
    package typealias Scheduler =
        @Sendable (Duration, DispatchQueue, @escaping @Sendable () -> Void) -> Cancellation

    /// The complete state, with the number of the last event that it includes.
    package struct Snapshot {
        let number: UInt64
        let describe: () -> JSONObject

        package init(_ number: UInt64, describe: @escaping () -> JSONObject) {
            (self.number, self.describe) = (number, describe)
        }
    }

    private struct Listener {
        let stream: WebStream
        /// The number of the last event that was sent to the client.
        var last: UInt64
    }

    private struct State {
        var ring: EventRing
        var listeners: [ObjectIdentifier: Listener] = [:]
        var heartbeat: Cancellation?
        var subscription: Cancellation?
        /// The requests that wait for the next event, with the number of the last event that the client has. The keys are consecutive
        /// numbers.
        var waiters: [UInt64: (last: UInt64, action: OneShot)] = [:]
        var lastWaiter: UInt64 = 0
    }

    /// The interval between heartbeats.
    static let heartbeatInterval: Duration = .seconds(15)

    /// The identifier of this run. It is part of a position, because each run numbers its events from 1.
    package let epoch: String
    private let newest: @Sendable () -> UInt64
    private let schedule: Scheduler
    private let state: Locked<State>
    private let queue = DispatchQueue(label: "ReachabilityServer.heartbeat")

    /// - Parameter newest: Returns the number of the latest event. That event may not have been sent yet.
    package init(
        epoch: String,
        ring: EventRing,
        newest: @escaping @Sendable () -> UInt64,
        schedule: @escaping Scheduler
    ) {
        (self.epoch, self.newest, self.schedule) = (epoch, newest, schedule)
        state = Locked(State(ring: ring))
    }

    /// Keeps the subscription to the source of the events alive.
    func retain(_ subscription: Cancellation) { state.withLock { $0.subscription = subscription } }

    /// The number of connected clients.
    package var count: Int { state.withLock { $0.listeners.count } }

    /// The kept events, oldest first.
    var kept: ArraySlice<EventRing.Entry> { state.withLock(\.ring.all) }

    /// Returns the events after a position; nil if they are not kept, or if the position does not exist.
    func entries(after position: StreamPosition) -> ArraySlice<EventRing.Entry>? {
        let now = newest()
        return state.withLock { state in
            guard position.epoch == epoch, position.number <= max(now, state.ring.last) else { return nil }
            return state.ring.after(position.number)
        }
    }

    // MARK: Listeners

    /// Adds a client.
    ///
    /// - Parameter position: The position of the last event that the client has; nil for a new client.
    private func join(_ stream: WebStream, after position: StreamPosition?, snapshot: () -> Snapshot) {
        stream.send(StreamText.opening, isCounted: false)
        // A repetition is needed only if events after the snapshot were already removed from the ring.
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
        object.add("detail", "the events after this position are no longer stored; a snapshot follows")
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

    /// The number of waiting requests.
    var waiterCount: Int { state.withLock(\.waiters.count) }

    /// Calls an action once, on any thread, after the next event or a timeout.
    ///
    /// - Parameter position: The position of the last event that the client has. If nil, the wait ends at once unless no event is kept.
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
            state.waiters[state.lastWaiter] = (last, action)
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

    /// Sends events to all clients. They must be sorted by number.
    ///
    /// - Parameter targets: The number of targets, which determines how many events are kept.
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

    /// Schedules a heartbeat if there are clients. Without clients no timer wakes the process.
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
    /// Answers with a stream of all events from now on, or since the position of the client.
    package func stream(_ query: Query, snapshot: @escaping @Sendable () -> Snapshot) throws(Problem) -> WebAnswer {
        let text = query.request.headers.first(name: "Last-Event-ID") ?? query.text("after")
        try query.checkNames()
        // An invalid position is treated as one whose events are not kept.
        let position = text.map { StreamPosition($0) ?? StreamPosition(epoch: "", number: 0) }
        var answer = WebAnswer(type: "text/event-stream").unstored
        // Without this field, nginx buffers the answer.
        answer.headers.append(("X-Accel-Buffering", "no"))
        answer.stream = { [self] stream in join(stream, after: position, snapshot: snapshot) }
        return answer
    }

    /// Answers with a page of the kept events, oldest first. With `wait`, an empty page is sent only after the next event or the timeout.
    ///
    /// - Throws: ``Problem`` if the events after the position of the client are not kept, or if the position belongs to another run.
    package func events(_ query: Query) throws(Problem) -> WebAnswer {
        // Parameters are checked before events.
        let time = try query.wait
        let page = try page(query)
        var answer = try WebAnswer.list(page, query)
        guard let time, page.items.isEmpty else { return answer }
        let (request, position) = (query.request, query.after.flatMap { StreamPosition($0) })
        answer.wait = WebWait { [self] done in
            self.wait(after: position, for: time, done)
        } answer: { [self] in
            let query = Query(request)
            do throws(Problem) {
                _ = try query.wait
                return try .list(self.page(query), query)
            } catch {
                return error.answer(as: Representation(of: request))
            }
        }
        return answer
    }

    private func page(_ query: Query) throws(Problem) -> Page {
        let limit = try query.limit
        guard let text = query.after else { return page(kept, limit) }
        guard let position = StreamPosition(text) else {
            throw Problem(.badRequest, "after must be an event id such as dn2wpjeg7dyu.5, not \"\(text.printable)\"")
        }
        guard let entries = self.entries(after: position) else {
            throw Problem(
                .gone,
                "the events after \(text.printable) are not kept; request /v1/status, and then /v1/events without after"
            )
        }
        return page(entries, limit)
    }

    private func page(_ entries: ArraySlice<EventRing.Entry>, _ limit: Int) -> Page {
        let items = entries.prefix(limit + 1).map { entry in
            let id = StreamPosition(epoch: epoch, number: entry.number).description
            return Item(key: id, object: entry.object, text: entry.line)
        }
        return Page(first: limit, of: items)
    }
}

/// A buffer with the latest events in their encoded form.
package struct EventRing: Sendable {
    /// An encoded event.
    package struct Entry: Sendable {
        package let number: UInt64
        /// The event in the format of server-sent events.
        let bytes: ByteBuffer
        /// The event as a line of text.
        var line = ""

        init(number: UInt64, bytes: ByteBuffer, line: String = "") {
            (self.number, self.bytes, self.line) = (number, bytes, line)
        }

        package init(_ name: String, _ position: StreamPosition, _ object: JSONObject, line: String) {
            self.init(number: position.number, bytes: StreamText.event(name, position, object), line: line)
        }

        /// The JSON object of the event.
        var object: JSONObject {
            let view = bytes.readableBytesView
            let data = view.split(separator: UInt8(ascii: "\n"), maxSplits: 2)[2].dropFirst("data: ".utf8.count)
            return JSONObject(encoded: data.dropLast(2))
        }
    }

    /// The maximum number of events.
    private var limit: Int
    /// The maximum size of all events, in bytes.
    private var byteLimit: Int
    private var entries: [Entry] = []
    private var size = 0
    /// The number of the latest event.
    private(set) var last: UInt64

    /// - Parameter last: The number of the last event before the first one of the buffer.
    package init(after last: UInt64, limit: Int = 4096, byteLimit: Int = 4 << 20) {
        (self.last, self.limit, self.byteLimit) = (last, limit, byteLimit)
    }

    /// Raises the limits, so that they are sufficient if each target has several outages at the same time.
    mutating func makeRoom(forTargets count: Int) {
        limit = max(limit, 16 * count)
        byteLimit = max(byteLimit, 16 * 1024 * count)
    }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
        size += entry.size
        last = entry.number
        guard entries.count > limit || size > byteLimit else { return }
        // A quarter is removed at a time, because removing the first elements of an array moves all others.
        let gone = max(1, entries.count / 4)
        size -= entries.prefix(gone).reduce(0) { $0 + $1.size }
        entries.removeFirst(gone)
    }

    /// All kept events, oldest first.
    var all: ArraySlice<Entry> { entries[...] }

    /// Returns the events after a number; nil if not all are kept.
    func after(_ number: UInt64) -> ArraySlice<Entry>? {
        guard number < last else { return [] }
        guard let first = entries.first, first.number <= number + 1 else { return nil }
        return entries[entries.index(entries.startIndex, offsetBy: Int(number + 1 - first.number))...]
    }
}

/// The position of an event in the stream: the identifier of the run, and the number of the event in the run.
package struct StreamPosition: Hashable, Sendable, CustomStringConvertible {
    package let epoch: String
    package let number: UInt64

    package init(epoch: String, number: UInt64) {
        (self.epoch, self.number) = (epoch, number)
    }

    /// Parses `EPOCH.NUMBER`. The result is nil for another text.
    package init?(_ text: String) {
        let parts = text.split(at: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = UInt64(parts[1]) else { return nil }
        self.init(epoch: String(parts[0]), number: number)
    }

    package var description: String { "\(epoch).\(number)" }
}

extension EventRing.Entry {
    fileprivate var size: Int { bytes.readableBytes + line.utf8.count }
}

/// The encoding of server-sent events.
///
/// Source: the HTML standard, 9.2, Server-sent events.
enum StreamText {
    /// The delay before a client reconnects, in milliseconds.
    static let opening = ByteBuffer(string: "retry: 1000\n\n")

    /// A comment that keeps the connection alive.
    static let heartbeat = ByteBuffer(string: ": alive\n\n")

    /// Returns an encoded event.
    static func event(_ name: String, _ position: StreamPosition, _ data: JSONObject) -> ByteBuffer {
        let bytes = data.bytes
        var buffer = ByteBuffer(string: "id: \(position)\nevent: \(name)\ndata: ")
        buffer.writeBytes(bytes)
        buffer.writeString("\n\n")
        return buffer
    }
}
