import LinuxSupport
import NetworkReachability

/// The configuration of a service or of a hub.
package struct ServiceConfiguration: Hashable, Sendable {
    /// The addresses of the service; nil for the default.
    package struct Listen: Hashable, Sendable {
        /// The path of the Unix socket.
        package var socket: String?
        /// The TCP addresses without TLS.
        package var http: [String]?
        /// The TCP addresses with TLS. Clients need a token or a client certificate.
        package var https: [String]?
        /// The address of the public status page; nil for none.
        package var statusPage: String?
        /// A Boolean value that indicates whether the state is published on the system bus (D-Bus).
        package var isOnBus = false
    }

    /// The settings of the history; nil for the default.
    package struct History: Hashable, Sendable {
        /// The path of the database.
        package var path: String?
        /// The retention time.
        package var keep: Duration?
        /// The interval at which the service records that it is running.
        package var mark: Duration?
        /// The maximum size of the database, in bytes.
        package var maximumSize: Int?
    }

    package var listen = Listen()
    package var access = AccessSettings()
    package var history = History()
    /// The targets. Never empty.
    package var targets: [ServiceTarget] = [.internet]
    package var notifiers: [NotifierSettings] = []
    package var heartbeat: HeartbeatSettings?
    package var maintenance: [MaintenanceWindow] = []
    /// The settings of the public status page; nil without the table `[status-page]`.
    package var statusPage: StatusPageSettings?
    package var gates: [GateSettings] = []
    /// The settings of the fleet agent; nil without the table `[fleet]`.
    package var fleet: FleetSettings?
    private var files = ConfigurationFiles()
    /// The parsed document, with those of included files. Environment variables are not replaced.
    package var document: [String: TOMLNode] { files.nodes }

    /// Creates the default configuration.
    package init() {}

    /// The program that reads a configuration. It determines the allowed keys.
    package enum Reader: Sendable {
        case service
        /// The hub of a fleet, which has no targets.
        case hub
        /// The agent of a fleet. Only the table `[fleet]` is read: other tables may need files and variables that only the service has.
        case agent
    }

    /// Parses a configuration.
    ///
    /// - Parameters:
    ///   - directory: The directory for relative paths, with a slash at its end; nil for the current directory.
    ///   - reader: The program, which determines the allowed keys.
    ///   - variable: Returns the value of an environment variable; nil if it is not set or empty.
    /// - Throws: ``ConfigurationProblems`` with all problems.
    package init(
        _ text: String,
        in directory: String? = nil,
        for reader: Reader = .service,
        variable: (String) -> String? = { EnvironmentVariable.value(of: $0) }
    ) throws(ConfigurationProblems) {
        files = try ConfigurationFiles(text, in: directory, only: reader == .agent ? ["fleet", "schema"] : nil)
        let findings = TableReader.Findings()
        let root = TableReader(files.expanded(variable, findings), path: "", findings)
        if root.text("include")?.isEmpty == true { root.report("include", "must be the path of a directory") }
        if root.integer("schema", 1...1) == nil, !root.has("schema") {
            root.report("schema", "missing; write schema = 1")
        }
        if let table = root.table("listen") {
            listen = Listen(table)
            if reader == .hub, table.has("dbus") { table.report("dbus", "not supported by a hub") }
        }
        access = Self.access(root, listen)
        if let table = root.table("history") {
            history = History(table)
            for key in ["mark", "max-size"] where reader == .hub && table.has(key) {
                table.report(key, "not supported by a hub, which keeps incidents for history.keep")
            }
        }
        if reader != .hub { fleet = root.table("fleet").flatMap { FleetSettings($0) } }
        if reader == .service {
            let anchors = root.table("anchors").map { Self.anchors($0) } ?? []
            targets = Self.targets(root, CheckReader(anchors: anchors, directory: directory))
            maintenance = Self.maintenance(root, targets: targets)
            gates = Self.gates(root, targets: targets)
            statusPage = root.table("status-page").map { StatusPageSettings($0, targets: Set(targets.map(\.name))) }
            listen.statusPage = statusPage?.listen
        }
        notifiers = Self.notifiers(root, targets: targets, in: directory, for: reader)
        heartbeat = Self.heartbeat(root, in: directory)
        root.finish()
        if !findings.problems.isEmpty { throw placed(ConfigurationProblems(findings.problems)) }
    }

    /// Returns problems with their files and line numbers, sorted by them.
    package func placed(_ found: ConfigurationProblems) -> ConfigurationProblems {
        ConfigurationProblems(
            found.problems.map { files.placed($0) }.sorted { one, other in
                (one.file ?? "", one.line ?? 0, one.path) < (other.file ?? "", other.line ?? 0, other.path)
            }
        )
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
                table.report("name", "\"\(target.name)\" is already used by \(other)")
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
        isOnBus = table.flag("dbus") ?? false
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

/// An object that reloads the configuration of a service or a hub and applies the changes. Thread-safe.
///
/// A configuration with problems changes nothing.
package final class Reloader: Sendable {
    /// The results of the attempts so far.
    package struct Status: Sendable {
        /// The number of successful attempts.
        package var succeeded: UInt64 = 0
        /// The number of failed attempts.
        package var failed: UInt64 = 0
        /// A Boolean value that indicates whether the last attempt failed.
        package var isStale = false
    }

    private struct State {
        var status = Status()
        var current: ServiceConfiguration
        /// The document that was applied last.
        var document: [String: TOMLNode]
        /// The sections that have changed and take effect after a restart.
        var needsRestart: [String] = []
    }

    /// A function that checks a configuration without changing anything, and returns a closure that applies it.
    package typealias Preparation =
        @Sendable (ServiceConfiguration) throws(ConfigurationProblems) -> @Sendable () -> Void

    package let file: String
    private let service: MonitoringService?
    private let preparations: [Preparation]
    private let state: Locked<State>
    /// A lock that is held during an attempt, so that attempts do not overlap.
    private let turn = Locked(())

    /// - Parameters:
    ///   - service: The service to which targets and maintenance are applied; nil for a hub.
    ///   - current: The configuration at the start.
    ///   - preparations: The other users of the configuration.
    package init(
        _ file: String,
        of service: MonitoringService? = nil,
        current: ServiceConfiguration,
        preparations: [Preparation] = []
    ) {
        (self.file, self.service, self.preparations) = (file, service, preparations)
        state = Locked(State(current: current, document: current.document))
    }

    /// The results of the attempts so far. Thread-safe.
    package var status: Status { state.withLock(\.status) }

    /// The document in force, and the sections that have changed and take effect after a restart.
    package var inForce: (document: [String: TOMLNode], needsRestart: [String]) {
        state.withLock { ($0.document, $0.needsRestart) }
    }

    /// Reads a configuration file of at most 1 MiB.
    ///
    /// - Throws: ``ConfigurationProblems`` if the file cannot be read or its content is invalid.
    package static func read(
        _ file: String,
        for reader: ServiceConfiguration.Reader = .service
    ) throws(ConfigurationProblems) -> ServiceConfiguration {
        let text: String
        do { text = try ConfigurationFiles.text(of: file) } catch { throw ConfigurationProblems([error]) }
        let directory = file.unicodeScalars.lastIndex(of: "/").map { String(file[..<$0]) + "/" }
        return try ServiceConfiguration(text, in: directory, for: reader)
    }

    /// Reads the file again and applies it.
    ///
    /// - Returns: The sections that have changed and take effect after a restart.
    /// - Throws: ``ConfigurationProblems`` if the file is invalid. Then the previous configuration stays in force.
    package func reload() throws(ConfigurationProblems) -> [String] {
        do {
            let restart = try turn.withLock { _ throws(ConfigurationProblems) in
                let configuration = try Self.read(file, for: service == nil ? .hub : .service)
                do throws(ConfigurationProblems) { return try apply(configuration) } catch {
                    throw configuration.placed(error)
                }
            }
            state.withLock { state in
                state.status.succeeded += 1
                state.status.isStale = false
            }
            return restart
        } catch {
            state.withLock { state in
                state.status.failed += 1
                state.status.isStale = true
            }
            throw error
        }
    }

    /// Reads the file again, applies it, and passes the result to `report`. The problems of a rejected file are passed to `write` first.
    package func reload(_ report: (String) -> Void, write: (String) -> Void) {
        do { report(applied(try reload())) } catch {
            error.descriptions(in: file).forEach(write)
            report(refused)
        }
    }

    /// Returns the log message for a file that was applied.
    ///
    /// - Parameter restart: The sections that take effect after a restart.
    package func applied(_ restart: [String]) -> String {
        let rest = restart.isEmpty ? "" : "; a restart is needed for \(restart.joined(separator: " and "))"
        return "\(file.printable) is applied\(rest)"
    }

    /// The log message for a file that was rejected.
    package var refused: String { "\(file.printable) is not applied; the previous configuration stays in force" }

    private func apply(_ configuration: ServiceConfiguration) throws(ConfigurationProblems) -> [String] {
        var uses: [@Sendable () -> Void] = []
        for prepare in preparations { uses.append(try prepare(configuration)) }
        do { try service?.apply(configuration.targets) } catch {
            let index = configuration.targets.firstIndex { $0.name == error.target } ?? 0
            let problem = ConfigurationProblem(path: "target[\(index + 1)]", text: error.error.description)
            throw ConfigurationProblems([problem])
        }
        service?.setMaintenance(configuration.maintenance)
        for use in uses { use() }
        return state.withLock { state in
            var changed: [String] = []
            if state.current.listen != configuration.listen { changed.append("listen") }
            // A hub applies the retention time without a restart.
            if service == nil { state.current.history.keep = configuration.history.keep }
            if state.current.history != configuration.history { changed.append("history") }
            // `listen` and `history` keep their values until a restart.
            (state.current.targets, state.current.maintenance) = (configuration.targets, configuration.maintenance)
            (state.current.notifiers, state.current.heartbeat) = (configuration.notifiers, configuration.heartbeat)
            state.current.access = configuration.access
            (state.document, state.needsRestart) = (configuration.document, changed)
            return changed
        }
    }
}
