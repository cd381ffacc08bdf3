import Foundation
import LinuxSupport
import NetworkLab
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityRetry
import Testing

@testable import ReachabilityFleetHub
@testable import ReachabilityService

/// The notifications of a hub.
@Suite struct FleetNotifierTests {
    /// The environments of the calls of a hook.
    private let hooked = Locked<[[String: String]]>([])

    private func begin(_ world: HubWorld, after: String = "0s") throws -> Notifier {
        let coordinator = RetryCoordinator(
            limits: NotifyEnvironment.limits,
            reachability: UnmonitoredReachability(),
            clock: QuietClock()
        )
        let environment = NotifyEnvironment(
            coordinator: coordinator,
            hooks: { [hooked] _, _, _, variables in
                hooked.withLock { $0.append(Dictionary(variables.map { ($0.name, $0.value) }) { _, last in last }) }
                return nil
            },
            programs: { _, _, _, _ in nil }
        )
        var clock = ServiceClock.system
        clock.real = world.clock
        let notifying = Notifier(
            world.writer,
            store: world.store,
            writer: FleetNotificationWriter(host: "box", clock: world.clock),
            environment: environment,
            clock: clock,
            logger: nil
        )
        let text = "schema = 1\n[[notify]]\nname = \"hooks\"\nexec = \"/etc/hooks\"\nafter = \"\(after)\"\n"
        let use = try notifying.prepare(ServiceConfiguration(text, for: .hub))
        notifying.begin()
        use()
        return notifying
    }

    private func events(_ notifying: Notifier, _ count: UInt64) async throws -> [String] {
        let isSo = try await eventually { notifying.status.first?.delivered == count }
        #expect(isSo, "\(notifying.status)")
        return hooked.withLock { $0.compactMap { $0["REACHABILITY_EVENT"] } }
    }

    @Test func `the start and the end of an incident are notified once each, even across a restart`() async throws {
        let world = try HubWorld()
        let first = try begin(world)
        world.writer.brokerConnected()
        world.receive([.online("d0", "a", 0), .online("d1", "a", 1)])
        world.receive([.will("d0", "a", 100), .will("d1", "a", 101)])
        #expect(try await events(first, 1) == ["began"])
        let told = try #require(hooked.withLock { $0.first })
        #expect(told["REACHABILITY_SITE"] == "north" && told["REACHABILITY_DEVICES"] == "d0\nd1")
        #expect(told["REACHABILITY_ATTRIBUTION"] == "unknown" && told["REACHABILITY_UNEXPLAINED"] == "true")
        await first.stop()
        let next = try HubWorld(store: world.store)
        let second = try begin(next)
        next.writer.brokerConnected()
        next.writer.flush()
        let mark = try #require(try next.writer.hub.replay(for: place("d0"))?.mark)
        next.receive(
            [
                .online("d0", "b", 200), .online("d1", "b", 200),
                .event("d0", "b", 201, .replaying(mark: mark)), .event("d1", "b", 201, .replaying(mark: mark)),
                .event("d0", "b", 202, .caughtUp), .event("d1", "b", 202, .caughtUp),
            ]
        )
        // A repeated notification of the start would arrive before that of the end.
        #expect(try await events(second, 1) == ["began", "ended"])
        let end = try #require(hooked.withLock { $0.last })
        #expect(end["REACHABILITY_INCIDENT"] == told["REACHABILITY_INCIDENT"])
        #expect(end["REACHABILITY_ATTRIBUTION"] == "upstream" && end["REACHABILITY_DURATION_MS"] == "200000")
        await second.stop()
        #expect(try world.store.notified().map(\.finished) == [["hooks"]])
    }

