import LinuxSupport
import NetworkReachability

/// Reads the configuration of a service or of a hub again, and applies what has changed. A configuration with anything wrong in it changes
/// nothing. Thread-safe.
package final class Reloader: Sendable {
    /// How the last attempt went.
    package struct Status: Sendable {
        package var succeeded: UInt64 = 0
        package var failed: UInt64 = 0
        /// Whether the last attempt failed.
        package var isStale = false
    }

    private struct State {
        var status = Status()
        var current: ServiceConfiguration
        /// What the file said that was applied last, and the sections of it that are used after a restart.
        var document: [String: TOMLNode]
        var needsRestart: [String] = []
    }

    /// Looks what a configuration needs, before anything is changed, and returns what puts it to use.
    package typealias Preparation =
        @Sendable (ServiceConfiguration) throws(ConfigurationProblems) -> @Sendable () -> Void

    package let file: String
    private let service: MonitoringService?
    private let preparations: [Preparation]
    private let state: Locked<State>
    /// One at a time.
    private let turn = Locked(())

    /// - Parameters:
    ///   - service: Whose targets and maintenance the file has; nil for a hub, which has none.
    ///   - current: What was read at the start, and is applied.
    ///   - preparations: Others who use the configuration.
    package init(
        _ file: String,
        of service: MonitoringService? = nil,
        current: ServiceConfiguration,
        preparations: [Preparation] = []
    ) {
        (self.file, self.service, self.preparations) = (file, service, preparations)
        state = Locked(State(current: current, document: current.document))
    }

    package var status: Status { state.withLock(\.status) }

    /// All that the file said that is in force, in its words, and the sections of it that are only after a restart.
    package var inForce: (document: [String: TOMLNode], needsRestart: [String]) {
        state.withLock { ($0.document, $0.needsRestart) }
    }

    /// Reads a file.
    ///
    /// - Throws: ``ConfigurationProblems`` for what is wrong in it, or that it cannot be read.
    package static func read(
        _ file: String,
        for reader: ServiceConfiguration.Reader = .service
    ) throws(ConfigurationProblems) -> ServiceConfiguration {
        let bytes: [UInt8]
        do { bytes = try InputFile.read(file, limit: 1 << 20) } catch {
            throw ConfigurationProblems([ConfigurationProblem(path: "", text: "it cannot be read: \(error)")])
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationProblems([ConfigurationProblem(path: "", text: "it is no UTF-8")])
        }
        let directory = file.unicodeScalars.lastIndex(of: "/").map { String(file[..<$0]) + "/" }
        return try ServiceConfiguration(text, in: directory, for: reader)
    }

    /// Reads the file again.
    ///
    /// - Returns: The sections that have changed and are used only after a restart.
    /// - Throws: ``ConfigurationProblems``; what was so goes on to be so.
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

    /// The sentence for a file that was applied, with the sections that are used after a restart.
    package func applied(_ restart: [String]) -> String {
        let rest = restart.isEmpty ? "" : "; a restart is needed for \(restart.joined(separator: " and "))"
        return "\(file.printable) is applied\(rest)"
    }

    /// The sentence for one that was not.
    package var refused: String { "\(file.printable) is not applied; what was so before goes on" }

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
            // How long it keeps what is over a hub can change at any time.
            if service == nil { state.current.history.keep = configuration.history.keep }
            if state.current.history != configuration.history { changed.append("history") }
            // These are still as they were at the start.
            (state.current.targets, state.current.maintenance) = (configuration.targets, configuration.maintenance)
            (state.current.notifiers, state.current.heartbeat) = (configuration.notifiers, configuration.heartbeat)
            state.current.access = configuration.access
            (state.document, state.needsRestart) = (configuration.document, changed)
            return changed
        }
    }
}
