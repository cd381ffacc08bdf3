import Dispatch

/// The progress of a body. A value with the members of Foundation's class of this name that requests use.
public struct Progress: Hashable, Sendable {
    /// The number of bytes that were transferred. It becomes smaller if the transfer starts over.
    public internal(set) var completedUnitCount: Int64 = 0
    /// The number of bytes of the whole body; -1 if it is not known.
    public internal(set) var totalUnitCount: Int64
    /// A Boolean value that indicates whether nothing is transferred until the network is back.
    public internal(set) var isWaitingForNetwork = false
    /// The number of times that a download started over.
    public internal(set) var restarts = 0
    /// The reason why the download last started over; nil if it did not.
    public internal(set) var restartReason: String?

    /// Creates a progress of zero.
    public init(totalUnitCount: Int64 = 0) { self.totalUnitCount = totalUnitCount }

    /// The completed part, from 0 to 1; 0 if the length is not known.
    public var fractionCompleted: Double {
        totalUnitCount > 0 ? min(1, Double(completedUnitCount) / Double(totalUnitCount)) : 0
    }

    /// A Boolean value that indicates whether the body was transferred completely.
    public var isFinished: Bool { totalUnitCount > 0 && completedUnitCount >= totalUnitCount }
}

extension Progress: CustomStringConvertible {
    /// The number of bytes, and of how many.
    public var description: String {
        "\(completedUnitCount) of \(totalUnitCount < 0 ? "an unknown number of" : "\(totalUnitCount)") bytes"
    }
}

/// An asynchronous sequence of values.
public typealias StreamOf<Element: Sendable> = AsyncStream<Element>

/// The progress of one direction, and its observers. A slow observer receives only the newest progress.
struct ProgressFeed: Sendable {
    private(set) var progress = Progress()
    private var hasChanged = false
    private var isOver = false
    private var watchers: [AsyncStream<Progress>.Continuation] = []
    private var handler: (queue: DispatchQueue, call: Request.ProgressHandler)?
    /// A Boolean value that indicates whether a call of the handler waits on its queue.
    private var isCalling = false

    /// Changes the progress.
    ///
    /// - Returns: The queue on which ``Request`` is to call the handler; nil if there is no need.
    mutating func change(_ change: (inout Progress) -> Void) -> DispatchQueue? {
        let before = progress
        change(&progress)
        guard progress != before else { return nil }
        hasChanged = true
        for watcher in watchers { watcher.yield(progress) }
        return call()
    }

    /// Sets the handler, see ``change(_:)``.
    mutating func set(_ handler: @escaping Request.ProgressHandler, on queue: DispatchQueue) -> DispatchQueue? {
        self.handler = (queue, handler)
        return hasChanged ? call() : nil
    }

    private mutating func call() -> DispatchQueue? {
        guard let handler, !isCalling else { return nil }
        isCalling = true
        return handler.queue
    }

    /// Returns the handler, and the newest progress.
    mutating func takeCall() -> (Request.ProgressHandler, Progress)? {
        isCalling = false
        return handler.map { ($0.call, progress) }
    }

    /// Adds an observer. It receives the progress if there is any, then each change.
    mutating func watch(_ watcher: AsyncStream<Progress>.Continuation) {
        if hasChanged { watcher.yield(progress) }
        if isOver { watcher.finish() } else { watchers.append(watcher) }
    }

    /// Ends the observers.
    mutating func finish() {
        isOver = true
        for watcher in watchers { watcher.finish() }
        watchers = []
    }
}
