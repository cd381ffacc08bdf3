import LinuxPrimitives

/// For whoever comes first.
final class Turn: Sendable {
    private let state = Locked(false)

    var isTaken: Bool { state.withLock { $0 } }

    func take() -> Bool {
        state.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }
}
