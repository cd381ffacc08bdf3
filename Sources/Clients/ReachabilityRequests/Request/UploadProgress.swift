/// How much of a body was handed to the connection: what the server has of it, only its answer tells.
public struct UploadProgress: Hashable, Sendable {
    /// How many bytes were handed over. It becomes less where the body is sent again.
    public internal(set) var completed: Int64
    /// How many the whole body has; nil where it cannot be read.
    public let total: Int64?
    /// Whether nothing is sent until the network is back.
    public internal(set) var isWaitingForNetwork = false
}

/// What is handed over of a body.
typealias UploadWatch = ProgressFeed<UploadProgress>

extension UploadWatch {
    /// An attempt begins.
    func begin() {
        change { progress in
            progress.completed = 0
            progress.isWaitingForNetwork = false
        }
    }

    func count(_ bytes: Int) { change { $0.completed += Int64(bytes) } }

    /// An answer has begun. A body in memory was handed over as a whole.
    func end() { change { progress in if progress.completed == 0 { progress.completed = progress.total ?? 0 } } }

    /// Nothing is sent until the network is back.
    func wait() { change { $0.isWaitingForNetwork = true } }
}
