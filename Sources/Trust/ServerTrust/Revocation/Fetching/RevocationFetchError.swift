/// Why there is no answer.
public enum RevocationFetchError: Error, Hashable, Sendable {
    /// Not within the time limit.
    case timedOut
    /// More bytes than the size limit.
    case tooLarge
    /// Another HTTP status than 200.
    case status(Int)
    /// Everything else. The text says what was tried and what the system said.
    case failed(String)

    func problem(_ request: RevocationRequest) -> RevocationProblem {
        switch self {
        case .timedOut: .timedOut(request.timeLimit)
        case .tooLarge: .tooLarge(limit: request.sizeLimit)
        case .status(let status): .httpStatus(status)
        case .failed(let cause): .unreachable(cause)
        }
    }
}
