import Testing

@testable import NetworkDiagnostics
@testable import NetworkReachability
@testable import reachability

/// The table of `reachability list`.
@Suite struct ListTableTests {
    private func details(
        _ name: String,
        index: UInt32,
        _ addresses: [InterfaceDetails.Address] = [],
        _ routes: [InterfaceDetails.DefaultRoute] = []
    ) -> InterfaceDetails {
        InterfaceDetails(
            interface: NetworkInterface(index: index, name: name, type: .wiredVirtual),
            kind: "veth",
            state: .up,
            hasCarrier: true,
            isExpensive: false,
            mtu: 1500,
            addresses: addresses,
            defaultRoutes: routes
        )
    }

    @Test func `the longest lines fit 80 columns`() throws {
        let address = try #require(IPAddress("2001:db8:aaaa:bbbb:cccc:dddd:eeee:1111"))
        let gateway = try #require(IPAddress("fe80:1111:2222:3333:4444:5555:6666:7777"))
        let text = ListTable(
            [
                details(
                    "name-of-15-byte",
                    index: 12345,
                    [.init(address: address, prefixLength: 64, marks: ["deprecated", "tentative"])],
                    [
                        .init(isIPv6: true, gateway: gateway, metric: 4_294_967_295, table: 4_294_967_295),
                        .init(isIPv6: true, gateway: gateway, metric: 4096, table: 10000),
                    ]
                )
            ],
            isColoured: false
        ).text
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text)")
        #expect(text.contains("12345  name-of-15-byte  wired-virtual  up\n"))
        #expect(text.contains("    default via \(gateway) metric 4294967295\n        table 4294967295\n"))
        #expect(text.hasSuffix("    default via \(gateway) metric 4096 table 10000"))
    }

    @Test func `the name of an interface is escaped, and its state has a colour`() {
        let table = ListTable([details("e\u{1b}[2J", index: 7)], isColoured: true).text
        #expect(table.contains("e\\u{1b}[2J  wired-virtual  \u{1b}[32mup\u{1b}[0m"))
    }
}
