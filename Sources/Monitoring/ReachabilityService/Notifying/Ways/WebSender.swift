import LinuxSupport
import NIOHTTP1
import ReachabilityRetry
import ServerTrust
import ServerTrustNIO

/// Sends requests to one address: redirects are not followed, certificates are judged, only an answer of 2xx counts.
struct WebSender: Sendable {
    private let url: TrustedHTTPURL
    private let client: TrustedHTTPClient

    /// - Parameters:
    ///   - trust: Judges the certificates of servers.
    ///   - timeLimit: For a whole exchange.
    /// - Throws: What is wrong with the address, without it.
    init(_ url: String, trust: ServerTrustManager, timeLimit: Duration) throws(AddressProblem) {
        var settings = TrustedHTTPSettings()
        settings.timeLimit = timeLimit
        // Only the status counts.
        settings.sufficientBodyBytes = 0
        do {
            self.url = try TrustedHTTPURL(url)
            client = TrustedHTTPClient(tls: try ServerTrustHandlerFactory(manager: trust), settings: settings)
        } catch TrustedHTTPFailure.invalidURL(_, let problem) {
            throw AddressProblem(problem)
        } catch {
            throw AddressProblem("\(error)")
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

    /// Whether it says that the message is wrong, and not that the time is, or the configuration: what is set right meanwhile is told.
    private static func isFinal(_ status: Int) -> Bool {
        [400, 405, 406, 410, 411, 413, 414, 415, 422].contains(status)
    }

    /// What is worth another try, by what happened.
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

    /// The failure in words: it names the host, never a path.
    private static func text(_ failure: TrustedHTTPFailure) -> String {
        switch failure {
        case .invalidURL: "the address is not good"
        default: "\(failure)".printable
        }
    }
}

/// What is wrong with an address.
struct AddressProblem: Error {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}
