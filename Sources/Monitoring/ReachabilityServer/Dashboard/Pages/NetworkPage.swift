import LinuxSupport
package import NetworkDiagnostics
import NetworkReachability
import ReachabilityLedger
import ReachabilityService

/// Where the interfaces of the machine are read.
package struct InterfaceSource: Sendable {
    /// Asks the kernel; nil where it may not be asked.
    let read: @Sendable () -> [InterfaceDetails]?

    package init(_ read: @escaping @Sendable () -> [InterfaceDetails]?) { self.read = read }

    /// Those of the network the service is in.
    package static let system = InterfaceSource {
        try? NetworkInspector(options: NetworkReachabilityOptions()).interfaces()
    }
}

/// The interfaces of this machine: how they are, their addresses, and where packets leave.
struct NetworkPage {
    let layout: Layout

    /// - Parameter interfaces: Nil where they are not known.
    init(_ interfaces: [InterfaceDetails]?) {
        let all = (interfaces ?? []).filter { $0.interface.type != .loopback }
        let ways = all.filter { !$0.defaultRoutes.isEmpty && $0.state == .up }.map(\.interface.name.printable)
        let sentence: String
        let account: LedgerAccount
        switch (interfaces, ways.isEmpty) {
        case (nil, _): (sentence, account) = ("The interfaces are not known", .unknown)
        case (_, true): (sentence, account) = ("No interface leads to the internet", .us)
        case (_, false): (sentence, account) = ("Packets leave by \(ways.joined(separator: ", "))", .up)
        }
        let rows = all.map(Self.row)
        let list: HTML = rows.isEmpty ? "<p class=\"empty\">There is none but the loopback.</p>" : "\(rows)"
        let main: HTML = """
            <section class="hero t-\(account.rawValue)" data-part="hero">\(Sign.svg(account, size: "big"))<div>\
            <h1 data-say="\(sentence)">\(sentence).</h1><p class="lead">What the kernel says of this machine now.</p></div></section>
            <h2 id="interfaces">Interfaces</h2>
            <section class="card" data-part="interfaces" aria-labelledby="interfaces">\(list)</section>
            <p class="more">More of it on the command line: <code>reachability list</code>, <code>reachability why</code></p>
            """
        layout = Layout(title: sentence, account: account, place: "/network", main: main)
    }

    private static func row(_ details: InterfaceDetails) -> HTML {
        let account: LedgerAccount = details.state == .up ? .up : details.state == .down ? .unknown : .us
        let state =
            switch details.state {
            case .up: "up"
            case .dormant: "waits"
            case .noCarrier: "no carrier"
            case .down: "off"
            }
        let addresses = details.addresses.map { address -> HTML in
            let marks = address.marks.joined(separator: ", ")
            return
                "<code>\(address.address.description)/\(address.prefixLength)</code> <span class=\"soft\">\(marks)</span><br>"
        }
        let routes = details.defaultRoutes.map { route -> HTML in
            let gateway: HTML = route.gateway.map { "<code>\($0.description)</code>" } ?? "the link itself"
            return
                "\(route.isIPv6 ? "IPv6" : "IPv4") by \(gateway) <span class=\"soft\">metric \(Int(route.metric))</span><br>"
        }
        let nothing: HTML = "<span class=\"soft\">none</span>"
        let (sources, ways): (HTML, HTML) = (
            addresses.isEmpty ? nothing : "\(addresses)", routes.isEmpty ? nothing : "\(routes)"
        )
        let kind = details.kind ?? details.interface.type.rawValue
        return """
            <div class="row"><div class="name"><bdi>\(details.interface.description)</bdi><small>\(kind), \
            \(Int(details.mtu)) bytes</small></div><dl class="pairs"><dt>Addresses</dt>\
            <dd>\(sources)</dd><dt>Default routes</dt>\
            <dd>\(ways)</dd></dl><div class="state"><span class="pill t-\(account.rawValue)">\
            \(Sign.svg(account))\(state)</span></div></div>
            """
    }
}
