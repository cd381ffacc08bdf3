import Crypto
import Foundation
import LinuxSupport
import NetworkLab
import Testing

@testable import ReachabilityService

/// Webhooks: the requests, and their delivery exactly once in spite of failures.
@Suite struct WebhookTests {
    private static let secret = "a secret of many bytes"

    private func configuration(_ server: AnswerServer, _ more: String = "") -> String {
        "[[notify]]\nname = \"chat\"\nwebhook = \"\(server.url)hook?key=1\"\n\(more)"
    }

    @Test func `signed notifications report an outage after its minimum duration and its end`() async throws {
        let (world, server) = (try NotifyingWorld(), try AnswerServer("204 No Content"))
        try Data((Self.secret + "\n").utf8).write(to: URL(filePath: world.directory + "/secret"))
        chmod(world.directory + "/secret", 0o640)
        try world.start(configuration(server, "secret-file = \"\(world.directory)/secret\"\n"))
        world.setCarrier(false)
        await world.advance(.seconds(29))
        #expect(server.requests.isEmpty)
        await world.advance(.seconds(1))
        try await server.expect(1)
        await world.advance(.seconds(10))
        world.setCarrier(true)
        try await server.expect(2)
        let (began, ended) = (server.objects[0], server.objects[1])
        #expect(began["event"] as? String == "began")
        #expect(began["kind"] as? String == "notification")
        #expect(began["delayed"] as? Bool == false)
        #expect(began["attribution"] as? String == "us")
        #expect(began["cause"] as? String == "link")
        #expect(began["end"] is NSNull)
        #expect(began["targets"] as? [String] == ["internet"])
        #expect((began["outages"] as? [[String: Any]])?.count == 1)
        #expect(ended["event"] as? String == "ended")
        #expect(ended["durationMilliseconds"] as? Int == 40_000)
        #expect(ended["ending"] as? String == "up")
        #expect(ended["incident"] as? String == began["incident"] as? String)
        #expect(server.requests[0].hasPrefix("POST /hook?key=1 HTTP/1.1\r\n"))
        for (index, request) in server.requests.enumerated() {
            let body = try #require(request.firstRange(of: "\r\n\r\n").map { request[$0.upperBound...] })
            let id = server.headers("webhook-id")[index]
            #expect(id == server.objects[index]["id"] as? String)
            #expect(id == server.headers("Idempotency-Key")[index])
            let content = "\(id).\(server.headers("webhook-timestamp")[index]).\(body)"
            let key = SymmetricKey(data: Data(Self.secret.utf8))
            let code = Data(HMAC<SHA256>.authenticationCode(for: Data(content.utf8), using: key))
            #expect(server.headers("webhook-signature")[index] == "v1,\(code.base64EncodedString())")
        }
        try await waitUntil { try world.status().delivered == 2 }
        #expect(try world.status().pending == 0)
        try await world.end(orderly: true)
    }

    @Test func `a failed request is repeated with the same body after Retry-After`() async throws {
        let (world, server) = (
            try NotifyingWorld(),
            try AnswerServer("500 Oops", "429 Busy\r\nRetry-After: 7", "302 There\r\nLocation: /x", "404 No", "200 OK")
        )
        try world.start(configuration(server, "after = \"0s\"\n"))
        world.setCarrier(false)
        try await server.expect(5)
        #expect(Set(server.headers("webhook-id")).count == 1)
        #expect(Set(server.objects.compactMap { $0["time"] as? String }).count == 1)
        #expect(world.waits.waits.contains { $0 >= .seconds(7) && $0 < .seconds(8) })
        try await waitUntil { try world.status().delivered == 1 }
        #expect(try world.status().postponed == 4)
        #expect(try world.status().failure == nil)
        // Each kind of failure is logged once, without the URL.
        #expect(world.log.lines.first == "warning: cannot notify chat: the server answered with 500")
        #expect(!world.log.lines.joined().contains("key=1"))
        try await world.end(orderly: true)
    }

