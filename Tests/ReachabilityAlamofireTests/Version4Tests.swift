import AlamofireBlocks
import FoundationEssentials
import LinuxSupport
import NetworkLab
import ServerTrust
import Testing
import TrustForge
import WebLab

/// Code for Alamofire 4 with another import, against servers.
@Suite(.timeLimit(.minutes(15))) struct Version4Tests {
    private static func reply(to request: ReceivedRequest) -> ScriptedReply {
        func text(_ text: String, _ type: String = "text/plain; charset=utf-8", status: Int = 200) -> ScriptedReply {
            .status(status, headers: [("Content-Type", type)], body: Array(text.utf8))
        }
        let (fields, body) = (request.fields, String(decoding: request.body, as: UTF8.self))
        switch request.target.split(separator: "?").first ?? "" {
        case "/item": return text(#"{"name": "tea", "price": 3}"#, "application/json")
        case "/items": return text(#"[{"name": "tea"}, {"name": "jam"}]"#, "application/json")
        case "/list": return text("<plist><dict><key>name</key><string>tea</string></dict></plist>", "text/xml")
        case "/text": return text("hello")
        case "/echo": return text("\(request.method) \(request.target) \(fields["content-type"] ?? "-") \(body)")
        case "/headers": return text("\(fields["x-shop"] ?? "-") \(fields["user-agent"] != nil)")
        case "/form":
            return text("\(body.contains("name=\"part\"\r\n\r\none\r\n") && body.contains("filename=\"file\""))")
        case "/basic" where fields["authorization"] == nil:
            return .status(401, headers: [("WWW-Authenticate", "Basic realm=\"shop\"")])
        case "/basic": return text(fields["authorization"] ?? "-")
        case "/oauth2/token": return text(#"{"access_token": "fresh"}"#, "application/json")
        case "/token": return fields["authorization"] == "Bearer fresh" ? text("in") : text("out", status: 401)
        default: return .status(404)
        }
    }

    /// Returns the sorted reports of a call.
    private func reports(
        _ count: Int = 1,
        _ call: (ShopClient, @escaping @Sendable (String) -> Void) -> Void
    ) async throws -> [String] {
        let (lines, sink) = AsyncStream.makeStream(of: String.self)
        let server = try ScriptedServer(answer: Self.reply)
        defer { server.stop() }
        let client = ShopClient(base: server.url(""))
        call(client) { sink.yield($0) }
        var reports: [String] = []
        for await line in lines {
            reports.append(line)
            if reports.count == count { break }
        }
        withExtendedLifetime(client) {}
        return reports.sorted()
    }

    @Test func `JSON, text and property lists are read`() async throws {
        let json = try await reports { $0.readJSON($1) }
        #expect(json == ["tea 3 true id=7&new=1&tags%5B%5D=a&tags%5B%5D=b"])
        #expect(try await reports { $0.readText($1) } == ["hello"])
        #expect(try await reports(3) { $0.readInChain($1) } == ["5 true", "hello", "true hello 200"])
        #expect(try await reports { $0.readPropertyList($1) } == ["tea"])
        #expect(try await reports { $0.fail($1) } == ["true true 404"])
    }

    @Test func `serializers of the application create values`() async throws {
        #expect(try await reports { $0.readModel($1) } == ["tea"])
        #expect(try await reports { $0.refuseModel($1) } == ["format"])
        #expect(try await reports { $0.mapJSON($1) } == [#"["tea", "jam"] format("2 items")"#])
    }

    @Test func `requests of routers and header fields arrive at the server`() async throws {
        let routes = try await reports(2) { $0.route($1) }
        #expect(routes == ["GET /echo?page=2 - ", #"POST /echo application/json {"a":1,"b":{"c":true}}"#])
        #expect(try await reports(3) { $0.sendHeaders($1) } == ["1 true", "2 true", "3 true"])
    }

    @Test func `credentials and tokens are sent`() async throws {
        let basic = try await reports(3) { $0.authenticate($1) }
        #expect(basic == ["200", "200", "200 Basic YWRhOnNlY3JldA=="])
        #expect(try await reports(2) { $0.refreshToken($1) } == ["in true true", "in true true"])
    }

    @Test func `files and forms are transferred`() async throws {
        let folder = ScratchDirectory()
        let download = try await reports(3) { $0.download(to: folder.path, $1) }
        #expect(download == ["hello", "hello file", "true"] && folder.text("new/file") == "hello")
        let uploads = try await reports(2) { $0.upload($1) }
        #expect(uploads == ["POST /echo text/plain body", "PUT /echo - stream"])
        let file = URL(filePath: folder.path + "/new/file")
        #expect(try await reports { $0.uploadForm(file, $1) } == ["true false"])
        #expect(try await reports(2) { $0.uploadFormOfSession($1) } == ["false", "false"])
        #expect(try await reports { $0.failForm($1) } == [#"format("no picture")"#])
    }

    @Test(arguments: [true, false])
    func `a policy pins the certificates of a host`(isPinned: Bool) async throws {
        let identity = WebIdentity.selfSigned(for: "127.0.0.1")
        let other = WebIdentity.otherAuthority(for: "127.0.0.1")
        let server = try ScriptedServer(coder: TLSCoder.layer(try identity.context()), answer: Self.reply)
        let pins = (isPinned ? identity : other).chain.map(\.certificate)
        let (lines, sink) = AsyncStream.makeStream(of: String.self)
        defer { server.stop() }
        let client = ShopClient(base: "https://127.0.0.1:\(server.port)")
        client.pin(pins, host: "127.0.0.1") { sink.yield($0) }
        var lineIterator = lines.makeAsyncIterator()
        #expect(await lineIterator.next() == (isPinned ? "hello false" : "none true"))
        #expect(server.requests.isEmpty != isPinned)
    }
}
