import Foundation
import LinuxSupport
import NIOHTTP1
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// The public status page, and the service behind a reverse proxy.
@Suite struct StatusPageTests {
    private static let targets = """
        schema = 1
        [[target]]
        name = "a<b"
        host = "192.0.2.7"
        [[target]]
        name = "b"
        host = "192.0.2.8"
        [[target]]
        name = "secret"
        host = "192.0.2.9"

        """

    private static let page = """
        [status-page]
        title = "Example & Co"
        note = "Work on <Sunday>."
        targets = ["a<b"]
        [[status-page.groups]]
        name = "Shop"
        targets = ["b"]
        """

    private func world(_ text: String = page) throws -> APIWorld {
        try APIWorld(targets: ["a<b", "b", "secret"], configuration: try ServiceConfiguration(Self.targets + text))
    }

    /// A client without a token at an address with TLS.
    private static let stranger = WebRequest.Peer.secured(certificate: nil)

    private func text(_ world: APIWorld, _ path: String) throws -> String {
        let answer = try world.answer(
            path,
            .GET,
            [("Host", "elsewhere.example"), ("Sec-Fetch-Site", "cross-site")],
            peer: Self.stranger
        )
        #expect(answer.status == .ok, "\(path)")
        return String(decoding: answer.body, as: UTF8.self)
    }

    @Test func `the status page is public and has only the chosen targets and their incidents`() throws {
        let world = try world()
        world.lose(for: .seconds(31))
        let page = try text(world, "/status")
        for part in [
            "Example &amp; Co", "Work on &lt;Sunday&gt;.", "Everything works.", "a&lt;b, b were down", "31\u{a0}s",
            ">Shop <",
        ] {
            #expect(page.contains(part), "\(part)")
        }
        world.setCarrier(false)
        world.kernel.clock.advance(by: .seconds(2))
        let bad = try text(world, "/status")
        #expect(bad.contains("a&lt;b, b are down.") && bad.contains(", ongoing"))
        for text in [page, bad, try text(world, "/status/feed")] {
            for word in [
                "secret", "192.0.2", "eth0", "carrier", "this machine", "href=\"/outages", "/v1/", "data-worker",
            ] {
                #expect(!text.contains(word), "\(word)")
            }
        }
        for path in ["/", "/v1/status", "/outages"] {
            #expect(try world.answer(path, peer: Self.stranger).status != .ok, "\(path)")
        }
    }

