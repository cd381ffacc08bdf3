import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
import NetworkLab
import Testing

@testable import ReachabilityHTTP
@testable import ReachabilityRetry

/// Redirects of a server on a Unix domain socket.
@Suite(.timeLimit(.minutes(15))) struct UnixRedirectTests {
    @Test(arguments: [true, false])
    func `a redirect is followed on the same socket unless the client follows none`(follows: Bool) async throws {
        let path = "/tmp/redirect-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let server = try ScriptedServer(at: [path]) { request in
            request.target == "/" ? .redirect(302, to: "/there") : .status(200, body: Array("there".utf8))
        }
        var configuration = HTTPClient.Configuration()
        if !follows { configuration.redirectConfiguration = .disallow }
        let client = RetryingHTTPClient(configuration: configuration)
        let url = try #require(URL(httpURLWithSocketPath: path, uri: "/")).absoluteString
        let lab = HTTPLab()
        let request = HTTPClientRequest(url: url)
        let outcome = try await client.execute(request, retry: lab.policy(), options: lab.options([]))
        #expect(outcome.value.status == (follows ? .ok : .found))
        let body = try await outcome.value.body.collect(upTo: 1024)
        #expect(String(buffer: body) == (follows ? "there" : ""))
        try await client.shutdown()
        server.stop()
        try? FileManager.default.removeItem(atPath: path)
    }
}
