package import ReachabilityRetry

extension VirtualWorld {
    /// Returns a coordinator with this clock.
    package func coordinator(
        _ verdicts: some VerdictSource,
        _ limits: RetryLimits = .standard,
        advisor: (any RetryAdvisor)? = nil,
        observer: RetryObserver? = nil,
        seed: UInt64 = 1
    ) -> RetryCoordinator {
        RetryCoordinator(
            limits: limits,
            verdicts: verdicts,
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