    @Test func `notes with the prefix are public`() throws {
        for (settings, isShown) in [("", false), ("note-prefix = \"Public:\"\n", true)] {
            let world = try world(Self.page.replacingOccurrences(of: "title", with: settings + "title"))
            world.lose(for: .seconds(4))
            let id = try #require(try world.items("/v1/outages?target=b").first?["id"] as? String)
            world.kernel.clock.advance(by: .seconds(3600))
            for text in ["Public: The <cable> is new.", "The password is x"] {
                let body = "{\"text\":\"\(text)\"}"
                #expect(
                    try world.answer("/v1/outages/\(id)/note", .POST, peer: .local(user: 0), body: body).status
                        == .created
                )
            }
            // A note is an update of its incident and of the feed.
            let now = "<updated>\(world.service.snapshot.time(world.service.snapshot.now).text)</updated>"
            #expect(try text(world, "/status/feed").components(separatedBy: now).count == (isShown ? 3 : 1))
            for page in [try text(world, "/status"), try text(world, "/status/feed")] {
                #expect(page.contains("The &lt;cable&gt; is new.") == isShown)
                #expect(!page.contains("password") && !page.contains("Public:") && !page.contains("root"))
            }
        }
    }

    @Test func `the address of the status page serves nothing else`() throws {
        let world = try world()
        for (path, other) in [
            ("/", "/outages"), ("/status", "/v1/status"), ("/status/feed", "/healthz"), ("/badge/b.svg", "/help"),
        ] {
            // Another client may have read the page of the same path.
            _ = try world.text(path)
            let answer = try world.answer(path, .GET, [("Host", "any.example")], peer: .open)
            #expect(answer.status == .ok && !String(decoding: answer.body, as: UTF8.self).contains("secret"), "\(path)")
            #expect(try world.answer(other, peer: .open).status == .notFound, "\(other)")
        }
        #expect(try world.answer("/targets/b/maintenance", .POST, peer: .open).status == .notFound)
        #expect(try world.answer(Asset.style.path, peer: .open).status == .ok)
        for (address, isValid) in [("0.0.0.0:80", true), ("[::]:80", true), ("example.org:80", false), ("80", false)] {
            let text =
                Self.targets + Self.page.replacingOccurrences(of: "title", with: "listen = \"\(address)\"\ntitle")
            let configuration = try ServiceConfiguration(text)
            do { _ = try Access().prepare(configuration) } catch {
                #expect(!isValid && error.problems.map(\.path) == ["status-page.listen"])
                continue
            }
            #expect(isValid, "\(address)")
        }
    }

    @Test func `the feed has an entry for each incident`() throws {
        let world = try world()
        #expect(try text(world, "/status/feed").contains("<updated>2023-11-14T"))
        world.lose(for: .seconds(4))
        let feed = try text(world, "/status/feed")
        #expect(feed.hasPrefix("<?xml version=\"1.0\""))
        #expect(feed.contains("<title>a&lt;b, b were down for 4.0\u{a0}s</title>"))
        #expect(feed.components(separatedBy: "<entry>").count == 2)
    }

    @Test func `a badge shows the state of a target of the page`() throws {
        let world = try world()
        #expect(try text(world, "/badge/b.svg").contains("aria-label=\"b: up"))
        #expect(try text(world, "/badge/a%3Cb.svg").contains(">a&lt;b</text>"))
        world.setCarrier(false)
        #expect(try text(world, "/badge/b.svg").contains("aria-label=\"b: down"))
        for path in ["/badge/secret.svg", "/badge/b.png", "/badge/b", "/badge/.svg"] {
            #expect(try world.answer(path, peer: Self.stranger).status == .notFound, "\(path)")
        }
        for path in ["/status", "/status/feed", "/badge/b.svg"] {
            #expect(try self.world("").answer(path, peer: Self.stranger).status == .notFound, "\(path)")
        }
    }

    @Test(arguments: [
        (
            "[status-page]\ntargets = []",
            "status-page.targets: must name at least one target, here or in [[status-page.groups]]"
        ),
        ("[status-page]\ntargets = [\"x\"]", "status-page.targets[1]: there is no target \"x\""),
        ("[status-page]\ntargets = [\"b\", \"b\"]", "status-page.targets[2]: \"b\" is already on the status page"),
        ("[status-page]\ntargets = [\"b\"]\ntitle = \"\"", "status-page.title: must have 1 to 100 characters, not 0"),
        ("[status-page]\ntargets = [\"b\"]\nnotes = 1", "status-page.notes: unknown key; did you mean note?"),
        (
            "[status-page]\ntargets = [\"b\"]\nnote-prefix = \"\"",
            "status-page.note-prefix: must have 1 to 20 characters, not 0"
        ),
        ("[[status-page.groups]]\ntargets = [\"b\"]", "status-page.groups[1].name: missing"),
        ("[[status-page.groups]]\nname = \"x\"", "status-page.groups[1].targets: must name at least one target"),
        (
            "[access]\nproxies = [\"proxy\"]",
            "access.proxies[1]: must be an address such as 127.0.0.1, or a prefix such as 10.0.0.0/8"
        ),
        (
            "[access]\nproxies = [\"10.0.0.0/33\"]",
            "access.proxies[1]: must be an address such as 127.0.0.1, or a prefix such as 10.0.0.0/8"
        ),
        (
            "[access]\nbase-path = \"/a/\"",
            "access.base-path: must be a path such as /network, without special characters and without a slash at its end"
        ),
    ])
    func `wrong values are reported`(text: String, problem: String) throws {
        let error = #expect(throws: ConfigurationProblems.self) { try ServiceConfiguration(Self.targets + text) }
        #expect(error?.problems.map { "\($0.path): \($0.text)" } == [problem])
    }

    // MARK: Reverse proxies

    private static let proxied = """
        [access]
        hosts = ["status.example.org"]
        proxies = ["127.0.0.1", "10.0.0.0/8"]
        base-path = "/net/box"
        [[access.tokens]]
        name = "phone"
        sha256 = "1f280fa8ba26b55d213069fde14a3348c2d38b728780002fadb76c997b14b354"
        """

    /// Returns the status of a request that a proxy or another program on this machine sends.
    private func status(
        _ world: APIWorld,
        from remote: String,
        _ fields: [(String, String)],
        _ path: String = "/net/box/"
    ) throws -> Int {
        let head = HTTPRequestHead(
            version: .http1_1,
            method: .GET,
            uri: path,
            headers: HTTPHeaders([("Host", "status.example.org")] + fields)
        )
        var request = try WebRequest(head, body: [], peer: .loopback)
        request.remote = AddressLiteral(remote)?.wire
        return Int(world.api.router.answer(to: request).status.code)
    }

    @Test func `only configured proxies determine the client, who is then not on this machine`() throws {
        let world = try world(Self.proxied)
        let token = ("Authorization", "Bearer rt_402rOYHumYHa_sCyoFA-E0ZRV8ltgi0nR_Ri5soegGY")
        func hops(_ text: String) -> (String, String) { ("X-Forwarded-For", text) }
        #expect(try status(world, from: "127.0.0.1", [hops("203.0.113.5")]) == 401)
        #expect(try status(world, from: "127.0.0.1", [hops("203.0.113.5"), token]) == 200)
        // The client can send the field too. The proxy appends its address.
        #expect(try status(world, from: "127.0.0.1", [hops("127.0.0.1, 203.0.113.5")]) == 401)
        #expect(try status(world, from: "127.0.0.1", [hops("127.0.0.1"), hops("203.0.113.5, 10.1.2.3")]) == 401)
        #expect(try status(world, from: "127.0.0.1", [hops("unknown")]) == 401)
        // The proxy forwards a request of this machine, or another program sends the field.
        #expect(try status(world, from: "127.0.0.1", [hops("127.0.0.1")]) == 200)
        #expect(try status(world, from: "127.0.0.2", [hops("203.0.113.5")]) == 200)
        // The scheme between the client and the proxy determines the origin.
        let origin = ("Origin", "https://status.example.org")
        let secured = ("X-Forwarded-Proto", "https")
        #expect(try status(world, from: "127.0.0.1", [hops("203.0.113.5"), token, origin, secured]) == 200)
        #expect(try status(world, from: "127.0.0.1", [hops("203.0.113.5"), token, origin]) == 403)
        #expect(try status(world, from: "127.0.0.2", [origin, secured]) == 403)
    }

    @Test(arguments: [true, false])
    func `links lead below the path of a proxy, which may remove it from requests`(removesPath: Bool) throws {
        let access = removesPath ? "" : "[access]\nbase-path = \"/net/box\"\n"
        let world = try world(access + Self.page)
        world.lose(for: .seconds(1))
        let id = try #require(try world.items("/v1/outages").first?["id"] as? String)
        let site = "https://status.example.org"
        func answer(_ path: String) throws -> WebAnswer {
            let path = removesPath ? String(path.dropFirst("/net/box".count)) : path
            return try world.answer(path, peer: .local(user: 0))
        }
        let pages = ["/", "/outages", "/outages/", "/outages/\(id)", "/targets/a%3Cb", "/service", "/status", "/help"]
        for path in pages + (removesPath ? [] : [""]) {
            let page = try #require(URL(string: site + "/net/box" + path))
            let text = String(decoding: try answer("/net/box" + path).body, as: UTF8.self)
            let links = text.matches(of: #/ (?:href|src|action|data-copy|data-worker)="([^#"]+)/#)
            #expect(links.count > 4, "\(path)")
            for link in Set(links.map { String($0.1).replacingOccurrences(of: "&amp;", with: "&") }) {
                let place = try #require(URL(string: link, relativeTo: page)).absoluteString.dropFirst(site.count)
                #expect(place.hasPrefix("/net/box"), "\(path): \(link)")
                #expect(try answer(String(place)).status != .notFound, "\(path): \(link)")
            }
        }
        #expect(try world.answer("/net/other").status == .notFound)
    }
}
