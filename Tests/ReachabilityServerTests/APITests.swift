import Foundation
import NIOHTTP1
import Testing

@testable import ReachabilityServer

/// The answers of the API.
@Suite struct APITests {
    @Test func `an outage has all its properties`() throws {
        let world = try APIWorld()
        world.lose(for: .milliseconds(4001))
        let outage = try #require(try world.items("/v1/outages").first)
        #expect(outage["target"] as? String == "internet")
        #expect(outage["attribution"] as? String == "us")
        #expect(outage["cause"] as? String == "link")
        #expect(outage["reason"] as? String == "noCarrier")
        #expect(outage["durationMilliseconds"] as? Int == 4001)
        #expect(outage["uncertaintyMilliseconds"] as? Int == 0)
        #expect(outage["ending"] as? String == "up")
        #expect((outage["intervals"] as? [Any])?.count == 1)
        let id = try #require(outage["id"] as? String)
        #expect(try world.object("/v1/outages/\(id)")["id"] as? String == id)
        #expect(try world.text("/v1/outages", [("Accept", "text/plain")]).hasSuffix(" for 4.001s, \(id)\n"))
    }

    @Test func `an ongoing outage has no end`() throws {
        let world = try APIWorld()
        world.kernel.removeRoute("default")
        world.flush()
        world.kernel.clock.advance(by: .seconds(2))
        let outage = try #require(try world.items("/v1/outages").first)
        #expect(outage["end"] is NSNull)
        #expect(try world.items("/v1/outages?state=open").map { $0["id"] as? String } == [outage["id"] as? String])
        #expect(outage["cause"] as? String == "route")
        #expect(outage["durationMilliseconds"] as? Int == 2000)
        let target = try #require(try world.items("/v1/targets").first)
        #expect(target["outage"] as? String == outage["id"] as? String)
        #expect(target["state"] as? String == "us")
    }

