import LinuxSupport
import NetworkReachability

/// What a service is to do, as a file says it.
package struct ServiceConfiguration: Hashable, Sendable {
    /// Where it listens; nil for the usual places.
    package struct Listen: Hashable, Sendable {
        package var socket: String?
        package var http: [String]?
        /// With TLS, for those who have a token.
        package var https: [String]?
    }

    /// What it keeps; nil for what is usual.
    package struct History: Hashable, Sendable {
        package var path: String?
        package var keep: Duration?
        package var mark: Duration?
        /// In bytes.
        package var maximumSize: Int?
    }

    package var listen = Listen()
    package var access = AccessSettings()
    package var history = History()
    /// Never empty.
    package var targets: [ServiceTarget] = [.internet]
    package var notifiers: [NotifierSettings] = []
    package var heartbeat: HeartbeatSettings?
    package var maintenance: [MaintenanceWindow] = []
    /// What the agent of a fleet does; nil where there is none.
    package var fleet: FleetSettings?
    /// All that its file says, in its words.
    package private(set) var document: [String: TOMLNode] = [:]
    private var lines = KeyLines("")

    /// What is done without a file.
    package init() {}

    /// Who is configured.
    package enum Reader: Sendable {
        case service
        /// The hub of a fleet, which has no targets of its own: it listens, lets in, keeps and tells, by the same words.
        case hub
    }

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - directory: Where the files are that it names without a path of their own; nil for the current one.
    ///   - reader: Whose words may stand in it.
    /// - Throws: ``ConfigurationProblems`` with all that is wrong.
    package init(
        _ text: String,
        in directory: String? = nil,
        for reader: Reader = .service
    ) throws(ConfigurationProblems) {
        let nodes: [String: TOMLNode]
        do { nodes = try TOMLNode.parse(text) } catch { throw ConfigurationProblems([error]) }
        document = nodes
        let findings = TableReader.Findings()
        let root = TableReader(nodes, path: "", findings)
        if root.integer("schema", 1...1) == nil, !root.has("schema") {
            root.complain("schema", "it is missing: write schema = 1")
        }
        if let table = root.table("listen") { listen = Listen(table) }
        access = Self.access(root, listen)
        if let table = root.table("history") {
            history = History(table)
            for key in ["mark", "max-size"] where reader == .hub && table.has(key) {
                table.complain(key, "a hub has no such limit: it keeps incidents for history.keep")
            }
        }
        if reader == .service {
            let anchors = root.table("anchors").map { Self.anchors($0) } ?? []
            targets = Self.targets(root, CheckReader(anchors: anchors, directory: directory))
            maintenance = Self.maintenance(root, targets: targets)
            fleet = root.table("fleet").flatMap { FleetSettings($0) }
        }
        notifiers = Self.notifiers(root, targets: targets, in: directory, for: reader)
        heartbeat = Self.heartbeat(root, in: directory)
        root.finish()
        lines = KeyLines(text)
        if !findings.problems.isEmpty { throw placed(ConfigurationProblems(findings.problems)) }
    }

    /// What is wrong in it, also what turned out later, with the lines it stands on, in their order.
    package func placed(_ found: ConfigurationProblems) -> ConfigurationProblems {
        let placed = found.problems.map { problem in
            var problem = problem
            problem.line = problem.line ?? lines.nearest(to: problem.path)
            return problem
        }
        return ConfigurationProblems(placed.sorted { ($0.line ?? 0, $0.path) < ($1.line ?? 0, $1.path) })
    }

    private static func targets(_ root: TableReader, _ checks: CheckReader) -> [ServiceTarget] {
        let tables = root.tables("target")
        if tables.isEmpty {
            var internet = ServiceTarget.internet
            internet.checks = checks.settings
            return [internet]
        }
        var names: [String: String] = [:]
        return tables.compactMap { table in
            let target = ServiceTarget(table, checks)
            if let target, let other = names.updateValue(table.path, forKey: target.name) {
                table.complain("name", "\"\(target.name)\" is the name of \(other), too")
            }
            return target
        }
    }
}

extension ServiceConfiguration.Listen {
    fileprivate init(_ table: TableReader) {
        socket = table.text("socket")
        http = table.texts("http")
        https = table.texts("https")
        table.finish()
    }
}

extension ServiceConfiguration.History {
    fileprivate init(_ table: TableReader) {
        path = table.text("path")
        keep = table.duration("keep", atLeast: .seconds(86400))
        mark = table.duration("mark", atLeast: .seconds(10))
        maximumSize = table.size("max-size", atLeast: 1 << 20)
        table.finish()
    }
}

extension ServiceTarget {
    /// Nil for a table that has no name; what else is wrong is collected.
    fileprivate init?(_ table: TableReader, _ reader: CheckReader) {
        defer { table.finish() }
        let name = table.text("name")
        let isAtLarge = table.flag("at-large")
        let host = table.text("host")
        let namespace = table.text("namespace")
        let interface = table.text("interface")
        let mark = table.integer("mark", 0...Int(UInt32.max))
        let family = table.text("family")
        if let family, family != "ipv4", family != "ipv6" {
            table.complain("family", "it is ipv4 or ipv6, not \"\(family)\"")
        }
        // Where one of them is of a wrong type, that was told.
        let isClear = (host != nil || !table.has("host")) && (isAtLarge != nil || !table.has("at-large"))
        if isClear, (isAtLarge == true) == (host != nil) {
            table.complain(nil, "it has either host = \"NAME\" or at-large = true")
        }
        if let host {
            do { _ = try Target(host: host, options: NetworkReachabilityOptions()) } catch {
                table.complain("host", error.description)
            }
        }
        if let interface, !InterfaceName.isValid(interface) {
            table.complain("interface", "it is a name of an interface, of 1 to 127 bytes, not \"\(interface)\"")
        }
        let checks = reader.settings(of: host, isAtLarge == true, table)
        let settle = table.duration("settle", atLeast: .zero)
        guard let name else {
            if !table.has("name") { table.complain("name", "it is missing") }
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
            settle: settle
        )
    }
}
