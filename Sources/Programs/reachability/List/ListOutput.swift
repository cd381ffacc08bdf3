import CommandLineSupport
import LinuxSupport
import NetworkDiagnostics
import NetworkReachability

/// How `list` prints.
struct ListOutput: Sendable {
    let isTable: Bool
    /// Whether each table takes the place of the one before.
    let redraws: Bool
    /// The name of the network namespace; nil for the current one.
    let namespace: String?

    func write(_ interfaces: [InterfaceDetails]) {
        guard isTable else {
            StandardOutput.write(json(interfaces))
            return
        }
        let table = ListTable(interfaces, isColoured: StandardOutput.wantsColour).text
        // To the upper left corner; then everything below is cleared.
        StandardOutput.write(Array(((redraws ? "\u{1b}[H\u{1b}[J" : "") + table).utf8))
    }

    /// Schema 1: keys may be added, none is renamed or taken away.
    private func json(_ interfaces: [InterfaceDetails]) -> [UInt8] {
        let time = Timestamp()
        var line = JSONObject()
        line.add("schema", 1)
        line.add("time", time)
        line.add("monotonicNanoseconds", time.monotonicNanoseconds)
        line.add("namespace", namespace)
        line.add("interfaces", interfaces.map(JSONObject.init))
        line.add("kind", "interfaces")
        return line.bytes
    }
}

extension JSONObject {
    fileprivate init(_ details: InterfaceDetails) {
        self.init()
        add("index", details.interface.index)
        add("name", details.interface.name)
        add("type", details.interface.type.rawValue)
        add("kind", details.kind)
        add(
            "underlyingInterfaces",
            details.interface.underlying.map { lower in
                var object = JSONObject()
                object.add("name", lower.name)
                object.add("type", lower.type.rawValue)
                return object
            }
        )
        add("state", details.state.rawValue)
        add("carrier", details.hasCarrier)
        add("mtu", details.mtu)
        add("expensive", details.isExpensive)
        add("addresses", details.addresses.map(JSONObject.init))
        add("defaultRoutes", details.defaultRoutes.map(JSONObject.init))
    }

    private init(_ address: InterfaceDetails.Address) {
        self.init()
        add("address", address.address.description)
        add("prefixLength", address.prefixLength)
        add("marks", address.marks)
    }

    private init(_ route: InterfaceDetails.DefaultRoute) {
        self.init()
        add("family", route.isIPv6 ? "IPv6" : "IPv4")
        add("gateway", route.gateway?.description)
        add("metric", route.metric)
        add("table", route.table)
    }
}
