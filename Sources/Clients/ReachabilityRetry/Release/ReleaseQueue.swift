/// Those that wait to retry at one host, and when whose turn is. A value: time and chance are told, and what it wants woken
/// it returns.
///
/// One of those in line leads: it alone sleeps until the next turn, and then lets the first in line go, itself or another. So one timer
/// paces any number, whoever leaves is not missed, and no task of its own is needed. While the gate is closed the next turn is that of
/// a probe.
struct ReleaseQueue<WakeSignal> {
    /// What somebody is to do who asks.
    enum Step: Equatable {
        case go
        /// Goes though the gate is closed, to show whether it has to be.
        case probe
        /// Asks again when its signal comes, or at this time.
        case sleep(until: Duration?)
    }

    /// What somebody waits for before it gets in line.
    enum Pause: Equatable {
        case none
        /// A time; whether a new path cuts it short.
        case until(Duration, endsWithNewPath: Bool)
    }

    private enum Place: Equatable {
        case pausing(until: Duration, endsWithNewPath: Bool)
        case inLine
        /// It is its turn, and it has not heard so yet.
        case released(isProbe: Bool)
    }

    private struct Waiter {
        let priority: RetryPriority
        let signal: WakeSignal
        var place: Place
    }

    private let interval: Duration
    /// How long the gate may be closed before one goes to probe; nil for ever.
    private let probeInterval: Duration?
    private var waiters: [UInt64: Waiter] = [:]
    private var lines = TicketLines()
    private var leader: UInt64?
    private var lastTicket: UInt64 = 0

    /// Before this nobody goes.
    private(set) var nextTurn: Duration = .zero

    /// Whether anybody may go: not while the target is not reachable.
    private(set) var isOpen = true

    /// Until then the server has asked to be left alone.
    private(set) var holdEnd: Duration = .zero

    /// The turn among all hosts that the leader has been given, and not used yet.
    private var place: Duration?

    /// While the gate is closed: when one goes to probe, and how long after that another.
    private var probe: (next: Duration, pause: Duration)?

    /// - Parameters:
    ///   - interval: The time between two turns, at least.
    ///   - probeInterval: How long the gate may be closed before one goes to probe, each time twice as long; nil for ever.
    init(interval: Duration, probeInterval: Duration? = nil) {
        self.interval = interval
        self.probeInterval = probeInterval
    }

    /// How many wait.
    var count: Int { waiters.count }

    /// Begins to wait.
    mutating func add(_ priority: RetryPriority, pause: Pause, signal: WakeSignal) -> UInt64 {
        lastTicket += 1
        let ticket = lastTicket
        switch pause {
        case .none:
            waiters[ticket] = Waiter(priority: priority, signal: signal, place: .inLine)
            getInLine(ticket, priority)
        case .until(let time, let endsWithNewPath):
            let place = Place.pausing(until: time, endsWithNewPath: endsWithNewPath)
            waiters[ticket] = Waiter(priority: priority, signal: signal, place: place)
        }
        return ticket
    }

    /// Puts back somebody who went and found that the target is not reachable after all: at the head of its line.
    mutating func putBack(_ ticket: UInt64, _ priority: RetryPriority, signal: WakeSignal) {
        waiters[ticket] = Waiter(priority: priority, signal: signal, place: .inLine)
        lines[priority].putBack(ticket)
    }

    /// What somebody who waits is to do now, and whose signal is to be sent. Who is told to go waits no more.
    ///
    /// - Parameter pace: That of all hosts.
    mutating func step(_ ticket: UInt64, now: Duration, _ pace: inout ReleasePace) -> (step: Step, wake: WakeSignal?) {
        guard let waiter = waiters[ticket] else { return (.go, nil) }
        switch waiter.place {
        case .released(let isProbe):
            waiters[ticket] = nil
            return (isProbe ? .probe : .go, nil)
        case .pausing(let time, _) where now < time:
            return (.sleep(until: time), nil)
        case .pausing:
            waiters[ticket]?.place = .inLine
            getInLine(ticket, waiter.priority)
        case .inLine:
            break
        }
        if leader == nil { leader = ticket }
        guard leader == ticket else { return (.sleep(until: nil), nil) }
        if let turn = turn(after: now, &pace) { return (.sleep(until: turn), nil) }
        guard isOpen || probe != nil, let first = first() else { return (.sleep(until: nil), nil) }
        lines[first.priority].removeFirst()
        take(at: now)
        guard first.ticket == ticket else {
            waiters[first.ticket]?.place = .released(isProbe: !isOpen)
            return (.sleep(until: isOpen ? nextTurn : probe?.next), waiters[first.ticket]?.signal)
        }
        waiters[ticket] = nil
        return (isOpen ? .go : .probe, elect())
    }

    /// When the next may go; nil for now, or never.
    private mutating func turn(after now: Duration, _ pace: inout ReleasePace) -> Duration? {
        guard isOpen else { return probe.flatMap { $0.next > now ? $0.next : nil } }
        if now < nextTurn { return nextTurn }
        // The host would have it; now it is given a turn among all hosts.
        let turn = place ?? pace.next(at: now)
        place = turn
        return turn > now ? turn : nil
    }

