import AsyncHTTPClient
import Foundation
import FoundationNetworking
import NIOCore
import NIOHTTP1
import NetworkLab
import Testing

@testable import ReachabilityHTTP
@testable import ReachabilityRetry
@testable import ReachabilityURLSession

/// Redirects with real servers. A hop with a response is not repeated. A failed hop is retried alone.
@Suite(.timeLimit(.minutes(15))) struct RedirectTests {
    /// The faults of the last hop, and the expected number of its requests with GET and POST.
    private static let ends: [(fault: Fault, gets: Int, posts: Int)] = [
        (.refuse, 0, 0), (.answer(503), 3, 1), (.answer(429), 3, 3), (.answer(503, retryAfter: "0"), 3, 3),
        (.closeAfterBody, 3, 1), (.resetBeforeHead, 3, 1), (.answer(200), 1, 1),
    ]

    private static func url(_ fault: Fault, _ server: ScriptedServer) -> String {
        fault == .refuse ? "http://127.0.0.1:1/" : server.url("/fault/\(fault.text)")
    }

    /// Returns a redirect that leads over a number of hops to the end.
    private static func redirect(_ status: Int, _ end: Fault, hops: Int, _ server: ScriptedServer) -> Fault {
        (0..<hops).reduce(Fault.redirect(status, to: url(end, server))) { next, _ in
            .redirect(status, to: url(next, server))
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirected POST reaches the first server once, and is retried at the last`(status: Int) async throws {
        try await withFaultServer { first in
            try await withFaultServer { second in
                for (end, gets, posts) in Self.ends {
                    for (hops, hasBody) in [(0, true), (0, false), (1, true), (1, false)] {
                        let id = "\(end.text) \(hops) \(hasBody)"
                        let fault = Self.redirect(status, end, hops: hops, second)
                        let ending = try await post(first.url(), fault, id: id, hasBody: hasBody)
                        #expect(first.received.filter { $0.id == id }.count == 1, "\(id)")
                        let seen = second.received.filter { $0.id == id }
                        #expect(seen.count == hops + (status < 307 ? gets : posts), "\(id)")
                        let body = status < 307 || !hasBody ? "" : "one"
                        #expect(seen.filter(\.isComplete).allSatisfy { $0.bodyText == body }, "\(id)")
                        #expect(seen.allSatisfy { $0.method == (status < 307 ? "GET" : "POST") }, "\(id)")
                        #expect((ending == nil) == (end == .answer(200)), "\(id) \(String(describing: ending))")
                    }
                }
            }
        }
    }

    private func post(_ url: String, _ fault: Fault, id: String, hasBody: Bool) async throws -> RetryError.Ending? {
        let lab = HTTPLab()
        let policy = try lab.policy(attempts: 5)
        var options = RequestRetryOptions(redirects: .follow(), coordinator: lab.coordinator)
        options.host = nil
        let headers = HTTPHeaders([("X-ID", id), ("X-Fault", fault.text), ("Content-Type", "text/plain")])
        return try await withClient { client in
            do throws(RetryError) {
                var request = HTTPClientRequest(url: url)
                request.method = .POST
                request.headers = headers
                request.body = hasBody ? .bytes(ByteBuffer(string: "one")) : nil
                let outcome = try await client.execute(request, retry: policy, options: options)
                #expect(outcome.attempts.map(\.number) == Array(1...outcome.attempts.count))
                return outcome.ending
            } catch {
                return error.ending
            }
        }
    }

    @Test func `a redirected GET is retried at the failed hop and contains its history`() async throws {
        try await withFaultServer { first in
            try await withFaultServer { second in
                let lab = HTTPLab()
                try await withClient { client in
                    var request = HTTPClientRequest(url: first.url())
                    let home = Fault.redirect(302, to: second.url("/fault/body/5/200"))
                    request.headers.add(name: "X-Fault", value: home.text)
                    let outcome = try await client.execute(request, retry: lab.policy(), options: lab.options([home]))
                    #expect(outcome.value.history.map(\.responseHead.status) == [.found, .ok])
                    #expect(outcome.value.url?.port == second.port && outcome.attempts.count == 2)
                    #expect(String(buffer: try await outcome.value.body.collect(upTo: 10)) == "xxxxx")
                }
                #expect(first.received.count == 1 && second.received.count == 1)
            }
        }
    }

    @Test func `another origin receives no credentials and no adapted request`() async throws {
        try await withFaultServer { first in
            try await withFaultServer { second in
                let lab = HTTPLab()
                let secrets = ["Authorization", "Cookie", "Proxy-Authorization", "Host", "Origin"]
                let adapter = Adapter { request, completion in
                    var request = request
                    request["Authorization"] = "Bearer hush"
                    request["X-Adapted"] = "yes"
                    completion(.success(request))
                }
                let options = RequestRetryOptions(adapter: adapter, coordinator: lab.coordinator)
                let home = Fault.redirect(307, to: second.url("/fault/answer/200/"))
                let near = Fault.redirect(307, to: first.url("/fault/\(home.text)"))
                var request = HTTPClientRequest(url: first.url())
                request.method = .POST
                request.headers = HTTPHeaders([("X-ID", "1"), ("X-Fault", near.text), ("Accept", "text/plain")])
                for name in secrets.dropFirst() { request.headers.add(name: name, value: "hush.example") }
                request.body = .bytes(ByteBuffer(string: "one"))
                try await withClient { [request] client in
                    _ = try await client.execute(request, retry: lab.policy(), options: options)
                }
                let here = first.received
                #expect(here.count == 2 && here.allSatisfy { $0.fields["authorization"] == "Bearer hush" })
                #expect(here.allSatisfy { $0.fields["cookie"] == "hush.example" && $0.fields["x-adapted"] == "yes" })
                let there = try #require(second.received.first)
                #expect(there.bodyText == "one" && there.fields["accept"] == "text/plain")
                #expect(!there.fields.values.contains { $0.contains("hush") } && there.fields["x-adapted"] == nil)
            }
        }
    }

    @Test func `a cycle, too many redirects and a consumed stream end the redirects`() async throws {
        try await withFaultServer { server in
            let lab = HTTPLab()
            let policy = try lab.policy()
            try await withClient { client in
                var request = HTTPClientRequest(url: server.url())
                request.headers.add(name: "X-Fault", value: Fault.redirect(302, to: server.url("/")).text)
                let options = RequestRetryOptions(coordinator: lab.coordinator)
                let circle = try await #require(throws: RetryError.self) {
                    try await client.execute(request, retry: policy, options: options)
                }
                #expect(circle.lastError as? RedirectFailure == .cycle && server.received.count == 1)

                var hops = RequestRetryOptions(redirects: .follow(2), coordinator: lab.coordinator)
                request.headers.replaceOrAdd(
                    name: "X-Fault",
                    value: Self.redirect(302, .answer(200), hops: 2, server).text
                )
                let many = try await #require(throws: RetryError.self) {
                    try await client.execute(request, retry: policy, options: hops)
                }
                #expect(many.lastError as? RedirectFailure == .tooMany(limit: 2) && many.attempts.count == 3)

                hops.redirects = RedirectRule.none
                let kept = try await client.execute(request, retry: policy, options: hops)
                #expect(kept.value.status == .found && kept.ending == nil)

                request.method = .PUT
                request.headers.replaceOrAdd(
                    name: "X-Fault",
                    value: Self.redirect(307, .answer(200), hops: 0, server).text
                )
                let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
                continuation.yield(ByteBuffer(string: "once"))
                continuation.finish()
                request.body = .stream(stream, length: .unknown)
                let answer = try await client.execute(request, retry: policy, options: options)
                #expect(answer.value.status == .temporaryRedirect && answer.attempts.count == 1)
            }
        }
    }
}

extension RedirectTests {
    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirected POST of URLSession reaches the first server once, with its body`(status: Int) async throws {
        try await withFaultServer { first in
            try await withFaultServer { second in
                for (end, gets, posts) in Self.ends {
                    let lab = HTTPLab()
                    let policy = try lab.policy(attempts: 5)
                    let options = RequestRetryOptions(coordinator: lab.coordinator)
                    var request = URLRequest(url: try #require(URL(string: first.url())))
                    request.httpMethod = "POST"
                    request.httpBody = Data("one".utf8)
                    request.setValue(end.text, forHTTPHeaderField: "X-ID")
                    request.setValue("Bearer hush", forHTTPHeaderField: "Authorization")
                    let fault = Self.redirect(status, end, hops: 0, second)
                    request.setValue(fault.text, forHTTPHeaderField: "X-Fault")
                    var ending: RetryError.Ending?
                    do throws(RetryError) {
                        ending = try await URLSession.shared.data(for: request, retry: policy, options: options).ending
                    } catch { ending = error.ending }
                    #expect((ending == nil) == (end == .answer(200)), "\(end) \(String(describing: ending))")
                    #expect(first.received.filter { $0.id == end.text }.count == 1, "\(end)")
                    let seen = second.received.filter { $0.id == end.text }
                    // libcurl itself repeats a GET if a reused connection breaks.
                    #expect(status < 307 ? seen.count >= gets : seen.count == posts, "\(end)")
                    #expect(seen.allSatisfy { $0.fields["authorization"] == nil }, "\(end)")
                    let body = status < 307 ? "" : "one"
                    #expect(seen.filter(\.isComplete).allSatisfy { $0.bodyText == body }, "\(end)")
                }
            }
        }
    }

    @Test func `a session's delegate may decline a redirect`() async throws {
        final class Decliner: NSObject, URLSessionTaskDelegate {
            func urlSession(
                _ session: URLSession,
                task: URLSessionTask,
                willPerformHTTPRedirection response: HTTPURLResponse,
                newRequest request: URLRequest,
                completionHandler: @escaping @Sendable (URLRequest?) -> Void
            ) {
                completionHandler(nil)
            }
        }
        try await withFaultServer { server in
            let lab = HTTPLab()
            let options = lab.options([.redirect(302, to: server.url("/fault/answer/200/"))])
            let session = URLSession(configuration: .default, delegate: Decliner(), delegateQueue: nil)
            let request = URLRequest(url: try #require(URL(string: server.url())))
            let declined = try await session.data(for: request, retry: lab.policy(), options: options)
            #expect((declined.value.1 as? HTTPURLResponse)?.statusCode == 302)
            let followed = try await URLSession.shared.data(for: request, retry: lab.policy(), options: options)
            #expect((followed.value.1 as? HTTPURLResponse)?.statusCode == 200)
            session.finishTasksAndInvalidate()
        }
    }
}
