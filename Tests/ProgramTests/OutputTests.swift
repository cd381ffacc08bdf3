import CommandLineSupport
import KernelLab
import LinuxSupport
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@testable import NetworkDiagnostics
@testable import NetworkReachability
@testable import reachability

/// A path as one line of text or JSON.
@Suite struct PathLineTests {
    private let kernel = FakeKernel()

    init() {
        kernel.addLink("u0")
        kernel.addAddress("192.0.2.2/24", to: "u0")
        kernel.addAddress("2001:db8::2/64", to: "u0")
        kernel.addRoute("default", via: "192.0.2.1")
        kernel.addRoute("::/0", via: "2001:db8::1")
    }

    private func line(_ host: String?, namespace: String? = nil) throws -> PathLine {
        guard let host else {
            let path = try NetworkReachabilityManager(kernel: kernel).path
            return PathLine(target: nil, namespace: namespace, path: path)
        }
        let path = try NetworkReachabilityManager(host: host, kernel: kernel).path
        return PathLine(target: host, namespace: namespace, path: path)
    }

    /// Returns the text after the time, without colours.
    private func text(
        _ host: String?,
        flags: Bool = false,
        namespace: String? = nil,
        withNamespace: Bool = false
    ) throws -> String {
        let line = try line(host, namespace: namespace)
        let bytes = line.text(at: Timestamp(), withFlags: flags, withNamespace: withNamespace, withFamilies: true)
        let text = String(decoding: bytes, as: UTF8.self).replacing(#/\u{1b}\[\d+m/#, with: "")
        return String(text.drop { $0 != " " }.dropFirst())
    }

    private static let way = "reachable (ethernet or Wi-Fi), interface u0, gateway 192.0.2.1, source 192.0.2.2"

    @Test func `a line of text contains the target, the status and the path`() throws {
        #expect(try text(nil) == "network: \(Self.way), over IPv4 and IPv6")
        #expect(try text("203.0.113.9") == "203.0.113.9: \(Self.way)")
        let flags = Self.way.replacing("i), ", with: "i), flags -R -------, ")
        #expect(try text("203.0.113.9", flags: true) == "203.0.113.9: \(flags)")
        #expect(try text("203.0.113.9", withNamespace: true) == "203.0.113.9: \(Self.way), current namespace")
        #expect(
            try text("203.0.113.9", namespace: "\u{1b}blue", withNamespace: true)
                == "203.0.113.9: \(Self.way), namespace \\u{1b}blue"
        )
    }

    @Test func `the network at large shows the working families`() throws {
        kernel.removeRoute("::/0")
        #expect(try text(nil).hasSuffix(", over IPv4 only"))
        kernel.addRoute("::/0", via: "2001:db8::1")
        kernel.removeRoute("default")
        #expect(try text(nil).hasSuffix(", over IPv6 only"))
        kernel.removeRoute("::/0")
        #expect(try text(nil) == "network: not reachable, no route")
    }

    @Test(arguments: [
        (FakeKernel.RouteKind.prohibit, "prohibited", "prohibited by a route or rule"),
        (.unreachable, "unreachable", "unreachable route"),
        (.blackhole, "blackholed", "blackholed by a route or rule"),
    ])
    func `a refused target shows its reason`(kind: FakeKernel.RouteKind, name: String, words: String) throws {
        kernel.addRoute("198.51.100.1", kind: kind)
        #expect(try text("198.51.100.1").hasPrefix("198.51.100.1: not reachable, \(words)"))
        let object = String(decoding: try line("198.51.100.1").json(at: Timestamp()), as: UTF8.self)
        #expect(object.contains("\"status\":\"notReachable\",\"connectionType\":null,\"flags\":[]"))
        #expect(object.contains("\"reason\":\"\(name)\""))
    }

