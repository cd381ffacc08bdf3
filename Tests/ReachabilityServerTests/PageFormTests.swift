import Foundation
import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// The forms of pages for clients that may make changes.
@Suite struct PageFormTests {
    private static let token = "rt_402rOYHumYHa_sCyoFA-E0ZRV8ltgi0nR_Ri5soegGY"
    private static let origin = ("Origin", "http://localhost")
    private static let login = ("Authorization", "Basic \(Data(":\(token)".utf8).base64EncodedString())")

    private func world() throws -> APIWorld {
        let access = """
            schema = 1
            [[access.tokens]]
            name = "anna"
            scope = "admin"
            sha256 = "1f280fa8ba26b55d213069fde14a3348c2d38b728780002fadb76c997b14b354"
            """
        return try APIWorld(configuration: try ServiceConfiguration(access))
    }

    /// Sends a request of a browser on this machine.
    private func send(
        _ world: APIWorld,
        _ method: HTTPMethod,
        _ path: String,
        _ fields: [(String, String)],
        _ body: String = ""
    ) throws -> WebAnswer {
        try world.answer(path, method, [("Host", "localhost")] + fields, peer: .loopback, body: body)
    }

    @Test func `only administrators see forms, and others can log in`() throws {
        let world = try world()
        world.lose(for: .seconds(1))
        let id = try #require(try world.items("/v1/outages").first?["id"] as? String)
        for path in ["/targets/internet", "/outages/\(id)"] {
            let guest = String(decoding: try send(world, .GET, path, []).body, as: UTF8.self)
            #expect(!guest.contains("method=\"post\"") && guest.contains("<a href=\"../login\">"))
            let admin = String(decoding: try send(world, .GET, path, [Self.login]).body, as: UTF8.self)
            #expect(admin.contains("method=\"post\"") && !admin.contains("<a href=\"../login\">"))
        }
        let asked = try send(world, .GET, "/login", [])
        #expect(asked.status == .unauthorized && asked.headers.contains { $0.value.hasPrefix("Basic ") })
        #expect(try send(world, .GET, "/login", [Self.login]).status == .seeOther)
    }

    @Test func `forms add notes and begin maintenance`() throws {
        let world = try world()
        world.lose(for: .seconds(1))
        let id = try #require(try world.items("/v1/outages").first?["id"] as? String)
        let noted = try send(world, .POST, "/outages/\(id)/note", [Self.login, Self.origin], "text=The+cable+%3Cb%3E")
        #expect(
            noted.status == .seeOther
                && noted.headers.contains { $0.name == "Location" && $0.value == "../../outages/\(id)" }
        )
        let page = try world.text("/outages/\(id)")
        #expect(page.contains("<b><bdi>anna</bdi></b>") && page.contains("The cable &lt;b&gt;"))
        let path = "/targets/internet/maintenance"
        #expect(try send(world, .POST, path, [Self.login, Self.origin], "for=2h").status == .seeOther)
        #expect(world.service.planned.map(\.length) == [.seconds(7200)])
        // Another form at the same time does not replace it.
        #expect(try send(world, .POST, path, [Self.login, Self.origin], "for=1d").status == .seeOther)
        #expect(Set(world.service.planned.map(\.length)) == [.seconds(7200), .seconds(86_400)])
        #expect(try send(world, .POST, path, [Self.login, Self.origin], "for=3h").status == .badRequest)
        // The target has no checks.
        #expect(try send(world, .POST, "/targets/internet/check", [Self.login, Self.origin]).status == .conflict)
    }

    @Test func `other sites, readers and programs cannot send forms`() throws {
        let world = try world()
        let path = "/targets/internet/maintenance"
        for fields in [
            [Self.login], [Self.origin], [Self.login, ("Origin", "null")],
            [Self.login, ("Origin", "http://evil.example")],
            [Self.login, Self.origin, ("Sec-Fetch-Site", "cross-site")],
        ] { #expect(try send(world, .POST, path, fields, "for=2h").status == .forbidden, "\(fields)") }
        #expect(world.service.planned.isEmpty)
    }
}
