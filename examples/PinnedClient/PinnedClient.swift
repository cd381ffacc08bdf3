import AsyncHTTPClient
import ReachabilityHTTP
import ReachabilityRequests
import ServerTrust
import ServerTrustAsyncHTTPClient

/// Fetches a URL if the server's chain contains one of the given keys:
/// PinnedClient https://example.org/ sha256/BASE64 sha256/BASE64
@main enum PinnedClient {
    static func main() async throws {
        guard CommandLine.arguments.count > 2 else {
            fatalError("usage: PinnedClient URL PIN BACKUP-PIN ...")
        }
        // Throws without a second pin, which is needed when the first key changes.
        let pins = try PinSet(Array(CommandLine.arguments.dropFirst(2)))
        // Applies to every host, including redirects. A program that knows its servers lists them.
        let manager = ServerTrustManager(evaluators: [:]) { _ in PinSetTrustEvaluator(pins: pins) }
        var enforcement = ServerTrustEnforcement()
        enforcement.allowsPlainHTTP = false
        let client = RetryingHTTPClient(configuration: HTTPClient.Configuration().enforcing(manager, enforcement))
        let request = Session(client: client).request(CommandLine.arguments[1]).validate()
        let response = await request.serializingData().response
        print(response)
        if let body = response.value { print(body.count, "bytes") }
        try await client.shutdown()
    }
}
