package import LinuxSupport
import NetworkReachability

/// The settings of the table `[status-page]`: the targets that the public status page shows.
package struct StatusPageSettings: Hashable, Sendable {
    /// Targets with a common heading.
    package struct Group: Hashable, Sendable {
        /// The heading; nil for the targets without a group.
        package let name: String?
        package let targets: [String]
    }

    /// The heading of the page.
    package var title: String
    /// A text for the readers of the page.
    package var note: String?
    /// The beginning of the notes that the page shows with their incidents; nil for no notes.
    package var notePrefix: String?
    /// The address that serves only the page, the feed and the badges; nil for none.
    package var listen: String?
    /// The groups. Each has at least one target, and no target occurs twice.
    package var groups: [Group] = []

    /// The targets of all groups.
    package var targets: [String] { groups.flatMap(\.targets) }

    /// Reads a table and collects its problems.
    ///
    /// - Parameter known: The names of all targets.
    init(_ table: TableReader, targets known: Set<String>) {
        var seen: Set<String> = []
        func targets(_ table: TableReader) -> [String] {
            let names = table.texts("targets") ?? []
            for (index, name) in names.enumerated() {
                let key = "targets[\(index + 1)]"
                if !known.contains(name) { table.report(key, "there is no target \"\(name)\"") }
                if !seen.insert(name).inserted { table.report(key, "\"\(name)\" is already on the status page") }
            }
            return names
        }
        (title, note) = (table.text("title", atMost: 100) ?? "Status", table.text("note", atMost: 2000))
        (notePrefix, listen) = (table.text("note-prefix", atMost: 20), table.text("listen"))
        let ungrouped = targets(table)
        if !ungrouped.isEmpty { groups.append(Group(name: nil, targets: ungrouped)) }
        for group in table.tables("groups") {
            let (name, members) = (group.text("name"), targets(group))
            if !group.has("name") { group.report("name", "missing") }
            if let name { group.check(name: name, atMost: 100) }
            if members.isEmpty { group.report("targets", "must name at least one target") }
            group.finish()
            groups.append(Group(name: name, targets: members))
        }
        if groups.isEmpty {
            table.report("targets", "must name at least one target, here or in [[status-page.groups]]")
        }
        table.finish()
    }
}

/// The settings of a table `[[gate]]`: an address that accepts TCP connections only while a target is up.
package struct GateSettings: Hashable, Sendable {
    package let endpoint: SocketEndpoint
    package let target: String

    /// Reads a table and collects its problems. The result is nil without a valid address.
    ///
    /// - Parameter targets: The names of all targets. The first is the default.
    init?(_ table: TableReader, targets: [String]) {
        defer { table.finish() }
        let (text, target) = (table.text("listen"), table.text("target"))
        if let target, !targets.contains(target) { table.report("target", "there is no target \"\(target)\"") }
        guard let text else {
            if !table.has("listen") { table.report("listen", "missing") }
            return nil
        }
        guard let server = HostAndPort(text), let port = server.digits.flatMap({ UInt16($0) }), port > 0,
            let address = IPAddress(server.host), address.isIPv6 == server.isBracketed, address.zone == nil
        else {
            table.report("listen", "must be an address and a port such as 127.0.0.1:9674, not \"\(text)\"")
            return nil
        }
        self.target = target ?? targets.first ?? ""
        endpoint = SocketEndpoint(address.wire, port: port)
    }
}

extension ServiceConfiguration {
    static func gates(_ root: TableReader, targets: [ServiceTarget]) -> [GateSettings] {
        var endpoints: Set<SocketEndpoint> = []
        return root.tables("gate").compactMap { table in
            guard let gate = GateSettings(table, targets: targets.map(\.name)) else { return nil }
            if !endpoints.insert(gate.endpoint).inserted { table.report("listen", "another gate has this address") }
            return gate
        }
    }
}
