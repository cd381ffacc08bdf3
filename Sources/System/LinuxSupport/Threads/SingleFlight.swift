/// A coordinator that runs the same asynchronous work once for all callers that request it at the same time.
///
/// The first caller with a key starts the work. The wait of a caller ends with the result or with the cancellation of
/// its task, whichever is first. If all callers are cancelled, the work is cancelled. If the work does not react to
/// cancellation, its result is ignored. Thread-safe.
package final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Flight {
        let number: UInt64
        let tasks: [Task<Void, Never>]
        var waiters: [UInt64: AsyncStream<Value>.Continuation] = [:]
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Locked(State())

    /// Creates a coordinator without work.
    package init() {}

    /// The number of waiting callers.
    package var waiting: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } } }

    /// Returns the result of the work; nil if the task is cancelled.
    ///
    /// - Parameters:
    ///   - key: The identity of the work.
    ///   - operations: The operations of the work, which run concurrently. The first result that is not nil is the
    ///     result of the work. At least one operation must have a result unless it is cancelled.
    package func value(
        for key: Key,
        _ operations: (@Sendable () async -> Value?)...
    ) async -> Value? {
        let (stream, waiter) = AsyncStream.makeStream(of: Value.self)
        let number = state.withLock { state in
            state.lastNumber += 1
            let number = state.lastNumber
            let flight = state.flights[key]
            state.flights[key] = flight ?? Flight(number: number, tasks: start(operations, key, number))
            state.flights[key]?.waiters[number] = waiter
            return number
        }
        waiter.onTermination = { [weak self] _ in self?.leave(key, number) }
        return await stream.first { _ in true }
    }

    private func start(
        _ operations: [@Sendable () async -> Value?],
        _ key: Key,
        _ number: UInt64
    ) -> [Task<Void, Never>] {
        operations.map { operation in
            Task {
                if let value = await operation() { self.end(key, number, with: value) }
            }
        }
    }

    private func end(_ key: Key, _ number: UInt64, with value: Value) {
        let flight: Flight? = state.withLock { state in
            guard state.flights[key]?.number == number else { return nil }
            return state.flights.removeValue(forKey: key)
        }
        guard let flight else { return }
        for task in flight.tasks { task.cancel() }
        for waiter in flight.waiters.values {
            waiter.yield(value)
            waiter.finish()
        }
    }

    private func leave(_ key: Key, _ waiter: UInt64) {
        let tasks: [Task<Void, Never>] = state.withLock { state in
            state.flights[key]?.waiters[waiter] = nil
            guard let flight = state.flights[key], flight.waiters.isEmpty else { return [] }
            state.flights[key] = nil
            return flight.tasks
        }
        for task in tasks { task.cancel() }
    }
}
