import LinuxSupport
import Netlink
import ReachabilityOutbox

/// A sender that records requests, and returns the configured results. After the last result it returns `delivered`.
/// Thread-safe.
final class TestSender: OutboxSender {
    private struct State {
        var sent: [OutboxDelivery] = []
        var answers: [OutboxResult] = []
        var answersToBody: [String: OutboxResult] = [:]
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    init(_ answers: OutboxResult...) {
        state.withLock { $0.answers = answers }
    }

    /// Sets the next results.
    func answer(_ answers: OutboxResult...) { state.withLock { $0.answers = answers } }

    /// Sets the result of all requests with a body.
    func answer(to body: String, _ answer: OutboxResult) { state.withLock { $0.answersToBody[body] = answer } }

    var sent: [OutboxDelivery] { state.withLock { $0.sent } }

    /// The bodies of the requests, in the sequence in which they were sent.
    var bodies: [String] { sent.map { String(decoding: $0.request.body, as: UTF8.self) } }

    /// Makes each send wait for `release()`.
    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let held = state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    func send(_ delivery: OutboxDelivery) async -> OutboxResult {
        let answer = state.withLock { state in
            state.sent.append(delivery)
            if let answer = state.answersToBody[String(decoding: delivery.request.body, as: UTF8.self)] {
                return answer
            }
            return state.answers.isEmpty ? .delivered : state.answers.removeFirst()
        }
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isHeld { state.held.append(continuation) }
                return !state.isHeld
            }
            if isFree { continuation.resume() }
        }
        return answer
    }

    /// Waits until a number of requests has been sent.
    func untilSent(_ count: Int) async {
        while sent.count < count, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
    }
}

/// A sender that returns only when its task is cancelled.
final class StubbornSender: OutboxSender {
    private let state = Locked(false)

    var hasBegun: Bool { state.withLock { $0 } }

    func send(_ delivery: OutboxDelivery) async -> OutboxResult {
        state.withLock { $0 = true }
        while !Task.isCancelled { await Task.yield() }
        return .retry(after: nil)
    }
}

extension OutboxRequest {
    /// Returns a request whose body is its name.
    static func named(_ name: String, to host: String = "one.example") -> OutboxRequest {
        OutboxRequest("POST", "https://\(host)/orders?token=hush", body: Array(name.utf8))
    }
}
