import ReachabilityRetry
import Testing
import TokenRefresh

/// A server that accepts one token and counts requests.
private actor Server {
    private(set) var accepted = "new"
    private(set) var refreshes = 0
    private(set) var refusals = 0
    private(set) var successes = 0

    func answer(_ request: RequestHead) throws {
        guard request["Authorization"] == "Bearer \(accepted)" else {
            refusals += 1
            throw StatusFailure(status: 401)
        }
        successes += 1
    }

    func refresh(_ old: String) async -> String {
        refreshes += 1
        // Returns after all other requests have been rejected too.
        while refusals < 100 { await Task.yield() }
        return accepted
    }

    func refuseAll() { accepted = "another" }
}

struct RefreshFailed: Error {}

/// Sends a request with the interceptor as adapter and retrier. Throws the last error.
private func send(_ request: RequestHead, _ interceptor: TokenInterceptor, to server: Server) async throws {
    let options = RequestRetryOptions(adapter: interceptor, retrier: interceptor)
    do throws(RetryError) {
        _ = try await withRetry(request, options: options) { try await server.answer($0) }
    } catch {
        throw error.underlyingError ?? error
    }
}

@Suite struct TokenRefreshTests {
    @Test func `a hundred requests with an old token need one refresh`() async throws {
        let server = Server()
        let interceptor = TokenInterceptor(token: "old") { await server.refresh($0) }
        try await withThrowingTaskGroup { group in
            for number in 0..<100 {
                group.addTask {
                    let request = RequestHead(url: "https://example.org/\(number)")
                    try await send(request, interceptor, to: server)
                }
            }
            try await group.waitForAll()
        }
        #expect(await server.refreshes == 1)
        #expect(await server.refusals == 100)
        #expect(await server.successes == 100)
    }

    @Test func `a failed refresh fails all waiting requests`() async throws {
        let server = Server()
        let interceptor = TokenInterceptor(token: "old") { _ in
            while await server.refusals < 10 { await Task.yield() }
            throw RefreshFailed()
        }
        await withTaskGroup { group in
            for _ in 0..<10 {
                group.addTask {
                    await #expect(throws: RefreshFailed.self) {
                        let request = RequestHead(url: "https://example.org/")
                        try await send(request, interceptor, to: server)
                    }
                }
            }
        }
        #expect(await server.successes == 0)
    }

    @Test func `a second 401 is an answer`() async throws {
        let server = Server()
        await server.refuseAll()
        let interceptor = TokenInterceptor(token: "old") { _ in "new" }
        await #expect(throws: StatusFailure(status: 401)) {
            let request = RequestHead(url: "https://example.org/")
            try await send(request, interceptor, to: server)
        }
        #expect(await server.refusals == 2)
    }
}
