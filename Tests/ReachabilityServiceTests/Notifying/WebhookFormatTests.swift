import Foundation
import NetworkLab
import Testing

@testable import ReachabilityService

/// The formats of webhooks, templates, e-mail, reminders and quiet hours.
@Suite struct WebhookFormatTests {
    /// A notifier with a token file in the directory of the world.
    private func start(_ world: NotifyingWorld, _ keys: String) throws {
        let file = world.directory + "/token"
        try Data("tk_1\n".utf8).write(to: URL(filePath: file))
        chmod(file, 0o600)
        try world.start(
            "[[notify]]\nname = \"chat\"\nafter = \"0s\"\n" + keys.replacingOccurrences(of: "TOKEN", with: file)
        )
    }

    /// Returns the requests for an outage of 65 s with its beginning and its end.
    private func requests(_ keys: String, _ count: Int = 2) async throws -> [Request] {
        let (world, server) = (try NotifyingWorld(), try AnswerServer("200 OK"))
        try start(world, keys.replacingOccurrences(of: "URL", with: server.url.dropLast()))
        world.setCarrier(false)
        try await server.expect(count / 2)
        await world.advance(.seconds(65))
        world.setCarrier(true)
        try await server.expect(count)
        #expect(try await eventually { try world.status().delivered == 2 })
        try await world.end(orderly: true)
        return server.requests.map(Request.init)
    }

    private static let began = """
        The link of this machine is down (no carrier).
        Responsible: this machine.
        Since 23:30:00 on 2023-11-14 (GMT+1).
        """
    private static let ended = """
        The link of this machine was down (no carrier).
        Responsible: this machine.
        From 23:30:00 to 23:31:05 on 2023-11-14 (GMT+1), 1 min 5 s.
        """

    @Test func `ntfy receives title, priority and tags in header fields`() async throws {
        let requests = try await requests("format = \"ntfy\"\nwebhook = \"URL/alerts\"\ntoken-file = \"TOKEN\"\n")
        #expect(requests.map(\.line) == Array(repeating: "POST /alerts HTTP/1.1", count: 2))
        #expect(requests.map { $0.field("Title") } == ["box: internet is down", "box: internet works again"])
        #expect(requests.map { $0.field("Priority") } == ["4", "3"])
        #expect(requests.map { $0.field("Tags") } == ["rotating_light", "white_check_mark"])
        #expect(requests.map { $0.field("Authorization") } == ["Bearer tk_1", "Bearer tk_1"])
        #expect(requests.map(\.body) == [Self.began, Self.ended])
    }

    @Test func `Slack receives a text without markup`() async throws {
        let requests = try await requests("format = \"slack\"\nwebhook = \"URL/services/T0/B0/x\"\n")
        #expect(requests[0].line == "POST /services/T0/B0/x HTTP/1.1")
        #expect(requests[0].field("Content-Type") == "application/json")
        #expect(try requests[0].json as? [String: String] == ["text": "box: internet is down\n" + Self.began])
    }

    @Test func `Telegram receives the chat and a text`() async throws {
        let requests = try await requests(
            "format = \"telegram\"\nwebhook = \"URL\"\ntoken-file = \"TOKEN\"\nto = \"-100123\"\n"
        )
        #expect(requests[1].line == "POST /bottk_1/sendMessage HTTP/1.1")
        let text = "box: internet works again\n" + Self.ended
        #expect(try requests[1].json as? [String: String] == ["chat_id": "-100123", "text": text])
    }

