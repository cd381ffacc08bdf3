import Foundation
import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ServiceLab
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// Pushes and pauses in the API, and the descriptions of targets.
@Suite struct APIPushTests {
    /// A world with the targets `internet` and `backup`, whose token is `abcdefghijklmnop`.
    private func makeWorld(_ more: String = "") throws -> APIWorld {
        let directory = HistoryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let file = directory.path + "/token"
        try Data("abcdefghijklmnop\n".utf8).write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let configuration = try ServiceConfiguration(
            """
            schema = 1
            [[target]]
            name = "internet"
            at-large = true
            [[target]]
            name = "backup"
            push = { every = "1h", grace = "5m", token-file = "\(file)" }
            group = "Jobs"
            tags = ["night"]
            description = "The nightly <backup>"
            \(more)
            """
        )
        let world = try APIWorld(configuration: configuration)
        try world.api.pushTokens.prepare(configuration)()
        try world.service.apply(configuration.targets)
        world.flush()
        return world
    }

    private static let token = [("Authorization", "Bearer abcdefghijklmnop")]
    private static let local = [("Host", "localhost")]

    private func push(
        _ world: APIWorld,
        _ target: String = "backup",
        _ headers: [(String, String)] = token,
        peer: WebRequest.Peer = .loopback
    ) throws -> WebAnswer {
        world.kernel.clock.advance(by: .seconds(2))
        return try world.answer("/v1/push/\(target)", .POST, Self.local + headers, peer: peer)
    }

