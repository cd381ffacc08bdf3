import FoundationEssentials
import LinuxSupport
import Testing

@testable import ReachabilityRequests

/// Cookies between a session and servers.
struct SessionCookieTests {
    /// Sets the cookies of the path, or replies with the received field Cookie.
    private static func answer(_ seen: Seen) -> Reply {
        switch seen.path {
        case "/set":
            Reply("set", cookies: ["a=1, x; Path=/", "b=2; Path=/set", "c=3; Path=/; Max-Age=100", "d=4; Domain=com"])
        case "/delete": Reply("deleted", cookies: ["a=; Path=/; Expires=Thu, 01-Jan-1970 00:00:00 GMT"])
        default: Reply(seen.fields["cookie"] ?? "none")
        }
    }

    private static func text(of request: DataRequest) async throws -> String {
        try await request.validate().serializingString().value
    }

    @Test func `cookies of an answer are sent with later requests of the session`() async throws {
        try await withServer(Self.answer) { lab in
            let session = try lab.session()
            #expect(try await Self.text(of: session.request(lab.server.url())) == "none")
            #expect(try await Self.text(of: session.request(lab.server.url("/set"))) == "set")
            #expect(try await Self.text(of: session.request(lab.server.url())) == "a=1, x; c=3")
            #expect(try await Self.text(of: session.request(lab.server.url("/set/x"))) == "b=2; a=1, x; c=3")
            // Copies with other settings share the cookies. Other sessions and hosts do not.
            let copy = session.overriding { $0.options.priority = .high }
            #expect(try await Self.text(of: copy.request(lab.server.url())) == "a=1, x; c=3")
            #expect(try await Self.text(of: lab.session().request(lab.server.url())) == "none")
            #expect(try await Self.text(of: session.request(lab.server.url(host: "localhost"))) == "none")
            #expect(try await Self.text(of: session.request(lab.server.url("/delete"))) == "deleted")
            #expect(try await Self.text(of: session.request(lab.server.url())) == "c=3")
            let request = session.request(lab.server.url())
            #expect(request.cURLDescription().contains(#"-b "c=***""#))
            #expect(request.cURLDescription(showingSecrets: true).contains(#"-b "c=3""#))
        }
    }

    @Test func `uploads, downloads and streams send and store cookies`() async throws {
        let number = Locked(0)
        try await withServer({ seen in
            let next = number.withLock { number in
                number += 1
                return number
            }
            return Reply(seen.fields["cookie"] ?? "none", cookies: ["n=\(next)"])
        }) { lab in
            let session = try lab.session()
            let url = lab.server.url()
            #expect(try await session.upload(Data("x".utf8), to: url).serializingString().value == "none")
            #expect(try await session.download(url).serializingString().value == "n=1")
            #expect(try await session.streamRequest(url).strings().reduce("") { $0 + $1 } == "n=2")
            let form = session.upload(multipartFormData: { $0.append("x".utf8, withName: "x") }, to: url)
            #expect(try await form.serializingString().value == "n=3")
        }
    }

    @Test func `an answer that is retried sets cookies`() async throws {
        let replies = Replies([
            Reply(status: 503, cookies: ["try=1"]), Reply(status: 503, cookies: ["try=2"]), Reply("ok"),
        ])
        try await withServer({ _ in replies.next() }) { lab in
            let text = try await Self.text(of: lab.session().request(lab.server.url()))
            #expect(text == "ok" && lab.server.seen.map { $0.fields["cookie"] } == [nil, "try=1", "try=2"])
        }
    }

    @Test func `redirects set cookies, and each host receives only its own`() async throws {
        try await withServer({ other in
            other.path == "/there"
                ? Reply(status: 302, fields: ["Location": "/more"], cookies: ["there=1; Path=/"])
                : Reply(other.fields["cookie"] ?? "none")
        }) { other in
            let there = other.server.url("/there", host: "localhost")
            try await withServer({ here in
                switch here.path {
                case "/login": Reply(status: 302, fields: ["Location": "/home"], cookies: ["here=1; Path=/"])
                case "/home": Reply(status: 307, fields: ["Location": there], cookies: ["here=2; Path=/"])
                default: Reply(here.fields["cookie"] ?? "none")
                }
            }) { lab in
                let session = try lab.session()
                #expect(try await Self.text(of: session.request(lab.server.url("/login"))) == "there=1")
                #expect(lab.server.seen.map { $0.fields["cookie"] } == [nil, "here=1"])
                #expect(other.server.seen.map { $0.fields["cookie"] } == [nil, "there=1"])
                #expect(try await Self.text(of: session.request(lab.server.url())) == "here=2")
                // A field Cookie of the caller is not sent to another host.
                let own = session.request(lab.server.url("/home"), headers: ["Cookie": "own=1"])
                #expect(try await Self.text(of: own) == "there=1")
                #expect(lab.server.seen.last?.fields["cookie"] == "own=1")
            }
        }
    }

