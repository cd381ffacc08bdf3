import KernelLab
import LinuxSupport
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityLedger
import ServiceLab
import Testing

@testable import ReachabilityService

/// Maintenance windows and their effect on the accounts.
@Suite struct MaintenanceTests {
    // MARK: Windows

    private static func window(_ keys: String) throws -> MaintenanceWindow {
        let text = "schema = 1\n[[maintenance]]\n\(keys)"
        return try #require(try ServiceConfiguration(text).maintenance.first)
    }

    private static func moment(_ text: String) throws -> Duration { try #require(Timestamp.real(of: text)) }

    /// Daylight saving time in Berlin begins at 2026-03-29T01:00Z and ends at 2026-10-25T01:00Z.
    @Test(arguments: [
        (#"weekly = "Sun 03:00 Europe/Berlin""#, "2h", "2026-03-20T00:00:00Z", "2026-03-22T02:00:00Z"),
        (#"weekly = "Sun 03:00 Europe/Berlin""#, "2h", "2026-03-23T00:00:00Z", "2026-03-29T01:00:00Z"),
        (#"weekly = "Sun 03:00 Europe/Berlin""#, "2h", "2026-04-01T00:00:00Z", "2026-04-05T01:00:00Z"),
        // This local time is skipped on that day.
        (#"weekly = "Sun 02:30 Europe/Berlin""#, "2h", "2026-03-28T00:00:00Z", "2026-03-29T01:30:00Z"),
        // This local time occurs twice on that day. The first one counts.
        (#"weekly = "Sun 02:30 Europe/Berlin""#, "2h", "2026-10-24T00:00:00Z", "2026-10-25T00:30:00Z"),
        (#"daily = "23:30 America/New_York""#, "1h", "2026-11-01T05:00:00Z", "2026-11-02T04:30:00Z"),
        (#"daily = "00:00 UTC""#, "1h", "2026-11-01T04:00:00Z", "2026-11-02T00:00:00Z"),
        (#"from = "2026-11-21T23:00:00+01:00""#, "90m", "2026-11-01T00:00:00Z", "2026-11-21T22:00:00Z"),
    ])
    func `a window begins at its local time`(begin: String, length: String, from: String, expected: String) throws {
        let window = try Self.window("\(begin)\nfor = \"\(length)\"")
        let (from, expected) = (try Self.moment(from), try Self.moment(expected))
        #expect(!window.contains(from))
        #expect(window.change(after: from) == expected)
        #expect(!window.contains(expected - .milliseconds(1)))
        #expect(window.contains(expected))
        #expect(window.change(after: expected) == expected + window.length)
        #expect(window.contains(expected + window.length - .milliseconds(1)))
        #expect(!window.contains(expected + window.length))
    }

    @Test func `a window of several days contains its last day, and times before 1970 work`() throws {
        let window = try Self.window("weekly = \"Mon 00:00 UTC\"\nfor = \"6d\"")
        #expect(window.contains(try Self.moment("2026-11-29T00:00:00Z") - .milliseconds(1)))
        #expect(!window.contains(try Self.moment("2026-11-29T00:00:00Z")))
        #expect(window.change(after: .seconds(-1_000_000)) != nil)
        let once = try Self.window("from = \"2026-11-21T22:00:00Z\"\nfor = \"1h\"")
        #expect(once.change(after: try Self.moment("2026-11-21T23:00:00Z")) == nil)
    }

    @Test func `all problems of maintenance tables are reported`() {
        let text = """
            schema = 1
            [[target]]
            name = "erp"
            host = "192.0.2.1"
            [[maintenance]]
            targets = ["erb"]
            weekly = "Sunday 03:00"
            [[maintenance]]
            daily = "24:00 UTC"
            from = "tomorrow"
            for = "1h"
            [[maintenance]]
            daily = "03:00 Mars/Olympus"
            for = "25h"
            """
        do {
            _ = try ServiceConfiguration(text)
            Issue.record("an invalid configuration was accepted")
        } catch {
            let found = error.problems.map { "\($0.path): \($0.text.prefix(28))" }
            #expect(
                found.sorted() == [
                    "maintenance[1].for: missing; give a duration suc",
                    "maintenance[1].targets[1]: unknown target \"erb\"; did yo",
                    "maintenance[1].weekly: must be a day, a time and a ",
                    "maintenance[2].daily: must be a time and a time zo",
                    "maintenance[2].from: must be a time such as \"2026",
                    "maintenance[2]: must have exactly one of wee",
                    "maintenance[3].daily: must be a time and a time zo",
                ]
            )
        }
    }

    // MARK: Accounts

    @Test func `outages during maintenance count as maintenance and stay visible`() throws {
        let kernel = FakeKernel.connected()
        let clock = kernel.clock
        let manager = try NetworkReachabilityManager(kernel: kernel)
        // The test starts 60 s before the window.
        let offset = try Self.moment("2026-11-21T21:59:00Z") - clock.boot
        let service = MonitoringService(clock: .fake(clock, wall: offset))
        func flush() {
            manager.record.monitor.queue.sync {}
            service.flush()
        }
        service.insert("internet", manager)
        service.insert("other", manager)
        let window = try Self.window("from = \"2026-11-21T22:00:00Z\"\nfor = \"10m\"")
        service.setMaintenance([
            MaintenanceWindow(targets: ["internet"], begin: window.begin, length: window.length)
        ])
        clock.advance(by: .seconds(30))
        kernel.setCarrier("eth0", false)
        flush()
        clock.advance(by: .seconds(90))
        flush()
        kernel.setCarrier("eth0", true)
        flush()
        clock.advance(by: .seconds(600))
        flush()
        let snapshot = service.snapshot
        func totals(_ target: String) -> [LedgerAccount: Duration] {
            Dictionary(
                uniqueKeysWithValues: LedgerAccount.allCases.compactMap { account in
                    let total = snapshot.accounting.accounts[target]?.total(account, at: snapshot.now) ?? .zero
                    return total > .zero ? (account, total) : nil
                }
            )
        }
        #expect(totals("internet") == [.up: .seconds(30 + 60), .us: .seconds(30), .maintenance: .seconds(600)])
        #expect(totals("other") == [.up: .seconds(630), .us: .seconds(90)])
        let intervals = snapshot.accounting.accounts["internet"]?.intervals.map { "\($0.state) \($0.state.account)" }
        #expect(intervals == ["up up", "us.link us", "us.link maintenance", "up maintenance"])
        // The outage ends at the start of the maintenance.
        #expect(snapshot.accounting.accounts["internet"]?.outages.map(\.ending) == [.maintenance])
    }
}
