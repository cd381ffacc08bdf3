/// An attempt that has reached a server, although its error alone says otherwise: one that was cut as it was being sent, or whose client
/// has followed a redirect by itself and failed at a later hop.
public struct SentRequest: RetryableError, CustomStringConvertible {
    /// What the attempt failed with; a ``StatusFailure`` where a later hop answered.
    public let cause: any Error

    /// A request that was sent, and failed with this.
    public init(cause: any Error) {
        self.cause = cause
    }

    /// May have been processed; nil where the cause is not one that is retried.
    public var failureStage: FailureStage? {
        (cause as? any RetryableError)?.failureStage == nil ? nil : .mayHaveBeenProcessed
    }

    /// What its cause says.
    public var isConnectionLost: Bool { (cause as? any RetryableError)?.isConnectionLost ?? false }

    /// One sentence.
    public var description: String { "failed after it was sent: \(cause)" }
}

/// An attempt that was not made, or was ended before anything of it was sent, because it could not succeed. It is begun anew when
/// that makes sense.
public enum UnsentAttempt: RetryableError, Hashable {
    /// The kernel says that there is no path, or, where `verdict` says that there is one, that the path has changed since the attempt
    /// began.
    case noPath(RetryVerdict)
    /// There was no connection for so long.
    case notConnected(Duration)
    /// The host has asked other requests to wait (Retry-After), for so long.
    case heldBack(Duration)

    /// Never sent.
    public var failureStage: FailureStage? { .neverSent }
}

extension UnsentAttempt: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .noPath(let verdict) where verdict.status == .reachable: "the path changed before anything was sent"
        case .noPath(let verdict): "nothing was sent: \(verdict)"
        case .notConnected(let time): "nothing was sent: no connection within \(time)"
        case .heldBack(let time): "nothing was sent: the host asks not to be asked for \(time)"
        }
    }
}

/// An attempt was sent from an address that this machine has no more: no answer can come to it.
public struct SourceAddressLost: RetryableError, Hashable, CustomStringConvertible {
    /// The address packets had.
    public let address: String

    /// May have been processed.
    public var failureStage: FailureStage? { .mayHaveBeenProcessed }

    /// It cannot go on.
    public var isConnectionLost: Bool { true }

    /// One sentence.
    public var description: String { "the source address \(address) is gone, so that no answer can come" }
}

/// An answer was being read when the path went away, and now it is back: what is missing is asked for anew. The connection would go on only
/// with the peer's next retransmission (RFC 6298, section 5.5), after about as long again as the path was away.
public struct PathInterruption: RetryableError, Hashable, CustomStringConvertible {
    /// May have been processed.
    public var failureStage: FailureStage? { .mayHaveBeenProcessed }

    /// It is not waited for.
    public var isConnectionLost: Bool { true }

    /// One sentence.
    public var description: String { "the path was away while the answer was read, and is back" }
}

/// A request has failed in a way that a retry might help against, but its body has been read from a stream and cannot be sent
/// again: that ends the request. Half a body is never sent.
public struct BodyNotReplayable: RetryableError, CustomStringConvertible {
    /// What the attempt failed with.
    public let cause: any Error

    /// A body that was used up by an attempt that failed with this.
    public init(cause: any Error) {
        self.cause = cause
    }

    /// Not retried.
    public var failureStage: FailureStage? { nil }

    /// One sentence: what happened, and what to do.
    public var description: String {
        "the body was read from a stream and cannot be sent again; give a closure that makes the body anew for each attempt;"
            + " the attempt failed with: \(cause)"
    }
}

/// An adapter could not change a request before it was sent, or its body could not be made: that ends the request.
public struct AdapterFailure: RetryableError, CustomStringConvertible {
    /// What was thrown.
    public let cause: any Error

    /// A request that could not be made ready for this.
    public init(cause: any Error) {
        self.cause = cause
    }

    /// Makes what a request is sent with.
    package static func wrapping<Value>(_ make: () throws -> Value) throws -> Value {
        do {
            return try make()
        } catch {
            throw AdapterFailure(cause: error)
        }
    }

    /// Makes what a request is sent with.
    package static func wrapping<Value>(_ make: () async throws -> Value) async throws -> Value {
        do {
            return try await make()
        } catch let error as CancellationError {
            throw error
        } catch {
            throw AdapterFailure(cause: error)
        }
    }

    /// Not retried, whatever the cause says of itself: that is another request's failure.
    public var failureStage: FailureStage? { nil }

    /// One sentence.
    public var description: String { "the request could not be made ready, so it was not sent: \(cause)" }
}
