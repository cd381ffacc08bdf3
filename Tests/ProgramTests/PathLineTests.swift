import CommandLineSupport
import KernelLab
import LinuxSupport
import NetworkReachability
import NetworkReachabilityTesting
import Testing

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

    /// The text behind the time, without colours.
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

    @Test func `a line of text has the target, the status and the way`() throws {
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

    @Test func `the network at large has the families that work`() throws {
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
        (.unreachable, "unreachable", "a route says unreachable"),
        (.blackhole, "blackholed", "blackholed by a route or rule"),
    ])
    func `a refused target has its reason`(kind: FakeKernel.RouteKind, name: String, words: String) throws {
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
    func `the reason of JSON is null for a reachable target`(host: String, reason: String?) throws {
        kernel.addLink("idle", carrier: false)
        kernel.addAddress("198.18.0.1/24", to: "idle")
        let object = String(decoding: try line(host).json(at: Timestamp()), as: UTF8.self)
        #expect(object.contains("\"reason\":\(reason.map { "\"\($0)\"" } ?? "null")"), "\(object)")
        #expect(object.contains("\"status\":\"\(reason == nil ? "reachable" : "notReachable")\""), "\(object)")
    }

    @Test func `a line of JSON has every key in its order`() throws {
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

    @Test func `JSON escapes the name of an interface, and text shows it escaped`() throws {
        let name = "e\u{1b}[2J\u{7}\"\\"
        kernel.rename("u0", to: name)
        let object = String(decoding: try line("203.0.113.9").json(at: Timestamp()), as: UTF8.self)
        #expect(object.contains(#""interface":"e\u001b[2J\u0007\"\\""#), "\(object)")
        #expect(try text("203.0.113.9").contains("interface e\\u{1b}[2J\\u{7}"))
    }
}
