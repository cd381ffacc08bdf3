import LinuxPrimitives

/// Anchors that are read when somebody first needs them, once.
final class AnchorSource: Sendable {
    private let read: @Sendable () -> AnchorIndex
    private let known: Locked<AnchorIndex?>

    init(_ read: @escaping @Sendable () -> AnchorIndex) {
        self.read = read
        known = Locked(nil)
    }

    /// What has been read. Whoever else needs it while it is being read waits for it.
    var index: AnchorIndex {
        known.withLock { known in
            if let known { return known }
            let index = read()
            known = index
            return index
        }
    }
}
