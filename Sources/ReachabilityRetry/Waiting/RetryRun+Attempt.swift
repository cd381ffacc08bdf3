import Netlink

extension RetryRun {
    /// Makes one attempt, which is cancelled at the deadline and by a shutdown; returns when it has ended, and its result is there.
    ///
    /// - Returns: What cut it short, if it was not let run to its end.
    func attempt(_ number: Int) async -> RetryError.Ending? {
        let bell = Bell()
        let latest = Locked<Result<Value, any Error>>(.failure(CancellationError()))
        defer { result = latest.withLock { $0 } }
        guard let registration = coordinator.beginAttempt(bell) else { return .shutDown }
        defer { coordinator.endAttempt(registration) }
        return await withTaskGroup(of: AttemptEvent.self) { group in
            group.addTask { [operation] in
                do {
                    let value = try await operation(number)
                    latest.withLock { $0 = .success(value) }
                } catch {
                    latest.withLock { $0 = .failure(error) }
                }
                return .ended
            }
            group.addTask { [coordinator, deadline, clock] in
                let ending = await coordinator.end(ofAttemptUntil: deadline, on: clock, bell)
                return ending.map { .cut($0) } ?? .nothing
            }
            var cut: RetryError.Ending?
            while let event = await group.next() {
                if case .nothing = event { continue }
                if case .cut(let ending) = event, cut == nil { cut = ending }
                group.cancelAll()
                // What happens after the end cuts nothing short.
                if case .ended = event { break }
            }
            return cut
        }
    }
}

/// What may happen while an attempt is made.
private enum AttemptEvent {
    case ended
    case cut(RetryError.Ending)
    case nothing
}
