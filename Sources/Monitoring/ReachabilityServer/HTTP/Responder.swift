import Dispatch
import LinuxSupport
import NIOHTTP1
package import ReachabilityService

/// The web server of a service or a hub, with its access control and the queues on which a ``Router`` makes answers.
///
/// It can listen before it has a router. Therefore the program detects an address in use before it writes anything.
package struct Responder: Sendable {
    package let server: WebServer
    private let access: Access
    private let router: Locked<Router?>

    /// - Parameters:
    ///   - owner: The name of the program in messages: `service` or `hub`.
    ///   - streamBytes: The maximum number of bytes that a stream keeps for a slow client; nil for the default.
    package init(_ access: Access, of owner: String, streamBytes: Int? = nil) {
        self.access = access
        let router = Locked<Router?>(nil)
        self.router = router
        let queues = Dictionary(
            uniqueKeysWithValues: AnswerQueue.allCases.map { ($0, RequestQueue("reachability.\($0)")) }
        )
        var limits = WebLimits()
        // The process needs some descriptors for other purposes.
        limits.connections = max(16, min(limits.connections, OpenFiles.raiseLimit() - 64))
        if let streamBytes { limits.streamBytes = streamBytes }
        server = WebServer(limits: limits, tls: { access.tls }) { request, done in
            guard let router = router.withLock(\.self) else {
                return done(Problem(.serviceUnavailable, "the \(owner) is starting").answer(as: .json))
            }
            let (queue, answer) = router.resolve(request)
            guard let queue = queue.flatMap({ queues[$0] }) else { return done(answer()) }
            queue.add(request, answer, done)
        }
    }

    /// Starts to answer requests with a router. Before, requests are answered with 503.
    package func begin(_ router: Router) { self.router.withLock { $0 = router } }

    /// Checks the access control of a configuration and returns a closure that applies it. It is used as a preparation of ``Reloader``.
    @Sendable package func prepareAccess(
        _ configuration: ServiceConfiguration
    ) throws(ConfigurationProblems) -> @Sendable () -> Void {
        let use = try access.prepare(configuration)
        return { [server] in if use() { server.endSecured() } }
    }
}

/// A queue that answers requests one at a time, with one request of each client in turn. Thread-safe.
///
/// Therefore a client with many requests delays only its own requests. Requests of a client that has disconnected are dropped.
final class RequestQueue: Sendable {
    private struct State {
        var waiting: [WebClient: [@Sendable () -> Void]] = [:]
        /// The clients that have waiting requests, in the order in which they are served.
        var turns: [WebClient] = []
    }

    private let queue: DispatchQueue
    private let state = Locked(State())

    init(_ label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Adds a request.
    ///
    /// - Parameters:
    ///   - answer: Makes the answer. Called on the queue.
    ///   - done: Receives the answer. Called on the queue.
    func add(
        _ request: WebRequest,
        _ answer: @escaping @Sendable () -> WebAnswer,
        _ done: @escaping @Sendable (WebAnswer) -> Void
    ) {
        state.withLock { state in
            if state.waiting[request.client] == nil { state.turns.append(request.client) }
            state.waiting[request.client, default: []].append {
                done(request.isAbandoned() ? WebAnswer(.serviceUnavailable) : answer())
            }
        }
        queue.async { [self] in next()?() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.turns.isEmpty else { return nil }
            let client = state.turns.removeFirst()
            let work = state.waiting[client]?.removeFirst()
            if state.waiting[client]?.isEmpty ?? true {
                state.waiting[client] = nil
            } else {
                state.turns.append(client)
            }
            return work
        }
    }
}