    @Test func `Matrix receives an event with a transaction id`() async throws {
        let requests = try await requests(
            "format = \"matrix\"\nwebhook = \"URL\"\ntoken-file = \"TOKEN\"\nto = \"!a b:example.org\"\n"
        )
        let path = "/_matrix/client/v3/rooms/%21a%20b%3Aexample.org/send/m.room.message/"
        #expect(requests.allSatisfy { $0.line.hasPrefix("PUT " + path) && $0.field("Authorization") == "Bearer tk_1" })
        #expect(Set(requests.map(\.line)).count == 2)
        #expect(
            try requests[0].json as? [String: String]
                == ["msgtype": "m.text", "body": "box: internet is down\n" + Self.began]
        )
    }

    @Test func `Gotify and Pushover receive title, message and keys`() async throws {
        let gotify = try await requests("format = \"gotify\"\nwebhook = \"URL/gotify/\"\ntoken-file = \"TOKEN\"\n")
        #expect(gotify[0].line == "POST /gotify/message HTTP/1.1")
        #expect(gotify[0].field("X-Gotify-Key") == "tk_1")
        let first = try #require(try gotify[0].json as? [String: Any])
        #expect(first["title"] as? String == "box: internet is down")
        #expect(first["message"] as? String == Self.began)
        #expect(first["priority"] as? Int == 8)
        let pushover = try await requests(
            "format = \"pushover\"\nwebhook = \"URL\"\ntoken-file = \"TOKEN\"\nto = \"u1\"\n"
        )
        #expect(pushover[0].line == "POST /1/messages.json HTTP/1.1")
        #expect(
            try pushover[0].json as? [String: String]
                == ["token": "tk_1", "user": "u1", "title": "box: internet is down", "message": Self.began]
        )
    }

    @Test func `PagerDuty receives a trigger and a resolution with one key`() async throws {
        let requests = try await requests("format = \"pagerduty\"\nwebhook = \"URL\"\ntoken-file = \"TOKEN\"\n")
        #expect(requests[0].line == "POST /v2/enqueue HTTP/1.1")
        let events = try requests.map { try #require(try $0.json as? [String: Any]) }
        #expect(events.map { $0["event_action"] as? String } == ["trigger", "resolve"])
        #expect(events.allSatisfy { $0["routing_key"] as? String == "tk_1" })
        #expect(Set(events.compactMap { $0["dedup_key"] as? String }).count == 1)
        let payload = try #require(events[0]["payload"] as? [String: Any])
        #expect(payload["summary"] as? String == "box: internet is down")
        #expect(payload["source"] as? String == "box")
        #expect(payload["severity"] as? String == "critical")
        #expect(payload["timestamp"] as? String == "2023-11-14T22:30:00.000Z")
    }

    @Test func `a test of PagerDuty leaves no open alert`() async throws {
        let (world, server) = (try NotifyingWorld(), try AnswerServer("202 Accepted"))
        try start(world, "format = \"pagerduty\"\nwebhook = \"\(server.url)\"\ntoken-file = \"TOKEN\"\n")
        #expect(try world.notifying.test("chat"))
        try await server.expect(2)
        #expect(server.objects.map { $0["event_action"] as? String } == ["trigger", "resolve"])
        try await world.end(orderly: true)
    }

    @Test func `a template is filled with values that are escaped for its content type`() async throws {
        func body(_ template: String, _ type: String) async throws -> Request {
            try await requests(
                "webhook = \"URL/x\"\nbody = '\(template)'\nheaders = { Content-Type = \"\(type)\", X-Note = \"{event} ö\" }\n"
            )[0]
        }
        let json = try await body(
            #"{"t": "{message}", "n": {duration_ms}, "o": {}, "event": "{event}"}"#,
            "application/json"
        )
        let object = try #require(try json.json as? [String: Any])
        #expect(object["t"] as? String == Self.began)
        #expect(object["event"] as? String == "began")
        #expect(json.field("X-Note") == "=?UTF-8?B?YmVnYW4gw7Y=?=")
        #expect(json.field("webhook-id") != nil)
        #expect(json.body.hasSuffix("\"event\": \"began\"}"))
        let form = try await body("text={title}&to=a", "application/x-www-form-urlencoded")
        #expect(form.body == "text=box%3A%20internet%20is%20down&to=a")
        #expect(try await body("{title} {host", "text/plain").body == "box: internet is down {host")
        #expect("a<b>&\"".filled([("X", "a<b>&\"")], .markup) == "a<b>&\"")
        #expect("{x}".filled([("X", "a<b>&\"")], .markup) == "a&lt;b&gt;&amp;&quot;")
    }

    @Test func `long names outside ASCII become several encoded words`() throws {
        #expect("plain".encodedWord == "plain")
        let words = String(repeating: "ä", count: 40).encodedWord.split(separator: " ")
        #expect(words.count == 2 && words.allSatisfy { $0.utf8.count <= 75 })
        let text = try words.map { word in
            let encoded = word.dropFirst("=?UTF-8?B?".count).dropLast(2)
            return String(decoding: try #require(Data(base64Encoded: String(encoded))), as: UTF8.self)
        }.joined()
        #expect(text == String(repeating: "ä", count: 40))
    }

    @Test func `e-mail is given to the mail program, again after a temporary failure`() async throws {
        let world = try NotifyingWorld()
        world.mailStatus.withLock { $0 = [75, 127] }
        try start(world, "email = [\"ops@example.org\", \"me@example.net\"]\nfrom = \"box@example.org\"\n")
        world.setCarrier(false)
        #expect(try await eventually { try world.status().delivered == 1 })
        #expect(try world.status().postponed == 2)
        let (path, arguments, message) = try #require(world.mailed.withLock(\.last))
        #expect(path == "/usr/sbin/sendmail")
        #expect(arguments == ["-i", "-f", "box@example.org", "--", "ops@example.org", "me@example.net"])
        let parts = message.components(separatedBy: "\n\n")
        #expect(parts[0].contains("From: box@example.org\nTo: ops@example.org,\n me@example.net\n"))
        #expect(parts[0].contains("Subject: box: internet is down\n"))
        #expect(parts[0].contains("Auto-Submitted: auto-generated\n"))
        let text = try #require(Data(base64Encoded: parts[1], options: .ignoreUnknownCharacters))
        #expect(String(decoding: text, as: UTF8.self) == Self.began + "\n")
        // A permanent failure is not repeated.
        world.mailStatus.withLock { $0 = [67] }
        world.setCarrier(true)
        #expect(try await eventually { try world.status().refused == 1 })
        try await world.end(orderly: true)
    }

    @Test func `reminders are sent at the configured interval`() async throws {
        let (world, server) = (try NotifyingWorld(), try AnswerServer("200 OK"))
        try start(world, "webhook = \"\(server.url)\"\nremind = \"4h\"\n")
        world.setCarrier(false)
        try await server.expect(1)
        await world.advance(.seconds(4 * 3600 - 1))
        try await world.notifying.rest()
        #expect(server.requests.count == 1)
        await world.advance(.seconds(1))
        try await server.expect(2)
        #expect(try await eventually { try world.status().delivered == 2 })
        await world.advance(.seconds(4 * 3600))
        try await server.expect(3)
        #expect(server.objects.map { $0["event"] as? String } == ["began", "digest", "digest"])
        try await world.end(orderly: true)
    }

    @Test func `in quiet hours nothing is sent, and afterwards the state is reported`() async throws {
        let (world, server) = (try NotifyingWorld(), try AnswerServer("200 OK"))
        // The clock shows 23:30:00 in Berlin.
        try start(world, "webhook = \"\(server.url)\"\nquiet = \"23:00-07:00 Europe/Berlin\"\n")
        await world.lose(for: .seconds(60))
        await world.advance(.seconds(600))
        world.setCarrier(false)
        try await world.notifying.rest()
        #expect(server.requests.isEmpty)
        await world.advance(.seconds(8 * 3600))
        try await server.expect(2)
        #expect(server.objects.map { $0["event"] as? String } == ["ended", "began"])
        #expect(server.objects.map { $0["delayed"] as? Bool } == [true, true])
        try await world.end(orderly: true)
    }

    @Test func `a failed notification is sent after the quiet hours`() async throws {
        let (world, server) = (try NotifyingWorld(), try AnswerServer("200 OK", isAway: true))
        // The clock shows 23:30:00 in Berlin.
        try start(world, "webhook = \"\(server.url)\"\nquiet = \"23:31-07:00 Europe/Berlin\"\n")
        world.network.set(reachable: false)
        world.setCarrier(false)
        #expect(try await eventually { try world.status().postponed == 1 })
        await world.advance(.seconds(120))
        try server.comeBack()
        world.network.set(reachable: true)
        try await world.notifying.rest()
        #expect(server.requests.isEmpty)
        await world.advance(.seconds(8 * 3600))
        try await server.expect(1)
        #expect(server.objects.map { $0["event"] as? String } == ["began"])
        try await world.end(orderly: true)
    }

    @Test func `a longer interval of reminders counts from its configuration`() async throws {
        let (world, server) = (try NotifyingWorld(), try AnswerServer("200 OK"))
        func keys(_ interval: String) -> String { "webhook = \"\(server.url)\"\nremind = \"\(interval)\"\n" }
        try start(world, keys("5m"))
        world.setCarrier(false)
        try await server.expect(1)
        for count in 2...5 {
            await world.advance(.seconds(300))
            try await server.expect(count)
            #expect(try await eventually { try world.status().delivered == count })
        }
        world.reload("[[notify]]\nname = \"chat\"\nafter = \"0s\"\n" + keys("1d"))
        await world.advance(.seconds(86_400))
        try await server.expect(6)
        try await world.end(orderly: true)
    }

    @Test func `quiet hours end at their local time, also over midnight`() throws {
        let zone = try #require(LocalTime(zone: "UTC"))
        let night = QuietHours(start: 22 * 3600, end: 7 * 3600, zone: zone)
        #expect(night.rest(at: .seconds(22 * 3600)) == .seconds(9 * 3600))
        #expect(night.rest(at: .seconds(86_400 + 6 * 3600)) == .seconds(3600))
        #expect(night.rest(at: .seconds(7 * 3600)) == nil)
        #expect(night.rest(at: .seconds(22 * 3600 - 1)) == nil)
        let noon = QuietHours(start: 12 * 3600, end: 13 * 3600, zone: zone)
        #expect(noon.rest(at: .seconds(12 * 3600 + 60)) == .seconds(3540))
        #expect(noon.rest(at: .seconds(13 * 3600)) == nil)
        // On 2026-10-25 the hour from 2:00 to 3:00 occurs twice. 2026-10-25T01:15:00Z is the second 2:15.
        let berlin = try #require(LocalTime(zone: "Europe/Berlin"))
        let late = QuietHours(start: 22 * 3600, end: 2 * 3600 + 1800, zone: berlin)
        #expect(late.rest(at: .seconds(1_792_890_900)) == nil)
        #expect(late.rest(at: .seconds(1_792_890_900 - 3600)) == .seconds(900))
    }

    @Test func `each wrong key of a format is named with what is allowed`() {
        func problems(_ keys: String) -> [String] {
            ServiceConfiguration.problems("schema = 1\n[[notify]]\nname = \"x\"\n" + keys)
        }
        let names = "json, ntfy, slack, telegram, matrix, gotify, pushover, pagerduty"
        #expect(
            problems("format = \"sms\"\nwebhook = \"http://a\"\n")
                == ["f:4: notify[1].format: must be one of \(names), not \"sms\""]
        )
        #expect(
            problems("format = \"telegram\"\n") == [
                "f:2: notify[1].to: missing; format = \"telegram\" needs the id of a chat",
                "f:2: notify[1].token-file: missing; format = \"telegram\" needs it",
            ]
        )
        #expect(
            problems("format = \"ntfy\"\n") == ["f:2: notify[1].webhook: missing; format = \"ntfy\" needs the URL"]
        )
        #expect(
            problems("webhook = \"http://a\"\nbody = \"{titel}\"\n").first?
                .hasPrefix("f:5: notify[1].body: unknown field {titel}; the fields are title, message, text") == true
        )
        #expect(
            problems("webhook = \"http://a\"\nbody = \"x\"\nheaders = { Host = \"b\" }\n")
                == ["f:6: notify[1].headers.Host: is set by the service"]
        )
        #expect(
            problems("email = [\"-x@a\", \"a b@c\"]\n") == [
                "f:4: notify[1].email[1]: must be an address such as ops@example.org, not \"-x@a\"",
                "f:4: notify[1].email[2]: must be an address such as ops@example.org, not \"a b@c\"",
            ]
        )
        #expect(
            problems("journal = true\nquiet = \"22-7\"\n") == [
                "f:5: notify[1].quiet: must be two times and a time zone such as \"22:00-07:00 Europe/Berlin\", not \"22-7\""
            ]
        )
        #expect(
            problems("alertmanager = [\"http://a\"]\nremind = \"1h\"\n")
                == ["f:5: notify[1].remind: is not allowed with alertmanager; configure it in Alertmanager"]
        )
    }

    @Test func `the fields of templates are those of programs`() throws {
        let world = try NotifyingWorld()
        try world.start("[[notify]]\nname = \"x\"\nexec = \"/hook\"\n")
        let names = try world.fieldNames()
        #expect(Set(Notification.fields) == Set(names.map { $0.lowercased() }))
    }
}

/// A received request.
private struct Request {
    let line: String
    private let fields: [Substring]
    let body: String

    init(_ text: String) {
        let parts = text.components(separatedBy: "\r\n\r\n")
        let lines = parts[0].split(separator: "\r\n")
        (line, fields) = (String(lines[0]), Array(lines.dropFirst()))
        body = parts.dropFirst().joined(separator: "\r\n\r\n")
    }

    func field(_ name: String) -> String? {
        fields.first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }.map {
            String($0.dropFirst(name.count + 2))
        }
    }

    var json: Any { get throws { try JSONSerialization.jsonObject(with: Data(body.utf8)) } }
}