    @Test func `a request with a final status is not repeated`() async throws {
        let (world, server) = (try NotifyingWorld(), try AnswerServer("410 Gone"))
        try world.start(configuration(server, "after = \"0s\"\n"))
        world.setCarrier(false)
        try await server.expect(1)
        try await waitUntil { try world.status().refused == 1 }
        #expect(try world.status().failure == "the server answered with 410")
        try await world.end(orderly: true)
    }

    @Test func `an attempt without an answer times out and is repeated`() async throws {
        let (world, server) = (try NotifyingWorld(timeLimit: .seconds(3)), try AnswerServer("", "200 OK"))
        try world.start(configuration(server, "after = \"0s\"\n"))
        world.setCarrier(false)
        // On a busy machine more than one attempt may time out before the server reads the request.
        try await waitUntil { server.requests.count >= 2 }
        #expect(Set(server.headers("Idempotency-Key")).count == 1)
        #expect(Set(server.objects.compactMap { $0["time"] as? String }).count == 1)
        try await world.end(orderly: true)
    }

    @Test func `without a network one notification is sent after the end of the outage`() async throws {
        let (world, server) = (try NotifyingWorld(), try AnswerServer("200 OK", isAway: true))
        try world.start(configuration(server))
        world.network.set(reachable: false)
        world.setCarrier(false)
        await world.advance(.seconds(30))
        try await waitUntil { try world.status().postponed == 1 }
        await world.advance(.seconds(600))
        #expect(try world.status().pending == 1)
        // Without a path no attempt is made. The outage ends when the path is back.
        try server.comeBack()
        #expect(try world.status().postponed == 1)
        world.setCarrier(true)
        world.network.set(reachable: true)
        try await server.expect(1)
        #expect(server.objects[0]["event"] as? String == "ended")
        #expect(server.objects[0]["delayed"] as? Bool == true)
        #expect(server.objects[0]["durationMilliseconds"] as? Int == 630_000)
        try await waitUntil { try world.status().pending == 0 }
        try await world.end(orderly: true)
        #expect(server.requests.count == 1)
    }

    @Test func `the end of an outage cancels a running delivery of its beginning`() async throws {
        // The server receives the first request but never answers it.
        let (world, server) = (try NotifyingWorld(timeLimit: .seconds(3600)), try AnswerServer("", "200 OK"))
        try world.start(configuration(server, "after = \"0s\"\n"))
        world.setCarrier(false)
        try await server.expect(1)
        await world.advance(.seconds(5))
        world.setCarrier(true)
        try await server.expect(2)
        #expect(server.objects.map { $0["event"] as? String } == ["began", "ended"])
        try await waitUntil { try world.status().pending == 0 }
        try await world.end(orderly: true)
        #expect(server.requests.count == 2)
    }

    @Test func `no notification is sent while a check may still end the outage`() async throws {
        let (world, server) = (try NotifyingWorld(isChecked: true), try AnswerServer("200 OK", isAway: true))
        try world.start(configuration(server))
        try world.find("works", "targetAnswers")
        world.network.set(reachable: false)
        world.setCarrier(false)
        await world.advance(.seconds(60))
        try await waitUntil { try world.status().postponed == 1 }
        // The path is back, but the check has not ended.
        try server.comeBack()
        world.setCarrier(true)
        world.network.set(reachable: true)
        try await world.notifying.rest()
        await world.advance(.seconds(5))
        try await world.notifying.rest()
        #expect(server.requests.isEmpty)
        try world.find("works", "targetAnswers")
        try await server.expect(1)
        #expect(server.objects[0]["event"] as? String == "ended")
        try await world.end(orderly: true)
    }

