import Foundation
import LinuxSupport
import ReachabilityLedger
import ServerTrust
import Testing

@testable import ReachabilityService

/// The actor of an outage in the notifications of each channel.
@Suite struct NotifiedActorTests {
    private let writer: NotificationWriter
    private let notification: ReachabilityService.Notification

    /// Returns a notification of an outage with a known actor, and one of an outage without.
    private init(_ process: ActingProcess) throws {
        let world = try NotifyingWorld()
        try world.start("")
        let service = try world.service
        writer = NotificationWriter(host: "box", OutageReader(service, nil))
        let actor = OutageActor(outage: "first", start: service.start, interval: service.start, process: process)
        service.record { state, _ in [state.accounting.add(actor, on: "internet", now: service.start)] }
        var incident = Incident(Self.member("internet", "first", service))
        incident.members.append(Self.member("db", "second", service))
        notification = .init(event: .began, incident: incident, number: 1, due: service.start, previous: nil)
    }

    init() throws {
        try self.init(ActingProcess(id: 812, program: "openvpn", unit: "openvpn@site.service"))
    }

    private static func member(_ target: String, _ outage: String, _ service: MonitoringService) -> Incident.Member {
        let (start, state) = (service.start, TargetState(.us, .route))
        return Incident.Member(target: target, outage: outage, start: start, state: state, since: start)
    }

    private var alerts: [[String: Any]] {
        get throws {
            let trust = ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:])
            let web = try WebSender("http://127.0.0.1:9/", trust: trust, timeLimit: .seconds(1))
            return try AlertmanagerSender(web: web, writer: writer).alerts([notification]).map { alert in
                let object = try JSONSerialization.jsonObject(with: Data(alert.bytes)) as? [String: Any]
                return object?["annotations"] as? [String: Any] ?? [:]
            }
        }
    }

    @Test func `each channel includes the actor of the outage`() throws {
        let text = "openvpn, pid 812, of openvpn@site.service"
        let bytes = writer.object(notification, for: "chat").bytes
        let object = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        let actor = try #require(object?["actor"] as? [String: Any])
        #expect(actor["pid"] as? Int == 812)
        #expect(actor["program"] as? String == "openvpn")
        #expect(actor["unit"] as? String == "openvpn@site.service")
        let fields = writer.fields(notification, for: "hooks")
        #expect(fields.first { $0.name == "ACTOR" }?.value == text)
        let entry = String(decoding: JournalEntry(notification, fields).bytes, as: UTF8.self)
        #expect(entry.contains("\nREACHABILITY_ACTOR=\(text)\n"))
        #expect(try alerts.map { $0["actor"] as? String } == [text, ""])
    }

    @Test func `without an actor the field is null or empty`() throws {
        let nobody = NotificationWriter(host: "box", OutageReader(MonitoringService(), nil))
        let text = String(decoding: nobody.object(notification, for: "chat").bytes, as: UTF8.self)
        #expect(text.contains("\"actor\":null,"))
        #expect(nobody.fields(notification, for: "hooks").first { $0.name == "ACTOR" }?.value == "")
    }

    @Test func `control characters in the name of a program are escaped`() throws {
        let steered = try Self(ActingProcess(id: 7, program: "\n<b>\u{1b}[2J\u{202e}", unit: "\u{7}x.service"))
        let fields = steered.writer.fields(steered.notification, for: "hooks")
        let texts = [
            String(decoding: steered.writer.object(steered.notification, for: "chat").bytes, as: UTF8.self),
            try #require(fields.first { $0.name == "ACTOR" }?.value),
            try #require(try steered.alerts.first?["actor"] as? String),
        ]
        for text in texts {
            #expect(!text.unicodeScalars.contains { ["\n", "\u{1b}", "\u{202e}", "\u{7}"].contains($0) }, "\(text)")
        }
    }
}
