import ArgumentParser
import CommandLineSupport
import ReachabilityChecks
import Testing
import TrustForge

@testable import reachability_tools

/// Targets and options that `reachability check` refuses before it sends a packet.
@Suite struct CheckArgumentsTests {
    private static let wrong: [([String], String)] = [
        (["1.2.3.4:0"], "\"1.2.3.4:0\" cannot be checked: the port is not between 1 and 65535"),
        (["ftp://example.org"], "ftp:// is not known: there are tcp, http, https, icmp and dns"),
        (["tcp://example.org"], "it names no port: write tcp://example.org:22"),
        (["icmp://192.0.2.1:7"], "an echo has no port"),
        (["dns://192.0.2.53"], "it names no server and name: write dns://192.0.2.53/example.org"),
        (["https://user@example.org/"], "it names a user"),
        (["http://example.org/a b"], "it has a blank or a control character"),
        (["2001:db8::1]:80"], "it has no host name or address"),
        (["[192.0.2.1]:80"], "brackets are for IPv6 addresses"),
        (["fe80::1"], "a link-local address needs its interface"),
        (["a\u{1b}[2Jb"], "\"a\\u{1b}[2Jb\" cannot be checked"),
        ([""], "\"\" cannot be checked"),
        (["--anchor", "example.org"], "it does not begin with http:// or https://"),
        (["--anchor", "x"], "\"x\" cannot be checked"),
        (["--dns", "example.org"], "\"example.org\" is no address for --dns"),
        (["--dns", "192.168.1.99%nope"], "only link-local ones of IPv6 name an interface"),
        (["--dns", "fe80::1"], "needs its interface: write fe80::1%eth0"),
        (["--resolve", "example.org"], "no name and address for --resolve"),
        (["--resolve", "192.0.2.1=192.0.2.2"], "no name and address for --resolve"),
        (["--resolve", "a.example=fe80::1"], "needs its interface"),
        (["--expect-address", "example.org=x"], "no name and address for --expect-address"),
        (["--source", "x"], "\"x\" is no address for --source"),
        (["--timeout", "0s"], "--timeout is more than 0 and at most 60s"),
        (["--timeout", "2m"], "--timeout is more than 0 and at most 60s"),
        (["--netns", ".."], "\"..\" is no name, path or process of a network namespace"),
    ]

    @Test(arguments: wrong)
    func `a wrong target or option is a usage error`(words: [String], text: String) throws {
        let arguments = try CheckArguments.parse(words)
        let refusal = Refusal.of {
            _ = try CheckOptions(arguments)
            _ = try Check.targets(arguments.targets)
        }
        #expect(refusal?.status == .usage && refusal?.text.contains(text) == true, "\(refusal?.text ?? "accepted")")
    }

    @Test(arguments: [
        ("{\"hosts\": {}, \"more\": 1}", ExitMessage.Status.dataError, "policy.json:1:15: "),
        (
            "{\"hosts\": {\"a.example\": {\"policy\": \"pins\", \"pins\": [\"sha256/x\"]}}}", .dataError,
            "policy.json:1:"
        ),
        ("{\"anchors\": [\"nowhere.pem\"], \"hosts\": {}}", .noInput, "nowhere.pem"),
    ])
    func `a wrong policy file is refused`(policy: String, status: ExitMessage.Status, text: String) throws {
        let directory = try ScratchDirectory()
        let arguments = try CheckArguments.parse(["--policy", try directory.write("policy.json", policy)])
        let refusal = Refusal.of { try CheckOptions(arguments) }
        #expect(refusal?.status == status && refusal?.text.contains(text) == true, "\(refusal?.text ?? "accepted")")
    }

    @Test func `of several targets the nearest broken place decides the exit status`() {
        func status(_ places: CheckPlace..., simple: Bool = false) -> Int32 {
            CheckPlace.exitCode(of: places, simple: simple)
        }
        #expect(status(.works, .works) == 0)
        #expect(status(.works, .service, .thisMachine) == 10)
        #expect(status(.works, .degraded) == 3)
        #expect(status(.degraded, .inconclusive) == 3)
        #expect(status(.works, .inconclusive) == 2)
        #expect(status(.service, simple: true) == 1)
        #expect(status(.degraded, simple: true) == 0)
        #expect(status(.inconclusive, simple: true) == 2)
    }
}