    /// The turn is taken.
    private mutating func take(at now: Duration) {
        guard isOpen else {
            probe = probe.map { (now + $0.pause * 2, $0.pause * 2) }
            return
        }
        place = nil
        nextTurn = now + interval
    }

    /// Waits no more, for whatever reason. Returns whose signal is to be sent.
    mutating func remove(_ ticket: UInt64) -> WakeSignal? {
        waiters[ticket] = nil
        return leader == ticket ? elect() : nil
    }

    /// Nobody goes until `open(at:)`, but to probe. Returns whose signal is to be sent.
    mutating func close(at now: Duration) -> WakeSignal? {
        guard isOpen else { return nil }
        isOpen = false
        probe = probeInterval.map { (now + $0, $0) }
        return leader.flatMap { waiters[$0]?.signal }
    }

    /// The server has asked to be left alone until `time`: nobody goes before.
    mutating func hold(until time: Duration) {
        holdEnd = max(holdEnd, time)
        nextTurn = max(nextTurn, time)
    }

    /// The target is reachable, by a new path: nobody before `time`. Pauses that end with a new path are over. Returns whose
    /// signal is to be sent.
    mutating func open(at time: Duration) -> WakeSignal? {
        isOpen = true
        probe = nil
        nextTurn = max(nextTurn, time)
        let over = waiters.filter { _, waiter in
            if case .pausing(_, let endsWithNewPath) = waiter.place { endsWithNewPath } else { false }
        }
        for (ticket, waiter) in over.sorted(by: { $0.key < $1.key }) {
            waiters[ticket]?.place = .inLine
            getInLine(ticket, waiter.priority)
        }
        return leader.flatMap { waiters[$0]?.signal } ?? elect()
    }

    /// The signals of all that wait.
    var signals: [WakeSignal] { waiters.values.map(\.signal) }

    private mutating func getInLine(_ ticket: UInt64, _ priority: RetryPriority) {
        let waiters = waiters
        lines[priority].append(ticket, among: waiters.count) { waiters[$0]?.place == .inLine }
    }

    /// The first of the highest priority.
    private mutating func first() -> (ticket: UInt64, priority: RetryPriority)? {
        let waiters = waiters
        for priority in lines.priorities {
            let ticket = lines[priority].first { waiters[$0]?.place == .inLine }
            if let ticket { return (ticket, priority) }
        }
        return nil
    }

    /// Makes the first in line lead.
    private mutating func elect() -> WakeSignal? {
        leader = first()?.ticket
        return leader.flatMap { waiters[$0]?.signal }
    }
}

/// The turns of all hosts together. A value; time is told.
struct ReleasePace {
    let interval: Duration
    private var nextTurn = Duration.zero

    /// - Parameter interval: The time between two turns, at least.
    init(interval: Duration) {
        self.interval = interval
    }

    /// Gives a turn away, which may lie in the future.
    mutating func next(at now: Duration) -> Duration {
        let turn = max(now, nextTurn)
        nextTurn = turn + interval
        return turn
    }
}

/// Tickets in the order they came. Those that left are passed over when their turn comes; before they are the most of it the
/// line is cleared of them.
struct TicketLine {
    private var tickets: [UInt64] = []
    private var next = 0

    /// Puts a ticket at the end.
    ///
    /// - Parameters:
    ///   - ticket: One that is not in line.
    ///   - count: How many are in line at most.
    ///   - isWaiting: Whether a ticket has not left.
    mutating func append(_ ticket: UInt64, among count: Int, isWaiting: (UInt64) -> Bool) {
        tickets.append(ticket)
        guard tickets.count > 2 * count + 64 else { return }
        tickets = tickets[next...].filter(isWaiting)
        next = 0
    }

    /// Puts a ticket that was taken back where it was.
    mutating func putBack(_ ticket: UInt64) {
        if next > 0 {
            next -= 1
            tickets[next] = ticket
        } else {
            tickets.insert(ticket, at: 0)
        }
    }

    /// The first that has not left; stays in line.
    mutating func first(isWaiting: (UInt64) -> Bool) -> UInt64? {
        while next < tickets.count {
            if isWaiting(tickets[next]) { return tickets[next] }
            next += 1
        }
        tickets.removeAll(keepingCapacity: false)
        next = 0
        return nil
    }

    /// Takes the first, after `first(isWaiting:)` has said that there is one.
    mutating func removeFirst() {
        next += 1
    }
}

/// A line for each priority there is.
struct TicketLines {
    private var lines: [RetryPriority: TicketLine] = [.normal: TicketLine()]

    /// Those that there is a line for, the highest first.
    private(set) var priorities: [RetryPriority] = [.normal]

    subscript(priority: RetryPriority) -> TicketLine {
        get { lines[priority, default: TicketLine()] }
        _modify {
            if lines[priority] == nil {
                priorities.append(priority)
                priorities.sort(by: >)
            }
            yield &lines[priority, default: TicketLine()]
        }
    }
}
