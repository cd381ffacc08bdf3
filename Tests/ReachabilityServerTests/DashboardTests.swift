import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// The pages of the dashboard.
@Suite struct DashboardTests {
    private static let evil = "a/b \"<script>alert(1)</script>' onload=x &amp;\n\u{202e}é\u{5d0}"

    /// Returns the paths of all pages of a world with an ended and an ongoing outage.
    private static func pages(_ world: APIWorld) throws -> [String] {
        let outages = try world.items("/v1/outages").compactMap { $0["id"] as? String }
        let targets = world.service.snapshot.accounting.targets.map { PageLink.target($0) }
        return ["/", "/?window=30d", "/outages", "/availability?window=365d", "/network", "/service"] + targets
            + outages.map { "/outages/\($0)" }
    }

    @Test func `the headline states the current state and its start`() throws {
        let world = try APIWorld()
        world.kernel.clock.advance(by: .seconds(3 * 86400 + 4 * 3600))
        let good = try world.text("/")
        let sentence = "The path out of this machine is up. Nothing beyond it is checked"
        #expect(good.contains("<h1 data-say=\"\(sentence)\">\(sentence). ") && good.contains("href=\"./help#anchors\""))
        #expect(good.contains(">3\u{a0}d 4\u{a0}h</span>)."))
        world.setCarrier(false)
        world.kernel.clock.advance(by: .seconds(12))
        let bad = try world.text("/")
        #expect(
            bad.contains(
                "The link of this machine is down <span class=\"tag\">this machine</span> <span class=\"when\">since <time datetime=\""
            )
        )
        #expect(bad.contains(">12\u{a0}s</span>)."))
        #expect(bad.contains("Check the cable"))
        #expect(bad.contains("<title>The link of this machine is down – "))
    }

    @Test func `the overview says that ping is not permitted, and how to permit it`() throws {
        let service = MonitoringService(mayEcho: { false })
        let target = "[[target]]\nname = \"gateway\"\nhost = \"192.0.2.1\"\nchecks = [\"ping\"]\n"
        try service.apply(ServiceConfiguration("schema = 1\n" + target).targets)
        let page = try API(service, version: "1") { WebStatistics() }.answer("/").body
        #expect(String(decoding: page, as: UTF8.self).contains("add a group of this process to the sysctl"))
        try service.apply([])
        service.endChecks()
    }

    /// Returns a world with checked targets and the results of some checks.
    private static func world(_ names: [String], _ findings: [String: CheckFinding]) throws -> APIWorld {
        let world = try APIWorld(targets: [])
        for name in names {
            var settings = CheckSettings([.init(nil)])
            settings.confirm = 1
            world.watch(ServiceTarget(name: name, host: nil, checks: settings))
        }
        let good = CheckFinding("works", "targetAnswers", sentence: "it answers")
        for name in names {
            guard let turn = world.service.state.withLock({ $0.checks[name]?.turn }) else { continue }
            let now = world.kernel.clock.boot
            _ = world.service.take(findings[name] ?? good, of: name, turn, from: now, to: now)
        }
        world.flush()
        return world
    }

    private static func sentence(_ world: APIWorld) throws -> String {
        try world.text("/").firstMatch(of: #/<h1 data-say="([^"]*)"/#).map { String($0.1) } ?? ""
    }

    private static let refused = CheckFinding("service", "refused", sentence: "it refuses the connection")
    private static let beyond = CheckFinding("upstream", "silent", sentence: "no answer from beyond the gateway")

    @Test(arguments: [
        (["a", "b", "c"], ["a": refused], "1 of 3 targets is down"),
        (["a", "b", "c"], ["a": beyond, "b": refused], "2 of 3 targets are down"),
        (["a", "b", "internet"], ["a": beyond, "b": beyond], "2 of 3 targets are down"),
        (["a", "b", "internet"], ["internet": beyond], "The provider does not reach the internet"),
        (["a", "b"], ["a": beyond, "b": beyond], "The provider does not reach the internet"),
        (["a", "b"], ["a": beyond, "b": refused], "All 2 targets are down"),
        (["a", "b"], ["a": refused, "b": refused], "All 2 targets are down"),
        (["a"], ["a": refused], "a refuses connections"),
    ])
    func `the headline describes the machine only if the internet or all targets agree`(
        names: [String],
        findings: [String: CheckFinding],
        sentence: String
    ) throws {
        #expect(try Self.sentence(Self.world(names, findings)) == sentence)
    }

    @Test func `the headline names at most five of hundreds of targets`() throws {
        let names = (100..<400).map { "target-\($0)" }
        let down = Dictionary(uniqueKeysWithValues: names.dropLast().map { ($0, Self.refused) })
        let world = try Self.world(names, down)
        #expect(try Self.sentence(world) == "299 of 300 targets are down")
        let lead = try world.text("/").firstMatch(of: #/<p class="lead">(.*?)<\/p>/#)?.1
        let first = "target-100, target-101, target-102, target-103, target-104 and 294 more"
        #expect(lead == "\(first). This machine and its provider work.")
        // Each target can still be searched.
        let outages = try world.text("/outages?attribution=them")
        #expect(
            outages.contains("<option>target-399</option>") && outages.contains("name=\"attribution\" value=\"them\"")
        )
        #expect(try world.text("/outages?target=&attribution=them").contains("299 incidents, 299 ongoing"))
        #expect(try world.text("/").utf8.count < 300_000)
    }

    /// Returns the names of the targets on the overview in their order.
    private static func targets(_ world: APIWorld, _ path: String) throws -> [String] {
        try world.text(path).matches(of: #/<a href="\.\/targets\/([^"]*)"/#).map { String($0.1) }
    }

    @Test func `the overview lists the worst target first, then the order of the configuration, and filters`() throws {
        let half = CheckFinding("degraded", "familyFails", sentence: "IPv6 fails, IPv4 works")
        let names = ["z", "y", "x"] + (10..<20).map { "store-\($0)" }
        let world = try Self.world(names, ["x": half, "store-15": Self.refused])
        #expect(
            try Self.targets(world, "/") == ["store-15", "x", "z", "y"] + names.dropFirst(3).filter { $0 != "store-15" }
        )
        #expect(try Self.targets(world, "/?filter=STORE-1&window=7d").first == "store-15")
        #expect(try Self.targets(world, "/?filter=z") == ["z"])
        let none = try world.text("/?filter=%3Cb%3E")
        #expect(none.contains("No target matches.") && none.contains("value=\"&lt;b&gt;\""))
        #expect(none.contains("?window=7d&amp;filter=%3Cb%3E"))
        #expect(try !Self.world(["a"], [:]).text("/").contains("<form"))
        let wall = try world.text("/?kiosk")
        #expect(wall.contains("<body class=\"wall\">") && !wall.contains("<form") && !wall.contains("id=\"incidents\""))
        #expect(try Self.targets(world, "/?kiosk").count == 13)
    }

    @Test func `the dashboard reports only checked targets as working`() throws {
        let one = try Self.world(["a"], [:])
        one.watch(ServiceTarget(name: "c", host: "192.0.2.9"))
        #expect(try Self.sentence(one) == "The checked target works")
        let world = try Self.world(["a", "b"], [:])
        #expect(try Self.sentence(world) == "Everything works")
        world.watch(ServiceTarget(name: "c", host: "192.0.2.9"))
        #expect(try Self.sentence(world) == "All 2 checked targets work")
        let page = try world.text("/")
        #expect(page.contains("Only the route is known: c.") && page.contains("<small>192.0.2.9 · route only</small>"))
    }

    @Test(arguments: [
        (["internet", "erp"], "The path out of this machine is up. Nothing beyond it is checked"),
        (["erp"], "The path to erp is up. Nothing beyond it is checked"),
        (["erp", "nas"], "All 2 paths are up. Nothing beyond them is checked"),
    ])
    func `the headline claims nothing about a path that is not monitored`(names: [String], sentence: String) throws {
        let world = try APIWorld(targets: [])
        for name in names { world.watch(ServiceTarget(name: name, host: "192.0.2.9")) }
        #expect(try Self.sentence(world) == sentence)
    }

    @Test func `less than half of a window has no percentage`() throws {
        let world = try APIWorld()
        world.kernel.clock.advance(by: .seconds(420))
        #expect(try world.text("/").contains("<small>7\u{a0}min of 24\u{a0}h observed</small>"))
        world.kernel.clock.advance(by: .seconds(13 * 3600))
        #expect(try world.text("/").contains("<span class=\"share\">100\u{a0}%</span>"))
    }

    @Test(arguments: [
        (1.0, "100"), (0.99999999, "99.999"), (0.999, "99.900"), (0.99899, "99.89"), (0.5, "50.00"), (0.00001, "0.00"),
    ])
    func `percentages are rounded down and have two decimal places, or three above 99,9`(share: Double, text: String) {
        #expect(share.shortPercent == text)
    }

    @Test(arguments: [
        (Duration.milliseconds(412), "412\u{a0}ms"), (.milliseconds(4001), "4.0\u{a0}s"),
        (.milliseconds(59_990), "59.9\u{a0}s"),
        (.seconds(1868), "31\u{a0}min 8\u{a0}s"),
    ])
    func `durations in lists are comparable`(duration: Duration, text: String) {
        #expect(duration.rounded == text)
    }

    @Test func `the bounds of an outage follow from the errors of its start and of its end`() throws {
        func at(_ seconds: Int64) -> LedgerInstant { LedgerInstant(nanoseconds: seconds * 1_000_000_000) }
        var ledger = TargetLedger(of: "a", from: at(0), TargetState(.up, basis: .checks))
        let down = TargetState(.them, .host, basis: .checks)
        _ = ledger.take(down, reason: "silent", at: at(100), uncertainty: .seconds(5))
        let events = ledger.take(TargetState(.up, basis: .checks), reason: nil, at: at(110), uncertainty: .seconds(7))
        guard case .outageEnded(let outage)? = events.last else {
            Issue.record("\(events)")
            return
        }
        #expect(outage.bounds(at: at(110)) == "at least 3.0\u{a0}s, at most 15.0\u{a0}s")
    }

    @Test func `targets that fail together form one incident`() throws {
        let world = try APIWorld(targets: ["a", "b", "c"])
        world.lose(for: .milliseconds(4001))
        let page = try world.text("/")
        #expect(page.ranges(of: "<a href=\"./outages/").count == 1)
        #expect(page.contains("<span class=\"tag\">this machine</span>") && page.contains("<bdi>all 3 targets</bdi>"))
        #expect(page.contains("<span title=\"4.001\u{a0}s\">4.0\u{a0}s</span>"))
        let id = try #require(try world.items("/v1/outages?target=b").first?["id"] as? String)
        #expect(try world.text("/outages/\(id)").contains("Timeline of 3 targets"))
        // Different faults of different hosts are different incidents.
        let other = try Self.world(["a", "b"], ["a": Self.refused, "b": Self.refused])
        #expect(try other.text("/").ranges(of: "<a href=\"./outages/").count == 2)
    }

    @Test func `the chart shows the median, the band, failed checks and outages`() throws {
        let start = LedgerInstant(nanoseconds: 1_700_000_100_000_000_000)
        var buckets: [CheckBucket] = []
        for index in 0..<12 {
            var bucket = CheckBucket(at: start + CheckBucket.short * index)
            for latency in [10, 20, 90] {
                bucket.add(CheckFinding("works", "targetAnswers", sentence: "", latency: .milliseconds(latency)))
            }
            if index == 6 { bucket.add(Self.refused) }
            buckets.append(bucket)
        }
        let world = try APIWorld(real: .nanoseconds(start.nanoseconds + 3600 * 1_000_000_000))
        let snapshot = world.service.snapshot
        let outage = LedgerInterval(
            TargetState(.them, .refused),
            from: snapshot.now - .seconds(1800),
            to: snapshot.now - .seconds(900)
        )
        let end = snapshot.clock.now + .seconds(9 * 86400 + 5)
        let chart = LatencyChart(buckets, [outage], BarWindow(.hour, snapshot)).html(snapshot, certificateEnd: end).text
        #expect(chart.contains("<span class=\"pill t-degraded\">") && chart.contains("certificate valid for 9 days"))
        #expect(chart.contains("1 of 37 checks failed") && chart.contains("<span>100\u{a0}ms</span>"))
        #expect(chart.contains("class=\"gone\" d=\"M360 0h180v180H360z\""))
        #expect(chart.firstMatch(of: #/class="failed" d="M[0-9.]+ 190h60V185H[0-9.]+z"/#) != nil)
        #expect(chart.firstMatch(of: #/class="median" d="M[^M"]+"/#) != nil)
        #expect(LatencyChart.step(for: .milliseconds(70)) == .milliseconds(20))
        #expect(LatencyChart.step(for: .microseconds(300)) == .microseconds(100))
        #expect(LatencyChart([], [], BarWindow(.hour, snapshot)).html(snapshot, certificateEnd: nil).text.isEmpty)
    }

    @Test func `the overview lists targets below the headings of their groups, the group with the worst target first`()
        throws
    {
        let world = try APIWorld(targets: [])
        for (name, group) in [("a", nil), ("b", "Shops & co"), ("c", "Offices"), ("d", "Shops & co")] {
            world.watch(ServiceTarget(name: name, host: nil, group: group))
        }
        let page = try world.text("/")
        let headings = page.matches(of: #/<li class="group"><b>([^<]*)<\/b> ([^<]*)<\/li>/#).map { "\($0.1) \($0.2)" }
        #expect(headings == ["Other targets 1", "Shops &amp; co 2", "Offices 1"])
        #expect(try Self.targets(world, "/") == ["a", "b", "d", "c"])
        #expect(try !Self.world(["a"], [:]).text("/").contains("class=\"group\""))
    }

    @Test func `days are shaded in four steps by the lost time`() {
        let start = LedgerInstant(nanoseconds: 0)
        let steps = [Duration.milliseconds(40), .seconds(600), .seconds(3600), .seconds(80_000)].map { lost in
            let intervals = [
                LedgerInterval(TargetState(.us, .link), from: start, to: start + lost),
                LedgerInterval(TargetState(.up), from: start + lost, to: start + .seconds(86400)),
            ]
            return DayCalendar.Day(
                number: 0,
                availability: Availability(of: intervals, from: start, to: start + .seconds(86400))
            )
        }
        #expect(steps.map(\.step) == [1, 2, 3, 4])
        let strip = DayCalendar.strip(steps, height: 26, label: "x").text
        #expect(strip.contains("<path class=\"s-us l1\" fill=\"url(#p-us)\" d=\"m0 0h10v26h-10z\"/>"))
    }

    @Test func `a degraded target is shown as degraded and counted as up`() throws {
        let half = CheckFinding("degraded", "familyFails", sentence: "IPv6 fails, IPv4 works")
        let world = try Self.world(["a", "b", "c"], ["b": half])
        #expect(try Self.sentence(world) == "1 of 3 targets is degraded")
        let page = try world.text("/")
        #expect(page.contains("<section class=\"hero t-degraded\""))
        #expect(page.contains("<li class=\"target t-degraded\">") && page.contains("<b>degraded</b>"))
        #expect(page.contains("IPv6 fails, IPv4 works."))
        #expect(try world.text("/targets/b").contains("b is reachable, but degraded"))
        let target = try world.object("/v1/targets/b")
        #expect(["state", "cause", "reason"].map { target[$0] as? String } == ["up", "degraded", "familyFails"])
        #expect(try world.items("/v1/outages").isEmpty)
        let metrics = try world.text("/metrics")
        #expect(metrics.contains("reachability_target_degraded{target=\"a\"} 0\n"))
        #expect(metrics.contains("reachability_target_degraded{target=\"b\"} 1\n"))
        #expect(metrics.contains("reachability_target_state{target=\"b\",state=\"up\"} 1\n"))
        #expect(try world.text("/probe?target=b").contains("reachability_target_degraded{target=\"b\"} 1\n"))
        // A down target takes precedence over a degraded one.
        let worse = try Self.world(["a", "b", "c"], ["b": half, "c": Self.refused])
        #expect(try Self.sentence(worse) == "1 of 3 targets is down")
        #expect(
            try Self.sentence(Self.world(["internet"], ["internet": half])) == "The internet is reachable, but degraded"
        )
    }

    @Test func `a page is cached until the next event, and for at most a second`() throws {
        let world = try APIWorld()
        world.kernel.clock.advance(by: .seconds(60))
        let first = try world.text("/")
        world.kernel.clock.advance(by: .milliseconds(999))
        #expect(try world.text("/") == first)
        #expect(try world.text("/?window=30d") != first)
        world.kernel.clock.advance(by: .milliseconds(1))
        let second = try world.text("/")
        #expect(second != first)
        world.setCarrier(false)
        #expect(try world.text("/").contains("The link of this machine is down"))
    }

    @Test func `the page of an outage shows its steps`() throws {
        let world = try APIWorld(targets: ["internet", "other"])
        world.lose(for: .milliseconds(4001))
        let id = try #require(try world.items("/v1/outages?target=internet").first?["id"] as? String)
        let page = try world.text("/outages/\(id)")
        #expect(
            page.contains(
                "The link of this machine was down <span class=\"tag\">this machine</span> <span class=\"when\">for 4.001\u{a0}s."
            )
        )
        #expect(page.ranges(of: "<li>").count >= 3)
        #expect(page.contains("The interface is on, but has no carrier") && !page.contains("noCarrier"))
        #expect(page.contains("<dd>4.001\u{a0}s, exact to the millisecond</dd>"))
        #expect(page.contains("<bdi>other</bdi>"))
    }

    @Test func `names are escaped, and pages have no inline scripts or styles`() throws {
        let world = try APIWorld(targets: [Self.evil, "plain"])
        world.lose(for: .seconds(1))
        world.kernel.removeRoute("default")
        world.flush()
        for path in try Self.pages(world) {
            let answer = try world.answer(path)
            #expect(answer.status == .ok, "\(path)")
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(!text.contains("<script>") && !text.contains("\u{202e}") && !text.contains("HTML("), "\(path)")
            #expect(text.contains("Optional(") == false)
            #expect(text.ranges(of: "<script ").count == 1)
            for inline in [
                #/<[^>]* style="/#, #/<style/#, #/<[a-z]+ [^>"]*on[a-z]+="/#, #/javascript:/#, #/https?:\/\//#,
            ] {
                #expect(text.firstMatch(of: inline) == nil, "\(path)")
            }
            Self.checkBalance(text, path)
        }
        let overview = try world.text("/")
        #expect(
            overview.contains(
                "a/b &quot;&lt;script&gt;alert(1)&lt;/script&gt;&#39; onload=x &amp;amp;\\u{a}\\u{202e}é\u{5d0}"
            )
        )
    }

    /// Checks that all elements are closed in the right order.
    private static func checkBalance(_ text: String, _ path: String) {
        let void: Set<Substring> = ["meta", "link", "br", "input"]
        var open: [Substring] = []
        for tag in text.matches(of: #/<(\/?)([a-z0-9]+)(?: [^<>]*?)?(\/?)>/#) {
            let name = tag.2
            if void.contains(name) || !tag.3.isEmpty { continue }
            if tag.1.isEmpty { open.append(name) } else { #expect(open.popLast() == name, "\(path)") }
        }
        #expect(open.isEmpty, "\(path): \(open)")
    }

    @Test func `the network page shows addresses and default routes`() throws {
        let world = try APIWorld()
        let page = try world.text("/network")
        #expect(page.contains(">Packets leave through eth0.</h1>"))
        #expect(page.contains("<code>192.0.2.7/24</code>"))
        #expect(page.contains("IPv4 via <code>192.0.2.1</code>"))
        world.kernel.removeRoute("default")
        #expect(
            try world.text("/network").contains(
                ">No interface has a default route. <span class=\"tag\">this machine</span></h1>"
            )
        )
        let bare = API(world.service, version: "") { WebStatistics() }
        #expect(
            String(decoding: try bare.answer("/network").body, as: UTF8.self).contains(
                ">The interfaces are not known.</h1>"
            )
        )
    }

    @Test func `the content security policy allows only files of the server`() throws {
        let world = try APIWorld()
        let headers = try world.answer("/").headers
        let policy = try #require(headers.first { $0.name == "Content-Security-Policy" }?.value)
        #expect(policy.hasPrefix("default-src 'none';") && !policy.contains("unsafe") && !policy.contains("*"))
        #expect(headers.contains { $0.name == "Cache-Control" && $0.value == "no-store" })
        #expect(try world.answer("/", .GET, [("Host", "example.org")], peer: .loopback).status == .misdirectedRequest)
    }

    @Test func `assets are cacheable forever and small`() throws {
        let world = try APIWorld()
        let page = try world.text("/")
        for asset in [Asset.style, .page, .worker, .goodIcon] { #expect(page.contains("\".\(asset.path)\"")) }
        for asset in Asset.all {
            let answer = try world.answer(asset.path)
            #expect(answer.body == asset.body)
            #expect(answer.headers.contains { $0.name == "Cache-Control" && $0.value.hasSuffix("immutable") })
            let tag = try #require(answer.headers.first { $0.name == "ETag" }?.value)
            #expect(try world.answer(asset.path, .GET, [("If-None-Match", tag)]).status == .notModified)
        }
        #expect(Asset.all.reduce(page.utf8.count) { $0 + $1.body.count } <= 60_000)
        #expect(try world.answer("/assets/style-0.css").status == .notFound)
    }

    @Test(arguments: [
        ("/targets/x", 404, "There is no target x."), ("/outages/%3Cb%3E", 404, "There is no outage &lt;b&gt;."),
        ("/?window=1y", 400, "window must be one of"), ("/?x=1", 400, "unknown parameter"),
    ])
    func `missing objects and unknown parameters are reported`(path: String, status: Int, text: String) throws {
        let world = try APIWorld()
        #expect(Int(try world.answer(path).status.code) == status)
        #expect(try world.text(path).contains(text))
    }

    @Test(arguments: [
        (Duration.zero, "0\u{a0}s"), (.milliseconds(59_999), "59\u{a0}s"), (.seconds(725), "12\u{a0}min 5\u{a0}s"),
        (.seconds(3600), "1\u{a0}h"), (.seconds(86400 + 59), "1\u{a0}d"), (.seconds(273_600), "3\u{a0}d 4\u{a0}h"),
    ])
    func `durations are shown in their two largest units`(duration: Duration, text: String) {
        #expect(duration.wholeUnits == text)
    }

    @Test func `each cause has a sentence in the present and the past tense`() {
        let causes: [(Attribution, [OutageCause])] = [
            (.us, [.link, .address, .route, .policy, .dns, .clock]),
            (.upstream, [.gateway, .portal, .provider, .dns, .interception]),
            (.them, [.host, .refused, .tls, .http, .dns, .push]),
            (.unknown, [.notObserved, .suspended, .denied, .undecided, .paused]),
        ]
        var sentences: Set<String> = []
        for (attribution, causes) in causes {
            for cause in causes {
                let state = TargetState(attribution, cause)
                #expect(sentences.insert(StateDescription.sentence(state, of: "erp")).inserted)
                if state.isOutage {
                    #expect(StateDescription.past(state, of: "erp") != StateDescription.sentence(state, of: "erp"))
                }
            }
        }
        #expect(StateDescription.past(TargetState(.them, .refused), of: "erp") == "erp refused connections")
        #expect(StateDescription.sentence(TargetState(.up), of: "internet") == "The path out of this machine is up")
        #expect(
            "192.0.2.1 serverSilent (5 ms): noCarrier, eBay".inWords
                == "192.0.2.1 does not answer DNS (5 ms): no carrier, eBay"
        )
    }

    @Test func `each day has the account with the most lost time`() throws {
        let world = try APIWorld()
        let snapshot = { world.service.snapshot }
        world.kernel.clock.advance(by: .seconds(86400))
        world.lose(for: .seconds(3600))
        world.kernel.clock.advance(by: .seconds(2 * 86400))
        let start = DayCalendar.start(snapshot())
        let days = DayCalendar.days(from: start, snapshot().intervals(of: "internet"), snapshot())
        // The service started on a Tuesday.
        #expect(days.count == 52 * 7 + 5)
        #expect(days.first?.name == "2022-11-14" && days.last?.name == "2023-11-17")
        let known: [LedgerAccount] = [.up, .us, .up, .up]
        #expect(days.map(\.account) == Array(repeating: .unknown, count: 52 * 7 + 1) + known)
        let sum = days.reduce(Duration.zero) { $0 + $1.availability.window }
        #expect(sum == snapshot().now - start)
        #expect(try world.text("/availability").contains("internet: 1 of 4 days observed had an outage"))
    }

    @Test func `pages work with a clock that starts in 1970`() throws {
        let world = try APIWorld(real: .zero)
        world.lose(for: .seconds(1))
        for path in try Self.pages(world) + ["/availability.csv?window=365d", "/v1/availability?window=30d"] {
            #expect(try world.answer(path).status == .ok, "\(path)")
        }
        #expect(try world.text("/v1/availability?window=30d").contains("\"from\":\"1969-12-02T"))
        let snapshot = world.service.snapshot
        #expect(DayCalendar.days(from: DayCalendar.start(snapshot), [], snapshot).count == 368)
    }

    @Test func `outages are counted, paginated and filtered by target, cause and time`() throws {
        let world = try APIWorld(targets: ["a", "b"])
        for _ in 0..<75 { world.lose(for: .seconds(1)) }
        func page(_ path: String) throws -> (sentence: String, count: Int, older: String?) {
            let text = try world.text(path)
            let sentence = text.firstMatch(of: #/<h1 data-say="([^"]*)"/#).map { String($0.1) } ?? ""
            let older = text.firstMatch(of: #/<a href="\.([^"]*)">Older</a>/#).map { String($0.1) }
            return (sentence, text.ranges(of: "<a href=\"./outages/").count, older)
        }
        #expect(try world.text("/").contains(">All incidents</a>"))
        // Each incident has an outage of each of the two targets.
        let first = try page("/outages")
        #expect(first.sentence == "75 incidents, none ongoing" && first.count == 50)
        let second = try page(try #require(first.older))
        #expect(second.sentence == first.sentence && second.count == 25 && second.older == nil)
        let one = try page("/outages?target=a&cause=link")
        #expect(one.sentence == "75 incidents of a, none ongoing" && one.count == 50 && one.older != nil)
        #expect(try page("/outages?attribution=them").sentence == "No incident")
        world.kernel.clock.advance(by: .seconds(2 * 86_400))
        #expect(try page("/outages?window=24h").count == 0)
        #expect(try page("/outages?window=7d").count == 50)
        #expect(try world.answer("/outages?window=2d").status == .badRequest)
        #expect(try world.items("/v1/outages?cause=link&limit=1000").count == 150)
        #expect(try world.items("/v1/outages?cause=route").isEmpty)
    }

    @Test func `CSV cells are not evaluated as formulas`() throws {
        let world = try APIWorld(targets: ["=cmd|' /C calc'!A0", Self.evil])
        world.lose(for: .seconds(1))
        let answer = try world.answer("/outages.csv")
        #expect(answer.headers.contains { $0 == ("Content-Disposition", "attachment; filename=\"outages.csv\"") })
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(text.contains(",\"'=cmd|' /C calc'!A0\",us,link,"))
        #expect(text.contains(",\(Self.evil.csvField),us,link,"))
        #expect(Int(try world.answer("/availability.csv?window=2d").status.code) == 400)
    }

    @Test func `bars are to scale and merge intervals within a column`() {
        let start = LedgerInstant(nanoseconds: 0)
        let at = { (seconds: Int) in start + .seconds(seconds) }
        var intervals = [LedgerInterval(TargetState(.up), from: at(50), to: at(90))]
        intervals += (0..<500).map {
            LedgerInterval(
                TargetState(.us, .link),
                from: at(90) + .microseconds($0),
                to: at(90) + .microseconds($0 + 1)
            )
        }
        let bar = TimeBar(from: at(0), to: at(100)).svg(intervals, label: "x")
        #expect(bar.text.contains("<path class=\"s-up\" d=\"m350 0h280v28h-280z\"/>"))
        #expect(bar.text.contains("<path class=\"s-us\" fill=\"url(#p-us)\" d=\"m630 24h1v4h-1z\"/>"))
        let last = [LedgerInterval(TargetState(.us, .link), from: at(100) - .microseconds(5), to: at(100))]
        #expect(TimeBar(from: at(0), to: at(100)).svg(last, label: "x").text.contains("d=\"m699 25h1v3h-1z\""))
        // The size does not depend on the number of intervals. A column shows the shares.
        let kinds = [TargetState(.us, .link), TargetState(.up), TargetState(.them, .host), TargetState(.us, .route)]
        let many = (0..<100_000).map {
            LedgerInterval(kinds[$0 % 4], from: at(0) + .milliseconds($0), to: at(0) + .milliseconds($0 + 1))
        }
        let crowded = TimeBar(from: at(0), to: at(100), columns: 100).svg(many, label: "x").text
        #expect(crowded.contains("<path class=\"s-them\" fill=\"url(#p-them)\" d=\"m0 21h700v7h-700z\"/>"))
        #expect(crowded.contains("<path class=\"s-us\" fill=\"url(#p-us)\" d=\"m0 7h700v14h-700z\"/>"))
        #expect(crowded.contains("<path class=\"s-up\" d=\"m0 0h700v7h-700z\"/>"))
        let few = TimeBar(from: at(0), to: at(4), columns: 4).svg(Array(many.suffix(1)), label: "x").text
        #expect(!few.contains("<path"))
    }
}
