import AsyncHTTPClient
import LinuxSupport
import ReachabilityRequests
import TestSupport

/// A server, and sessions that retry within milliseconds.
struct SessionLab: Sendable {
    let server: SmallServer
    private let coordinator: RetryCoordinator

    init(_ server: SmallServer) throws {
        self.server = server
        let limits = try RetryLimits(rate: 10_000, spread: .zero, budget: RetryBudget(retryCost: 0))
        let reachability = NetlinkReachabilityProvider { _ in nil }
        coordinator = RetryCoordinator(limits: limits, reachability: reachability, random: SeededGenerator(seed: 1))
    }

    func session(
        deadline: Duration = .seconds(300),
        interceptor: (any RequestInterceptor)? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        limits: ResponseLimits = ResponseLimits(),
        cookieStorage: HTTPCookieStorage? = HTTPCookieStorage(),
        monitors: [any EventMonitor] = [],
        startRequestsImmediately: Bool = true,
        requestSetup: Session.RequestSetup = .lazy
    ) throws -> Session {
        let backoff = try Backoff(base: .milliseconds(1), cap: .milliseconds(4))
        return Session(
            settings: RetrySettings(
                policy: try RetryPolicy(deadline: deadline, attempts: 4, backoff: backoff),
                options: RequestRetryOptions(connectTimeout: .seconds(60), coordinator: coordinator)
            ),
            headers: headers,
            limits: limits,
            startRequestsImmediately: startRequestsImmediately,
            requestSetup: requestSetup,
            interceptor: interceptor,
            cookieStorage: cookieStorage,
            eventMonitors: monitors
        )
    }
}

/// Runs `body` with a server that replies with the results of `answer`, and stops the server.
func withServer(
    _ answer: @escaping @Sendable (Seen) -> Reply,
    _ body: (SessionLab) async throws -> Void
) async throws {
    let server = try SmallServer(answer)
    defer { server.stop() }
    try await body(SessionLab(server))
}

/// Replies in a fixed order. The last one repeats.
final class Replies: Sendable {
    private let rest: Locked<[Reply]>

    init(_ replies: [Reply]) { rest = Locked(replies) }

    func next() -> Reply {
        rest.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
    }
}

/// The kinds of errors that ReachabilityAlamofire names.
extension AFError {
    var isInvalidURLError: Bool { if case .invalidURL = self { true } else { false } }
    var isMultipartEncodingError: Bool { if case .multipartEncodingFailed = self { true } else { false } }
    var isRequestAdaptationError: Bool { if case .requestAdaptationFailed = self { true } else { false } }
    var isRequestRetryError: Bool { if case .requestRetryFailed = self { true } else { false } }
    var isCreateURLRequestError: Bool { if case .createURLRequestFailed = self { true } else { false } }
    var isDownloadedFileMoveError: Bool { if case .downloadedFileMoveFailed = self { true } else { false } }
    var isResponseSerializationError: Bool { if case .responseSerializationFailed = self { true } else { false } }
}
