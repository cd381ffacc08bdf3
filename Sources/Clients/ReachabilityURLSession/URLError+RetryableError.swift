public import Foundation
public import ReachabilityRetry

/// The stages of URLSession's errors on Linux. URLSession creates the errors from results of libcurl, and reports many
/// of them as "unknown" with a text. An unknown text counts as a failure of a connection in use.
///
/// | Error | Stage |
/// |---|---|
/// | cannotConnectToHost (refused), cannotFindHost, dnsLookupFailed, notConnectedToInternet; unknown with a text about a failed connection | never sent |
/// | timedOut, networkConnectionLost, badServerResponse (closed without a response), cannotParseResponse; any other unknown | may have been processed |
/// | certificates, badURL, unsupportedURL, cancelled, all others | not retried |
///
/// `timedOut` does not distinguish a timeout of the connection from one of the response. No error shows that the
/// machine is offline. The monitor determines that. A URL with an IPv6 address fails with badURL.
extension URLError: RetryableError {
    /// The stage in the table above; nil for "not retried".
    public var failureStage: FailureStage? {
        switch code {
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet: .neverSent
        case .timedOut, .networkConnectionLost, .badServerResponse, .cannotParseResponse: .mayHaveBeenProcessed
        case .unknown: unknownStage
        case .unsupportedURL where localizedDescription.hasPrefix("Received HTTP/0.9"): .mayHaveBeenProcessed
        default: nil
        }
    }

    /// True for networkConnectionLost and badServerResponse. URLSession on Linux reports badServerResponse for a
    /// connection that was closed without a response.
    public var isConnectionLost: Bool { code == .networkConnectionLost || code == .badServerResponse }

    /// `refused` for cannotConnectToHost, `nameNotResolved` for cannotFindHost and dnsLookupFailed, otherwise nil.
    public var connectionFailure: ConnectionFailure? {
        switch code {
        case .cannotConnectToHost: .refused
        case .cannotFindHost, .dnsLookupFailed: .nameNotResolved
        default: nil
        }
    }

    /// The stage of an error for which URLSession has only the text of libcurl.
    private var unknownStage: FailureStage? {
        let text = localizedDescription
        if text.hasPrefix("Failed to connect to ") || text.hasPrefix("Could not connect to ") { return .neverSent }
        if text.hasPrefix("Immediate connect fail") || text.hasPrefix("Couldn't connect to ") { return .neverSent }
        // Another attempt would receive the same certificate.
        if text.hasPrefix("SSL certificate") || text.hasPrefix("SSL: ") { return nil }
        return .mayHaveBeenProcessed
    }
}
