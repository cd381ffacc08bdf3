import LinuxSupport
import ReachabilityLedger
import TestSupport
import Testing

@testable import ReachabilityService

/// Numbers, durations and times at the limits of their types: each is rejected, or the service works with it.
@Suite struct ExtremeConfigurationTests {
    private static let target = "[[target]]\nname = \"a\"\nhost = \"192.0.2.1\"\nchecks = [\"tcp:443\"]\n"
    private static let hook = "[[notify]]\nname = \"a\"\nexec = \"/bin/true\"\n"
    /// The documents before the value.
    private static let places = [
        "[[target]]\nname = \"p\"\npush.every = ", "[[target]]\nname = \"p\"\npush.every = \"1h\"\npush.grace = ",
        target + "order = ", target + "ping.count = ", target + "ping.interval = ",
        target + "latency.over = \"10m\"\nlatency.above = ", target + "loss.over = \"10m\"\nloss.above = ",
        target + "loss.above = \"1%\"\nloss.over = ",
        "[history]\nkeep = ", "[history]\nmark = ", "[history]\nmax-size = ", target + "interval = ",
        target + "interval-when-down = ", target + "confirm = ", target + "settle = ", target + "mark = ",
        hook + "after = ", hook + "limit = ", "[heartbeat]\nurl = \"https://h/\"\ninterval = ",
        "[[maintenance]]\nfrom = \"2026-01-01T00:00:00Z\"\nfor = ", "[[maintenance]]\nfor = \"1h\"\nfrom = ",
        "[[maintenance]]\ndaily = \"03:00 UTC\"\nfor = ", "[[maintenance]]\nfor = \"1h\"\nweekly = ",
        "[fleet]\nbroker = \"mqtt://h\"\nsite = \"a\"\ndevice = \"b\"\njitter = ",
        "[fleet]\nbroker = \"mqtt://h\"\nsite = \"a\"\ndevice = \"b\"\nrefresh = ",
        "[fleet]\nbroker = \"mqtt://h\"\nsite = \"a\"\ndevice = \"b\"\nwill-delay = ",
    ]

    @Test func `every extreme value is either rejected or works`() throws {
        var accepted = 0
        for place in Self.places {
            for text in ExtremeValues.texts {
                for value in ["\"\(text)\"", text] {
                    guard let configuration = try? ServiceConfiguration("schema = 1\n\(place)\(value)\n") else {
                        continue
                    }
                    accepted += 1
                    Self.use(configuration)
                }
            }
        }
        #expect(accepted > 50)
    }

    @Test func `a duration is at most a hundred years`() throws {
        for key in ["interval", "interval-when-down", "settle"] {
            _ = try ServiceConfiguration("schema = 1\n\(Self.target)\(key) = \"36500d\"\n")
            let error = #expect(throws: ConfigurationProblems.self) {
                try ServiceConfiguration("schema = 1\n\(Self.target)\(key) = \"106752d\"\n")
            }
            #expect(error?.problems.map(\.text) == ["must be at most 36500d, not 106752d"])
        }
    }

    /// Without the limit, the parser would overflow the stack.
    @Test(arguments: [
        String(repeating: "a.", count: 100_000) + "b = 1", "[" + String(repeating: "a . ", count: 20_000) + "b]",
        "x = { " + String(repeating: "'='.\"\\\".\".", count: 20_000) + "b = 1 }",
        "y = 1\r\n" + String(repeating: "-._.", count: 9) + "b = 1",
        "y = [\"\"\"a\"\"\"\"\", '', { " + String(repeating: "a.", count: 20_000) + "b = 1 }]",
        "y = \"\"\"\\\"\"\"\n\"\"\"\nz = '''\\'''\n" + String(repeating: "a.", count: 20_000) + "b = 1",
    ])
    func `a key has a maximum number of parts`(text: String) {
        let error = #expect(throws: ConfigurationProblems.self) { try ServiceConfiguration("schema = 1\n\(text)\n") }
        #expect(error?.problems.map(\.text) == ["a key has more than 16 parts"])
        #expect(error?.problems.first?.line == text.utf8.count { $0 == UInt8(ascii: "\n") } + 2)
    }

    /// The parser would ignore the rest.
    @Test(arguments: [
        ("[[target]]\nname = \"a\\u0000b\"", 3), ("[[target]]\nname = \"\\\\\\U00000000\"", 3),
        ("[[target]]\nname = 'a\u{0}'", 3), ("\u{0}[[target]]", 2), ("# \u{0}\n[[target]]\n[", 2),
        ("[[target]]\nname = \"\"\"\n\"\\\"\\u0000\"\"\"", 3),
    ])
    func `a zero byte is refused`(text: String, line: Int) {
        let error = #expect(throws: ConfigurationProblems.self) { try ServiceConfiguration("schema = 1\n\(text)\n") }
        #expect(error?.problems.map(\.text) == ["a zero byte is not permitted"] && error?.problems.first?.line == line)
    }

    @Test func `the text of an escape is not a zero byte`() throws {
        _ = try ServiceConfiguration("schema = 1\n[[target]]\nname = \"\\\\u0000\"\nhost = 'a'\n")
        _ = try ServiceConfiguration("schema = 1\n[[target]]\nname = '\\u0000'\nhost = 'a'\n")
    }

    @Test func `dots in values and comments do not count as parts of a key`() throws {
        let names = (0..<40).map { "\"192.0.2.\($0)\"" }.joined(separator: ", ")
        let label = String(repeating: "1.", count: 32) + "ip6.arpa"
        let text = "schema = 1\n# don't: \(label)\n[anchors]\nurls = [] # ..................... \(names)\n"
        _ = try ServiceConfiguration(text + "[[target]]\nname = \"\(label)\"\nhost = '\(label)'\n")
        for name in ["'''\n\(label)'''", "\"\"\"\\\n\(label)\"\"\"", "\"\"\"\\\n\\u0022\\\"\"\"\(label)\"\"\"\"\""] {
            _ = try ServiceConfiguration("schema = 1\n[[target]]\nname = \(name)\nhost = \"a\"\n")
        }
    }

    /// Uses the settings as a service does.
    private static func use(_ configuration: ServiceConfiguration) {
        let instants = ExtremeValues.integers.map { LedgerInstant(nanoseconds: $0) }
        for target in configuration.targets {
            if let push = target.push {
                for last in instants {
                    let known = Push(at: last, isUp: true, message: nil)
                    let watch = PushWatch(push, last: known, isMissing: true, since: last)
                    for now in instants { _ = watch.verdict(at: now).next.map { $0 - now } }
                }
            }
            guard let settings = target.checks else { continue }
            for now in instants {
                var schedule = TargetSchedule(settings, of: "a", at: now)
                schedule.begin(at: now)
                #expect(schedule.next(after: now, now: now) >= now)
                var window = MeasurementWindow(settings)
                window?.add([.zero, .nanoseconds(Int64.max)], lost: Int.max / 2000, at: now)
                window?.add([.nanoseconds(Int64.max)], lost: 1, at: now)
                _ = window?.judged(CheckFinding("works", "targetAnswers", sentence: ""), at: now)
            }
        }
        for window in configuration.maintenance {
            for text in ExtremeValues.times {
                let moment = Timestamp.real(of: text) ?? .zero
                _ = (window.contains(moment), window.change(after: moment))
            }
        }
        for now in instants { _ = now - (configuration.history.keep ?? .zero) }
    }
}
