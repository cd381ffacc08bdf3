import Dispatch
import LinuxSupport

/// The requests of a session that have not ended.
///
/// A request is usually sent by its first handler, or by the first task that waits for its result. Any other request is sent 25 to 50 ms
/// after its creation, so that adapters and validations can be added before. One timer serves all requests of the session.
final class ActiveRequests: Sendable {
    /// Performs an action once, later.
    typealias Timer = @Sendable (_ action: @escaping @Sendable () -> Void) -> Void

    private enum Stage {
        /// The timer after the next one sends the request.
        case new
        /// The next timer sends the request.
        case due
        case sent
    }

    private struct State {
        var stages: [Request: Stage] = [:]
        var isTimed = false
    }

    private let state = Locked(State())
    private let timer: Timer

    init(
        timer: @escaping Timer = {
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(25), execute: $0)
        }
    ) {
        self.timer = timer
    }

    /// The requests that were sent or will be, and have not ended.
    var all: Set<Request> { Set(state.withLock { $0.stages }.keys) }

    /// Adds a new request. The timer sends it, unless it is sent before.
    func add(_ request: Request) {
        let isTimed = state.withLock { state in
            state.stages[request] = .new
            defer { state.isTimed = true }
            return state.isTimed
        }
        if !isTimed { setTimer() }
    }

    /// Records that a request is sent.
    func begin(_ request: Request) {
        state.withLock { $0.stages[request] = .sent }
    }

    /// Records that a request has ended.
    func end(_ request: Request) {
        state.withLock { _ = $0.stages.removeValue(forKey: request) }
    }

    private func setTimer() { timer { [self] in sendDue() } }

    private func sendDue() {
        let (due, isTimed) = state.withLock { state in
            var due: [Request] = []
            state.isTimed = false
            for (request, stage) in state.stages where stage != .sent {
                if stage == .due { due.append(request) } else { state.isTimed = true }
                state.stages[request] = stage == .due ? .sent : .due
            }
            return (due, state.isTimed)
        }
        for request in due {
            request.begin()
            if request.exchange.result != nil { end(request) }
        }
        if isTimed { setTimer() }
    }
}
