import LinuxSupport
import NIOHTTP1
import ReachabilityRetry
import ServerTrust
import ServerTrustNIO

/// Sends requests to one address. Redirects are not followed. Only a status of 2xx is a success.
struct WebSender: Sendable {
    private let url: TrustedHTTPURL
    private let client: TrustedHTTPClient

    /// - Parameters:
    ///   - trust: Verifies the certificates of servers.
    ///   - timeLimit: The timeout of a whole exchange.
    init(_ url: String, trust: ServerTrustManager, timeLimit: Duration) throws(ChannelError) {
        var settings = TrustedHTTPSettings()
        settings.timeLimit = timeLimit
        // Only the status counts.
        settings.sufficientBodyBytes = 0
        do {
            self.url = try TrustedHTTPURL(url)
            client = TrustedHTTPClient(tls: try ServerTrustHandlerFactory(manager: trust), settings: settings)
        } catch TrustedHTTPFailure.invalidURL(_, let problem) {
            throw ChannelError(problem)
        } catch {
            throw ChannelError("\(error)")
        }
    }

    /// Without port, brackets and path.
    var host: String { "\(url.host)" }

    func send(
        _ method: HTTPMethod,
        _ headers: [(name: String, value: String)] = [],
        _ body: [UInt8] = []
    ) async throws(DeliveryFailure) {
        let fields = HTTPHeaders(
            [("User-Agent", "reachability"), ("Accept", "*/*")] + headers.map { ($0.name, $0.value) }
        )
        let response: TrustedHTTPResponse
        do {
            response = try await client.execute(
                TrustedHTTPRequest(url: url, method: method, headers: fields, body: body)
            )
        } catch {
            throw DeliveryFailure(Self.text(error), Self.stage(error))
        }
        let status = Int(response.status.code)
        if (200..<300).contains(status) { return }
        let failure = StatusFailure(
            status: status,
            retryAfter: response.headers.first(name: "Retry-After"),
            date: response.headers.first(name: "Date")
        )
        throw DeliveryFailure("the server answered with \(status)", Self.isFinal(status) ? nil : failure.failureStage)
    }

    /// Whether a status refuses the message itself. Other failures may disappear when the server or its configuration is fixed.
    private static func isFinal(_ status: Int) -> Bool {
        [400, 405, 406, 410, 411, 413, 414, 415, 422].contains(status)
    }

    /// The stage that was reached; nil if another attempt is useless.
    private static func stage(_ failure: TrustedHTTPFailure) -> FailureStage? {
        switch failure {
        case .invalidURL, .invalidMethod, .invalidHeader: nil
        case .unresolved, .unreachable, .connectTimedOut, .proxyRefused, .proxyMalformed, .untrusted, .handshakeFailed:
            .neverSent
        case .timedOut(let stage, _), .connectionClosed(let stage), .connectionFailed(let stage, _):
            [.connecting, .tunnel, .handshake].contains(stage) ? .neverSent : .mayHaveBeenProcessed
        default: .mayHaveBeenProcessed
        }
    }

    /// A description with the host, but without the path.
    private static func text(_ failure: TrustedHTTPFailure) -> String {
        switch failure {
        case .invalidURL: "the address is not good"
        default: "\(failure)".printable
        }
    }
}
