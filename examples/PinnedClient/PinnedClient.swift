import AsyncHTTPClient
import ReachabilityHTTP
import ReachabilityRequests
import ServerTrust
import ServerTrustAsyncHTTPClient

/// Fetches a URL, if one of the given keys is on the server's chain:
/// PinnedClient https://example.org/ sha256/BASE64 sha256/BASE64
@main enum PinnedClient {
    static func main() async throws {
        guard CommandLine.arguments.count > 2 else {
            fatalError("usage: PinnedClient URL PIN BACKUP-PIN ...")
        }
        // Without a second pin, for the day the first key changes, this throws.
        let pins = try PinSet(Array(CommandLine.arguments.dropFirst(2)))
        // Whoever the URL leads to, redirects too; a program that knows its servers names them.
        let manager = ServerTrustManager(evaluators: [:]) { _ in PinSetTrustEvaluator(pins: pins) }
        var enforcement = ServerTrustEnforcement()
        enforcement.allowsPlainHTTP = false
        let client = RetryingHTTPClient(configuration: HTTPClient.Configuration().enforcing(manager, enforcement))
        let request = Session(client: client).request(CommandLine.arguments[1]).validate()
        let response = await request.response(using: DataResponseSerializer())
        print(response)
        if let body = response.value { print(body.count, "bytes") }
        try await client.shutdown()
    }
}
