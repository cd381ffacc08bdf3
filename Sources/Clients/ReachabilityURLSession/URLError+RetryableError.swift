public import Foundation
public import ReachabilityRetry

/// What an error of URLSession on Linux says of the request. It makes them of libcurl's results, and many of these become "unknown"
/// with a text; text that is not known counts as a connection in use.
///
/// | Error | Stage |
/// |---|---|
/// | cannotConnectToHost (refused), cannotFindHost, dnsLookupFailed, notConnectedToInternet, and unknown with a text of connecting | never sent |
/// | timedOut, networkConnectionLost, badServerResponse (closed without an answer), cannotParseResponse, any other unknown | may have been processed |
/// | certificates, badURL, unsupportedURL, cancelled, all others | not retried |
///
/// `timedOut` does not tell connecting from waiting for the answer. None of them tells that the machine is offline: that is the
/// monitor's to say. URLs with an IPv6 address are refused with badURL.
extension URLError: RetryableError {
    /// See the table; nil for "not retried".
    public var failureStage: FailureStage? {
        switch code {
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet: .neverSent
        case .timedOut, .networkConnectionLost, .badServerResponse, .cannotParseResponse: .mayHaveBeenProcessed
        case .unknown: unknownStage
        case .unsupportedURL where localizedDescription.hasPrefix("Received HTTP/0.9"): .mayHaveBeenProcessed
        default: nil
        }
    }

    /// networkConnectionLost, and badServerResponse: that is how URLSession on Linux has a connection closed without an answer.
    public var isConnectionLost: Bool { code == .networkConnectionLost || code == .badServerResponse }

    /// cannotConnectToHost is a refusal; cannotFindHost and dnsLookupFailed are names that are not resolved.
    public var connectionFailure: ConnectionFailure? {
        switch code {
        case .cannotConnectToHost: .refused
        case .cannotFindHost, .dnsLookupFailed: .nameNotResolved
        default: nil
        }
    }

    /// What libcurl says where URLSession has no code for it.
    private var unknownStage: FailureStage? {
        let text = localizedDescription
        if text.hasPrefix("Failed to connect to ") || text.hasPrefix("Could not connect to ") { return .neverSent }
        if text.hasPrefix("Immediate connect fail") || text.hasPrefix("Couldn't connect to ") { return .neverSent }
        // Another attempt would find the same certificate.
        if text.hasPrefix("SSL certificate") || text.hasPrefix("SSL: ") { return nil }
        return .mayHaveBeenProcessed
    }
}
