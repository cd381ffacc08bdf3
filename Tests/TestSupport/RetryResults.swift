import LinuxSupport
package import ReachabilityRetry

extension VirtualWorld {
    /// Returns a coordinator with this clock.
    package func coordinator(
        _ reachability: some ReachabilityProvider,
        _ limits: RetryLimits = .standard,
        advisor: (any RetryAdvisor)? = nil,
        observer: RetryObserver? = nil,
        seed: UInt64 = 1
    ) -> RetryCoordinator {
        RetryCoordinator(
            limits: limits,
            reachability: reachability,
            advisor: advisor,
            observer: observer,
            clock: self,
            random: SeededGenerator(seed: seed)
        )
    }

    /// Returns the result of `body`, which runs concurrently with `meanwhile`.
    package func result<Value: Sendable>(
        meanwhile: @escaping @Sendable () async -> Void = {},
        _ body: @escaping @Sendable () async throws(RetryError) -> Value
    ) -> Result<Value, RetryError> {
        run {
            async let other: Void = meanwhile()
            let result = await Self.result(body)
            await other
            return result
        }
    }

    private static func result<Value>(_ body: () async throws(RetryError) -> Value) async -> Result<Value, RetryError> {
        do throws(RetryError) { return .success(try await body()) } catch { return .failure(error) }
    }

    /// Returns the ending of a request; nil after a success.
    package func ending(
        _ target: RetryTarget,
        _ coordinator: RetryCoordinator,
        policy: RetryPolicy = .standard,
        _ attempt: @escaping @Sendable (_ number: Int) async throws -> Void
    ) async -> RetryError.Ending? {
        let result = await Self.result { () throws(RetryError) in
            try await withRetry(
                policy: policy,
                target: target,
                coordinator: coordinator,
                clock: self,
                operation: attempt
            )
        }
        return result.failure?.ending
    }
}

extension Result {
    /// The error; nil after a success.
    package var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

/// A request whose attempts have numbers as their responses.
package struct NumberedRequest: Sendable {
    private let request: RetriedRequest
    private let kept: Locked<Int?>

    package init(
        _ request: RequestHead,
        policy: RetryPolicy = .standard,
        options: RequestRetryOptions,
        release: @escaping @Sendable (Int) -> Void = { _ in },
        send: @escaping @Sendable (AttemptProgress) async throws -> (number: Int, head: ResponseHead)
    ) {
        let kept = Locked<Int?>(nil)
        self.kept = kept
        self.request = RetriedRequest(
            request,
            host: "example.org",
            policy: policy,
            options: options,
            body: .none,
            release: { if let number = kept.withLock({ $0.take() }) { release(number) } },
            send: { _, progress in
                let (number, head) = try await send(progress)
                kept.withLock { $0 = number }
                return head
            }
        )
    }

    package func run() async throws(RetryError) -> RetryOutcome<Int> { try await request.run().returning(kept) }

    package func once(isProbe: Bool) async throws(RetryError) -> Int {
        try await request.once(isProbe: isProbe).returning(kept).value
    }
}
