import NIOSSL
import ServerTrust
import ServerTrustNIO
import SwiftASN1
import TestSupport
import Testing
import TrustForge
import WebLab
import X509

/// The client and the certificates of its servers.
enum HTTPWorld {
    /// A certificate for 127.0.0.1 and localhost, signed by the intermediate.
    static let leaf = World.leaf(names: [
        .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
    ])

    /// A configuration with the root and the time of the forged certificates.
    static let configuration: TrustConfiguration = {
        var configuration = TrustConfiguration()
        configuration.anchors = TrustAnchors([World.root.certificate])
        configuration.now = { World.now }
        return configuration
    }()

    static func client(settings: TrustedHTTPSettings = TrustedHTTPSettings()) throws -> TrustedHTTPClient {
        let manager = ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:])
        let tls = try ServerTrustHandlerFactory(manager: manager, configuration: configuration)
        return TrustedHTTPClient(tls: tls, settings: settings)
    }

    static func serverContext(_ chain: [Forged] = [leaf, World.intermediate]) throws -> NIOSSLContext {
        try .server(chain)
    }

    /// Returns the error of a request that must fail.
    static func failure(
        of request: TrustedHTTPRequest,
        _ client: TrustedHTTPClient,
        settings: TrustedHTTPSettings? = nil
    ) async throws -> TrustedHTTPFailure {
        do {
            let response = try await client.execute(request, settings: settings)
            Issue.record("answered with \(response.status) and \(response.body.count) bytes")
            throw CancellationError()
        } catch let error as TrustedHTTPFailure {
            return error
        }
    }

    static func failure(
        of url: String,
        _ client: TrustedHTTPClient? = nil,
        settings: TrustedHTTPSettings? = nil
    ) async throws -> TrustedHTTPFailure {
        try await failure(of: try TrustedHTTPRequest(url), try client ?? HTTPWorld.client(), settings: settings)
    }
}

extension TrustedHTTPSettings {
    func with<Value>(_ path: WritableKeyPath<TrustedHTTPSettings, Value>, _ value: Value) -> TrustedHTTPSettings {
        var copy = self
        copy[keyPath: path] = value
        return copy
    }
}

extension TrustedHTTPFailure {
    /// The name of the case. If the server is not trusted, the name of the reason follows.
    var name: String {
        guard case .untrusted(let error) = self else { return caseName(self) }
        return "untrusted: \(caseName(error.reason))"
    }
}

extension TrustedHTTPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
}
