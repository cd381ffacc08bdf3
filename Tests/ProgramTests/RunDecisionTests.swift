import NetworkReachability
import Testing

@testable import reachability

/// What `reachability run` makes of the states it is given, one after the other.
@Suite struct RunDecisionTests {
    /// States in short: `r` reachable, `w` reachable over WWAN, `n` not reachable, `u` unknown.
    private static let flags: [Character: NetworkReachabilityFlags?] = [
        "r": [.reachable], "w": [.reachable, .isWWAN], "n": [], "u": nil,
    ]

    @Test(arguments: [
        ("rnr", "rn nr"), ("rnnr", "rn nr"), ("urnu", "rn nu"), ("uuu", ""), ("r", ""), ("rr", ""), ("rwr", "rw wr"),
        ("nun", "nu un"),
    ])
    func `change: every change of what is known`(states: String, runs: String) {
        #expect(Self.runs(states, [.change]) == runs)
    }

    @Test(arguments: [
        ("rnr", "nr"), ("nrwn", "nr"), ("nunr", "nr"), ("nur", "ur"), ("urn", ""), ("rwr", ""),
    ])
    func `reachable: becoming so, however`(states: String, runs: String) {
        #expect(Self.runs(states, [.reachable]) == runs)
    }

    @Test(arguments: [
        ("rnr", "rn"), ("rwn", "wn"), ("nun", "un"), ("unr", ""), ("rur", ""),
    ])
    func `not-reachable: becoming so, from anything`(states: String, runs: String) {
        #expect(Self.runs(states, [.notReachable]) == runs)
    }

    @Test func `both: not from one connection type to another`() {
        #expect(Self.runs("rwnrun", [.reachable, .notReachable]) == "wn nr un")
    }

    @Test(arguments: [
        ("r", RunTrigger.change, "-r"), ("urn", .change, "-r rn"), ("n", .reachable, ""), ("nr", .reachable, "nr"),
        ("unr", .notReachable, "-n"), ("u", .change, ""),
    ])
    func `initial: the first that is known counts too`(states: String, trigger: RunTrigger, runs: String) {
        #expect(Self.runs(states, [trigger], initially: true) == runs)
    }

    /// The runs in short: the state before, `-` for none, and the state.
    private static func runs(_ states: String, _ triggers: Set<RunTrigger>, initially: Bool = false) -> String {
        var decision = RunDecision(triggers, runsInitially: initially)
        return states.compactMap { state in
            guard let change = decision.take(path(state)) else { return nil }
            let previous = flags.keys.first { path($0).status == change.previous }
            #expect(change.path.status == path(state).status)
            return "\(previous ?? "-")\(state)"
        }.joined(separator: " ")
    }

    private static func path(_ state: Character) -> NetworkPath {
        NetworkPath(flags: flags[state] ?? nil)
    }
}
