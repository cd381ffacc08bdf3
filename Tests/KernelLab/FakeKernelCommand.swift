extension FakeKernel {
    /// Returns a kernel with a default route over `eth0`.
    public static func connected() -> FakeKernel {
        let kernel = FakeKernel()
        kernel.addLink("eth0")
        kernel.addAddress("192.0.2.7/24", to: "eth0")
        kernel.addRoute("default", via: "192.0.2.1")
        return kernel
    }

    /// Applies a command of `ip`. Only the syntax that the tests need is supported.
    public func run(_ command: String) { FakeKernelCommand(command).run(on: self) }
}

private struct FakeKernelCommand {
    private let words: [Substring]
    private let isIPv6: Bool
    private let isIPv4: Bool

    init(_ text: String) {
        var words = text.split(separator: " ")
        isIPv6 = words.first == "-6"
        isIPv4 = words.first == "-4"
        if words.first?.hasPrefix("-") == true { words.removeFirst() }
        self.words = words
    }

    private var family: FakeKernel.Family { isIPv6 ? .ipv6 : .ipv4 }

    func run(on kernel: FakeKernel) {
        switch (words[0], words[1]) {
        case ("link", "del"): kernel.removeLink(String(words[2]))
        case ("link", _): setLink(String(words[2]), on: kernel)
        case ("addr", "add"): kernel.addAddress(String(words[2]), to: text("dev") ?? "")
        case ("addr", _): kernel.removeAddress(String(words[2]), from: text("dev") ?? "")
        case ("route", let verb): route(verb, on: kernel)
        case ("rule", "add"): addRule(on: kernel)
        case ("rule", _): kernel.removeRule(family, priority: number("pref") ?? 0)
        case ("neigh", let verb): neighbour(verb, on: kernel)
        case ("nexthop", let verb): nextHop(verb, on: kernel)
        default: fatalError("not understood: \(words.joined(separator: " "))")
        }
    }

    private func text(_ key: String) -> String? {
        words.firstIndex { $0 == key }.map { String(words[$0 + 1]) }
    }

    private func number(_ key: String) -> UInt32? {
        text(key).flatMap {
            $0 == "main"
                ? 254 : $0 == "local" ? 255 : $0.hasPrefix("0x") ? UInt32($0.dropFirst(2), radix: 16) : UInt32($0)
        }
    }

    private func setLink(_ name: String, on kernel: FakeKernel) {
        switch words[3] {
        case "name": kernel.rename(name, to: String(words[4]))
        case "master": kernel.setController(name, String(words[4]))
        case "nomaster": kernel.setController(name, nil)
        case "mtu": kernel.touchLink(name)
        default: kernel.setUp(name, words[3] == "up")
        }
    }

    private func route(_ verb: Substring, on kernel: FakeKernel) {
        let kinds: [Substring: FakeKernel.RouteKind] = [
            "blackhole": .blackhole, "unreachable": .unreachable, "prohibit": .prohibit, "throw": .throwing,
            "local": .local,
        ]
        let kind = kinds[words[2]]
        var destination = String(words[kind == nil ? 2 : 3])
        if destination == "default", isIPv6 { destination = "::/0" }
        if destination == "default", isIPv4 { destination = "0.0.0.0/0" }
        let (gateway, link) = (text("inet6") ?? text("via"), text("dev"))
        let (metric, table) = (number("metric"), number("table") ?? 254)
        let hops = words.indices.filter { words[$0] == "nexthop" }
            .map { FakeKernel.Hop(via: String(words[$0 + 2]), on: String(words[$0 + 4])) }
        switch verb {
        case "del":
            kernel.removeRoute(
                destination,
                via: hops.isEmpty ? gateway : nil,
                on: hops.isEmpty ? link : nil,
                metric: metric,
                table: table,
                kind: kind ?? .unicast
            )
        case "append":
            kernel.appendRoute(destination, via: gateway ?? "", on: link, metric: metric, table: table)
        case _ where number("nhid") != nil:
            kernel.addRoute(destination, nextHop: number("nhid") ?? 0, metric: metric, table: table)
        case _ where !hops.isEmpty:
            kernel.addRoute(destination, hops: hops, metric: metric, table: table)
        default:
            kernel.addRoute(
                destination,
                via: gateway,
                on: link,
                metric: metric,
                table: table,
                kind: kind ?? .unicast,
                source: text("src"),
                expiresAfter: number("expires").map { .seconds($0) },
                replacing: verb == "replace"
            )
        }
    }

    private func addRule(on kernel: FakeKernel) {
        let actions: [Substring: FakeKernel.RuleAction] = [
            "prohibit": .prohibit, "unreachable": .unreachable, "blackhole": .blackhole,
        ]
        let table = (number("lookup") ?? number("table")).map { FakeKernel.RuleAction.lookUp(table: $0) }
        guard let action = table ?? words.lazy.compactMap({ actions[$0] }).first else {
            fatalError("a rule without an action: \(words)")
        }
        kernel.addRule(
            family,
            priority: number("pref"),
            from: text("from"),
            to: text("to"),
            mark: number("fwmark"),
            inverted: words.contains("not"),
            action,
            suppressingPrefixLength: number("suppress_prefixlength").map { Int($0) }
        )
    }

    private func neighbour(_ verb: Substring, on kernel: FakeKernel) {
        let states: [String: FakeKernel.NeighbourState] = [
            "reachable": .reachable, "stale": .stale, "permanent": .permanent, "noarp": .noARP, "failed": .failed,
        ]
        let state = verb == "del" ? nil : text("nud").flatMap { states[$0] }
        kernel.setNeighbour(String(words[2]), on: text("dev") ?? "", state)
    }

    private func nextHop(_ verb: Substring, on kernel: FakeKernel) {
        guard let id = number("id") else { fatalError("a next hop without an id: \(words)") }
        if verb == "del" {
            kernel.removeNextHop(id)
        } else if let members = text("group") {
            kernel.addNextHopGroup(id, of: members.split(separator: "/").compactMap { UInt32($0) })
        } else if words.contains("blackhole") {
            kernel.setNextHopBlackhole(id)
        } else if verb == "add" {
            kernel.addNextHop(id, via: text("via") ?? "", on: text("dev") ?? "")
        } else {
            kernel.replaceNextHop(id, via: text("via") ?? "", on: text("dev") ?? "")
        }
    }
}
