import LinuxSupport
import Netlink
import NetworkReachability

/// The turns of a recording, and the answers to each query in their order.
struct RecordedTurns {
    /// One turn of the monitor's queue.
    struct Turn {
        var note: Note
        var time: Duration
        /// The clocks at the time of the turn.
        var clock: RecordedMoment
        /// The events that led to the turn.
        var burst = EventBurst()
    }

    /// A query to the system. Equal queries are equal values at any time.
    enum Question: Hashable {
        /// A netlink request with the sequence number zero.
        case request([UInt8])
        case note(Note.Kind, String)
    }

    /// The answer to a query.
    struct Entry {
        var turn: Int
        var time: Duration
        var text = ""
        var reply: Result<[UInt8], NetlinkError> = .success([])
    }

    /// The turns. The first element is not a turn; it contains the queries before the first event.
    private(set) var turns: [Turn]
    private(set) var entries: [Question: [Entry]] = [:]
    /// The numbers of the timers that fired.
    private(set) var fired: Set<Int64> = []
    /// The results of name lookups, by their numbers.
    private(set) var results: [Int64: String] = [:]
    /// The most recent request, whose reply follows.
    private var request: Question?

    init(_ recording: Recording) {
        let start = recording.header.start
        turns = [Turn(note: Note(.start), time: start.monotonic, clock: start)]
        var (burst, clock) = (EventBurst(), start)
        for record in recording.records {
            clock = RecordedMoment(record) ?? clock.moved(to: record.time)
            switch record.content {
            case .messages(.event, let bytes): burst.note(bytes, from: 0)
            case .messages(.request, let bytes):
                let request = Question.request(StoredMessages.withoutSequence(bytes))
                add(Entry(turn: turns.count - 1, time: record.time), request)
                self.request = request
            case .messages(.reply, let bytes): changeReply { $0 + bytes }
            case .note(let note): add(note, at: clock, &burst)
            }
        }
        // The last turn may lack answers and would then lead to another status.
        if recording.endsInTurn, turns.count > 1 { turns.removeLast() }
    }

    private mutating func add(_ note: Note, at clock: RecordedMoment, _ burst: inout EventBurst) {
        switch note.kind {
        case .option, .clock, .end: return
        case .loss: return burst.noteLoss()
        case .failure:
            let error = NetlinkError(recorded: note.value) ?? NetlinkError("read a reply in the recording", .badMessage)
            return changeReply { _ throws(NetlinkError) in throw error }
        case .plan: add(Entry(turn: turns.count - 1, time: clock.monotonic, text: note.value), .note(.plan, ""))
        case let kind where !kind.isTurn:
            add(Entry(turn: turns.count - 1, time: clock.monotonic, text: note.value), .note(kind, note.subject))
        default:
            var turn = Turn(note: note, time: clock.monotonic, clock: clock)
            if note.kind == .events { swap(&turn.burst, &burst) }
            if note.kind == .timer, let numbers = note.numbers(1) { fired.insert(numbers[0]) }
            if note.kind == .resolved, let number = Int64(note.subject) { results[number] = note.value }
            turns.append(turn)
        }
    }

    private mutating func add(_ entry: Entry, _ question: Question) {
        request = nil
        entries[question, default: []].append(entry)
    }

    private mutating func changeReply(_ change: ([UInt8]) throws(NetlinkError) -> [UInt8]) {
        guard let request, var entry = entries[request]?.popLast() else { return }
        if case .success(let reply) = entry.reply {
            entry.reply = Result { () throws(NetlinkError) in try change(reply) }
        }
        entries[request]?.append(entry)
    }
}

extension Player {
    /// The position in the recording, and the actions that wait.
    struct State {
        typealias Completion = @Sendable (Result<[NameLookup.Address], NameLookup.Failure>) -> Void

        private let recorded: RecordedTurns
        /// The current turn.
        private var turn = 0
        private(set) var moment: RecordedMoment
        /// The number of used answers, by query.
        private var taken: [RecordedTurns.Question: Int] = [:]
        /// The entries of similar requests, sorted by time.
        private lazy var similar = Self.similar(recorded)
        /// Descriptions of the queries that the recording does not contain.
        private(set) var missing: [String] = []

        /// The timers that wait, by their numbers in the recording.
        var timers: [Int64: OneShot] = [:]
        var lookups: [Int64: Completion] = [:]
        /// Actions that the recording does not contain.
        private var unrecorded: [(deadline: Duration, action: OneShot)] = []

        var received: (@Sendable (EventBurst) -> Void)?
        var watches: [Note.Kind: @Sendable () -> Void] = [:]

        init(_ recording: Recording) {
            recorded = RecordedTurns(recording)
            moment = recording.header.start
        }
    }
}

// MARK: - Time

extension Player.State {
    var now: Duration { moment.monotonic }

    var nextTime: Duration? { turn + 1 < recorded.turns.count ? recorded.turns[turn + 1].time : nil }

    mutating func nextTurn() -> RecordedTurns.Turn? {
        guard nextTime != nil else { return nil }
        turn += 1
        return recorded.turns[turn]
    }

    mutating func enter(_ turn: RecordedTurns.Turn) {
        moment = turn.clock.moved(to: max(now, turn.time))
    }

    /// Advances the time. Never moves it back.
    private mutating func advance(to time: Duration) {
        moment = moment.moved(to: max(now, time))
    }

    /// Removes the waiting actions. They retain the monitor, which retains the player, so they are released outside the
    /// lock.
    mutating func discardActions() -> Any {
        defer { (timers, lookups, unrecorded) = ([:], [:], []) }
        return (timers, lookups, unrecorded)
    }
}

