import Foundation
import Glibc
import LinuxSupport
import NetworkLab
import ReachabilityLedger
import ServerTrust
import Testing

@testable import ReachabilityService

/// Alertmanager, hooks, the journal and heartbeats.
@Suite struct OtherWaysTests {
    @Test func `an Alertmanager receives repeated alerts and their end`() async throws {
        let (world, server) = (try NotifyingWorld(), try AnswerServer("200 OK"))
        try world.start("[[notify]]\nname = \"pager\"\nalertmanager = [\"\(server.url)\"]\nafter = \"0s\"\n")
        world.setCarrier(false)
        try await server.expect(1)
        try await world.notifying.rest()
        await world.advance(.seconds(60))
        try await server.expect(2)
        try await world.notifying.rest()
        await world.advance(.seconds(30))
        world.setCarrier(true)
        try await server.expect(3)
        try #require(server.requests.count == 3)
        #expect(server.requests[0].hasPrefix("POST /api/v2/alerts HTTP/1.1\r\n"))
        let alerts = try server.alerts()
        #expect(
            alerts[0].labels == [
                "alertname": "ReachabilityOutage", "target": "internet", "attribution": "us", "cause": "link",
                "host": "box",
            ]
        )
        #expect(alerts.map(\.labels) == Array(repeating: alerts[0].labels, count: 3))
        #expect(alerts.map(\.startsAt) == Array(repeating: alerts[0].startsAt, count: 3))
        #expect(alerts.map(\.length) == [240, 300, 90])
        try await world.notifying.rest()
        await world.advance(.seconds(120))
        try await world.notifying.rest()
        #expect(server.requests.count == 3)
        try await world.end(orderly: true)
    }

    @Test func `a failure that a target reports is notified with its message`() async throws {
        let (world, server) = (try NotifyingWorld(isPushed: true), try AnswerServer("200 OK"))
        try world.start("[[notify]]\nname = \"chat\"\nwebhook = \"\(server.url)\"\nformat = \"ntfy\"\nafter = \"0s\"\n")
        guard case .accepted = try world.service.push("internet", isUp: false, message: "disk \u{1b} full") else {
            Issue.record("the push was not accepted")
            return
        }
        try await server.expect(1)
        #expect(server.requests[0].contains(#"Message of the target: disk \u{1b} full"#))
        try await world.end(orderly: true)
    }

    @Test func `a test is sent once, and its result is counted`() async throws {
        let (world, server) = (try NotifyingWorld(), try AnswerServer("200 OK"))
        try world.start("[[notify]]\nname = \"chat\"\nwebhook = \"\(server.url)\"\n")
        let notifying = try world.notifying
        #expect(notifying.test("chat") && !notifying.test("other"))
        try await server.expect(1)
        let text = #"box: this is a test of the notifications"#
        #expect(server.requests[0].contains(#""event":"test""#) && server.requests[0].contains(text))
        try await waitUntil { try world.status().delivered == 1 }
        server.answer("404 Gone")
        #expect(notifying.test("chat"))
        try await waitUntil { try world.status().refused == 1 }
        #expect(server.requests.count == 2)
        try await world.end(orderly: true)
    }

    @Test func `an Alertmanager that was unavailable for an hour receives the relevant alerts`() async throws {
        let (world, server) = (try NotifyingWorld(), try AnswerServer("503 Away"))
        try world.start("[[notify]]\nname = \"pager\"\nalertmanager = [\"\(server.url)\"]\nafter = \"0s\"\n")
        await world.lose(for: .seconds(1800))
        await world.advance(.seconds(600))
        world.setCarrier(false)
        await world.advance(.seconds(1200))
        server.answer("200 OK")
        let before = server.requests.count
        try await waitUntil { try server.requests.count > before && world.status().pending == 0 }
        // The first outage has ended, the second is ongoing. The last request may have been made some time before it was answered.
        let lengths = Dictionary(try server.alerts().map { ($0.startsAt, $0.length) }) { _, last in last }
        let sorted = lengths.sorted { $0.key < $1.key }.map(\.value)
        #expect(sorted.count == 2)
        #expect(sorted.first == 1800)
        #expect([240, 1200 + 240].contains(sorted.last))
        try await world.end(orderly: true)
    }

    @Test func `hooks run once with all variables, and one that hangs delays no other notifier`() async throws {
        let (world, server) = (try NotifyingWorld(), try AnswerServer("200 OK"))
        world.hook.withLock {
            $0 = {
                try? await Task.sleep(for: .seconds(3600)); return "ended by signal 15"
            }
        }
        try world.start(
            """
            [[notify]]
            name = "hooks"
            exec = "/etc/hooks"
            after = "0s"
            [[notify]]
            name = "chat"
            webhook = "\(server.url)"
            after = "0s"
            """
        )
        world.setCarrier(false)
        try await server.expect(1)
        try await waitUntil { world.hooked.withLock { $0.count } == 1 }
        world.setCarrier(true)
        try await server.expect(2)
        #expect(world.hooked.withLock { $0.count } == 1)
        let variables = world.hooked.withLock { $0[0] }
        #expect(variables["path"] == "/etc/hooks")
        #expect(variables["REACHABILITY_EVENT"] == "began")
        #expect(variables["REACHABILITY_TARGETS"] == "internet")
        #expect(variables["REACHABILITY_ATTRIBUTION"] == "us")
        #expect(variables["REACHABILITY_CAUSE"] == "link")
        #expect(variables["REACHABILITY_END"] == "")
        #expect(variables["REACHABILITY_TEXT"]?.hasPrefix("box: internet cannot be reached, us.link (") == true)
        // The service ends at once although a hook is running. The undelivered notification is kept.
        try await world.end(orderly: true)
        world.hook.withLock { $0 = { nil } }
        try world.start("[[notify]]\nname = \"hooks\"\nexec = \"/etc/hooks\"\nafter = \"0s\"\n")
        try await waitUntil { world.hooked.withLock { $0.count } == 2 }
        #expect(world.hooked.withLock { $0[1]["REACHABILITY_EVENT"] } == "ended")
        try await world.end(orderly: true)
    }

    @Test func `a degraded target has its own text and alert name`() throws {
        let notifier = NotifierSettings(name: "chat", channel: .journal, after: .zero, only: [.up])
        let service = MonitoringService()
        let now = service.snapshot.now
        var tracker = IncidentTracker()
        tracker.apply([ServiceTarget(name: "erp", host: "erp")], [notifier], at: now)
        let interval = LedgerInterval(TargetState(.up, .degraded), from: now, reason: "familyFails")
        let opened = ServiceEvent.Kind.ledger(.opened(interval))
        _ = tracker.take(.event(ServiceEvent(number: 1, instant: now, target: "erp", kind: opened)))
        let began = try #require(tracker.incidents.first?.next(for: "chat", of: notifier, at: now))
        let writer = NotificationWriter(host: "box", OutageReader(service, nil))
        #expect(writer.text(began).hasPrefix("box: erp is degraded, up.degraded (familyFails), since "))
        let alert = try #require(writer.alerts([began], lifetime: .seconds(60)).first).description
        #expect(alert.contains("\"alertname\":\"ReachabilityDegraded\"") && alert.contains("\"cause\":\"degraded\""))
    }

    @Test func `a text names the targets that are still affected, and at the end all`() throws {
        let notifier = NotifierSettings(name: "chat", channel: .journal, after: .zero)
        let service = MonitoringService()
        let now = service.snapshot.now
        func member(_ target: String) -> Incident.Member {
            Incident.Member(target: target, outage: target, start: now, state: TargetState(.us, .link), since: now)
        }
        var incident = Incident(member("erp"))
        incident.members += [member("web"), member("internet")]
        incident.members[2].end = now
        incident.members[0].end = now
        let writer = NotificationWriter(host: "box", OutageReader(service, nil))
        let began = try #require(incident.next(for: "chat", of: notifier, at: now))
        #expect(writer.text(began).hasPrefix("box: web cannot be reached, us.link, since "))
        incident.didDeliver(began, by: "chat")
        incident.members[1].end = now
        let ended = try #require(incident.next(for: "chat", of: notifier, at: now))
        #expect(writer.text(ended).hasPrefix("box: erp, web, internet: over after "))
    }

    @Test func `journal entries have structured fields, with binary encoding for line feeds`() async throws {
        let world = try NotifyingWorld()
        let socket = try DatagramReceiver(at: world.journal)
        try world.start("[[notify]]\nname = \"log\"\njournal = true\nafter = \"0s\"\n")
        world.setCarrier(false)
        try await waitUntil { try world.status().delivered == 1 }
        let entry = socket.next() ?? ""
        #expect(entry.hasPrefix("MESSAGE=box: internet cannot be reached, us.link ("))
        #expect(entry.contains("\nMESSAGE_ID=\(Notification.Event.began.messageID)\n"))
        #expect(entry.contains("\nPRIORITY=4\nSYSLOG_IDENTIFIER=reachability\n"))
        #expect(entry.contains("\nREACHABILITY_TARGET=internet\n"))
        #expect(entry.contains("\nREACHABILITY_CAUSE=link\n"))
        // Without a journal the text is logged.
        unlink(world.journal)
        world.setCarrier(true)
        try await waitUntil { try world.status().refused == 1 }
        #expect(world.log.lines.contains { $0.hasPrefix("warning: box: internet: over after ") })
        try await world.end(orderly: true)
    }

    @Test func `names with line feeds, markup and zero bytes are a single value`() {
        let name = "a\n<b>\"'=\u{202e}\nPRIORITY=0"
        let member = Incident.Member(
            target: name,
            outage: "x",
            start: .init(nanoseconds: 0),
            state: .init(.us, .link),
            since: .init(nanoseconds: 0)
        )
        let notification = Notification(
            event: .began,
            incident: Incident(member),
            number: 1,
            due: .init(nanoseconds: 0),
            previous: nil
        )
        let entry = JournalEntry(notification, [("TEXT", "t"), ("TARGET", name)]).bytes
        var expected = Array("REACHABILITY_TARGET\n".utf8)
        expected += [UInt8(name.utf8.count), 0, 0, 0, 0, 0, 0, 0] + Array(name.utf8) + [0x0a]
        #expect(entry.suffix(expected.count) == expected[...])
        #expect(!entry.dropLast(expected.count).contains(UInt8(ascii: "<")))
    }

    @Test func `a thousand long names fit into variables, journal entries and webhooks`() throws {
        let world = try NotifyingWorld()
        try world.start("")
        let service = try world.service
        let writer = NotificationWriter(host: "box", OutageReader(service, nil))
        var incident: Incident?
        for number in 0..<1000 {
            let name = String(repeating: "\u{1b}", count: 250) + "\(number)"
            let (start, state) = (service.start, TargetState(.us, .link))
            let member = Incident.Member(target: name, outage: "x", start: start, state: state, since: start)
            if incident == nil { incident = Incident(member) } else { incident?.members.append(member) }
        }
        let notification = Notification(
            event: .began,
            incident: try #require(incident),
            number: 1,
            due: service.start,
            previous: nil
        )
        let fields = writer.fields(notification, for: "x")
        #expect(fields.allSatisfy { $0.value.utf8.count < 131_072 })
        #expect(JournalEntry(notification, fields).bytes.count < 100_000)
        #expect(writer.object(notification, for: "x").bytes.count < 8 << 20)
    }

    @Test func `a heartbeat is sent at each interval, and a missed one after the network returns`() async throws {
        let world = try NotifyingWorld()
        let server = try AnswerServer("200 OK")
        let pause = Locked<CheckedContinuation<Void, Never>?>(nil)
        let failures = Locked<[String?]>([])
        var environment = NotifyEnvironment(
            coordinator: .init(limits: try NotifyingWorld.limits(), reachability: world.network, clock: world.waits),
            pause: { _ in await withCheckedContinuation { next in pause.withLock { $0 = next } } },
            hooks: { _, _, _, _ in nil },
            programs: { _, _, _, _ in nil }
        )
        environment.timeLimit = .seconds(30)
        environment.clock = world.waits
        func heartbeat(_ url: String) throws -> Heartbeat {
            Heartbeat(
                settings: HeartbeatSettings(url: url, interval: .seconds(300)),
                web: try WebSender(
                    url,
                    trust: ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:]),
                    timeLimit: .seconds(30)
                ),
                environment: environment,
                report: { failure in failures.withLock { $0.append(failure?.text) } }
            )
        }
        let beats = try heartbeat(server.url + "ping/1")
        let task = Task { await beats.run() }
        try await server.expect(1)
        #expect(server.requests[0].hasPrefix("GET /ping/1 HTTP/1.1\r\n"))
        for count in 2...3 {
            try await waitUntil { pause.withLock { $0 != nil } }
            pause.withLock { $0.take() }?.resume()
            try await server.expect(count)
        }
        try await waitUntil { pause.withLock { $0 != nil } }
        task.cancel()
        pause.withLock { $0.take() }?.resume()
        await task.value
        #expect(failures.withLock(\.self) == [nil, nil, nil])
        // Without a server and a path, the heartbeat waits for a path without further attempts.
        world.network.set(reachable: false)
        let away = try AnswerServer("200 OK", isAway: true)
        let missed = try heartbeat(away.url)
        let waiting = Task { await missed.run() }
        try await waitUntil { failures.withLock { $0.count } == 4 }
        try away.comeBack()
        world.network.set(reachable: true)
        try await away.expect(1)
        try await waitUntil { pause.withLock { $0 != nil } }
        waiting.cancel()
        pause.withLock { $0.take() }?.resume()
        await waiting.value
    }
}

/// An alert as parsed by Alertmanager.
private struct ServedAlert: Decodable {
    let labels: [String: String]
    let annotations: [String: String]
    let startsAt: String
    let endsAt: String

    /// The time from start to end, in seconds.
    var length: Int {
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard let start = try? format.parse(startsAt), let end = try? format.parse(endsAt) else { return -1 }
        return Int((end.timeIntervalSince(start)).rounded())
    }
}

extension AnswerServer {
    fileprivate func alerts() throws -> [ServedAlert] {
        try requests.flatMap { request -> [ServedAlert] in
            let end = try #require(request.firstRange(of: "\r\n\r\n"))
            return try JSONDecoder().decode([ServedAlert].self, from: Data(request[end.upperBound...].utf8))
        }
    }
}
