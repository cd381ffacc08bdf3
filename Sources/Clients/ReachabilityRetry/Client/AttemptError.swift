/// The reason why an attempt of an HTTP client ended, if the error of the client alone does not state it.
///
/// | Error | Stage | Then |
/// |---|---|---|
/// | ``noPath(_:)``, ``notConnected(_:)``, ``heldBack(_:)`` | never sent | retried as the policy defines |
/// | ``unsent(_:)`` | never sent | retried |
/// | ``sent(_:)`` | may have been processed; not retried if the cause is not retried | as the policy defines |
/// | ``sourceAddressLost(_:)``, ``pathInterrupted`` | may have been processed | as the policy defines |
/// | ``refused(status:_:)`` | answered | the retrier decides |
/// | ``adapterFailed(_:)`` | not retried | the retrier decides, except after an ``InvalidRequest`` |
/// | ``bodyNotReplayable(_:)`` | not retried | the request ends |
public enum AttemptError: RetryableError {
    /// The attempt was not made, or was ended before anything was sent, because there is no path. If the reachability is
    /// "reachable", the path has changed since the attempt began.
    case noPath(HostReachability)
    /// The attempt was not connected within this time.
    case notConnected(Duration)
    /// The attempt was not made, because the host has requested a pause that ends after this time (Retry-After).
    case heldBack(Duration)
    /// The attempt failed with this error before a byte was sent.
    case unsent(any Error)
    /// The attempt failed with this error after the request was sent, although the error alone suggests otherwise.
    case sent(any Error)
    /// The request was sent from this address, which was then removed from the machine. No response can arrive.
    case sourceAddressLost(String)
    /// The path was interrupted while the response was read, and is back. The rest of the response is requested again.
    /// The old connection would continue only with the peer's next retransmission (RFC 6298, section 5.5), which comes
    /// after about the same time again.
    case pathInterrupted
    /// ``RequestRetryOptions/validate`` has refused the response with this error.
    case refused(status: Int, any Error)
    /// The attempt failed with this error. Its body was read from a stream and cannot be sent again.
    case bodyNotReplayable(any Error)
    /// An adapter failed with this error, or the body could not be created. Nothing was sent.
    case adapterFailed(any Error)

    /// The name of the case, for logs and metrics.
    public var code: String {
        switch self {
        case .noPath: "noPath"
        case .notConnected: "notConnected"
        case .heldBack: "heldBack"
        case .unsent: "unsent"
        case .sent: "sent"
        case .sourceAddressLost: "sourceAddressLost"
        case .pathInterrupted: "pathInterrupted"
        case .refused: "refused"
        case .bodyNotReplayable: "bodyNotReplayable"
        case .adapterFailed: "adapterFailed"
        }
    }

    /// The underlying error. Nil for a case without one.
    public var cause: (any Error)? {
        switch self {
        case .unsent(let cause), .sent(let cause), .refused(_, let cause), .bodyNotReplayable(let cause),
            .adapterFailed(let cause):
            cause
        case .noPath, .notConnected, .heldBack, .sourceAddressLost, .pathInterrupted: nil
        }
    }

    /// A Boolean value that indicates whether the attempt was not made, or was ended before anything was sent, because
    /// it could not succeed.
    package var isCut: Bool {
        switch self {
        case .noPath, .notConnected, .heldBack: true
        default: false
        }
    }

    /// The stage in the table above.
    public var failureStage: FailureStage? {
        switch self {
        case .noPath, .notConnected, .heldBack, .unsent: .neverSent
        case .sent(let cause): (cause as? any RetryableError)?.failureStage == nil ? nil : .mayHaveBeenProcessed
        case .sourceAddressLost, .pathInterrupted: .mayHaveBeenProcessed
        case .refused(let status, _): .answered(status: status)
        case .bodyNotReplayable, .adapterFailed: nil
        }
    }

    /// A Boolean value that indicates whether a connection in use was lost.
    public var isConnectionLost: Bool {
        switch self {
        case .sourceAddressLost, .pathInterrupted: true
        case .sent(let cause): (cause as? any RetryableError)?.isConnectionLost ?? false
        default: false
        }
    }

    /// The reason of the underlying error why no connection was made.
    public var connectionFailure: ConnectionFailure? {
        if case .unsent(let cause) = self { (cause as? any RetryableError)?.connectionFailure } else { nil }
    }
}

extension AttemptError: CustomStringConvertible {
    /// One sentence for logs.
    public var description: String {
        switch self {
        case .noPath(let reachability) where reachability.status == .reachable:
            "cannot send the request: the path changed"
        case .noPath(let reachability): "cannot send the request: \(reachability)"
        case .notConnected(let time): "cannot send the request: no connection within \(time)"
        case .heldBack(let time): "cannot send the request: the host requested a pause of \(time) (Retry-After)"
        case .unsent(let cause): "cannot send the request: \(cause)"
        case .sent(let cause): "cannot receive the response to a request that was sent: \(cause)"
        case .sourceAddressLost(let address): "cannot receive the response: the source address \(address) was removed"
        case .pathInterrupted: "cannot read the response: the path was interrupted, and is back"
        case .refused(let status, let cause): "cannot accept the response with status \(status): \(cause)"
        case .bodyNotReplayable(let cause):
            "cannot send the body again: it was read from a stream; pass a closure that creates the body for each attempt;"
                + " the attempt failed with: \(cause)"
        case .adapterFailed(let cause): "cannot prepare the request: \(cause)"
        }
    }
}

extension AttemptError {
    /// Prepares a request. An error becomes ``adapterFailed(_:)``.
    package static func preparing<Value>(_ make: () throws -> Value) throws -> Value {
        do {
            return try make()
        } catch {
            throw AttemptError.adapterFailed(error)
        }
    }

    /// Prepares a request. An error becomes ``adapterFailed(_:)``, except for a cancellation.
    package static func preparing<Value>(_ make: () async throws -> Value) async throws -> Value {
        do {
            return try await make()
        } catch let error as CancellationError {
            throw error
        } catch {
            throw AttemptError.adapterFailed(error)
        }
    }
}
