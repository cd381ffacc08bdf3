import LinuxSupport
import MQTT
import ReachabilityFleet

/// The transfer of events from the log of the service to the broker. A value.
struct EventForwarder {
    /// Returns the minimum interval between two missed events. Most machines missed few events, and many machines may
    /// return at the same time. A machine with 1,000 targets may have missed thousands of events, and must send them
    /// within seconds, not minutes.
    private static func pause(after count: Int) -> Duration { count < 100 ? .milliseconds(50) : DeviceEvent.pause }
    /// The number of current events that are sent without a pause.
    private static let burst = 1_000
    /// The maximum number of events without an acknowledgement.
    private static let window = 20
    /// The number of pending events from which no more are read.
    private static let backlog = 100
    /// The delay before another read after the service has not answered.
    private static let patience = Duration.seconds(2)
    /// The time before the cursor from which history is read, in case the wall clock was set.
    private static let doubt = Duration.seconds(3600)

    private struct Item {
        /// The cursor after this event; nil for an event from the history, which does not move the cursor.
        let cursor: AgentCursor?
        /// The position of the event that was published before this one.
        var after: EventPosition?
        let kind: DeviceEvent.Kind?
        var token: PublishToken?
        var isDone = false
    }

    enum Step {
        case send(EventPosition?, after: EventPosition?, DeviceEvent.Kind)
        case read(after: EventPosition?, waiting: Bool, UInt64)
        case readHistory(since: Duration, UInt64)
        case caughtUp
        case save(AgentCursor)
    }

    private(set) var cursor: AgentCursor?
    /// The position after which the next read starts.
    private var reached: EventPosition?
    /// The position of the last event, among those read, that is published.
    private var published: EventPosition?
    private var items: [Item] = []
    /// The number of items that were sent.
    private var sentCount = 0
    /// The number of missed events that were sent since the connection or the last replay began.
    private var missedCount = 0
    /// The number of the current or last read.
    private var question: UInt64 = 0
    private var isReading = false
    private var needsHistory = false
    /// The start of the history that a replay requests, by the wall clock; nil if no replay requests history or if it
    /// has been sent.
    private var historySince: Duration?
    private var isAtEnd = false
    private var isCaughtUp = false
    private var fault: EventLogError?
    /// The time of the next event, if events are sent with pauses.
    private var nextSend = Duration.zero
    private var nextRead = Duration.zero
    private(set) var deadline: Duration?

    init(cursor: AgentCursor?) {
        self.cursor = cursor
    }

    /// Starts a connection. Events without an acknowledgement are sent again.
    mutating func begin() {
        rewind(to: cursor?.position, published: cursor?.published)
    }

    /// Moves the cursor back. The new position also applies to a restarted agent, because the broker's acknowledgement
    /// does not mean that the requester has the events.
    ///
    /// - Returns: The cursor to save now; nil if the replay has no position.
    mutating func rewind(_ replay: DeviceReplay, at wall: Duration) -> AgentCursor? {
        // The requester does not know how far the log was read when it last received a message of this machine.
        let since = [replay.since.map { min($0, wall) }, cursor?.time].compactMap(\.self).min()
        cursor = replay.position.map { AgentCursor(position: $0, time: since ?? wall, published: $0) }
        historySince = replay.position == nil && replay.since != nil ? since : nil
        rewind(to: replay.position, published: replay.position)
        return cursor
    }

    private mutating func rewind(to position: EventPosition?, published: EventPosition?) {
        end()
        (reached, self.published) = (position, published)
        (isAtEnd, isCaughtUp, needsHistory, missedCount) = (false, false, historySince != nil, 0)
    }

    mutating func end() {
        items = []
        sentCount = 0
        // The result of a read in progress is ignored.
        question += 1
        isReading = false
        deadline = nil
    }

    mutating func sent(_ token: PublishToken) {
        guard let index = items.firstIndex(where: { $0.kind != nil && $0.token == nil && !$0.isDone }),
            index < sentCount
        else { return }
        items[index].token = token
    }

    mutating func acknowledge(_ token: PublishToken) {
        guard let index = items.firstIndex(where: { $0.token == token }) else { return }
        items[index].isDone = true
    }

    mutating func take(_ page: Result<EventPage, EventLogError>, read: UInt64, at now: Duration) -> Bool {
        guard isReading, read == question else { return false }
        isReading = false
        switch page {
        case .success(let page):
            fault = nil
            for entry in page.entries {
                let before = published
                if entry.kind != nil { published = entry.position }
                let cursor = AgentCursor(position: entry.position, time: entry.time, published: published)
                items.append(Item(cursor: cursor, after: before, kind: entry.kind))
            }
            reached = page.entries.last?.position ?? reached
            isAtEnd = !page.hasMore
            return false
        case .failure(.gone):
            // The position is of another run of the service, or too old.
            needsHistory = cursor != nil
            reached = nil
            isAtEnd = false
            return false
        case .failure(let error): return fail(error, now)
        }
    }

