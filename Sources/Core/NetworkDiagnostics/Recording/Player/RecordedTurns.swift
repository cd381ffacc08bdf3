import Netlink

/// The records of a recording, put in order: turns of the monitor's queue, and what each question was answered when.
struct RecordedTurns {
    /// One turn. The first has no cause: it is what was asked before anything happened.
    struct Turn {
        var cause: RecordedCause?
        var time: Duration
        /// What was heard, for a turn that is about that.
        var burst = EventBurst()
    }

    /// An answer, and when it was given.
    struct Entry {
        var turn: Int
        var time: Duration
        var answer: [UInt8]
        /// What was heard, for a question that is about that.
        var burst = EventBurst()
    }

    private(set) var turns: [Turn]
    private(set) var entries: [RecordedQuestion: [Entry]] = [:]
    /// What had its time: timers, and what was to be done soon.
    private(set) var fired: Set<UInt64> = []
    /// What the name service answered, by the number of the question.
    private(set) var names: [UInt64: RecordedNames] = [:]

    init(_ recording: Recording) {
        turns = [Turn(time: recording.header.start.monotonic)]
        var heard = EventBurst()
        for record in recording.records {
            switch record.content {
            case .message(let bytes, let port): heard.note(bytes, from: port)
            case .lost: heard.noteLoss()
            case .asked(let question, let answer):
                var entry = Entry(turn: turns.count - 1, time: record.time, answer: answer)
                if question.subject == .moreMessages { swap(&entry.burst, &heard) }
                entries[question, default: []].append(entry)
            case .turn(let cause): add(cause, at: record.time, &heard)
            case .end: break
            }
        }
    }

    private mutating func add(_ cause: RecordedCause, at time: Duration, _ heard: inout EventBurst) {
        var turn = Turn(cause: cause, time: time)
        switch cause {
        case .rung(let noticed):
            swap(&turn.burst, &heard)
            turn.burst.noticed = noticed
        case .fired(let number): fired.insert(number)
        case .resolved(let number, let names): self.names[number] = names
        case .start, .namespaceChanged, .woke, .namesChanged: break
        }
        turns.append(turn)
    }
}
