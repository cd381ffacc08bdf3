/// Why an attempt of an HTTP client ended, if the error of the client alone does not say it.
///
/// | Error | Stage | Then |
/// |---|---|---|
/// | ``noPath(_:)``, ``notConnected(_:)``, ``heldBack(_:)`` | never sent | begun again when that makes sense |
/// | ``unsent(_:)`` | never sent | retried |
/// | ``sent(_:)`` | may have been processed; not retried if the cause is not retried | as the policy says |
/// | ``sourceAddressLost(_:)``, ``pathInterrupted`` | may have been processed | as the policy says |
/// | ``refused(status:_:)`` | answered | the retrier decides |
/// | ``bodyNotReplayable(_:)``, ``adapterFailed(_:)`` | not retried | the request ends |
public enum AttemptError: RetryableError {
    /// The attempt was not made, or was ended before anything was sent, because the kernel reports no path. If the verdict is "reachable", the
    /// path has changed since the attempt began.
    case noPath(RetryVerdict)
    /// There was no connection for this time.
    case notConnected(Duration)
    /// The attempt was not made, because the host has asked other requests to wait for this time (Retry-After).
    case heldBack(Duration)
    /// The attempt failed with this error before a byte was sent.
    case unsent(any Error)
    /// The attempt failed with this error after it was sent, although the error alone says otherwise.
    case sent(any Error)
    /// The attempt was sent from this address, which the machine has no more. No response can arrive.
    case sourceAddressLost(String)
    /// The path was away while the response was read, and is back. The rest is requested again, because the connection would continue only with
    /// the peer's next retransmission (RFC 6298, section 5.5), after about as long again.
    case pathInterrupted
    /// ``RequestRetryOptions/validate`` has refused the response with this error.
    case refused(status: Int, any Error)
    /// The attempt failed with this error, and its body was read from a stream, so that it cannot be sent again.
    case bodyNotReplayable(any Error)
    /// An adapter failed with this error, or the body could not be made, so that nothing was sent.
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

    /// The error below this one; nil if there is none.
    public var cause: (any Error)? {
        switch self {
        case .unsent(let cause), .sent(let cause), .refused(_, let cause), .bodyNotReplayable(let cause),
            .adapterFailed(let cause):
            cause
        case .noPath, .notConnected, .heldBack, .sourceAddressLost, .pathInterrupted: nil
        }
    }

    /// Whether the attempt was not made, or was ended before anything was sent, because it could not succeed.
    package var isCut: Bool {
        switch self {
        case .noPath, .notConnected, .heldBack: true
        default: false
        }
    }

    /// See the table.
    public var failureStage: FailureStage? {
        switch self {
        case .noPath, .notConnected, .heldBack, .unsent: .neverSent
        case .sent(let cause): (cause as? any RetryableError)?.failureStage == nil ? nil : .mayHaveBeenProcessed
        case .sourceAddressLost, .pathInterrupted: .mayHaveBeenProcessed
        case .refused(let status, _): .answered(status: status)
        case .bodyNotReplayable, .adapterFailed: nil
        }
    }

    /// Whether a connection in use was lost.
    public var isConnectionLost: Bool {
        switch self {
        case .sourceAddressLost, .pathInterrupted: true
        case .sent(let cause): (cause as? any RetryableError)?.isConnectionLost ?? false
        default: false
        }
    }

    /// The reason of the cause why no connection was made.
    public var connectionFailure: ConnectionFailure? {
        if case .unsent(let cause) = self { (cause as? any RetryableError)?.connectionFailure } else { nil }
    }
}

extension AttemptError: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .noPath(let verdict) where verdict.status == .reachable: "the path changed before anything was sent"
        case .noPath(let verdict): "nothing was sent: \(verdict)"
        case .notConnected(let time): "nothing was sent: no connection within \(time)"
        case .heldBack(let time): "nothing was sent: the host asks to wait for \(time)"
        case .unsent(let cause): "failed before it was sent: \(cause)"
        case .sent(let cause): "failed after it was sent: \(cause)"
        case .sourceAddressLost(let address): "the source address \(address) is gone, so that no response can arrive"
        case .pathInterrupted: "the path was away while the response was read, and is back"
        case .refused(let status, let cause): "the response with status \(status) is not accepted: \(cause)"
        case .bodyNotReplayable(let cause):
            "the body was read from a stream and cannot be sent again; give a closure that makes it for each attempt;"
                + " the attempt failed with: \(cause)"
        case .adapterFailed(let cause): "the request could not be prepared, so it was not sent: \(cause)"
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
