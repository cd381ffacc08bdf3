import Foundation
import NIOHTTP1
import ReachabilityServer
import ReachabilityService
import Testing

@testable import ReachabilityFleetHub

/// Reloading the configuration of a hub.
@Suite struct HubReloadTests {
    private let directory: ScratchDirectory
    private var file: String { directory.file("hub.toml") }

    init() throws {
        directory = try ScratchDirectory()
        try write("")
    }

    private func write(_ text: String) throws {
        try Data("schema = 1\n\(text)".utf8).write(to: URL(fileURLWithPath: file))
    }

    @Test func `reloading requires permission and applies the configuration`() throws {
        let world = try HubWorld()
        let current = try Reloader.read(file, for: .hub)
        let reloader = Reloader(file, current: current, preparations: [world.prepareAccess])
        // The hub was started without a configuration.
        #expect(try world.answer("/v1/reload", .POST).status == .conflict)
        let api = world.api(reloader)
        func post(
            _ peer: WebRequest.Peer = .local(user: 0),
            _ accept: String = "*/*",
            token: String? = nil
        ) throws
            -> WebAnswer
        {
            var headers = HTTPHeaders([("Accept", accept), ("Host", "localhost")])
            if let token { headers.add(name: "Authorization", value: "Bearer \(token)") }
            let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/v1/reload", headers: headers)
            return api.router.answer(to: try WebRequest(head, body: [], peer: peer))
        }
        #expect(try world.answer("/v1/reload").status == .methodNotAllowed)
        #expect(try post(.loopback).status == .forbidden)
        #expect(try post(.local(user: 4_000_000)).status == .forbidden)
        #expect(String(decoding: try post().body, as: UTF8.self).contains("\"needsRestart\":[],\"kind\":\"reload\""))

        // The SHA-256 hash of "secret".
        let digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
        let token = "[[access.tokens]]\nname = \"ops\"\nsha256 = \"\(digest)\"\nscope = \"admin\"\n"
        try write(token)
        #expect(try post().status == .ok)
        #expect(try post(.loopback, token: "secret").status == .ok)

        try write("[[target]]\nname = \"internet\"\n" + token)
        let refused = try post(.loopback, token: "secret")
        #expect(refused.status == .unprocessableEntity)
        #expect(String(decoding: refused.body, as: UTF8.self).contains("\"path\":\"target\",\"line\":2"))
        #expect(
            String(decoding: try post(.local(user: 0), "text/plain").body, as: UTF8.self).hasSuffix(
                reloader.refused + "\n"
            )
        )
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/metrics")
        let metrics = api.router.answer(to: try WebRequest(head, body: [], peer: .local(user: 0)))
        #expect(String(decoding: metrics.body, as: UTF8.self).contains("reachability_configuration_stale 1\n"))

        // The retention time can change at any time, but not the path of the history.
        try write("[history]\nkeep = \"2d\"\n" + token)
        #expect(try reloader.reload() == [])
        try write("[listen]\nhttp = []\n[history]\nkeep = \"2d\"\npath = \"other.sqlite\"\n" + token)
        #expect(try reloader.reload() == ["listen", "history"])
        try write("")
        #expect(try post(.loopback, token: "secret").status == .ok)
        #expect(try post(.loopback, token: "secret").status == .forbidden)
    }

    @Test func `a new retention time applies immediately`() throws {
        let world = try HubWorld()
        world.writer.brokerConnected()
        world.receive([.online("d0", "a", 0), .event("d0", "a", 5, .outage(outage("o", 1, 4)), number: 1)])
        let retention = HubRetention(world.store, keep: nil) { at(3 * 86_400) }
        retention.begin()
        retention.stop()
        #expect(try world.items("/v1/incidents").count == 1)
        var configuration = ServiceConfiguration()
        configuration.history.keep = .seconds(86_400)
        try retention.prepare(configuration)()
        retention.stop()
        #expect(try world.items("/v1/incidents").isEmpty)
    }
}

extension HubWorld {
    @Sendable fileprivate func prepareAccess(
        _ configuration: ServiceConfiguration
    ) throws(ConfigurationProblems) -> @Sendable () -> Void {
        let use = try access.prepare(configuration)
        return { _ = use() }
    }
}