    @Test func `the end of an incident during an absence of the hub is notified after its restart`() async throws {
        let world = try HubWorld()
        let first = try begin(world)
        world.writer.brokerConnected()
        world.receive([.online("d0", "a", 0)])
        world.receive([.will("d0", "a", 100)])
        #expect(try await events(first, 1) == ["began"])
        await first.stop()
        // No notifier is running.
        world.receive([.online("d0", "b", 200, boot: "two"), .event("d0", "b", 201, .caughtUp)])
        let next = try HubWorld(store: world.store)
        let second = try begin(next)
        #expect(try await events(second, 1) == ["began", "ended"])
        #expect(hooked.withLock { $0.last?["REACHABILITY_CAUSE"] } == "power")
        await second.stop()
    }

    @Test func `the end of an old incident is notified after the incident has left the memory`() async throws {
        let world = try HubWorld()
        let notifying = try begin(world)
        world.writer.brokerConnected()
        world.receive([.online("d0", "a", 0)])
        world.receive([.will("d0", "a", 100)])
        #expect(try await events(notifying, 1) == ["began"])
        world.receive(
            [.online("d1", "x", 80_000)]
                + (1..<40).map { number in
                    let own = outage("o\(number)", number * 1000, number * 1000 + 600)
                    return .event("d1", "x", 80_000 + number, .outage(own), number: UInt64(number))
                }
        )
        // All outages are within a day, because a reminder would follow after a day. The incident is the oldest ended
        // one, so the hub removes it from memory immediately.
        world.receive([.online("d0", "b", 80_100, boot: "two"), .event("d0", "b", 80_101, .caughtUp)])
        #expect(!world.writer.hub.book.incidents.contains { $0.parts["d0"] != nil })
        #expect(try await events(notifying, 2) == ["began", "ended"])
        let end = try #require(hooked.withLock { $0.last })
        #expect(end["REACHABILITY_CAUSE"] == "power" && end["REACHABILITY_END"] == Timestamp(real: at(80_100)).text)
        // The event stream contains the end too.
        let closed = try world.items("/v1/events?limit=1000").filter { $0["event"] as? String == "incidentClosed" }
        #expect(closed.contains { ($0["incident"] as? [String: Any])?["devices"] as? [String] == ["d0"] })
        await notifying.stop()
    }

    @Test func `deleting a silent machine ends its incident`() async throws {
        let world = try HubWorld()
        let notifying = try begin(world)
        world.writer.brokerConnected()
        world.receive([.online("d0", "a", 0)])
        world.receive([.will("d0", "a", 100)])
        #expect(try await events(notifying, 1) == ["began"])
        #expect(try world.writer.forget([place("d0")]).count == 1)
        #expect(try await events(notifying, 2) == ["began", "ended"])
        #expect(hooked.withLock { $0.last?["REACHABILITY_TEXT"] }?.contains("its machines were deleted") == true)
        await notifying.stop()
    }

    @Test func `past outages of a new machine are not notified`() async throws {
        let world = try HubWorld()
        let notifying = try begin(world)
        world.writer.brokerConnected()
        world.receive(
            [.online("d0", "a", 90_000)]
                + (0..<40).map { number in
                    let start = number * 1000
                    return .event(
                        "d0",
                        "a",
                        90_001 + number,
                        .outage(outage("o\(number)", start, start + 600)),
                        number: UInt64(number)
                    )
                }
        )
        world.receive([.event("d0", "a", 90_100, .outage(outage("now", 90_090, nil)), number: 40)])
        #expect(try await events(notifying, 1) == ["began"])
        #expect(hooked.withLock { $0.last?["REACHABILITY_CAUSE"] } == "link")
        await notifying.stop()
    }
}

/// The texts and objects of notifications.
@Suite struct FleetNotificationWriterTests {
    private let writer = FleetNotificationWriter(host: "box") { at(400) }

