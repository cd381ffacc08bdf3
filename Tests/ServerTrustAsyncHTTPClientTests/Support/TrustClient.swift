import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL
import ServerTrust
import ServerTrustAsyncHTTPClient
import TrustForge

/// The result of a request.
enum Outcome: Equatable, CustomStringConvertible {
    case answered(String)
    /// Refused by ServerTrust, with the host and the name of the reason.
    case refused(String, String)
    /// Refused by NIOSSL.
    case refusedInHandshake
    case failed(String)

    init(_ error: any Error) {
        switch error {
        case let error as ServerTrustError: self = .refused(error.host, error.reason.name)
        case is NIOSSLError, is NIOSSLExtraError: self = .refusedInHandshake
        default: self = .failed("\(error)")
        }
    }

    var isRefused: Bool {
        switch self {
        case .refused, .refusedInHandshake: true
        case .answered, .failed: false
        }
    }

    var description: String {
        switch self {
        case .answered(let version): "answered over \(version)"
        case .refused(let host, let reason): "\(host) refused: \(reason)"
        case .refusedInHandshake: "refused in the handshake"
        case .failed(let text): "failed: \(text)"
        }
    }
}

extension TrustFailure {
    /// The name of the enumeration case.
    var name: String {
        switch self {
        case .noPins: "noPins"
        case .noEvaluator: "noEvaluator"
        case .noCertificates: "noCertificates"
        default: Mirror(reflecting: self).children.first?.label ?? "\(self)"
        }
    }
}

/// The configuration of a test's client.
struct TrustClient {
    var manager = ServerTrustManager(evaluators: ["**.example.org": DefaultTrustEvaluator()])
    var enforcement = ServerTrustEnforcement()
    var configuration: HTTPClient.Configuration
    /// A change of the configuration after `enforcing` was called.
    var adjust: (inout HTTPClient.Configuration) -> Void = { _ in }

    init(isHTTP2: Bool) {
        configuration = HTTPClient.Configuration(redirectConfiguration: .follow(max: 3, allowCycles: false))
        configuration.httpVersion = isHTTP2 ? .automatic : .http1Only
        configuration.timeout.connect = .seconds(60)
        for host in [Forge.host, "a.example.org", "b.example.org"] { configuration.dnsOverride[host] = "127.0.0.1" }
        enforcement.configuration.anchors = TrustAnchors([Forge.root.certificate])
        enforcement.evaluationTimeLimit = .seconds(60)
    }

    mutating func evaluate(_ evaluator: any ServerTrustEvaluating, for pattern: String = Forge.host) {
        manager = ServerTrustManager(evaluators: [pattern: evaluator])
    }

    /// Requests each URL in turn, and returns the results.
    func get(_ urls: String..., change: (inout HTTPClientRequest) -> Void = { _ in }) async throws -> [Outcome] {
        var final = configuration.enforcing(manager, enforcement)
        adjust(&final)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: final)
        var outcomes: [Outcome] = []
        for url in urls {
            do {
                var request = HTTPClientRequest(url: url)
                request.method = .POST
                request.body = .bytes(ByteBuffer(string: "a secret"))
                change(&request)
                let response = try await client.execute(request, timeout: .seconds(100))
                _ = try await response.body.collect(upTo: 1024)
                outcomes.append(.answered("\(response.version)"))
            } catch {
                outcomes.append(Outcome(error))
            }
        }
        try await client.shutdown()
        return outcomes
    }
}
