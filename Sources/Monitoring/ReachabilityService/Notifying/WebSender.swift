import LinuxSupport
import NIOHTTP1
import ReachabilityRetry
import ServerTrust
import ServerTrustNIO

/// A sender of HTTP requests to one URL. Only a status code of 2xx is a success. Redirects are not followed.
struct WebSender: Sendable {
    private let url: TrustedHTTPURL
    private let client: TrustedHTTPClient

    /// - Parameters:
    ///   - trust: The manager that evaluates the server's certificate.
    ///   - timeLimit: The timeout of a request with its response.
    init(_ url: String, trust: ServerTrustManager, timeLimit: Duration) throws(DeliveryFailure) {
        var settings = TrustedHTTPSettings()
        settings.timeLimit = timeLimit
        // Only the status code is used.
        settings.sufficientBodyBytes = 0
        do {
            self.url = try TrustedHTTPURL(url)
            client = TrustedHTTPClient(tls: try ServerTrustHandlerFactory(manager: trust), settings: settings)
        } catch TrustedHTTPFailure.invalidURL(_, let problem) {
            throw DeliveryFailure(problem)
        } catch {
            throw DeliveryFailure("\(error)")
        }
    }

    /// The host of the URL, without port and brackets.
    var host: String { "\(url.host)" }

    /// Sends a request.
    ///
    /// - Parameter path: The path to append to that of the URL.
    func send(
        _ method: HTTPMethod,
        _ headers: [(name: String, value: String)] = [],
        _ body: [UInt8] = [],
        path: String = ""
    ) async throws(DeliveryFailure) {
        let fields = HTTPHeaders(
            [("User-Agent", "reachability"), ("Accept", "*/*")] + headers.map { ($0.name, $0.value) }
        )
        let response: TrustedHTTPResponse
        do {
            response = try await client.execute(
                TrustedHTTPRequest(url: url.appending(path: path), method: method, headers: fields, body: body)
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
        let hint = [401, 403].contains(status) ? "; check the token or the URL" : ""
        throw DeliveryFailure(
            "the server answered with \(status)\(hint)",
            Self.isFinal(status) ? nil : failure.failureStage
        )
    }

    /// Returns a Boolean value that indicates whether a status code rejects the message itself.
    ///
    /// Other failures may disappear when the server or its configuration is fixed, so they are retried.
    private static func isFinal(_ status: Int) -> Bool {
        [400, 405, 406, 410, 411, 413, 414, 415, 422].contains(status)
    }

    /// Returns the stage at which a request failed; nil if another attempt is useless.
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

    /// Returns a description of a failure without the URL, which may contain a secret.
    private static func text(_ failure: TrustedHTTPFailure) -> String {
        switch failure {
        case .invalidURL: "the URL is not valid"
        default: "\(failure)".printable
        }
    }
}
