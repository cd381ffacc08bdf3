/// The token, and those that wait for another. The first that finds it refused fetches the next in its own task; the others wait
/// for it, and are woken in the order they came.
actor TokenStore {
    private(set) var token: String
    private let refresh: @Sendable (String) async throws -> String
    private var isRefreshing = false
    private var waiting: [AsyncStream<(any Error)?>.Continuation] = []

    init(_ token: String, _ refresh: @escaping @Sendable (String) async throws -> String) {
        self.token = token
        self.refresh = refresh
    }

    /// Returns when there is another token than the one that was refused.
    func replace(_ refused: String) async throws {
        // Somebody has fetched one since this request was sent.
        guard token == refused else { return }
        guard !isRefreshing else { return try await waitForOther() }
        isRefreshing = true
        var failure: (any Error)?
        do { token = try await refresh(refused) } catch { failure = error }
        isRefreshing = false
        for one in waiting { one.yield(failure) }
        waiting = []
        if let failure { throw failure }
    }

    private func waitForOther() async throws {
        let (ends, end) = AsyncStream.makeStream(of: (any Error)?.self, bufferingPolicy: .bufferingOldest(1))
        waiting.append(end)
        for await failure in ends {
            if let failure { throw failure }
            return
        }
        // The stream ends without a value only when this request is cancelled.
        throw CancellationError()
    }
}
