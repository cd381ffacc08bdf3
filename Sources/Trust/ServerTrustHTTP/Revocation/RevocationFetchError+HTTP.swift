import ServerTrust

extension RevocationFetchError {
    /// What a checker is told.
    init(_ error: TrustedHTTPError) {
        switch error.reason {
        case .timedOut, .connectTimedOut: self = .timedOut
        case .bodyTooLarge: self = .tooLarge
        default: self = .failed("\(error)")
        }
    }
}
