/// The retries that wait at one host, and the order and times at which they start. A value type: the caller passes the
/// time and the random numbers, and sends the signals that the functions return.
///
/// One of the queued waiters is the leader. Only the leader sleeps until the next start time. It then releases the
/// first waiter of the queue, which may be itself. So one timer paces any number of waiters, a waiter that leaves
/// causes no gap, and no separate task is needed. While the queue is closed, the next start time is that of the next
/// probe.
struct ReleaseQueue<WakeSignal> {
    /// The next action of a waiter.
    enum Step: Equatable {
        case go
        /// Make an attempt although the queue is closed, to test whether the host is reachable again.
        case probe
        /// Call `step` again when the signal is sent, or at this time.
        case sleep(until: Duration?)
    }

    /// The wait before a waiter enters the queue.
    enum Pause: Equatable {
        case none
        /// Until this time, or until a new path if `endsWithNewPath` is true.
        case until(Duration, endsWithNewPath: Bool)
    }

    private enum Place: Equatable {
        case pausing(until: Duration, endsWithNewPath: Bool)
        case inLine
        /// Released by the leader. The waiter has not called `step` since.
        case released(isProbe: Bool)
    }

    private struct Waiter {
        let priority: RetryPriority
        let signal: WakeSignal
        var place: Place
    }

    private let interval: Duration
    /// The time that the queue is closed before the first probe. If nil, no probes are made.
    private let probeInterval: Duration?
    private var waiters: [UInt64: Waiter] = [:]
    private var lines = PriorityQueues()
    private var leader: UInt64?
    private var lastTicket: UInt64 = 0

    /// The earliest time of the next start.
    private(set) var nextTurn: Duration = .zero

    /// A Boolean value that indicates whether waiters may start. False while the host is not reachable.
    private(set) var isOpen = true

    /// The time until which the server requested a pause (Retry-After).
    private(set) var holdEnd: Duration = .zero

    /// The start time that the pace of all hosts has assigned to the leader and that is not used yet.
    private var place: Duration?

    /// The time of the next probe, and the time between it and the one after it. Nil while the queue is open.
    private var probe: (next: Duration, pause: Duration)?

    /// Creates an empty, open queue.
    ///
    /// - Parameters:
    ///   - interval: The minimum time between two starts.
    ///   - probeInterval: The time that the queue is closed before the first probe. It doubles with each probe. If nil,
    ///     no probes are made.
    init(interval: Duration, probeInterval: Duration? = nil) {
        self.interval = interval
        self.probeInterval = probeInterval
    }

    /// The number of waiters.
    var count: Int { waiters.count }

    /// Adds a waiter. Returns its ticket.
    mutating func add(_ priority: RetryPriority, pause: Pause, signal: WakeSignal) -> UInt64 {
        lastTicket += 1
        let ticket = lastTicket
        switch pause {
        case .none:
            waiters[ticket] = Waiter(priority: priority, signal: signal, place: .inLine)
            enqueue(ticket, priority)
        case .until(let time, let endsWithNewPath):
            let place = Place.pausing(until: time, endsWithNewPath: endsWithNewPath)
            waiters[ticket] = Waiter(priority: priority, signal: signal, place: place)
        }
        return ticket
    }

    /// Returns a released waiter to the head of its queue, because the host proved not to be reachable.
    mutating func putBack(_ ticket: UInt64, _ priority: RetryPriority, signal: WakeSignal) {
        waiters[ticket] = Waiter(priority: priority, signal: signal, place: .inLine)
        lines[priority].putBack(ticket)
    }

    /// Returns the next action of a waiter, and the signal to send, if any. A waiter that may start is removed.
    ///
    /// - Parameter pace: The pace of all hosts.
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
            enqueue(ticket, waiter.priority)
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

    /// Returns the time of the next start; nil if a waiter may start now, or if the queue is closed and has no probe.
    private mutating func turn(after now: Duration, _ pace: inout ReleasePace) -> Duration? {
        guard isOpen else { return probe.flatMap { $0.next > now ? $0.next : nil } }
        if now < nextTurn { return nextTurn }
        // The pace of the host permits a start. The pace of all hosts now assigns a time.
        let turn = place ?? pace.next(at: now)
        place = turn
        return turn > now ? turn : nil
    }

    /// Records that a waiter starts now.
    private mutating func take(at now: Duration) {
        guard isOpen else {
            probe = probe.map { (now + $0.pause * 2, $0.pause * 2) }
            return
        }
        place = nil
        nextTurn = now + interval
    }

    /// Removes a waiter. Returns the signal to send, if any.
    mutating func remove(_ ticket: UInt64) -> WakeSignal? {
        waiters[ticket] = nil
        return leader == ticket ? elect() : nil
    }

