extension Change {
    /// What `ip` must be told; nil where that takes more than commands.
    var commands: [String]? {
        switch self {
        case .add(let name, let kind, let lower): kind.commands(name, over: lower ?? "")
        case .remove(let name): ["link del \(name)"]
        case .up(let name): ["link set \(name) up"]
        case .down(let name): ["link set \(name) down"]
        case .plug, .unplug, .dormant: nil
        case .waits(let name): ["link set \(name) mode dormant"]
        case .awake(let name): ["link set \(name) state up", "link set \(name) mode default"]
        case .rename(let name, let other): ["link set \(name) name \(other)"]
        case .attach(let name, let controller): ["link set \(name) master \(controller)"]
        case .detach(let name): ["link set \(name) nomaster"]
        case .address(let address, let name):
            ["addr add \(address) dev \(name)" + (address.contains(":") ? " nodad" : "")]
        case .removeAddress(let address, let name): ["addr del \(address) dev \(name)"]
        case .addRoute(let route): [route.command("add")]
        case .replaceRoute(let route): [route.command("replace")]
        case .removeRoute(let route): [route.command("del")]
        case .addRule(let rule): [rule.command]
        case .removeRule(let family, let priority): ["\(family.option) rule del pref \(priority)"]
        case .addNextHop(let id, let gateway, let name): ["nexthop add id \(id) via \(gateway) dev \(name)"]
        case .replaceNextHop(let id, let gateway, let name): ["nexthop replace id \(id) via \(gateway) dev \(name)"]
        case .addNextHopGroup(let id, let members):
            ["nexthop add id \(id) group \(members.map(String.init).joined(separator: "/"))"]
        case .removeNextHop(let id): ["nexthop del id \(id)"]
        case .neighbourFails(let address, let name):
            // The kernel says nothing of one that fails before it was ever known.
            ["stale", "failed"].map { "neigh replace \(address) lladdr 02:00:00:00:00:99 dev \(name) nud \($0) router" }
        case .neighbourAnswers(let address, let name):
            ["neigh replace \(address) lladdr 02:00:00:00:00:99 dev \(name) nud reachable router"]
        case .forgetNeighbour(let address, let name): ["neigh del \(address) dev \(name)"]
        case .pass: []
        }
    }
}

extension Change.Family {
    fileprivate var option: String { self == .ipv4 ? "-4" : "-6" }
}

extension Change.LinkKind {
    fileprivate func commands(_ name: String, over lower: String) -> [String]? {
        switch self {
        case .cable, .pointToPoint, .rawIP, .tunnel: nil
        case .bridge: ["link add \(name) type bridge", "link set \(name) up"]
        case .macvlan: ["link add link \(lower) name \(name) type macvlan mode bridge", "link set \(name) up"]
        case .sink: ["link add \(name) type ifb", "link set \(name) up"]
        case .vxlan:
            [
                "link add \(name) type vxlan id 7 dev \(lower) remote 10.1.0.9 dstport 4789",
                "link set \(name) up",
            ]
        }
    }
}

extension RouteChange {
    fileprivate func command(_ verb: String) -> String {
        let family = destination.contains(":") ? "-6" : "-4"
        var words = [family, "route", verb] + (kind == .unicast ? [] : [kind.rawValue]) + [destination]
        if let nextHop { words += ["nhid", String(nextHop)] }
        if let gateway {
            words += gateway.contains(":") == destination.contains(":") ? ["via", gateway] : ["via", "inet6", gateway]
        }
        if let link { words += ["dev", link] }
        if let metric { words += ["metric", String(metric)] }
        if table != 254 { words += ["table", String(table)] }
        if let lifetime { words += ["expires", String(lifetime)] }
        for hop in hops { words += ["nexthop", "via", hop.gateway, "dev", hop.link] }
        return words.joined(separator: " ")
    }
}

extension RuleChange {
    fileprivate var command: String {
        var words = [family.option, "rule add pref \(priority)"]
        if let source { words += ["from", source] }
        if let destination { words += ["to", destination] }
        if let mark { words += ["fwmark", String(mark)] }
        switch action {
        case .lookUp(let table): words += ["lookup", String(table)]
        case .prohibit: words.append("prohibit")
        case .unreachable: words.append("unreachable")
        case .blackhole: words.append("blackhole")
        }
        return words.joined(separator: " ")
    }
}