    @Test func `pages contain every item exactly once`() throws {
        let world = try APIWorld(targets: ["a", "b"])
        for _ in 0..<10 { world.lose(for: .milliseconds(100)) }
        let all = try world.items("/v1/outages").compactMap { $0["id"] as? String }
        #expect(all.count == 20)
        var (paged, next): ([String], String?) = ([], nil)
        repeat {
            let page = try world.object("/v1/outages?limit=3" + (next.map { "&after=\($0)" } ?? ""))
            paged += (page["items"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
            next = page["next"] as? String
            // An outage that begins between two pages comes before the cursor.
            if paged.count == 6 { world.lose(for: .milliseconds(100)) }
        } while next != nil
        #expect(paged == all)
        let link = try world.answer("/v1/outages?limit=3").headers.first { $0.name == "Link" }?.value
        #expect(link == "<?limit=3&after=\(try world.items("/v1/outages")[2]["id"] ?? "")>; rel=\"next\"")
    }

    @Test func `outages are filtered by target, attribution and time`() throws {
        let world = try APIWorld(targets: ["a", "b"])
        world.lose(for: .seconds(1))
        world.kernel.clock.advance(by: .seconds(60))
        world.lose(for: .seconds(1))
        #expect(try world.items("/v1/outages?target=a").count == 2)
        #expect(try world.items("/v1/outages?attribution=us").count == 4)
        #expect(try world.items("/v1/outages?attribution=them").isEmpty)
        #expect(try world.items("/v1/outages?state=any").count == 4)
        #expect(try world.items("/v1/outages?state=open").isEmpty)
        #expect(
            try world.object("/v1/outages?state=closed")["detail"] as? String
                == "state must be one of open, any, not \"closed\""
        )
        let last = try #require(try world.items("/v1/outages").first?["start"] as? String)
        #expect(try world.items("/v1/outages?from=\(last)").count == 2)
        #expect(try world.items("/v1/outages?to=\(last)").count == 2)
    }

    @Test func `the seconds of all accounts add up to the window`() throws {
        let world = try APIWorld()
        world.kernel.clock.advance(by: .seconds(94))
        world.lose(for: .seconds(5))
        let item = try #require(try world.items("/v1/availability?window=200s").first)
        let seconds = try #require(item["seconds"] as? [String: Double])
        #expect(seconds == ["up": 95, "us": 5, "upstream": 0, "them": 0, "unknown": 100, "maintenance": 0])
        #expect(item["availability"] as? Double == 0.95)
        #expect(item["atLeast"] as? Double == 0.475)
        #expect(item["atMost"] as? Double == 0.975)
        #expect(try world.items("/v1/targets/internet/availability?window=10s").count == 1)
    }

    @Test(arguments: [
        ("/v1/nothing", 404, "/v1/nothing does not exist"), ("/v1/targets/x", 404, "there is no target \"x\""),
        ("/v1/outages/1-2", 404, "there is no outage \"1-2\""), ("/v1/outages?limit=0", 400, "limit must be a number"),
        ("/v1/outages?limit=1001", 400, "limit must be a number"), ("/v1/outages?after=x", 400, "after must be the id"),
        ("/v1/outages?form=1", 400, "unknown parameter \"form\""),
        ("/v1/outages?from=yesterday", 400, "from must be a time"),
        ("/v1/availability?window=1w", 400, "window must be a duration"),
        ("/v1/outages?attribution=you", 400, "attribution must be one of"),
        ("/v1/availability?window=1h&from=2023-11-14T22:13:20Z", 400, "window and from"),
    ])
    func `an error has a status and a detail with a hint`(target: String, status: Int, detail: String) throws {
        let world = try APIWorld()
        let answer = try world.answer(target)
        #expect(Int(answer.status.code) == status)
        #expect(answer.headers.contains { $0.name == "Content-Type" && $0.value == "application/problem+json" })
        #expect(try #require(try world.object(target)["detail"] as? String).hasPrefix(detail))
    }

    @Test func `methods and representations are negotiated`() throws {
        let world = try APIWorld()
        let post = try world.answer("/v1/status", .POST)
        #expect(post.headers.contains { $0.name == "Allow" && $0.value == "GET, HEAD, OPTIONS" })
        let answer = try world.answer("/v1/outages")
        let tag = try #require(answer.headers.first { $0.name == "ETag" }?.value)
        #expect(try world.answer("/v1/outages", .GET, [("If-None-Match", tag)]).status == .notModified)
        world.lose(for: .seconds(1))
        #expect(try world.answer("/v1/outages", .GET, [("If-None-Match", tag)]).status == .ok)
        let lines = try world.text("/v1/outages", [("Accept", "application/jsonl")])
        #expect(lines.hasPrefix("{") && lines.hasSuffix("}\n"))
    }

    @Test(arguments: [
        ("localhost:9672", nil, 200), ("127.0.0.1", nil, 200), ("[::1]:80", nil, 200), ("LOCALHOST", nil, 200),
        ("localhost:9672", "http://localhost:9672", 200), ("localhost:9672", "http://localhost:80", 403),
        ("localhost:9672", "https://example.org", 403), ("localhost:9672", "null", 403), ("example.org", nil, 421),
        ("127.0.0.1.example.org", nil, 421), ("192.0.2.1", nil, 421), ("", nil, 421), ("localhost:x", nil, 421),
    ])
    func `over TCP only requests for this machine are allowed`(host: String, origin: String?, status: Int) throws {
        let headers = [("Host", host)] + (origin.map { [("Origin", $0)] } ?? [])
        #expect(Int(try APIWorld().answer("/v1/status", .GET, headers, peer: .loopback).status.code) == status)
    }

    @Test func `special characters in names are preserved`() throws {
        let name = "a/b \"<script>\"\n\u{202e}é"
        let world = try APIWorld(targets: [name])
        let encoded = name.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(try world.object("/v1/targets/\(encoded)")["name"] as? String == name)
        #expect(try !world.text("/v1/targets").contains("\u{202e}"))
        #expect(try world.text("/metrics").contains("{target=\"a/b \\\"<script>\\\"\\n\u{202e}é\",state=\"up\"}"))
        for bad in ["/%", "/%zz", "/%ff", "/%00", "x"] {
            #expect(throws: Problem.self) { try world.answer(bad) }
        }
    }
}

extension APITests {
    @Test func `each path has its methods, and only administrators may make changes`() throws {
        let world = try APIWorld()
        world.lose(for: .seconds(1))
        let examples = ["{name}": "internet", "{id}": "latest"]
        let paths = Dictionary(grouping: world.api.router.routes) { route in
            "/" + route.path.map { examples[$0] ?? $0 }.joined(separator: "/")
        }
        func allow(_ answer: WebAnswer) -> [String] {
            answer.headers.first { $0.name == "Allow" }?.value.split(separator: ", ").map(String.init) ?? []
        }
        for (path, routes) in paths {
            let methods = routes.map(\.method.rawValue)
            let options = try world.answer(path, .OPTIONS)
            #expect(options.status == .noContent)
            #expect(Set(allow(options)) == Set(methods + ["OPTIONS"] + (methods.contains("GET") ? ["HEAD"] : [])))
            for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "TRACE"]
            where !allow(options).contains(method) {
                let answer = try world.answer(path, HTTPMethod(rawValue: method))
                #expect(answer.status == .methodNotAllowed && allow(answer) == allow(options), "\(method) \(path)")
            }
            for route in routes where route.access == .administrator {
                // A change never waits for a request that reads the history.
                #expect(route.queue == .administration, "\(route.method) \(path)")
                for peer in [WebRequest.Peer.loopback, .local(user: nil), .local(user: 4_000_000)] {
                    let answer = try world.answer(path, route.method, [("Host", "localhost")], peer: peer)
                    #expect(answer.status == .forbidden, "\(route.method) \(path)")
                }
            }
        }
        // The service was started without a configuration.
        #expect(try world.answer("/v1/reload", .POST, peer: .local(user: 0)).status == .conflict)
    }

    /// `Scripts/test-service api` tests each route in detail. This test runs without schemathesis.
    @Test func `the OpenAPI description matches the routes`() throws {
        let world = try APIWorld()
        world.lose(for: .seconds(1))
        let body = try world.answer("/openapi.json").body
        let document = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        // Pages and their forms and files are not part of the description.
        let routes = world.api.router.routes.filter {
            ["v1", "metrics", "probe", "healthz", "readyz", "openapi.json"].contains($0.path.first)
        }
        var methods: [String: Set<String>] = [:]
        for route in routes {
            let path = "/" + route.path.joined(separator: "/")
            methods[path, default: []].insert(route.method.rawValue.lowercased())
        }
        #expect(paths.mapValues { Set($0.keys) } == methods)
    }
}
