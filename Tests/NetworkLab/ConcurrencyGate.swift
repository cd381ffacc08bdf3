/// Lets tasks in while there are places; the others wait in line without holding a thread.
package actor ConcurrencyGate {
    private let places: Int
    private var free: Int
    private var waiting: [(places: Int, continuation: CheckedContinuation<Void, Never>)] = []

    package init(_ places: Int) {
        self.places = places
        free = places
    }

    /// Runs the body when there is a place for it, or, when it wants to be alone, when all others have left.
    package func run<Value: Sendable>(
        alone: Bool = false,
        _ body: @Sendable () async throws -> Value
    ) async rethrows -> Value {
        let wanted = alone ? places : 1
        await enter(wanted)
        defer { leave(wanted) }
        return try await body()
    }

    private func enter(_ wanted: Int) async {
        if waiting.isEmpty, free >= wanted {
            free -= wanted
        } else {
            await withCheckedContinuation { waiting.append((wanted, $0)) }
        }
    }

    private func leave(_ wanted: Int) {
        free += wanted
        while let next = waiting.first, free >= next.places {
            free -= next.places
            waiting.removeFirst().continuation.resume()
        }
    }
}
