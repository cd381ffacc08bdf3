import LinuxSupport

/// Asks each question once at a time, however many wait for the answer, and lets nobody wait longer than the limit.
///
/// The first who joins starts the work and the clock; whichever is through first lets all go on. Who is cancelled goes at once, and
/// with the last of them the work is cancelled. Work that does not heed that goes on alone, and is not heard.
final class FetchFlights: Sendable {
    private struct Flight {
        let number: UInt64
        var waiters: [UInt64: CheckedContinuation<FetchOutcome, Never>] = [:]
        var tasks: [Task<Void, Never>] = []
    }

    private struct State {
        var flights: [FetchKey: Flight] = [:]
        var numbers: UInt64 = 0

        mutating func next() -> UInt64 {
            numbers += 1
            return numbers
        }
    }

    private let state = Locked(State())
    let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter sleep: Throws when its task is cancelled.
    init(sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.sleep = sleep
    }

    /// How many wait for an answer.
    var waiting: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } } }

    func outcome(
        _ key: FetchKey,
        limit: Duration,
        _ work: @escaping @Sendable () async -> FetchOutcome
    ) async -> FetchOutcome {
        let waiter = state.withLock { $0.next() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                join(key, waiter, continuation, limit, work)
                // Who was cancelled before joining has not been found by the handler.
                if Task.isCancelled { leave(key, waiter) }
            }
        } onCancel: {
            leave(key, waiter)
        }
    }

    private func join(
        _ key: FetchKey,
        _ waiter: UInt64,
        _ continuation: CheckedContinuation<FetchOutcome, Never>,
        _ limit: Duration,
        _ work: @escaping @Sendable () async -> FetchOutcome
    ) {
        let started: UInt64? = state.withLock { state in
            let isFirst = state.flights[key] == nil
            if isFirst { state.flights[key] = Flight(number: state.next()) }
            state.flights[key]?.waiters[waiter] = continuation
            return isFirst ? state.flights[key]?.number : nil
        }
        guard let number = started else { return }
        let tasks = [
            Task { finish(key, number, await work()) },
            Task {
                guard (try? await sleep(limit)) != nil else { return }
                finish(key, number, .failed(.timedOut(limit)))
            },
        ]
        let isOver = state.withLock { state in
            guard state.flights[key]?.number == number else { return true }
            state.flights[key]?.tasks = tasks
            return false
        }
        if isOver { tasks.forEach { $0.cancel() } }
    }

    private func finish(_ key: FetchKey, _ number: UInt64, _ outcome: FetchOutcome) {
        let flight: Flight? = state.withLock { state in
            guard state.flights[key]?.number == number else { return nil }
            return state.flights.removeValue(forKey: key)
        }
        flight?.tasks.forEach { $0.cancel() }
        flight?.waiters.values.forEach { $0.resume(returning: outcome) }
    }

    private func leave(_ key: FetchKey, _ waiter: UInt64) {
        typealias Left = (CheckedContinuation<FetchOutcome, Never>?, [Task<Void, Never>])
        let (continuation, tasks): Left = state.withLock { state in
            let continuation = state.flights[key]?.waiters.removeValue(forKey: waiter)
            guard let flight = state.flights[key], flight.waiters.isEmpty else { return (continuation, []) }
            state.flights[key] = nil
            return (continuation, flight.tasks)
        }
        tasks.forEach { $0.cancel() }
        continuation?.resume(returning: .failed(.cancelled))
    }
}

/// Questions with the same key have the same answer.
struct FetchKey: Hashable, Sendable {
    let url: String
    /// Nil for a list, which is about many.
    let certificate: TrustCertificate?
    let issuer: ServerPublicKey?
}

/// What came of one question over the network, for all who wait for it.
enum FetchOutcome: Sendable {
    /// An OCSP response with the nonce that was sent.
    case response([UInt8], nonce: [UInt8]?)
    case list(RevocationList)
    case failed(RevocationProblem)
}
