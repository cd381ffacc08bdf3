import LinuxSupport
import TestSupport
import Testing

@testable import ReachabilityRequests

/// A token with a number.
private struct Token: AuthenticationCredential, Hashable {
    var number = 0
    var requiresRefresh = false

    var field: String { "Bearer \(number)" }
}

/// An authenticator whose refresh returns the next number. A held refresh ends when the test calls `end()`.
private final class Numbers: Authenticator {
    struct Failure: Error {}
    typealias Completion = @Sendable (Result<Token, any Error>) -> Void

    let refreshes = Locked(0)
    private let held = Locked<[Completion]>([])
    private let begun: AsyncStream<Void>.Continuation
    /// An element for each refresh that has begun.
    let begins: AsyncStream<Void>
    private let holds: Bool
    private let fails: Bool
    /// Whether each refreshed token has already expired.
    private let isEverOld: Bool

    init(holds: Bool = false, fails: Bool = false, isEverOld: Bool = false) {
        (begins, begun) = AsyncStream.makeStream(of: Void.self)
        self.holds = holds
        self.fails = fails
        self.isEverOld = isEverOld
    }

    func apply(_ credential: Token, to urlRequest: inout URLRequest) {
        urlRequest.headers["Authorization"] = credential.field
    }

    func refresh(_ credential: Token, for session: Session, completion: @escaping Completion) {
        refreshes.withLock { $0 += 1 }
        let end: Completion = { [fails, isEverOld] _ in
            let next = Token(number: credential.number + 1, requiresRefresh: isEverOld)
            completion(fails ? .failure(Failure()) : .success(next))
        }
        if holds { held.withLock { $0.append(end) } } else { end(.success(credential)) }
        begun.yield()
    }

    /// Completes all held refreshes.
    func end() {
        let ends = held.withLock { held in
            defer { held = [] }
            return held
        }
        for end in ends { end(.success(Token())) }
    }

    func didRequest(
        _ request: URLRequest,
        with response: HTTPURLResponse,
        failDueToAuthenticationError: any Error
    ) -> Bool { response.statusCode == 401 }

    func isRequest(_ request: URLRequest, authenticatedWith credential: Token) -> Bool {
        request.headers["Authorization"] == credential.field
    }
}

/// `AuthenticationInterceptor` with the expectations of Alamofire's tests, against a server that accepts one number.
struct AuthenticationTests {
    private func accepting(_ number: Int) -> @Sendable (Seen) -> Reply {
        { Reply("x", status: $0.fields["authorization"] == "Bearer \(number)" ? 200 : 401) }
    }

    private func sent(_ lab: SessionLab) -> [String?] { lab.server.seen.map { $0.fields["authorization"] } }

    @Test func `a valid credential is sent without a refresh`() async throws {
        let numbers = Numbers()
        let interceptor = AuthenticationInterceptor(authenticator: numbers, credential: Token())
        try await withServer(accepting(0)) { lab in
            let session = try lab.session(interceptor: interceptor)
            #expect(try await session.request(lab.server.url()).validate().serializingString().value == "x")
            #expect(sent(lab) == ["Bearer 0"] && numbers.refreshes.withLock { $0 } == 0)
        }
    }

