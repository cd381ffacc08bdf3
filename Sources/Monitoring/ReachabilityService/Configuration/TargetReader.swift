import LinuxSupport
import NetworkReachability

extension ServiceTarget {
    /// The keys that a sender of pushes does not have.
    private static let pathKeys = [
        "namespace", "interface", "mark", "family", "checks", "interval", "interval-when-down", "confirm", "ping",
        "latency",
        "loss", "jitter",
    ]

    /// Reads a table and collects its problems. The result is nil without a name.
    init?(_ table: TableReader, _ reader: CheckReader) {
        defer { table.finish() }
        let name = table.text("name")
        let isAtLarge = table.flag("at-large")
        let host = table.text("host")
        let push = table.table("push").flatMap { PushSettings($0) }
        let namespace = table.text("namespace")
        let interface = table.text("interface")
        let mark = table.integer("mark", 0...Int(UInt32.max))
        let family = table.text("family")
        if let family, family != "ipv4", family != "ipv6" {
            table.report("family", "must be ipv4 or ipv6, not \"\(family)\"")
        }
        // If a value has the wrong type, that was reported before.
        let isClear = (host != nil || !table.has("host")) && (isAtLarge != nil || !table.has("at-large"))
        if isClear, [isAtLarge == true, host != nil, table.has("push")].count(where: \.self) != 1 {
            table.report(nil, "must have exactly one of host = \"NAME\", at-large = true, push = { every = \"1h\" }")
        }
        if let host {
            do { _ = try Target(host: host, options: NetworkReachabilityOptions()) } catch {
                table.report("host", error.description)
            }
        }
        if let interface, !InterfaceName.isValid(interface) {
            table.report("interface", "must be an interface name of 1 to 127 bytes, not \"\(interface)\"")
        }
        var checks: CheckSettings?
        if table.has("push") {
            for key in Self.pathKeys where table.node(key) != nil { table.report(key, "is not allowed with push") }
        } else {
            checks = reader.settings(of: host, isAtLarge == true, table)
        }
        let settle = table.duration("settle", atLeast: .zero)
        let group = table.text("group", atMost: 100)
        let description = table.text("description", atMost: 500)
        let tags = table.texts("tags") ?? []
        for (index, tag) in tags.enumerated() where !(1...50).contains(tag.unicodeScalars.count) {
            table.report("tags[\(index + 1)]", "must have 1 to 50 characters, not \(tag.unicodeScalars.count)")
        }
        if tags.count > 20 { table.report("tags", "must have at most 20 elements, not \(tags.count)") }
        let order = table.integer("order", -1_000_000...1_000_000)
        let isEnabled = table.flag("enabled")
        guard let name else {
            if !table.has("name") { table.report("name", "missing") }
            return nil
        }
        table.check(name: name, atMost: 255)
        self.init(
            name: name,
            host: host,
            namespace: namespace.map { $0.contains("/") ? .path($0) : .named($0) } ?? .current,
            interface: interface,
            mark: UInt32(mark ?? 0),
            family: family == "ipv4" ? .ipv4 : family == "ipv6" ? .ipv6 : nil,
            checks: checks,
            settle: settle,
            group: group,
            push: push,
            tags: tags,
            description: description,
            order: order ?? 0,
            isEnabled: isEnabled ?? true
        )
    }
}
