import NetworkReachability
import Testing

@Suite("Flags and the status they stand for")
struct NetworkReachabilityFlagsTests {
    @Test("Raw values are Apple's")
    func rawValues() {
        let values: [(NetworkReachabilityFlags, UInt32)] = [
            (.transientConnection, 1), (.reachable, 2), (.connectionRequired, 4), (.connectionOnTraffic, 8),
            (.interventionRequired, 16), (.connectionOnDemand, 32), (.isLocalAddress, 0x10000), (.isDirect, 0x20000),
            (.isWWAN, 0x40000),
        ]
        for (flag, value) in values { #expect(flag.rawValue == value) }
        #expect(NetworkReachabilityFlags.connectionAutomatic == .connectionOnTraffic)
    }

    @Test(
        "Alamofire's rules",
        arguments: [
            ([.reachable], .reachable(.ethernetOrWiFi)),
            ([.reachable, .isDirect], .reachable(.ethernetOrWiFi)),
            ([.reachable, .isWWAN], .reachable(.wwan)),
            ([], .notReachable),
            ([.isWWAN], .notReachable),
            ([.connectionOnDemand], .notReachable),
            ([.reachable, .connectionRequired], .notReachable),
            ([.reachable, .connectionRequired, .connectionOnDemand], .reachable(.ethernetOrWiFi)),
            ([.reachable, .connectionRequired, .connectionOnTraffic], .reachable(.ethernetOrWiFi)),
            ([.reachable, .connectionRequired, .connectionOnTraffic, .isWWAN], .reachable(.wwan)),
            ([.reachable, .connectionRequired, .connectionOnDemand, .interventionRequired], .notReachable),
            ([.reachable, .connectionRequired, .interventionRequired], .notReachable),
            ([.reachable, .interventionRequired], .reachable(.ethernetOrWiFi)),
        ] as [(NetworkReachabilityFlags, NetworkReachabilityStatus)]
    )
    func status(flags: NetworkReachabilityFlags, status: NetworkReachabilityStatus) {
        #expect(NetworkReachabilityStatus(flags) == status)
    }

    @Test("No flags at all are unknown")
    func unknown() {
        #expect(NetworkReachabilityStatus(nil) == .unknown)
    }

    @Test("One character for each flag")
    func readableDescription() {
        #expect(NetworkReachabilityFlags([.reachable, .isLocalAddress]).readableDescription == "-R -----l-")
        #expect(NetworkReachabilityFlags([]).readableDescription == "-- -------")
        let all: NetworkReachabilityFlags = [
            .transientConnection, .reachable, .connectionRequired, .connectionOnTraffic, .interventionRequired,
            .connectionOnDemand, .isLocalAddress, .isDirect, .isWWAN,
        ]
        #expect(all.readableDescription == "WR ctiCDld")
        #expect(all.names.count == 9)
    }

    @Test("Texts for people")
    func descriptions() {
        #expect(NetworkReachabilityStatus.unknown.localizedDescription == "Unknown")
        #expect(NetworkReachabilityStatus.notReachable.localizedDescription == "Not Reachable")
        #expect(NetworkReachabilityStatus.reachable(.cellular).localizedDescription == "Reachable via WWAN")
        #expect(NetworkReachabilityStatus.notReachable.description == "not reachable")
    }

    @Test("The other name of a modem works in patterns too")
    func cellularPattern() {
        switch NetworkReachabilityStatus.reachable(.wwan) {
        case .reachable(.cellular): break
        default: Issue.record("cellular is another name for wwan")
        }
    }
}