    @Test func `a server may set a cookie and redirect to the same URL`() async throws {
        try await withServer({ seen in
            seen.fields["cookie"] == "seen=1"
                ? Reply("welcome") : Reply(status: 302, fields: ["Location": seen.path], cookies: ["seen=1"])
        }) { lab in
            #expect(try await Self.text(of: lab.session().request(lab.server.url())) == "welcome")
            let without = await (try lab.session(cookieStorage: nil)).request(lab.server.url()).serializingData()
                .response
            #expect((without.error?.underlyingError as? URLError)?.failure as? RedirectFailure == .cycle)
        }
    }

    @Test func `cookies can be turned off for a session or a request`() async throws {
        try await withServer(Self.answer) { lab in
            let none = try lab.session(cookieStorage: nil)
            _ = try await Self.text(of: none.request(lab.server.url("/set")))
            #expect(try await Self.text(of: none.request(lab.server.url())) == "none")

            let session = try lab.session()
            var request = try URLRequest(url: lab.server.url("/set"), method: .get)
            request.httpShouldHandleCookies = false
            _ = try await Self.text(of: session.request(request))
            #expect(session.cookieStorage?.cookies == [])
            _ = try await Self.text(of: session.request(lab.server.url("/set")))
            request.url = URL(string: lab.server.url())
            #expect(try await Self.text(of: session.request(request)) == "none")
            #expect(!session.request(request).cURLDescription().contains("-b"))
        }
    }

    @Test func `a field Cookie of the caller or of an adapter replaces the stored cookies`() async throws {
        try await withServer(Self.answer) { lab in
            let session = try lab.session()
            _ = try await Self.text(of: session.request(lab.server.url("/set")))
            let own = session.request(lab.server.url(), headers: ["Cookie": "own=1"])
            #expect(try await Self.text(of: own) == "own=1")
            let adapter = Adapter { request, _, completion in
                var request = request
                request.headers.add(name: "cookie", value: "adapted=1")
                completion(.success(request))
            }
            let adapted = session.request(lab.server.url(), interceptor: Interceptor(adapters: [adapter]))
            #expect(try await Self.text(of: adapted) == "adapted=1")
        }
    }

    @Test func `at most 50 cookies of a server are kept`() async throws {
        try await withServer({ seen in
            let cookies = (0..<200).map { "n\($0)=\(String(repeating: "v", count: 20))" }
            return seen.path == "/set"
                ? Reply("set", cookies: ["=c", "d"] + cookies)
                : Reply(seen.fields["cookie"] ?? "none")
        }) { lab in
            let session = try lab.session()
            _ = try await Self.text(of: session.request(lab.server.url("/set")))
            let text = try await Self.text(of: session.request(lab.server.url()))
            #expect(text.utf8.count { $0 == UInt8(ascii: "=") } == 50 && text.hasPrefix("n150=v"))
        }
    }

    @Test func `the session of the process has the shared cookies`() {
        #expect(AF.cookieStorage === HTTPCookieStorage.shared && Session().cookieStorage !== HTTPCookieStorage.shared)
    }
}

/// Settings of caches, although answers are not cached.
struct CachePolicyTests {
    @Test func `cache policies send Cache-Control, and a policy that permits only cached answers fails`() async throws {
        try await withServer({ Reply($0.fields["cache-control"] ?? "none") }) { lab in
            let session = try lab.session()
            for (policy, field) in [
                (URLRequest.CachePolicy.useProtocolCachePolicy, "none"), (.reloadIgnoringLocalCacheData, "none"),
                (.reloadIgnoringLocalAndRemoteCacheData, "no-cache"), (.returnCacheDataElseLoad, "none"),
            ] {
                var request = try URLRequest(url: lab.server.url(), method: .get)
                request.cachePolicy = policy
                #expect(try await session.request(request).serializingString().value == field)
                request.headers.add(name: "Cache-Control", value: "own")
                #expect(try await session.request(request).serializingString().value == "own")
            }
            var request = try URLRequest(url: lab.server.url(), method: .get)
            request.cachePolicy = .returnCacheDataDontLoad
            let response = await session.request(request).serializingData().response
            #expect(response.error?.underlyingError is NotCached && lab.server.seen.count == 8)
        }
    }
}
