import AsyncHTTPClient
import Foundation
import FoundationNetworking
import NIOCore
import NIOHTTP1
import Testing

@testable import ReachabilityHTTP
@testable import ReachabilityRetry
@testable import ReachabilityURLSession

/// A request that was answered with a redirect has reached a server: whatever becomes of it at a later hop, it is not sent again.
@Suite(.timeLimit(.minutes(3))) struct RedirectTests {
    /// What the last hop does.
    private static let ends: [Fault] = [
        .refuse, .answer(503), .answer(429), .answer(503, retryAfter: "0"), .closeAfterBody, .resetBeforeHead,
    ]

    private static func url(_ fault: Fault, _ server: FaultServer) -> String {
        fault == .refuse ? "http://127.0.0.1:1/" : server.url("/fault/\(fault.text)")
    }

    /// Leads from one server over as many others as wanted to the end.
    private static func redirect(_ status: Int, _ end: Fault, hops: Int, _ server: FaultServer) -> Fault {
        (0..<hops).reduce(Fault.redirect(status, to: url(end, server))) { next, _ in
            .redirect(status, to: url(next, server))
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308], ends)
    func `a redirected POST reaches the first server once`(status: Int, end: Fault) async throws {
        try await withFaultServer { first in
            try await withFaultServer { second in
                for hops in 0...1 {
                    let fault = Self.redirect(status, end, hops: hops, second)
                    for (hasDelegate, body) in [(false, "one"), (false, nil), (true, "one"), (true, nil)] {
                        let id = "\(hops) \(hasDelegate) \(body ?? "")"
                        await post(first.url(), fault, body, id: id, hasDelegate: hasDelegate)
                        #expect(first.sights.filter { $0.id == id }.count == 1)
                        #expect(second.sights.filter { $0.id == id }.count <= hops + 1)
                    }
                }
            }
        }
    }

    private func post(_ url: String, _ fault: Fault, _ body: String?, id: String, hasDelegate: Bool) async {
        do {
            let lab = try HTTPLab()
            let (policy, options) = (try lab.policy(), lab.options([fault], id: id))
            try await withClient { client in
                if hasDelegate {
                    let request = try HTTPClient.Request(url: url, method: .POST, body: body.map { .string($0) })
                    _ = try await client.execute(request: request, retry: policy, options: options)
                } else {
                    var request = HTTPClientRequest(url: url)
                    request.method = .POST
                    request.body = body.map { .bytes(ByteBuffer(string: $0)) }
                    _ = try await client.execute(request, retry: policy, options: options)
                }
            }
        } catch let error as RetryError {
            #expect(error.ending == .unsafeToRepeat && error.attempts.count == 1)
        } catch {
            Issue.record(error)
        }
    }

    @Test func `a redirected GET is retried as a whole, and tells its history`() async throws {
        try await withFaultServer { first in
            try await withFaultServer { second in
                let lab = try HTTPLab()
                let away = Fault.redirect(302, to: "http://127.0.0.1:1/")
                let home = Fault.redirect(302, to: second.url("/fault/body/5/200"))
                try await withClient { client in
                    let options = lab.options([away, home])
                    let request = HTTPClientRequest(url: first.url())
                    let outcome = try await client.execute(request, retry: lab.policy(), options: options)
                    #expect(outcome.attempts.map(\.stage) == [.mayHaveBeenProcessed, nil])
                    #expect(outcome.value.history.map(\.responseHead.status) == [.found, .ok])
                    #expect(outcome.value.url?.port == second.port)
                    #expect(String(buffer: try await outcome.value.body.collect(upTo: 10)) == "xxxxx")
                }
                #expect(first.sights.count == 2 && second.sights.count == 1)
            }
        }
    }
}

extension RedirectTests {
    @Test(arguments: [301, 302, 303, 307, 308], [Fault.refuse, .answer(503), .answer(429)])
    func `a redirected POST of URLSession reaches the first server once`(status: Int, end: Fault) async throws {
        try await withFaultServer { first in
            try await withFaultServer { second in
                let lab = try HTTPLab()
                let url = end == .refuse ? "http://127.0.0.1:1/" : second.url("/fault/\(end.text)")
                let options = lab.options([.redirect(status, to: url)])
                var request = URLRequest(url: try #require(URL(string: first.url())))
                request.httpMethod = "POST"
                do {
                    let outcome = try await URLSession.shared.data(for: request, retry: lab.policy(), options: options)
                    #expect((outcome.value.1 as? HTTPURLResponse)?.statusCode != 200 && outcome.attempts.count == 1)
                } catch let error as RetryError {
                    #expect(error.ending == .unsafeToRepeat && error.attempts.count == 1)
                }
                #expect(first.sights.count == 1 && second.sights.count <= 1)
            }
        }
    }
}
