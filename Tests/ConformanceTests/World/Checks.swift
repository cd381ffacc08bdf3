import LinuxSupport
import NetworkLab
import Testing

/// What a test finds wrong on a thread of its own, where Swift Testing does not know whose issue it is.
final class Checks: Sendable {
    private let found: Locked<[(String, SourceLocation)]> = Locked([])

    func expect(
        _ condition: Bool,
        _ comment: @autoclosure () -> String,
        at location: SourceLocation = #_sourceLocation
    ) {
        if condition { return }
        let entry = (comment(), location)
        found.withLock { $0.append(entry) }
    }

    func expect<Value: Equatable>(
        _ value: Value,
        is expected: Value,
        at location: SourceLocation = #_sourceLocation
    ) {
        expect(value == expected, "\(value), not \(expected)", at: location)
    }

    /// Waits until a value is what it should become, and lets what is bound to happen in the world happen meanwhile.
    func expect<Value: Equatable>(
        in world: any World,
        within limit: Duration = .patience,
        _ value: @autoclosure () -> Value,
        becomes expected: Value,
        at location: SourceLocation = #_sourceLocation
    ) {
        let isReached = Deadline(after: limit).poll(every: .milliseconds(2)) {
            if value() == expected { return true }
            world.settle()
            return value() == expected
        }
        expect(isReached, "\(value()) did not become \(expected)", at: location)
    }

    /// Tells the test that runs now.
    func report() {
        for (comment, location) in found.withLock({ $0 }) {
            Issue.record(Comment(rawValue: comment), sourceLocation: location)
        }
    }
}
