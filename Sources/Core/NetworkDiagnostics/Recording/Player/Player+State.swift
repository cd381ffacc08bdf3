import LinuxPrimitives
import Netlink
import NetlinkRecording
import NetworkReachability

extension Player {
    /// Where a player is, and what waits.
    struct State {
        typealias Completion = @Sendable (Result<[NameLookup.Address], NameLookup.Failure>) -> Void

        let recorded: RecordedTurns
        /// The turn that is being played.
        private(set) var turn = 0
        private(set) var now: Duration
        /// How much later CLOCK_BOOTTIME and CLOCK_REALTIME are than CLOCK_MONOTONIC.
        private var bootLead: Duration
        private var realLead: Duration
        /// How many of the answers to a question were given.
        private var given: [RecordedQuestion: Int] = [:]
        private var similar: SimilarQuestions?
        /// What was asked and never recorded.
        private(set) var missing: [String] = []

        /// By the number they have in the recording.
        var timers: [UInt64: OneShot] = [:]
        var questions: [UInt64: Completion] = [:]
        /// What the recording knows nothing of.
        private var unrecorded: [(deadline: Duration, action: OneShot)] = []

        var heard: (@Sendable (EventBurst) -> Void)?
        var namespaceChanged: (@Sendable () -> Void)?
        var woke: (@Sendable () -> Void)?
        var namesChanged: (@Sendable () -> Void)?

        init(_ recording: Recording) {
            recorded = RecordedTurns(recording)
            let start = recording.header.start
            now = start.monotonic
            bootLead = start.boot - start.monotonic
            realLead = start.real - start.monotonic
        }
    }
}

// MARK: - Time

extension Player.State {
    /// Forgets what waits, which holds the monitor that holds the player; it is to die outside the lock.
    mutating func forgetActions() -> Any {
        defer { (timers, questions, unrecorded) = ([:], [:], []) }
        return (timers, questions, unrecorded)
    }

    var nextTime: Duration? { turn + 1 < recorded.turns.count ? recorded.turns[turn + 1].time : nil }

    mutating func nextTurn() -> RecordedTurns.Turn? {
        guard nextTime != nil else { return nil }
        turn += 1
        return recorded.turns[turn]
    }

    /// Time does not go back.
    mutating func enter(_ time: Duration) {
        now = max(now, time)
    }

    mutating func monotonic() -> Duration {
        _ = takeExact(RecordedQuestion(.monotonic))
        return now
    }

    mutating func boot() -> Duration {
        if let entry = takeExact(RecordedQuestion(.boot)), let lead = entry.answer.decoded({ try $0.duration() }) {
            bootLead = lead
        }
        return now + bootLead
    }

    mutating func moment() -> RecordedMoment {
        if let entry = takeExact(RecordedQuestion(.moment)), let real = entry.answer.decoded({ try $0.duration() }) {
            realLead = real - entry.time
        }
        return RecordedMoment(real: now + realLead, monotonic: now, boot: now + bootLead)
    }
}

// MARK: - Answers

extension Player.State {
    /// The answer that was given in this turn, if there is one that was not taken yet. The time is then that of the answer.
    mutating func takeExact(_ question: RecordedQuestion) -> RecordedTurns.Entry? {
        guard let position = position(of: question) else { return nil }
        guard let entries = recorded.entries[question], position < entries.count, entries[position].turn == turn else {
            return nil
        }
        given[question] = position + 1
        now = max(now, entries[position].time)
        return entries[position]
    }

    /// The answer of this turn; else the last before, else the first after it. Nil for what was never asked.
    mutating func take(_ question: RecordedQuestion) -> RecordedTurns.Entry? {
        if let entry = takeExact(question) { return entry }
        guard let position = position(of: question), let entries = recorded.entries[question] else { return nil }
        return position > 0 ? entries[position - 1] : entries.first
    }

