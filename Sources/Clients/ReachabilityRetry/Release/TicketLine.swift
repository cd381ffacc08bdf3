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
