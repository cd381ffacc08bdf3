import AsyncHTTPClient
import LinuxSupport
import NIOSSL
import ReachabilityHTTP
import ReachabilityOutbox

/// Sends by itself, with async-http-client: directly, or through the proxy that the environment names. There is a client for each way
/// that is used.
///
/// `SSL_CERT_FILE` names the roots that are trusted, in place of the system's.
final class ClientSender: OutboxSender {
    private let proxies = ProxyEnvironment()
    private let limit: Duration
    private let proof: DeliveryProof?
    private let clients: Locked<[HTTPClient.Configuration.Proxy?: RetryingHTTPClient]> = Locked([:])

    /// - Parameters:
    ///   - limit: How long one request may take.
    ///   - proof: What a success must have.
    init(limit: Duration, proof: DeliveryProof?) {
        (self.limit, self.proof) = (limit, proof)
    }

    func send(_ delivery: OutboxDelivery) async -> OutboxResult {
        let proxy: HTTPClient.Configuration.Proxy?
        switch proxies.way(to: delivery.request.url) {
        case .direct: proxy = nil
        case .proxy(let named): proxy = named
        case .unusable(let reason): return .held(cause: reason)
        }
        return await HTTPOutboxSender(client: client(for: proxy), limit: limit, proof: proof).send(delivery)
    }

    /// Ends the clients; nothing may be sent any more.
    func close() async {
        for client in clients.withLock({ Array($0.values) }) { try? await client.shutdown() }
    }

    private func client(for proxy: HTTPClient.Configuration.Proxy?) -> RetryingHTTPClient {
        clients.withLock { clients in
            if let client = clients[proxy] { return client }
            let client = RetryingHTTPClient(configuration: Self.configuration(for: proxy))
            clients[proxy] = client
            return client
        }
    }

    private static func configuration(for proxy: HTTPClient.Configuration.Proxy?) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow, proxy: proxy)
        if let file = EnvironmentVariable.value(of: "SSL_CERT_FILE"), !file.isEmpty {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(file)
            configuration.tlsConfiguration = tls
        }
        return configuration
    }
}
