#if Fleet
import ArgumentParser
import CommandLineSupport
import ReachabilityFleetAgent
import Testing

@testable import reachability_fleet

/// Options that `reachability fleet agent` refuses before it connects.
@Suite struct FleetArgumentTests {
    private static let place = ["--site", "s", "--device", "d"]

    @Test(arguments: [
        (["--broker", "http://a"] + place, "\"http://a\" is no address of a broker: write mqtts://"),
        (
            ["--broker", "mqtts://a", "--site", "s/t", "--device", "d"],
            "--site and --device are names of 1 to 64 letters"
        ),
        (["--broker", "mqtts://a", "--key", "k"] + place, "--key goes with --certificate"),
        (["--broker", "mqtt://a", "--authority", "k"] + place, "for a broker with TLS"),
        (["--broker", "mqtts://a", "--allow", "exec"] + place, "--allow knows check and report"),
        (["--broker", "mqtts://a", "--refresh", "0s"] + place, "--refresh is from 1s to 24h"),
        (["--broker", "mqtt://a"], "say --broker, --site and --device"),
    ])
    func `a wrong option is a usage error`(words: [String], text: String) throws {
        let arguments = try FleetAgentArguments.parse(words)
        let refusal = Refusal.of { try AgentOptions(arguments) }
        #expect(refusal?.status == .usage && refusal?.text.contains(text) == true, "\(refusal?.text ?? "accepted")")
    }
}
#endif