    @Test(
        arguments: [
            ("198.18.0.9", "noCarrier"), ("fe80::1%none", "noInterface"), ("192.0.2.2", nil), ("0.0.0.0", nil),
            ("fe80::1%u0", nil), ("2001:db8:9::9", nil),
        ] as [(String, String?)]
    )
    func `the reason in JSON is null for a reachable target`(host: String, reason: String?) throws {
        kernel.addLink("idle", carrier: false)
        kernel.addAddress("198.18.0.1/24", to: "idle")
        let object = String(decoding: try line(host).json(at: Timestamp()), as: UTF8.self)
        #expect(object.contains("\"reason\":\(reason.map { "\"\($0)\"" } ?? "null")"), "\(object)")
        #expect(object.contains("\"status\":\"\(reason == nil ? "reachable" : "notReachable")\""), "\(object)")
    }

    @Test func `a line of JSON contains every key in order`() throws {
        let object = String(decoding: try line("203.0.113.9", namespace: "blue").json(at: Timestamp()), as: UTF8.self)
        let head = #/\{"schema":1,"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","monotonicNanoseconds":\d+,/#
        #expect(
            object.replacing(head, with: "") == """
                "target":"203.0.113.9","status":"reachable","connectionType":"ethernetOrWiFi","flags":["reachable"],\
                "interface":"u0","interfaceType":"ethernet","gateway":"192.0.2.1","source":"192.0.2.2","reason":null,\
                "generation":1,"underlyingInterfaces":[],"destination":"203.0.113.9","supportsIPv4":true,\
                "supportsIPv6":false,"flapping":false,"namespace":"blue","kind":"path"}
                """
        )
    }

    @Test func `a program of run or retry gets every variable, and unknown ones are empty`() throws {
        kernel.addRoute("198.51.100.1", kind: .prohibit)
        func variables(_ host: String, _ previous: NetworkReachabilityStatus?) throws -> String {
            let change = StateChange(path: try line(host).path, previous: previous)
            var environment = RunEnvironment(target: host, namespace: "blue", change: change)
            environment.others = [("ATTEMPT", "2")]
            return environment.variables.map { "\($0.dropFirst("REACHABILITY_".count))=\($1)" }.joined(separator: " ")
        }
        #expect(
            try variables("203.0.113.9", nil) == """
                STATUS=reachable PREVIOUS= TARGET=203.0.113.9 REASON= CONNECTION_TYPE=ethernetOrWiFi INTERFACE=u0 \
                INTERFACE_TYPE=ethernet GATEWAY=192.0.2.1 SOURCE=192.0.2.2 DESTINATION=203.0.113.9 FLAGS=reachable \
                GENERATION=1 NAMESPACE=blue ATTEMPT=2
                """
        )
        #expect(
            try variables("198.51.100.1", .reachable(.ethernetOrWiFi)) == """
                STATUS=not-reachable PREVIOUS=reachable TARGET=198.51.100.1 REASON=prohibited CONNECTION_TYPE= INTERFACE= \
                INTERFACE_TYPE= GATEWAY= SOURCE= DESTINATION=198.51.100.1 FLAGS= GENERATION=1 NAMESPACE=blue ATTEMPT=2
                """
        )
    }

    @Test func `the name of an interface is escaped in JSON and in text`() throws {
        let name = "e\u{1b}[2J\u{7}\"\\"
        kernel.rename("u0", to: name)
        let object = String(decoding: try line("203.0.113.9").json(at: Timestamp()), as: UTF8.self)
        #expect(object.contains(#""interface":"e\u001b[2J\u0007\"\\""#), "\(object)")
        #expect(try text("203.0.113.9").contains("interface e\\u{1b}[2J\\u{7}"))
    }
}

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

    @Test func `the name of an interface is escaped, and its state is coloured`() {
        let table = ListTable([details("e\u{1b}[2J", index: 7)], isColoured: true).text
        #expect(table.contains("e\\u{1b}[2J  wired-virtual  \u{1b}[32mup\u{1b}[0m"))
    }
}
