import CommandLineSupport
import ReachabilityChecks
import Testing

@testable import reachability_tools

/// The output of `reachability check --output`.
@Suite struct MonitoringOutputTests {
    private let broken = MonitoringOutput.Result(
        target: "a|b='\"\u{1b}",
        place: .gateway,
        text: "gateway: 192.0.2.1 does not answer | x",
        duration: .milliseconds(3060),
        roundTrip: nil
    )
    private let working = MonitoringOutput.Result(
        target: "internet",
        place: .works,
        text: "works: the target answers",
        duration: .milliseconds(120),
        roundTrip: .microseconds(34_500)
    )

    @Test func `a plugin prints the state, the text and performance data`() {
        let one = MonitoringOutput(results: [working])
        #expect(
            one.lines(.nagios, now: .zero) == [
                "REACHABILITY OK - internet: works: the target answers | 'internet'=0.0345s;;;0 'internet check'=0.12s;;;0"
            ]
        )
        #expect(one.exitStatus(.nagios) == 0)
        let both = MonitoringOutput(results: [broken, working])
        let lines = both.lines(.nagios, now: .zero)
        #expect(
            lines[0]
                == #"REACHABILITY CRITICAL - 1 of 2 targets work | 'a/b_''"\u{1b} check'=3.06s;;;0 'internet'=0.0345s;;;0 'internet check'=0.12s;;;0"#
        )
        #expect(lines[1] == #"a/b='"\u{1b}: gateway: 192.0.2.1 does not answer / x"#)
        #expect(lines.count == 3)
        #expect(both.exitStatus(.nagios) == 2)
    }

    @Test(
        arguments: [
            (CheckPlace.works, 0), (.degraded, 1), (.inconclusive, 3), (.thisMachine, 2), (.upstream, 2), (.service, 2),
        ] as [(CheckPlace, Int32)]
    )
    func `each place has the exit status of a plugin`(place: CheckPlace, status: Int32) {
        let result = MonitoringOutput.Result(target: "a", place: place, text: "", duration: .zero, roundTrip: nil)
        #expect(MonitoringOutput(results: [working, result]).exitStatus(.nagios) == status)
        #expect(
            MonitoringOutput(results: [result]).lines(.checkmk, now: .zero)[0].hasPrefix("\(status) \"Reachability a\"")
        )
    }

    @Test func `a local check of Checkmk has one line per target and exit status 0`() {
        let output = MonitoringOutput(results: [broken, working])
        #expect(
            output.lines(.checkmk, now: .zero) == [
                #"2 "Reachability a/b=''\u{1b}" time=3.06 gateway: 192.0.2.1 does not answer / x"#,
                #"0 "Reachability internet" rtt=0.0345|time=0.12 works: the target answers"#,
            ]
        )
        #expect(output.exitStatus(.checkmk) == 0)
    }

    @Test func `a textfile has valid metrics`() {
        let output = MonitoringOutput(results: [broken, working])
        let lines = output.lines(.textfile, now: .seconds(1_700_000_000))
        #expect(lines.contains(#"reachability_check_up{target="internet"} 1"#))
        #expect(lines.contains(#"reachability_check_up{target="a|b='\"\\u{1b}"} 0"#))
        #expect(lines.contains(#"reachability_check_place{target="internet",place="works"} 1"#))
        #expect(lines.contains(#"reachability_check_round_trip_seconds{target="internet"} 0.0345"#))
        #expect(lines.last == "reachability_check_timestamp_seconds 1700000000")
        #expect(output.exitStatus(.textfile) == nil)
        // A repeated series would make the file invalid.
        #expect(MonitoringOutput(results: [working, working]).lines(.textfile, now: .zero).count == 15)
        #expect(MonitoringOutput.unknown("a|b") == "REACHABILITY UNKNOWN - a/b")
    }
}