    /// What answers to a netlink request; `request` is what is said of one that was never asked.
    mutating func answer(to request: [UInt8]) -> Result<[UInt8], NetlinkError> {
        if let entry = take(RecordedQuestion(.netlink, request)) { return entry.outcome }
        let about = NetlinkRequest(request)
        note(missing: about.description)
        let similar = similar ?? SimilarQuestions(recorded)
        self.similar = similar
        return similar.answer(to: about, in: turn)?.outcome ?? .success(NetlinkMessages.refusal(about.absence))
    }

    mutating func note(missing question: String) {
        if !missing.contains(question) { missing.append(question) }
    }

    /// What was heard in this turn while somebody waited, and has not been taken.
    mutating func takeBurst() -> EventBurst? {
        while let entry = takeExact(RecordedQuestion(.moreMessages)) {
            if entry.answer == [1] { return entry.burst }
        }
        return nil
    }

    /// The first answer that is not of an earlier turn and was not given.
    private mutating func position(of question: RecordedQuestion) -> Int? {
        guard let entries = recorded.entries[question] else { return nil }
        var position = given[question] ?? 0
        while position < entries.count, entries[position].turn < turn { position += 1 }
        given[question] = position
        return position
    }
}

// MARK: - Later

extension Player.State {
    /// An action that is to have its time: when it had in the recording, or else after `delay`.
    mutating func wait(_ action: OneShot, _ subject: RecordedQuestion.Subject, _ delay: Duration) {
        guard let number = number(of: subject, delay), timers[number] == nil else {
            unrecorded.append((now + delay, action))
            return
        }
        guard recorded.fired.contains(number) else {
            // It was cancelled, or the recording ended before; timers may be late, so this one never overtakes its end.
            unrecorded.append((now + delay + max(.seconds(1), delay / 10), action))
            return
        }
        timers[number] = action
    }

    /// A question to the name service that is to be answered when it was in the recording.
    mutating func wait(for name: String, _ completion: @escaping Completion) {
        let question = RecordedQuestion(.resolve, Array(name.utf8))
        let exact = takeExact(question)
        let number = (exact ?? take(question))?.answer.decoded { try $0.number() }
        if exact != nil, let number, questions[number] == nil {
            // If it was not answered, the recording ended before.
            questions[number] = completion
            return
        }
        if number == nil { note(missing: "the addresses of \(name)") }
        let names = number.flatMap { recorded.names[$0] } ?? .unavailable("the recording does not tell")
        unrecorded.append((now, OneShot { completion(names.result) }))
    }

    private mutating func number(of subject: RecordedQuestion.Subject, _ delay: Duration) -> UInt64? {
        let question = RecordedQuestion(subject)
        guard let position = position(of: question), let entries = recorded.entries[question] else { return nil }
        for next in entries[position...].prefix(while: { $0.turn == turn }) {
            let plan = next.answer.decoded { decoder in
                (try decoder.number(), subject == .soon ? .zero : try decoder.duration())
            }
            given[question, default: 0] += 1
            guard let plan else { continue }
            // A version that decides otherwise may not have planned what comes between.
            if plan.1 - delay < .milliseconds(1), delay - plan.1 < .milliseconds(1) {
                now = max(now, next.time)
                return plan.0
            }
        }
        given[question] = position
        return nil
    }

    /// The first of what the recording knows nothing of, if its time comes up to `time`.
    mutating func takeUnrecorded(until time: Duration) -> OneShot? {
        unrecorded.removeAll { $0.action.isOver }
        guard let first = unrecorded.indices.min(by: { unrecorded[$0].deadline < unrecorded[$1].deadline }),
            unrecorded[first].deadline <= time
        else { return nil }
        enter(unrecorded[first].deadline)
        return unrecorded.remove(at: first).action
    }
}

extension RecordedTurns.Entry {
    var outcome: Result<[UInt8], NetlinkError> {
        answer.decoded { try $0.outcome() }
            ?? .failure(NetlinkError("read an answer in the recording", .badMessage))
    }
}

extension [UInt8] {
    /// What was written in these bytes; nil when that makes no sense.
    func decoded<Value>(_ decode: (inout ByteDecoder) throws -> Value) -> Value? {
        var decoder = ByteDecoder(self[...])
        return try? decode(&decoder)
    }
}
