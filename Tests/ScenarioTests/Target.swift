import NetworkLab

/// Something whose reachability is watched.
struct Target: Hashable {
    /// Its letter in the patterns of scenarios.
    let letter: Character
    /// Its address, nil for the network at large.
    let host: String?

    static let large = Target(letter: "g", host: nil)

    /// The hosts of a scenario.
    static func hosts(of scenario: Scenario) -> [Target] {
        zip("46", Topology.hosts).map(Target.init) + zip("abcdef", scenario.hosts).map(Target.init)
    }

    /// The targets that packets reach, where no answer is claimed. Silence is waited for several times, so that a late packet counts.
    static func answering(_ targets: [Target], _ oracle: PacketOracle) throws -> [Target] {
        let addresses = targets.compactMap(\.host) + LargeNetwork.ipv4 + LargeNetwork.ipv6
        var answering: Set<String> = []
        for _ in 0..<4 {
            for (address, answer) in try oracle.answers(of: addresses) where answer.isReachable {
                answering.insert(address)
            }
        }
        return targets.filter { $0.host.map(answering.contains) ?? LargeNetwork.isReachable(answering) }
    }

    /// Which of the targets packets reach. `?` in the pattern: nil.
    static func reached(
        _ targets: [Target],
        by oracle: PacketOracle,
        claimed pattern: String,
        within limit: Duration
    ) throws -> Set<Target>? {
        guard !pattern.contains("?") else { return nil }
        let claimed = Set(targets.filter { pattern.contains($0.letter) })
        let deadline = Deadline(after: limit)
        let addresses = targets.compactMap(\.host) + LargeNetwork.ipv4 + LargeNetwork.ipv6
        while true {
            let answers = try oracle.answers(of: addresses).filter(\.value.isReachable)
            let answering = Set(answers.keys)
            let reached = Set(
                targets.filter { target in
                    target.host.map(answering.contains) ?? LargeNetwork.isReachable(answering)
                }
            )
            if reached == claimed || deadline.hasPassed { return reached }
            LabThread.pause(.milliseconds(20))
        }
    }
}