    /// Closes the queue until `open(at:)`. Only probes start. Returns the signal to send, if any.
    mutating func close(at now: Duration) -> WakeSignal? {
        guard isOpen else { return nil }
        isOpen = false
        probe = probeInterval.map { (now + $0, $0) }
        return leader.flatMap { waiters[$0]?.signal }
    }

    /// Permits no start before `time`, because the server requested it (Retry-After).
    mutating func hold(until time: Duration) {
        holdEnd = max(holdEnd, time)
        nextTurn = max(nextTurn, time)
    }

    /// Opens the queue, because the host is reachable. Permits no start before `time`, and ends the pauses that a new
    /// path ends. Returns the signal to send, if any.
    mutating func open(at time: Duration) -> WakeSignal? {
        isOpen = true
        probe = nil
        nextTurn = max(nextTurn, time)
        let over = waiters.filter { _, waiter in
            if case .pausing(_, let endsWithNewPath) = waiter.place { endsWithNewPath } else { false }
        }
        for (ticket, waiter) in over.sorted(by: { $0.key < $1.key }) {
            waiters[ticket]?.place = .inLine
            enqueue(ticket, waiter.priority)
        }
        return leader.flatMap { waiters[$0]?.signal } ?? elect()
    }

    /// The signals of all waiters.
    var signals: [WakeSignal] { waiters.values.map(\.signal) }

    private mutating func enqueue(_ ticket: UInt64, _ priority: RetryPriority) {
        let waiters = waiters
        lines[priority].append(ticket, among: waiters.count) { waiters[$0]?.place == .inLine }
    }

    /// Returns the first queued waiter of the highest priority.
    private mutating func first() -> (ticket: UInt64, priority: RetryPriority)? {
        let waiters = waiters
        for priority in lines.priorities {
            let ticket = lines[priority].first { waiters[$0]?.place == .inLine }
            if let ticket { return (ticket, priority) }
        }
        return nil
    }

    /// Makes the first queued waiter the leader. Returns its signal.
    private mutating func elect() -> WakeSignal? {
        leader = first()?.ticket
        return leader.flatMap { waiters[$0]?.signal }
    }
}

/// The start times that all hosts share. A value type: the caller passes the time.
struct ReleasePace {
    let interval: Duration
    private var nextTurn = Duration.zero

    /// Creates a pace whose first start time is now.
    ///
    /// - Parameter interval: The minimum time between two starts.
    init(interval: Duration) {
        self.interval = interval
    }

    /// Assigns a start time, which may be in the future.
    mutating func next(at now: Duration) -> Duration {
        let turn = max(now, nextTurn)
        nextTurn = turn + interval
        return turn
    }
}

/// Tickets in order of arrival. A ticket whose waiter has left is skipped when it is first. The array is compacted
/// before such tickets are the majority.
struct FIFOQueue {
    private var tickets: [UInt64] = []
    private var next = 0

    /// Appends a ticket.
    ///
    /// - Parameters:
    ///   - ticket: A ticket that is not in the queue.
    ///   - count: The maximum number of waiters.
    ///   - isWaiting: Returns whether the waiter of a ticket is still in the queue.
    mutating func append(_ ticket: UInt64, among count: Int, isWaiting: (UInt64) -> Bool) {
        tickets.append(ticket)
        guard tickets.count > 2 * count + 64 else { return }
        tickets = tickets[next...].filter(isWaiting)
        next = 0
    }

    /// Returns a removed ticket to the head of the queue.
    mutating func putBack(_ ticket: UInt64) {
        if next > 0 {
            next -= 1
            tickets[next] = ticket
        } else {
            tickets.insert(ticket, at: 0)
        }
    }

    /// Returns the first ticket whose waiter is still in the queue, without removing it.
    mutating func first(isWaiting: (UInt64) -> Bool) -> UInt64? {
        while next < tickets.count {
            if isWaiting(tickets[next]) { return tickets[next] }
            next += 1
        }
        tickets.removeAll(keepingCapacity: false)
        next = 0
        return nil
    }

    /// Removes the first ticket. Call only after `first(isWaiting:)` has returned a ticket.
    mutating func removeFirst() {
        next += 1
    }
}

/// One queue per priority.
struct PriorityQueues {
    private var lines: [RetryPriority: FIFOQueue] = [.normal: FIFOQueue()]

    /// The priorities in use, highest first.
    private(set) var priorities: [RetryPriority] = [.normal]

    subscript(priority: RetryPriority) -> FIFOQueue {
        get { lines[priority, default: FIFOQueue()] }
        _modify {
            if lines[priority] == nil {
                priorities.append(priority)
                priorities.sort(by: >)
            }
            yield &lines[priority, default: FIFOQueue()]
        }
    }
}