    @Test func `a request without a credential is an error, and is not sent`() async throws {
        let interceptor = AuthenticationInterceptor(authenticator: Numbers())
        try await withServer(accepting(0)) { lab in
            let session = try lab.session(interceptor: interceptor)
            let error = await #expect(throws: AFError.self) {
                try await session.request(lab.server.url()).serializingString().value
            }
            #expect(error?.underlyingError as? AuthenticationError == .missingCredential && lab.server.seen.isEmpty)
            interceptor.credential = Token()
            #expect(
                try await session.request(lab.server.url()).serializingString().value == "x"
                    && interceptor.credential == Token()
            )
        }
    }

    @Test(arguments: [(true, ["Bearer 1"]), (false, ["Bearer 0", "Bearer 1"])])
    func `a credential is refreshed before it is sent if it has expired, or after a 401`(
        isOld: Bool,
        fields: [String]
    ) async throws {
        let numbers = Numbers()
        let token = Token(requiresRefresh: isOld)
        let interceptor = AuthenticationInterceptor(authenticator: numbers, credential: token)
        try await withServer(accepting(1)) { lab in
            let session = try lab.session(interceptor: interceptor)
            #expect(try await session.request(lab.server.url()).validate().serializingString().value == "x")
            #expect(sent(lab) == fields && interceptor.credential?.number == 1)
            #expect(numbers.refreshes.withLock { $0 } == 1)
        }
    }

    @Test(arguments: [true, false])
    func `a hundred requests share one refresh`(isOld: Bool) async throws {
        let numbers = Numbers(holds: true)
        let token = Token(requiresRefresh: isOld)
        let interceptor = AuthenticationInterceptor(authenticator: numbers, credential: token)
        try await withServer(accepting(1)) { lab in
            let session = try lab.session(interceptor: interceptor)
            try await withThrowingTaskGroup { group in
                for _ in 0..<100 {
                    group.addTask { try await session.request(lab.server.url()).validate().serializingString().value }
                }
                for await _ in numbers.begins { break }
                numbers.end()
                for try await text in group { #expect(text == "x") }
            }
            #expect(numbers.refreshes.withLock { $0 } == 1)
        }
    }

    @Test(arguments: [true, false])
    func `a failed refresh fails the requests that wait for it`(isOld: Bool) async throws {
        let numbers = Numbers(fails: true)
        let token = Token(requiresRefresh: isOld)
        let interceptor = AuthenticationInterceptor(authenticator: numbers, credential: token)
        try await withServer(accepting(1)) { lab in
            let session = try lab.session(interceptor: interceptor)
            let error = await #expect(throws: AFError.self) {
                try await session.request(lab.server.url()).validate().serializingString().value
            }
            #expect(deepest(error) is Numbers.Failure && lab.server.seen.count == (isOld ? 0 : 1))
            #expect(interceptor.credential == token)
        }
    }

    @Test(arguments: [401, 403, 404, 500, nil])
    func `a failure for another reason does not refresh the credential`(status: Int?) async throws {
        let numbers = Numbers()
        let interceptor = AuthenticationInterceptor(authenticator: numbers, credential: Token())
        try await withServer({ _ in
            var reply = Reply("x", status: status ?? 200)
            if status == nil { (reply.length, reply.closes) = (2, true) }
            return reply
        }) { lab in
            let session = try lab.session(interceptor: interceptor)
            // Without a validation every status is an answer, also 401.
            _ = await session.request(lab.server.url()).serializingString().response
            if status != 401 {
                _ = await session.request(lab.server.url()).validate().serializingString().response
            }
            #expect(numbers.refreshes.withLock { $0 } == 0)
        }
    }

    @Test func `a request that was sent with an earlier credential is sent again without a refresh`() async throws {
        let numbers = Numbers()
        let interceptor = AuthenticationInterceptor(authenticator: numbers, credential: Token())
        try await withServer({ seen in
            // Another request refreshes the credential meanwhile.
            if seen.fields["authorization"] == "Bearer 0" { interceptor.credential = Token(number: 7) }
            return Reply("x", status: seen.fields["authorization"] == "Bearer 7" ? 200 : 401)
        }) { lab in
            let session = try lab.session(interceptor: interceptor)
            #expect(try await session.request(lab.server.url()).validate().serializingString().value == "x")
            #expect(sent(lab) == ["Bearer 0", "Bearer 7"] && numbers.refreshes.withLock { $0 } == 0)
        }
    }

    @Test func `the number of refreshes is limited within a time window`() async throws {
        let world = VirtualWorld()
        let numbers = Numbers()
        let interceptor = AuthenticationInterceptor(
            authenticator: numbers,
            credential: Token(),
            refreshWindow: .init(interval: 10, maximumAttempts: 2),
            clock: world
        )
        try await withServer({ _ in Reply(status: 401) }) { lab in
            let session = try lab.session(interceptor: interceptor)
            let request = session.request(lab.server.url()).validate()
            let error = await #expect(throws: AFError.self) { try await request.serializingString().value }
            #expect(deepest(error) as? AuthenticationError == .excessiveRefresh)
            #expect(numbers.refreshes.withLock { $0 } == 2)
            world.run { try? await world.sleep(for: .seconds(10)) }
            _ = try? await session.request(lab.server.url()).validate().serializingString().value
            #expect(numbers.refreshes.withLock { $0 } > 2)
        }
    }

    @Test(arguments: [(AuthenticationInterceptor<Numbers>.RefreshWindow?.none, 1), (.init(maximumAttempts: 3), 3)])
    private func `a credential that is always expired is refreshed a limited number of times`(
        window: AuthenticationInterceptor<Numbers>.RefreshWindow?,
        count: Int
    ) async throws {
        let numbers = Numbers(isEverOld: true)
        let token = Token(requiresRefresh: true)
        let interceptor = AuthenticationInterceptor(authenticator: numbers, credential: token, refreshWindow: window)
        try await withServer(accepting(1)) { lab in
            let session = try lab.session(interceptor: interceptor)
            let result = await session.request(lab.server.url()).validate().serializingString().response
            #expect((result.error == nil) == (window == nil))
            #expect(numbers.refreshes.withLock { $0 } == count)
        }
    }

    @Test func `a refresh continues after the request that started it was cancelled`() async throws {
        let numbers = Numbers(holds: true)
        let token = Token(requiresRefresh: true)
        let interceptor = AuthenticationInterceptor(authenticator: numbers, credential: token)
        try await withServer(accepting(1)) { lab in
            let session = try lab.session(interceptor: interceptor)
            let first = session.request(lab.server.url())
            let task = Task { try await first.serializingString().value }
            for await _ in numbers.begins { break }
            first.cancel()
            await #expect(throws: AFError.self) { try await task.value }
            numbers.end()
            numbers.end()
            #expect(interceptor.credential?.number == 1)
            #expect(try await session.request(lab.server.url()).validate().serializingString().value == "x")
            #expect(numbers.refreshes.withLock { $0 } == 1)
        }
    }

    private func deepest(_ error: AFError?) -> (any Error)? {
        switch error?.underlyingError {
        case let below as URLError: below.failure
        case let below as AFError: deepest(below)
        case let other: other ?? error
        }
    }
}
