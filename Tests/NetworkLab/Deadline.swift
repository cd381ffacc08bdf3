import Glibc

extension Duration {
    /// The default time limit of a wait in a test: long enough for a machine that is ten times slower, so that only an event that never
    /// comes exceeds it.
    package static var patience: Duration { .seconds(300) }
}

/// A moment by which something must have happened.
package struct Deadline: Sendable {
    private let instant: ContinuousClock.Instant

    package init(after duration: Duration) {
        instant = .now + duration
    }

    package var hasPassed: Bool { ContinuousClock.now >= instant }

    /// What is left, rounded up to milliseconds, as poll(2) wants it.
    package var milliseconds: CInt {
        let left = instant - .now
        guard left > .zero else { return 0 }
        return CInt(clamping: left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1)
    }

    /// Asks again and again until the condition holds. Blocks the thread. Whether it held in time.
    package func poll(every pause: Duration = .milliseconds(20), _ condition: () throws -> Bool) rethrows -> Bool {
        while true {
            if try condition() { return true }
            if hasPassed { return false }
            LabThread.pause(pause)
        }
    }
}

/// Repeats the condition until it holds. Returns whether it held within the limit.
package func eventually(
    within limit: Duration = .patience,
    every pause: Duration = .milliseconds(20),
    _ condition: () async throws -> Bool
) async throws -> Bool {
    let deadline = Deadline(after: limit)
    while true {
        if try await condition() { return true }
        if deadline.hasPassed { return false }
        try await Task.sleep(for: pause)
    }
}

extension LabThread {
    /// Blocks the calling thread.
    package static func pause(_ duration: Duration) {
        let parts = duration.components
        usleep(UInt32(clamping: parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000))
    }
}