    mutating func take(_ history: Result<[DeviceOutage], EventLogError>, read: UInt64, at now: Duration) -> Bool {
        guard isReading, read == question else { return false }
        isReading = false
        switch history {
        case .success(let outages):
            fault = nil
            needsHistory = false
            items += outages.map { Item(cursor: nil, kind: .outage($0)) }
            return false
        case .failure(let error): return fail(error, now)
        }
    }

    private mutating func fail(_ error: EventLogError, _ now: Duration) -> Bool {
        nextRead = now + Self.patience
        defer { fault = error }
        return fault != error
    }

    /// Returns the steps that are due. ``deadline`` is the time of the next steps.
    mutating func steps(at now: Duration) -> [Step] {
        var steps: [Step] = []
        deadline = nil
        send(at: now, &steps)
        settle(&steps)
        if items.isEmpty, isAtEnd, !isCaughtUp {
            isCaughtUp = true
            historySince = nil
            steps.append(.caughtUp)
        }
        requestEvents(at: now, &steps)
        return steps
    }

    private mutating func send(at now: Duration, _ steps: inout [Step]) {
        while sentCount < items.count {
            guard let kind = items[sentCount].kind else {
                items[sentCount].isDone = true
                sentCount += 1
                continue
            }
            guard items[..<sentCount].count(where: { !$0.isDone }) < Self.window else { return }
            let due = nextSend - (isCaughtUp ? DeviceEvent.pause * Self.burst : .zero)
            guard now >= due else {
                deadline = due
                return
            }
            if !isCaughtUp { missedCount += 1 }
            nextSend = max(now, nextSend) + (isCaughtUp ? DeviceEvent.pause : Self.pause(after: missedCount))
            steps.append(.send(items[sentCount].cursor?.position, after: items[sentCount].after, kind))
            sentCount += 1
        }
    }

    /// Moves the cursor past the acknowledged events, in the order of the log.
    private mutating func settle(_ steps: inout [Step]) {
        let before = cursor
        while let first = items.first, first.isDone {
            cursor = first.cursor ?? cursor
            items.removeFirst()
            sentCount -= 1
        }
        if let cursor, cursor != before { steps.append(.save(cursor)) }
    }

    private mutating func requestEvents(at now: Duration, _ steps: inout [Step]) {
        guard !isReading, items.count < Self.backlog else { return }
        guard now >= nextRead else {
            deadline = min(deadline ?? nextRead, nextRead)
            return
        }
        question += 1
        isReading = true
        if needsHistory, let since = historySince ?? cursor?.time {
            steps.append(.readHistory(since: max(.zero, since - Self.doubt), question))
        } else {
            steps.append(.read(after: reached, waiting: isCaughtUp, question))
        }
    }
}

extension AgentMachine {
    /// Performs the next steps of ``forwarder``.
    mutating func forward() {
        for step in forwarder.steps(at: world.now()) {
            switch step {
            case .send(let position, let after, let kind):
                publishEvent(kind, position, after: after, .event)
                scheduleSummary()
            case .caughtUp: publishEvent(.caughtUp, nil, .caughtUp)
            case .read(let position, let waiting, let read): act(.read(after: position, waiting: waiting, read: read))
            case .readHistory(let since, let read): act(.readHistory(since: since, read: read))
            case .save(let cursor): act(.save(cursor))
            }
        }
    }

    mutating func publishEvent(
        _ kind: DeviceEvent.Kind,
        _ position: EventPosition?,
        after: EventPosition? = nil,
        _ purpose: Purpose
    ) {
        let event = DeviceEvent(session: session, position: position, after: after, wall: world.wall(), kind: kind)
        publish(.event, event.bytes, purpose)
    }
}

/// The last position in the log that the broker has acknowledged.
struct AgentCursor: Hashable, Sendable {
    let position: EventPosition
    /// The time of the event at this position, by the wall clock, since 1970.
    let time: Duration
    /// The position of the last published event, because not every event is published; nil if there was none.
    let published: EventPosition?
}

extension AgentCursor {
    /// The content of the cursor file: the position, the time in seconds, and the position of the last published event.
    var text: String { "\(position) \(time.components.seconds)\(published.map { " \($0)" } ?? "")\n" }

    init?(_ text: String) {
        let words = text.words
        guard 2...3 ~= words.count, let position = EventPosition(String(words[0])), let time = Int64(words[1]),
            0...Timestamp.latest ~= time
        else { return nil }
        let published = words.count == 3 ? EventPosition(String(words[2])) : nil
        if words.count == 3, published == nil { return nil }
        self.init(position: position, time: .seconds(time), published: published)
    }
}

/// The file that keeps a cursor. If it is lost, some events are sent twice.
package struct CursorFile: Sendable {
    package let path: String

    package init(_ path: String) {
        self.path = path
    }

    /// Returns the saved cursor; nil if the file does not exist or is not readable.
    func read() -> AgentCursor? { TextFile.read(path).flatMap { AgentCursor($0) } }

    /// Saves the cursor. The file is replaced atomically, so it is never incomplete.
    func write(_ cursor: AgentCursor) throws(SystemError) {
        let fresh = path + ".new"
        let file = try OutputFile(fresh, replacing: true)
        try file.append(Array(cursor.text.utf8))
        try OwnFile.rename(fresh, to: path)
    }
}
