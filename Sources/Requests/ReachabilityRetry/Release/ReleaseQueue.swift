/// Those that wait to retry at one host, and when whose turn is. A value: time and chance are told, and what it wants woken
/// it returns.
///
/// While the gate is open, one of those in line leads: it alone sleeps until the next turn, and then lets the first in line go,
/// itself or another. So one timer paces any number, whoever leaves is not missed, and no task of its own is needed.
struct ReleaseQueue<WakeSignal> {
    /// What somebody is to do who asks.
    enum Step: Equatable {
        case go
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
        case released
    }

    private struct Waiter {
        let priority: RetryPriority
        let signal: WakeSignal
        var place: Place
    }

    private let interval: Duration
    private var waiters: [UInt64: Waiter] = [:]
    private var lines = [TicketLine](repeating: TicketLine(), count: RetryPriority.allCases.count)
    private var leader: UInt64?
    private var lastTicket: UInt64 = 0

    /// Before this nobody goes.
    private(set) var nextTurn: Duration = .zero

    /// Whether anybody may go: not while the target is not reachable.
    private(set) var isOpen = true

    /// - Parameter interval: The time between two turns, at least.
    init(interval: Duration) {
        self.interval = interval
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
        lines[priority.rawValue].putBack(ticket)
    }

    /// What somebody who waits is to do now, and whose signal is to be sent. Who is told to go waits no more.
    mutating func step(_ ticket: UInt64, now: Duration) -> (step: Step, wake: WakeSignal?) {
        guard let waiter = waiters[ticket] else { return (.go, nil) }
        switch waiter.place {
        case .released:
            waiters[ticket] = nil
            return (.go, nil)
        case .pausing(let time, _) where now < time:
            return (.sleep(until: time), nil)
        case .pausing:
            waiters[ticket]?.place = .inLine
            getInLine(ticket, waiter.priority)
        case .inLine:
            break
        }
        guard isOpen else { return (.sleep(until: nil), nil) }
        if leader == nil { leader = ticket }
        guard leader == ticket else { return (.sleep(until: nil), nil) }
        guard now >= nextTurn, let first = first() else { return (.sleep(until: nextTurn), nil) }
        lines[first.priority.rawValue].removeFirst()
        nextTurn = now + interval
        guard first.ticket == ticket else {
            waiters[first.ticket]?.place = .released
            return (.sleep(until: nextTurn), waiters[first.ticket]?.signal)
        }
        waiters[ticket] = nil
        return (.go, elect())
    }

    /// Waits no more, for whatever reason. Returns whose signal is to be sent.
    mutating func remove(_ ticket: UInt64) -> WakeSignal? {
        waiters[ticket] = nil
        return leader == ticket ? elect() : nil
    }

    /// Nobody goes until `open(at:)`.
    mutating func close() {
        isOpen = false
        leader = nil
    }

    /// The target is reachable, by a new path: nobody before `time`. Pauses that end with a new path are over. Returns whose
    /// signal is to be sent.
    mutating func open(at time: Duration) -> WakeSignal? {
        isOpen = true
        nextTurn = max(nextTurn, time)
        let over = waiters.filter { _, waiter in
            if case .pausing(_, let endsWithNewPath) = waiter.place { endsWithNewPath } else { false }
        }
        for (ticket, waiter) in over.sorted(by: { $0.key < $1.key }) {
            waiters[ticket]?.place = .inLine
            getInLine(ticket, waiter.priority)
        }
        return leader == nil ? elect() : nil
    }

    /// The signals of all that wait.
    var signals: [WakeSignal] { waiters.values.map(\.signal) }

    private mutating func getInLine(_ ticket: UInt64, _ priority: RetryPriority) {
        let waiters = waiters
        lines[priority.rawValue].append(ticket, among: waiters.count) { waiters[$0]?.place == .inLine }
    }

    /// The first of the highest priority.
    private mutating func first() -> (ticket: UInt64, priority: RetryPriority)? {
        let waiters = waiters
        for priority in RetryPriority.allCases.reversed() {
            let ticket = lines[priority.rawValue].first { waiters[$0]?.place == .inLine }
            if let ticket { return (ticket, priority) }
        }
        return nil
    }

    /// Makes the first in line lead.
    private mutating func elect() -> WakeSignal? {
        leader = isOpen ? first()?.ticket : nil
        return leader.flatMap { waiters[$0]?.signal }
    }
}
