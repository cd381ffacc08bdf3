import NetworkLab

/// One of the three states a scenario goes through.
struct Phase {
    let name: String
    let script: String
    let packets: String
    var told: String
    /// How long nothing more may be said once all agree.
    var quiet = Duration.milliseconds(300)

    /// The phases of a scenario in their order.
    static func all(of scenario: Scenario) -> [Phase] {
        let told =
            switch scenario.measure {
            case .packets: scenario.after
            case .kernelCannotKnow: scenario.before
            case .exception(let told, _): told
            }
        return [
            Phase(name: "before", script: "", packets: scenario.before, told: scenario.before),
            Phase(
                name: "after",
                script: scenario.change,
                packets: scenario.after,
                told: told,
                quiet: scenario.quiet
            ),
            Phase(name: "back", script: scenario.undo, packets: scenario.back, told: scenario.back),
        ]
    }

    /// What the product must say of each target in this phase.
    func expectation(of target: Target) -> Expectation {
        guard told.contains(target.letter) else { return Expectation(status: "notReachable", connectionType: nil) }
        return Expectation(status: "reachable", connectionType: told.contains("w") ? "wwan" : "ethernetOrWiFi")
    }
}
