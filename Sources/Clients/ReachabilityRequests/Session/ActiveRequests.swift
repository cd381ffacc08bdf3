import Dispatch
import LinuxSupport

/// The requests of a session that have not ended.
///
/// A request is usually sent by its first handler, or by the first task that waits for its result. Any other request is sent 25 to 50 ms after
/// its creation, so that adapters and validations can be added before. One timer serves all requests of the session.
final class ActiveRequests: Sendable {
    /// Performs an action once, later.
    typealias Timer = @Sendable (_ action: @escaping @Sendable () -> Void) -> Void

    private struct State {
        var sent: Set<Request> = []
        /// The requests that the next timer sends.
        var due: Set<Request> = []
        /// The requests that the timer after it sends.
        var young: Set<Request> = []
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
    var all: Set<Request> { state.withLock { $0.sent.union($0.due).union($0.young) } }

    /// Adds a new request. The timer sends it, unless it is sent before.
    func add(_ request: Request) {
        let isTimed = state.withLock { state in
            state.young.insert(request)
            defer { state.isTimed = true }
            return state.isTimed
        }
        if !isTimed { setTimer() }
    }

    /// A request is sent.
    func begin(_ request: Request) {
        state.withLock { state in
            state.young.remove(request)
            state.due.remove(request)
            state.sent.insert(request)
        }
    }

    /// A request has ended.
    func end(_ request: Request) {
        state.withLock { state in
            state.young.remove(request)
            state.due.remove(request)
            state.sent.remove(request)
        }
    }

    private func setTimer() { timer { [self] in sendDue() } }

    private func sendDue() {
        let (due, isTimed) = state.withLock { state in
            let due = state.due
            (state.due, state.young) = (state.young, [])
            state.sent.formUnion(due)
            state.isTimed = !state.due.isEmpty
            return (due, state.isTimed)
        }
        for request in due {
            request.begin()
            if request.exchange.result != nil { end(request) }
        }
        if isTimed { setTimer() }
    }
}
