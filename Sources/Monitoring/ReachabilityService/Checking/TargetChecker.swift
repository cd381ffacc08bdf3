import LinuxSupport
import ReachabilityChecks

/// A task that repeats the check of one target while there is a path. It ends when it is released.
///
/// At most one check runs at a time. The methods return at once, so they may be called under a lock. Thread-safe.
package final class TargetChecker: Sendable {
    private enum Message: Sendable {
        case go(after: Duration)
        case halt
        case checkNow
        /// The check with this number has ended. The next is due at the instant; nil if the result was discarded.
        case ended(UInt64, ContinuousClock.Instant?)
    }

    private let messages: MessageQueue<Message>
    private let task: Task<Void, Never>

    /// - Parameter check: Makes one check and returns the time until the next one; nil if the result was discarded. Its task is cancelled
    ///   if the path changes.
    package init(_ check: @escaping @Sendable () async -> Duration?) {
        let messages = MessageQueue<Message>()
        self.messages = messages
        task = Task { await Self.run(messages, check) }
    }

    deinit {
        end()
    }

    /// Starts checks of a new path after a delay. A running check is cancelled.
    package func go(after delay: Duration = .zero) { messages.post(.go(after: delay)) }

    /// Stops checks, because there is no path.
    package func halt() { messages.post(.halt) }

    /// Starts a check now, if there is a path and no check is running.
    package func checkNow() { messages.post(.checkNow) }

    /// Stops checks for good.
    package func end() {
        task.cancel()
        messages.call()
    }

    /// The minimum time between the starts of two checks if the path changes repeatedly.
    private static let spacing = Duration.milliseconds(250)

    private static func run(_ messages: MessageQueue<Message>, _ check: @escaping @Sendable () async -> Duration?) async
    {
        var isThere = false
        var due: ContinuousClock.Instant?
        var last: ContinuousClock.Instant?
        var running: Task<Void, Never>?
        var number: UInt64 = 0
        while !Task.isCancelled {
            for message in await messages.take(until: running == nil ? due : nil) {
                switch message {
                case .go(let delay):
                    running?.cancel()
                    (running, isThere) = (nil, true)
                    due = max(.now + delay, last.map { $0 + spacing } ?? .now)
                case .halt:
                    running?.cancel()
                    (running, isThere, due) = (nil, false, nil)
                case .checkNow: if running == nil, isThere { due = .now }
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
                messages.post(.ended(number, pause.map { .now + $0 }))
            }
        }
        running?.cancel()
    }
}
