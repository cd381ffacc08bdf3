import LinuxSupport
import TestSupport
import Testing

@testable import ReachabilityChecks

struct PortalTests {
    static let captive = """
        {"captive": true, "user-portal-url": "https://portal.example/\\u0061", "venue-info-url": "https://venue.example/",
        "seconds-remaining": 326, "bytes-remaining": 18446744073709551615, "can-extend-session": true, "other": [1, {"a": null}]}
        """

    @Test func `the response of a captive portal API is parsed`() throws {
        let information = try PortalInformation(json: Array(Self.captive.utf8))
        #expect(information.isCaptive && information.userPortalURL == "https://portal.example/a")
        #expect(information.secondsRemaining == 326)
        let open = try PortalInformation(json: Array("{\"captive\":false,\"seconds-remaining\":-1}".utf8))
        #expect(open == PortalInformation(isCaptive: false))
    }

    @Test(arguments: [
        ("", PortalFault.notJSON), ("[]", .notAnObject), ("{}", .captiveMissing),
        ("{\"captive\":\"true\"}", .captiveMissing),
        ("{\"captive\":true}x", .notJSON), ("{\"captive\":true,}", .notJSON), ("<html>", .notJSON),
        ("{\"captive\":01}", .notJSON),
        (String(repeating: "[", count: 8000), .notJSON), (String(repeating: " ", count: 9000), .tooLong),
        ("{\"captive\":\"\\ud800\"}", .notJSON),
    ])
    func `another response is refused with its reason`(text: String, fault: PortalFault) {
        #expect(throws: fault) { try PortalInformation(json: Array(text.utf8)) }
    }

    static let portal: [UInt8] = [37, 3] + Array("https://a.example/api".utf8) + [0]
    static let servers = hex("19 03 0000 00000e10 20010db8000000000000000000000053")
    static let prefix = hex("26 02 0708 0064ff9b0000000000000000")

    @Test func `the API in a router advertisement is returned`() throws {
        #expect(RouterOption.portals(in: Self.servers + Self.portal + Self.prefix) == ["https://a.example/api"])
    }

    @Test func `malformed options are ignored`() {
        #expect(RouterOption.portals(in: []).isEmpty)
        #expect(RouterOption.portals(in: Self.portal.dropLast()).isEmpty)
        #expect(RouterOption.portals(in: [37, 0, 1, 2, 3, 4, 5, 6]).isEmpty)
        #expect(RouterOption.portals(in: [37, 1, 0x1b, 0x5b, 0, 0, 0, 0]).isEmpty)
        #expect(RouterOption.portals(in: [25, 1, 0, 0, 0, 0, 0, 1]).isEmpty)
    }

    @Test func `damaged responses never crash the parser`() async {
        var chance = SeededGenerator(seed: 18)
        let options = Self.portal + Self.servers + Self.prefix
        for round in 0..<MutationCount.value {
            await takeTurns(in: round)
            #expect(RouterOption.portals(in: DamagedBytes.make(from: options, using: &chance)).count <= 64)
            let json = DamagedBytes.make(from: Array(Self.captive.utf8), using: &chance)
            let information = try? PortalInformation(json: json)
            #expect(information?.userPortalURL?.utf8.count ?? 0 < 1000)
        }
    }
}