    private func letter(
        _ event: ReachabilityService.Notification.Event,
        _ state: TargetState = TargetState(.us, .route),
        to end: Int? = nil,
        count: Int = 5,
        isUnexplained: Bool = false,
        isHarmless: Bool = false,
        previous: Incident.Labels? = nil
    ) -> ReachabilityService.Notification {
        let start = LedgerInstant(wall: at(100))
        var incident = Incident(
            id: "north-x-d0",
            site: "north",
            start: start,
            noticed: start,
            since: start,
            state: state
        )
        let machines = Incident.Machines(
            names: (0..<count).map { "d\($0)" },
            count: count,
            isUnexplained: isUnexplained,
            isHarmless: isHarmless
        )
        let current = SiteIncident(
            id: incident.id,
            site: incident.site,
            start: start,
            end: end.map { LedgerInstant(wall: at($0)) },
            state: state,
            machines: machines
        )
        incident.update(current, end: current.end, at: start)
        return .init(event: event, incident: incident, number: 1, due: start, previous: previous)
    }

    @Test func `the text contains site, machines, reason and start`() {
        let since = Timestamp(real: at(100)).text
        let five = "5 machines (d0, d1, d2 and 2 more)"
        #expect(writer.text(letter(.began)) == "box: No route at north (us.route), \(five), since \(since)")
        #expect(
            writer.text(letter(.began, TargetState(.unknown), count: 1, isUnexplained: true))
                == "box: Silence at north (unknown), machine d0, reason not known yet, since \(since)"
        )
        #expect(
            writer.text(letter(.refined, isUnexplained: true))
                == "box: No route at north (us.route), \(five), some unexplained, updated, since \(since)"
        )
        #expect(
            writer.text(letter(.refined, previous: .init(attribution: .us, cause: .route)))
                == "box: No route at north (us.route), \(five), continues after all, since \(since)"
        )
        #expect(
            writer.text(letter(.ended, to: 220))
                == "box: over after 2m: No route at north (us.route), \(five), from \(since)"
        )
        #expect(writer.text(letter(.ended, to: 220, isHarmless: true)).contains("no fault at north: \(five)"))
        // A machine may report any cause.
        let strange = TargetState(.us, OutageCause(rawValue: "\u{1b}[31m\n"))
        #expect(writer.text(letter(.began, strange)).contains("(us.\\u{1b}[31m\\u{a})"))
    }

    @Test func `a webhook receives all properties`() throws {
        let bytes = writer.object(letter(.ended, to: 220), for: "chat").bytes
        let object = try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        #expect(object["id"] as? String == "north-x-d0-ended" && object["event"] as? String == "ended")
        #expect(object["site"] as? String == "north" && object["page"] as? String == "/incidents/north-x-d0")
        #expect(object["attribution"] as? String == "us" && object["cause"] as? String == "route")
        #expect(object["deviceCount"] as? Int == 5 && (object["devices"] as? [String])?.count == 5)
        #expect(object["durationMilliseconds"] as? Int == 120_000 && object["kind"] as? String == "notification")
    }

    @Test func `an incident is one alert in Alertmanager despite changes`() throws {
        let letters = [
            letter(.began, TargetState(.unknown)), letter(.refined, previous: .init(attribution: .unknown, cause: nil)),
            letter(.ended, to: 220),
        ]
        let alerts = try letters.flatMap { letter in
            try writer.alerts([letter], lifetime: .seconds(240)).map { alert in
                try #require(JSONSerialization.jsonObject(with: Data(alert.bytes)) as? [String: Any])
            }
        }
        try #require(alerts.count == 3)
        let labels = [
            "alertname": "ReachabilityFleetIncident", "site": "north", "incident": "north-x-d0", "host": "box",
        ]
        #expect(alerts.allSatisfy { $0["labels"] as? [String: String] == labels })
        let causes = alerts.map { ($0["annotations"] as? [String: String])?["cause"] }
        #expect(causes == ["", "route", "route"])
        let ends = alerts.map { $0["endsAt"] as? String }
        #expect(ends == [at(640), at(640), at(220)].map { Timestamp(real: $0).text })
    }
}
