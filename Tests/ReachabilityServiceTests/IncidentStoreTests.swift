import LinuxSupport
import ReachabilityLedger
import ServiceLab
import Testing

@testable import ReachabilityService

/// The storage of incidents in the history.
@Suite struct IncidentStoreTests {
    private func member(_ target: String, end: Int64?, _ ending: Outage.Ending?) -> Incident.Member {
        Incident.Member(
            target: target,
            outage: "id of \(target)",
            start: LedgerInstant(nanoseconds: 5),
            state: TargetState(.upstream, .gateway, basis: .checks),
            since: LedgerInstant(nanoseconds: 7),
            reason: end == nil ? nil : "no\nanswer",
            end: end.map { LedgerInstant(nanoseconds: $0) },
            ending: ending
        )
    }

    @Test func `incidents are read as they were written, also by the next run`() throws {
        let directory = HistoryDirectory()
        let labels = Incident.Labels(attribution: .us, cause: nil)
        let incidents = [
            Incident(
                id: "a",
                [member("x \"'\u{1}", end: nil, nil), member("y", end: 9, .up), member("z", end: 9, nil)],
                deliveries: [
                    "chat": Incident.Delivery(labels: labels, refinements: 2, digests: 3), "b": .init(labels: labels),
                ],
                finished: ["b"]
            ),
            Incident(id: "b", [member("x", end: 9, .unknown)], deliveries: [:], finished: []),
        ]
        let store = try HistoryStore(directory.file)
        try store.write(incidents)
        #expect(try store.incidents() == incidents)
        store.close()
        let next = try HistoryStore(directory.file)
        #expect(try next.incidents() == incidents)
        try next.write(Array(incidents.dropFirst()))
        #expect(try next.incidents() == Array(incidents.dropFirst()))
        try next.write([])
        #expect(try next.incidents().isEmpty)
        next.close()
    }
}