// MARK: - Answers

extension Player.State {
    /// Returns the value of a note. See ``take(_:)-(RecordedTurns.Question)``.
    mutating func take(_ kind: Note.Kind, _ subject: String = "") -> String? {
        take(.note(kind, subject.printable))?.text
    }

    /// Returns the next answer of this turn, otherwise the last one before it, otherwise the first one after it. Nil
    /// for a query that the recording does not contain.
    mutating func take(_ question: RecordedTurns.Question) -> RecordedTurns.Entry? {
        if let entry = takeExact(question) { return entry }
        guard let entries = recorded.entries[question] else { return nil }
        let position = taken[question] ?? 0
        return position > 0 ? entries[position - 1] : entries.first
    }

    /// Returns the next answer of this turn, and advances the time to that of the answer.
    private mutating func takeExact(_ question: RecordedTurns.Question) -> RecordedTurns.Entry? {
        guard let entry = rest(of: question).first else { return nil }
        taken[question, default: 0] += 1
        advance(to: entry.time)
        return entry
    }

    /// Returns the unused answers of this turn.
    private mutating func rest(of question: RecordedTurns.Question) -> ArraySlice<RecordedTurns.Entry> {
        guard let entries = recorded.entries[question] else { return [] }
        var position = taken[question] ?? 0
        while position < entries.count, entries[position].turn < turn { position += 1 }
        taken[question] = position
        return entries[position...].prefix { $0.turn == turn }
    }

    /// Returns the reply to a netlink request with the sequence number zero.
    mutating func reply(to request: [UInt8]) -> Result<[UInt8], NetlinkError> {
        if let entry = take(.request(request)) { return entry.reply }
        let about = NetlinkRequest(request)
        note(missing: about.description)
        return similarReply(to: about.subject) ?? .success(StoredMessages.refusal(about.absence))
    }

    private mutating func note(missing question: String) {
        if !missing.contains(question) { missing.append(question) }
    }

    /// Returns the reply nearest in time to a lookup of the same destination, or the link from a list of all links.
    private mutating func similarReply(to subject: NetlinkRequest.Subject) -> Result<[UInt8], NetlinkError>? {
        let isLink = if case .link = subject { true } else { false }
        let entries = similar[isLink ? .allLinks : subject]
        guard let reply = (entries?.last { $0.turn <= turn } ?? entries?.first)?.reply else { return nil }
        guard case .link(let index) = subject else { return reply }
        guard case .success(let list) = reply else { return nil }
        return StoredMessages.link(index, in: list).map(Result.success)
    }

    private static func similar(_ recorded: RecordedTurns) -> [NetlinkRequest.Subject: [RecordedTurns.Entry]] {
        var similar: [NetlinkRequest.Subject: [RecordedTurns.Entry]] = [:]
        for case (.request(let request), let entries) in recorded.entries {
            switch NetlinkRequest(request).subject {
            case .link, .nextHop, .other: break
            case let subject: similar[subject, default: []] += entries
            }
        }
        return similar.mapValues { $0.sorted { ($0.turn, $0.time) < ($1.turn, $1.time) } }
    }
}

// MARK: - Actions

extension Player.State {
    /// Adds an action. It runs when it ran in the recording, otherwise after `delay`.
    mutating func wait(_ action: OneShot, _ delay: Duration) {
        guard let number = planned(delay), timers[number] == nil else {
            unrecorded.append((now + delay, action))
            return
        }
        guard recorded.fired.contains(number) else {
            // The timer was cancelled, or the recording ended before. A timer may have been late, so this one must not
            // fire earlier.
            unrecorded.append((now + delay + max(.seconds(1), delay / 10), action))
            return
        }
        timers[number] = action
    }

    /// Returns the number of a timer that was set in this turn with about the same delay. Another version may not set
    /// the timers before it.
    private mutating func planned(_ delay: Duration) -> Int64? {
        let rest = rest(of: .note(.plan, ""))
        for (index, entry) in rest.enumerated() {
            guard let plan = Note(.plan, "", entry.text).numbers(2) else { continue }
            let difference = delay - .nanoseconds(plan[1])
            guard difference > .milliseconds(-1), difference < .milliseconds(1) else { continue }
            taken[.note(.plan, ""), default: 0] += index + 1
            advance(to: entry.time)
            return plan[0]
        }
        return nil
    }

    /// Adds a name lookup. It is answered when it was answered in the recording.
    mutating func wait(for name: String, _ completion: @escaping Completion) {
        let question = RecordedTurns.Question.note(.lookup, name.printable)
        let exact = takeExact(question)
        let number = (exact ?? take(question)).flatMap { Int64($0.text) }
        if exact != nil, let number, lookups[number] == nil {
            // If there is no answer, the recording ended before it.
            lookups[number] = completion
            return
        }
        if number == nil { note(missing: "the addresses of \(name)") }
        let result = number.flatMap { recorded.results[$0] }
        unrecorded.append(
            (
                now,
                OneShot {
                    completion(
                        result.map(Result.init(recorded:)) ?? .failure(.unavailable("the recording contains no answer"))
                    )
                }
            )
        )
    }

    /// Removes and returns the first action that the recording does not contain, if it is due at `time`.
    mutating func takeUnrecorded(until time: Duration) -> OneShot? {
        unrecorded.removeAll { $0.action.isOver }
        guard let first = unrecorded.indices.min(by: { unrecorded[$0].deadline < unrecorded[$1].deadline }),
            unrecorded[first].deadline <= time
        else { return nil }
        advance(to: unrecorded[first].deadline)
        return unrecorded.remove(at: first).action
    }
}
