import ReachabilityLedger
import Testing

@testable import ReachabilityServer

/// The metrics for Prometheus.
@Suite struct MetricsTests {
    @Test func `metrics contain the time up to the scrape`() throws {
        let world = try APIWorld()
        world.kernel.clock.advance(by: .seconds(10))
        world.lose(for: .milliseconds(400))
        let text = try world.text("/metrics")
        #expect(text.contains("reachability_target_seconds_total{target=\"internet\",state=\"us\"} 0.4\n"))
        #expect(text.contains("reachability_target_seconds_total{target=\"internet\",state=\"up\"} 11\n"))
        #expect(text.contains("reachability_target_state{target=\"internet\",state=\"up\"} 1\n"))
        #expect(text.contains("reachability_outages_total{target=\"internet\",attribution=\"us\",cause=\"link\"} 1\n"))
        #expect(text.contains("reachability_build_info{version=\"1.2.3\"} 1\n"))
    }

    @Test func `OpenMetrics has family names without the suffix and an end marker`() throws {
        let world = try APIWorld()
        let accept = ("Accept", "application/openmetrics-text; version=1.0.0; charset=utf-8,text/plain;q=0.5")
        let text = try world.text("/metrics", [accept])
        #expect(text.contains("# TYPE reachability_target_seconds counter\nreachability_target_seconds_total{"))
        #expect(text.hasSuffix("# EOF\n"))
        let plain = try world.text("/metrics")
        #expect(plain.contains("# TYPE reachability_target_seconds_total counter\n"))
        #expect(!plain.contains("# EOF"))
    }

    @Test(arguments: [
        ("a\r\nb", "a\r\\nb"), ("\"\u{301}", "\\\"\u{301}"), ("\\\u{301}\n", "\\\\\u{301}\\n"), ("\n\n", "\\n\\n"),
    ])
    func `special characters in labels are escaped`(name: String, label: String) throws {
        let text = try APIWorld(targets: [name]).text("/metrics")
        #expect(text.utf8.contains { $0 == 0x0a })
        let line = "reachability_target_state{target=\"\(label)\",state=\"up\"} 1"
        #expect(text.unicodeScalars.split(separator: "\n").contains { $0.elementsEqual(line.unicodeScalars) })
    }

    @Test func `each metric has one header before its samples`() throws {
        var known: Set<Substring> = []
        for line in try APIWorld().text("/metrics").split(separator: "\n") {
            let arguments = line.split { $0 == " " || $0 == "{" }
            if line.hasPrefix("# TYPE") { #expect(known.insert(arguments[2]).inserted) }
            if !line.hasPrefix("#") { #expect(known.contains(arguments[0]), "\(line)") }
        }
    }

    @Test func `a probe returns one target without sending packets`() throws {
        let world = try APIWorld(targets: ["internet", "a\"b"])
        #expect(try world.text("/probe?target=internet").contains("probe_success 1\n"))
        world.lose(for: .seconds(1))
        world.setCarrier(false)
        let text = try world.text("/probe?target=a%22b")
        #expect(text.contains("probe_success 0\n"))
        #expect(text.contains("reachability_target_state{target=\"a\\\"b\",state=\"us\"} 1\n"))
        #expect(text.contains("\nreachability_target_since_seconds 17000"))
        let wrong = [("/probe", 400), ("/probe?target=nobody", 404), ("/probe?target=internet&module=a", 400)]
        for (address, status) in wrong {
            #expect(try world.answer(address).status.code == status, "\(address)")
        }
    }

    @Test func `a counter never decreases`() {
        let counters = MonotonicCounters()
        let start = LedgerInstant(nanoseconds: 0)
        #expect(counters.value("a", since: start, .up, .seconds(5)) == .seconds(5))
        #expect(counters.value("a", since: start, .up, .seconds(4)) == .seconds(5))
        #expect(counters.value("a", since: start, .us, .seconds(1)) == .seconds(1))
        #expect(counters.value("a", since: start, .up, .seconds(6)) == .seconds(6))
        // The counter of a target that is removed and added again starts from zero.
        #expect(counters.value("a", since: start + .seconds(9), .up, .seconds(1)) == .seconds(1))
    }
}