    @Test func `a push requires the token of its target or an administrator`() throws {
        let world = try makeWorld()
        let answer = try push(world)
        #expect(answer.status == .ok)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
        #expect(object["target"] as? String == "backup" && object["status"] as? String == "up")
        #expect(object["due"] is String)
        #expect(try push(world, "backup", [], peer: .local(user: 0)).status == .ok)
        #expect(try push(world, "backup", Self.token, peer: .local(user: 12345)).status == .ok)
        for headers in [[], [("Authorization", "Bearer abd")], [("Authorization", "abcdefghijklmnop")]] {
            for peer in [WebRequest.Peer.loopback, .local(user: 12345)] {
                let answer = try push(world, "backup", headers, peer: peer)
                #expect(answer.status == .unauthorized)
                #expect(answer.headers.contains { $0.name == "WWW-Authenticate" })
            }
        }
        // Without a permission, the answer does not show which targets exist.
        #expect(try push(world, "nobody").status == .unauthorized)
        #expect(try push(world, "internet").status == .unauthorized)
        #expect(try push(world, "nobody", [], peer: .local(user: 0)).status == .notFound)
        #expect(try push(world, "internet", [], peer: .local(user: 0)).status == .conflict)
        #expect(
            try world.answer("/v1/push/backup", .GET, Self.token, peer: .local(user: 0)).status == .methodNotAllowed
        )
        #expect(try push(world, "backup", Self.token, peer: .open).status == .notFound)
    }

    @Test func `pages of other sites cannot push, and HTTPS needs no other token`() throws {
        let world = try makeWorld("[access]\nhosts = [\"box.example\"]")
        let foreign = [("Origin", "http://evil.example")] + Self.token
        #expect(try push(world, "backup", foreign).status == .forbidden)
        #expect(try push(world, "backup", [("Sec-Fetch-Site", "cross-site")] + Self.token).status == .forbidden)
        func secured(
            _ host: String,
            _ target: String = "/v1/push/backup",
            _ method: HTTPMethod = .POST
        ) throws
            -> HTTPResponseStatus
        {
            let headers = [("Host", host)] + Self.token
            return try world.answer(target, method, headers, peer: .secured(certificate: nil)).status
        }
        #expect(try secured("box.example") == .ok)
        #expect(try secured("other.example") == .misdirectedRequest)
        // The token is not one of the API.
        #expect(try secured("box.example", "/v1/status", .GET) == .unauthorized)
    }

    @Test func `a push has a status and a message`() throws {
        let world = try makeWorld()
        func post(_ query: String) throws -> HTTPResponseStatus {
            world.kernel.clock.advance(by: .seconds(2))
            return try world.answer("/v1/push/backup?\(query)", .POST, peer: .local(user: 0)).status
        }
        #expect(try post("status=down&message=disk%20%3Cfull%3E") == .ok)
        let target = try world.object("/v1/targets/backup")
        #expect(target["state"] as? String == "them" && target["cause"] as? String == "push")
        #expect((target["check"] as? [String: Any])?["sentence"] as? String == "reports a failure: disk <full>")
        let push = try #require(target["push"] as? [String: Any])
        #expect((push["last"] as? [String: Any])?["message"] as? String == "disk <full>")
        #expect((push["last"] as? [String: Any])?["status"] as? String == "down")
        #expect(try world.text("/targets/backup").contains("Reports a failure: disk &lt;full&gt;."))
        #expect(try post("status=up") == .ok)
        #expect(try world.object("/v1/targets/backup")["state"] as? String == "up")
        let metrics = try world.text("/metrics")
        #expect(metrics.contains("reachability_push_last_timestamp_seconds{target=\"backup\"} 17"))
        #expect(metrics.contains("reachability_target_group{target=\"backup\",group=\"Jobs\"} 1"))
        #expect(metrics.contains("reachability_checks_total{target=\"backup\",result=\"push\"} 1"))
        #expect(!metrics.contains("reachability_check_duration_seconds_count{target=\"backup\"}"))
        #expect(try post("status=maybe") == .badRequest)
        #expect(try post("state=up") == .badRequest)
        let answers = try [0, 1].map { _ in try world.answer("/v1/push/backup", .POST, peer: .local(user: 0)) }
        #expect(answers.map(\.status) == [.ok, .tooManyRequests])
        #expect(answers[1].headers.contains { $0.name == "Retry-After" })
        world.flush()
        let events = try world.items("/v1/events").filter { $0["event"] as? String == "pushed" }
        #expect(events.count == 3)
        #expect((events.first?["push"] as? [String: Any])?["status"] as? String == "down")
    }

    @Test func `the descriptions of a target are in the API and on pages`() throws {
        let world = try makeWorld()
        let target = try world.object("/v1/targets/backup")
        #expect(target["group"] as? String == "Jobs" && target["tags"] as? [String] == ["night"])
        #expect(target["description"] as? String == "The nightly <backup>")
        #expect((target["push"] as? [String: Any])?["last"] is NSNull)
        let page = try world.text("/targets/backup")
        #expect(page.contains("The nightly &lt;backup&gt;") && page.contains("filter=night"))
        for (filter, isShown) in [("night", true), ("jobs", true), ("nightly", true), ("push", true), ("other", false)]
        {
            #expect(try world.text("/?filter=\(filter)").contains("/targets/backup\"") == isShown, "\(filter)")
        }
        #expect(try world.answer("/v1/why/backup").status == .conflict)
        #expect(try world.answer("/v1/why/nobody").status == .notFound)
    }

    @Test func `administrators pause and continue a target`() throws {
        let world = try makeWorld()
        func post(_ path: String, _ user: UInt32 = 0) throws -> HTTPResponseStatus {
            try world.answer("/v1/targets/\(path)", .POST, peer: .local(user: user)).status
        }
        #expect(try post("backup/pause", 12345) == .forbidden)
        #expect(try post("backup/pause") == .ok)
        #expect(try post("backup/pause") == .ok)
        let target = try world.object("/v1/targets/backup")
        #expect(target["state"] as? String == "unknown" && target["cause"] as? String == "paused")
        #expect(try world.text("/").contains(">paused<"))
        #expect(try world.text("/targets/backup").contains("Backup is paused") == false)
        #expect(try world.text("/targets/backup").contains("backup is paused"))
        // A paused target is not part of the headline.
        #expect(!world.service.snapshot.headline.contains("not observed"))
        #expect(try post("backup/resume") == .ok)
        #expect(try world.object("/v1/targets/backup")["cause"] as? String == "undecided")
        #expect(try post("nobody/pause") == .notFound)
        #expect(try post("nobody/resume") == .notFound)
        var disabled = try #require(world.service.snapshot.targets["backup"])
        disabled.isEnabled = false
        try world.service.apply([disabled])
        #expect(try post("backup/resume") == .conflict)
        #expect(try world.object("/v1/targets/backup")["reason"] as? String == "disabled")
    }
}
