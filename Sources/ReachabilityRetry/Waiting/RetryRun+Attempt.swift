extension RetryRun {
    /// Makes one attempt, which is cancelled at the deadline and by a shutdown; returns when it has ended.
    func attempt(_ number: Int) async -> AttemptEnd<Value> {
        let (bells, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        guard let registration = coordinator.beginAttempt(bell) else {
            return AttemptEnd(result: .failure(CancellationError()), cut: .shutDown)
        }
        defer { coordinator.endAttempt(registration) }
        return await withTaskGroup(of: AttemptEvent<Value>.self) { group in
            group.addTask { [operation] in
                do {
                    return .ended(.success(try await operation(number)))
                } catch {
                    return .ended(.failure(error))
                }
            }
            group.addTask { [coordinator, deadline, clock] in
                let ending = await coordinator.end(ofAttemptUntil: deadline, on: clock, bells, bell)
                return ending.map { .cut($0) } ?? .nothing
            }
            var cut: RetryError.Ending?
            var result: Result<Value, any Error> = .failure(CancellationError())
            while let event = await group.next() {
                switch event {
                case .nothing: continue
                case .cut(let ending): if cut == nil { cut = ending }
                case .ended(let ended): result = ended
                }
                group.cancelAll()
                // What happens after the end cuts nothing short.
                if case .ended = event { break }
            }
            return AttemptEnd(result: result, cut: cut)
        }
    }
}

/// What may happen while an attempt is made.
private enum AttemptEvent<Value: Sendable>: Sendable {
    case ended(Result<Value, any Error>)
    case cut(RetryError.Ending)
    case nothing
}
