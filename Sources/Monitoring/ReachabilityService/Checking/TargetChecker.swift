import LinuxSupport
import ReachabilityChecks

/// Checks one target whenever it is time, as long as it is held and there is a path. One check at a time; whatever happens meanwhile is not
/// kept waiting. What it is told may be told under a lock. Thread-safe.
package final class TargetChecker: Sendable {
    private enum Message: Sendable {
        case go(after: Duration)
        case halt
        case ask
        /// The check of that number is over; the next is due then, or nothing follows from it.
        case ended(UInt64, ContinuousClock.Instant?)
    }

    private let mailbox: Mailbox<Message>
    private let task: Task<Void, Never>

    /// - Parameter check: Makes one check, and says how long to wait until the next begins; nil where what it found is void. It is cancelled
    ///   where its path is no more.
    package init(_ check: @escaping @Sendable () async -> Duration?) {
        let mailbox = Mailbox<Message>()
        self.mailbox = mailbox
        task = Task { await Self.run(mailbox, check) }
    }

    deinit {
        end()
    }

    /// There is a path, or another one: a check is made of it, after so long.
    package func go(after delay: Duration = .zero) { mailbox.post(.go(after: delay)) }

    /// There is no path.
    package func halt() { mailbox.post(.halt) }

    /// A check is made now, if there is a path and none is under way.
    package func ask() { mailbox.post(.ask) }

    /// No check is made any more.
    package func end() {
        task.cancel()
        mailbox.call()
    }

    /// A path that comes and goes is not checked more often than that.
    private static let spacing = Duration.milliseconds(250)

    private static func run(_ mailbox: Mailbox<Message>, _ check: @escaping @Sendable () async -> Duration?) async {
        var isThere = false
        var due: ContinuousClock.Instant?
        var last: ContinuousClock.Instant?
        var running: Task<Void, Never>?
        var number: UInt64 = 0
        while !Task.isCancelled {
            for message in await mailbox.take(until: running == nil ? due : nil) {
                switch message {
                case .go(let delay):
                    running?.cancel()
                    (running, isThere) = (nil, true)
                    due = max(.now + delay, last.map { $0 + spacing } ?? .now)
                case .halt:
                    running?.cancel()
                    (running, isThere, due) = (nil, false, nil)
                case .ask: if running == nil, isThere { due = .now }
                case .ended(let ended, let next):
                    guard ended == number, running != nil else { break }
                    (running, due) = (nil, next)
                }
            }
            guard running == nil, isThere, let time = due, time <= .now, !Task.isCancelled else { continue }
            number += 1
            (last, due) = (.now, nil)
            running = Task { [number] in
                let pause = await check()
                mailbox.post(.ended(number, pause.map { .now + $0 }))
            }
        }
        running?.cancel()
    }
}