    @Test func `an outage is reported if no check has decided after 30 seconds`() async throws {
        let (world, server) = (try NotifyingWorld(isChecked: true), try AnswerServer("200 OK"))
        try world.start(configuration(server))
        try world.find("works", "targetAnswers")
        world.setCarrier(false)
        await world.advance(.seconds(29))
        world.setCarrier(true)
        for _ in 0..<30 { await world.advance(.seconds(1)) }
        try await world.notifying.rest()
        #expect(server.requests.isEmpty)
        for _ in 0..<3 { await world.advance(.seconds(1)) }
        try await server.expect(1)
        #expect(server.objects[0]["event"] as? String == "began")
        try await world.end(orderly: true)
    }

    @Test func `the next run delivers the notifications of a killed service, with a single end`() async throws {
        let (world, server) = (try NotifyingWorld(), try AnswerServer("503 Later"))
        let configuration = configuration(server, "after = \"0s\"\n")
        try world.start(configuration)
        world.setCarrier(false)
        try await waitUntil { !server.requests.isEmpty }
        try await world.end(orderly: false)
        server.answer("200 OK")
        await world.kernel.clock.advance(by: .seconds(100))
        try world.start(configuration)
        // Received requests cannot be counted here, because one of the killed run may still arrive.
        try await waitUntil { try world.status().delivered == 1 }
        world.setCarrier(true)
        try await waitUntil { try world.status().delivered == 2 }
        let ids = server.headers("webhook-id")
        #expect(Set(ids.dropLast()).count == 1)
        #expect(ids.last != ids.first)
        #expect(server.objects.last?["event"] as? String == "ended")
        #expect(server.objects.last?["durationMilliseconds"] as? Int == 100_000)
        // A third run has nothing to deliver.
        world.flush()
        try await world.end(orderly: false)
        let count = server.requests.count
        try world.start(configuration)
        world.flush()
        try await world.end(orderly: true)
        #expect(server.requests.count == count)
    }

    @Test func `a reload during an outage does not lose its end`() async throws {
        let (world, server) = (try NotifyingWorld(), try AnswerServer("200 OK"))
        try world.start(configuration(server, "after = \"0s\"\n"))
        world.setCarrier(false)
        try await server.expect(1)
        world.reload(configuration(server, "after = \"5m\"\nonly = [\"them\"]\n"))
        world.setCarrier(true)
        try await server.expect(2)
        #expect(server.objects.map { $0["event"] as? String } == ["began", "ended"])
        // An outage that begins at the same instant has the same id, and would be reported as ended by the delivery that ends now.
        await world.advance(.seconds(1))
        // The incident of a removed target also gets an end.
        world.reload(configuration(server, "after = \"0s\"\n"))
        world.setCarrier(false)
        try await server.expect(3)
        try world.service.remove("internet")
        world.flush()
        try await server.expect(4)
        try #require(server.objects.count == 4)
        #expect(server.objects[3]["ending"] as? String == "unknown")
        try await world.end(orderly: true)
    }

    @Test func `an unreadable secret is reported without its content and changes nothing`() async throws {
        let world = try NotifyingWorld()
        try world.start("")
        try Data("short".utf8).write(to: URL(filePath: world.directory + "/short"))
        func problems(_ file: String) throws -> [String] {
            let text = "schema = 1\n[[notify]]\nname = \"x\"\nwebhook = \"http://[::1]:9\"\nsecret-file = \"\(file)\"\n"
            let (configuration, notifying) = (try ServiceConfiguration(text), try world.notifying)
            do throws(ConfigurationProblems) { _ = try notifying.prepare(configuration) } catch {
                return error.problems.map { $0.description(in: "f") }
            }
            return []
        }
        #expect(
            try problems("/nowhere") == ["f: notify[1].secret-file: cannot read /nowhere: No such file or directory"]
        )
        let short = world.directory + "/short"
        for mode: mode_t in [0o644, 0o604, 0o602, 0o601] {
            chmod(short, mode)
            let complaint = "secret-file: \(short) is accessible to all users of this machine"
            #expect(try problems(short).first?.contains(complaint) == true)
        }
        chmod(short, 0o640)
        #expect(try problems(short).first?.contains("does not contain a secret of at least 16 bytes") == true)
        try await world.end(orderly: true)
    }
}
