import Testing

@testable import ReachabilityRetry

/// The next hop of a redirect.
@Suite struct RedirectRuleTests {
    /// The examples of RFC 3986, section 5.4, and the behaviour of browsers.
    @Test(
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
            ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("..", "http://a/b/"), ("../g", "http://a/b/g"),
            ("../..", "http://a/"), ("../../../g", "http://a/g"), ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s", "http://a/b/c/g"),
            ("%2e%2E/g", "http://a/b/g"), ("HTTPS://B.example:443/x", "https://b.example/x"),
            ("http://u:p@b.example/", "http://b.example/"),
            ("http://[2001:DB8::1]:8080?q", "http://[2001:db8::1]:8080/?q"),
            ("/ä b", "http://a/%C3%A4%20b"), ("http://b.example", "http://b.example/"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("//g?y", "http://g/?y"), ("a:b", nil), ("mailto:x", nil), ("http:", nil), ("http://", nil),
            ("http://b:0/", nil),
            ("http://b:65536/", nil), ("http://b:x/", nil), ("ftp://b/", nil), ("/a\r\nb", nil), ("http://[::1", nil),
        ] as [(String, String?)]
    )
    func `the field Location is resolved as RFC 3986 defines`(location: String, expected: String?) throws {
        let base = try #require(RequestURL("http://a/b/c/d;p?q"))
        #expect(RequestURL(location: location, from: base)?.text == expected)
    }

    private func step(
        _ status: Int,
        _ location: String?,
        from url: String = "https://one.example/a",
        _ method: RequestMethod = .post,
        hasBody: Bool = true,
        isReplayable: Bool = true,
        by rule: RedirectRule = .follow()
    ) -> RedirectStep {
        let fields = ["Authorization", "Cookie", "Host", "Content-Type", "Accept"].map {
            RequestHead.Field(name: $0, value: "x")
        }
        let hop = RedirectHop(request: RequestHead(method: method, url: url, fields: fields), hasBody: hasBody)
        return hop.step(after: status, location: location, sentTo: url, isReplayable: isReplayable, by: rule)
    }

    private func followed(_ step: RedirectStep) -> RedirectHop? {
        if case .follow(let hop) = step { hop } else { nil }
    }

    @Test(arguments: [
        (301, RequestMethod.post, RequestMethod.get), (302, .post, .get), (303, .post, .get), (303, .put, .get),
        (303, .delete, .get), (303, .patch, .get), (303, .head, .head), (301, .head, .head), (302, .head, .head),
        (301, .put, .put), (302, .put, .put), (301, .delete, .delete), (302, .delete, .delete), (301, .patch, .patch),
        (302, .patch, .patch), (307, .post, .post), (307, .put, .put), (307, .delete, .delete), (307, .patch, .patch),
        (308, .post, .post), (308, .put, .put), (308, .delete, .delete), (308, .patch, .patch),
    ])
    func `a redirect keeps the method or changes it to GET`(
        status: Int,
        method: RequestMethod,
        next: RequestMethod
    ) throws {
        let hop = try #require(followed(step(status, "/b", method)))
        #expect(hop.request.method == next && hop.request.url == "https://one.example/b")
        #expect(hop.hasBody == (next != .get) && (hop.request["Content-Type"] == nil) == (next == .get))
        #expect(hop.request["Authorization"] == "x" && hop.isFirstOrigin)
    }

    @Test func `credentials are not sent to another origin`() throws {
        for url in ["https://two.example/", "https://one.example:8443/", "https://www.one.example/"] {
            let hop = try #require(followed(step(307, url)))
            #expect(hop.request.fields.map(\.name) == ["Content-Type", "Accept"] && !hop.isFirstOrigin)
        }
        let up = try #require(followed(step(307, "https://one.example/", from: "http://one.example/")))
        #expect(up.request["Cookie"] == nil)
        #expect(try #require(followed(step(307, "https://ONE.example:443/c"))).isFirstOrigin)
    }

    @Test func `a redirect that is not followed is the response`() {
        #expect(step(307, nil) == .keep)
        #expect(step(307, "http://one.example/a") == .keep)
        #expect(step(307, "file:///etc/passwd") == .keep)
        #expect(step(304, "/b") == .keep && step(300, "/b") == .keep && step(305, "/b") == .keep)
        #expect(step(307, "/b", isReplayable: false) == .keep)
        #expect(followed(step(303, "/b", isReplayable: false)) != nil)
        #expect(step(307, "/b", by: .none) == .keep)
    }

    @Test func `a cycle and too many redirects are failures`() throws {
        #expect(step(302, "/a", .get, hasBody: false) == .fail(.cycle))
        #expect(followed(step(302, "/a", .get, hasBody: false, by: .follow(allowsCycles: true))) != nil)
        var hop = RedirectHop(request: RequestHead(url: "https://one.example/0"), hasBody: false)
        for number in 1...20 {
            let from = hop.request.url
            let next = hop.step(after: 302, location: "/\(number)", sentTo: from, isReplayable: true, by: .follow())
            hop = try #require(followed(next))
        }
        let from = hop.request.url
        let last = hop.step(after: 302, location: "/21", sentTo: from, isReplayable: true, by: .follow())
        #expect(last == .fail(.tooMany(limit: 20)))
    }
}
