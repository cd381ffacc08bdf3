import AsyncHTTPClient
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
        let configuration = HTTPClient.Configuration().enforcing(manager, enforcement)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let response = try await client.execute(
                HTTPClientRequest(url: CommandLine.arguments[1]),
                timeout: .seconds(30)
            )
            let body = try await response.body.collect(upTo: 16 << 20)
            print("\(response.status), \(body.readableBytes) bytes")
        } catch let error as ServerTrustError {
            print(error)
        } catch {
            print("not fetched: \(error)")
        }
        try await client.shutdown()
    }
}
