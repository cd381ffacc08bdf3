import LinuxPrimitives
import NetworkReachability

/// Reads the configuration of a service again, and applies what has changed. A configuration with anything wrong in it changes nothing.
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
    }

    package let file: String
    private let service: MonitoringService
    private let state: Locked<State>
    /// One at a time.
    private let turn = Locked(())

    /// - Parameter current: What was read at the start, and is applied.
    package init(_ file: String, of service: MonitoringService, current: ServiceConfiguration) {
        (self.file, self.service) = (file, service)
        state = Locked(State(current: current))
    }

    package var status: Status { state.withLock(\.status) }

    /// Reads a file.
    ///
    /// - Throws: ``ConfigurationProblems`` for what is wrong in it, or that it cannot be read.
    package static func read(_ file: String) throws(ConfigurationProblems) -> ServiceConfiguration {
        let bytes: [UInt8]
        do { bytes = try InputFile.read(file, limit: 1 << 20) } catch {
            throw ConfigurationProblems([ConfigurationProblem(path: "", text: "it cannot be read: \(error)")])
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationProblems([ConfigurationProblem(path: "", text: "it is no UTF-8")])
        }
        let directory = file.lastIndex(of: "/").map { String(file[...$0]) }
        return try ServiceConfiguration(text, in: directory)
    }

    /// Reads the file again.
    ///
    /// - Returns: The sections that have changed and are used only after a restart.
    /// - Throws: ``ConfigurationProblems``; what was so goes on to be so.
    package func reload() throws(ConfigurationProblems) -> [String] {
        do {
            let restart = try turn.withLock { _ throws(ConfigurationProblems) in try apply(try Self.read(file)) }
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

    private func apply(_ configuration: ServiceConfiguration) throws(ConfigurationProblems) -> [String] {
        do { try service.apply(configuration.targets) } catch {
            let index = configuration.targets.firstIndex { $0.name == error.target } ?? 0
            let problem = ConfigurationProblem(path: "target[\(index + 1)]", text: error.error.description)
            throw ConfigurationProblems([problem])
        }
        return state.withLock { state in
            var changed: [String] = []
            if state.current.listen != configuration.listen { changed.append("listen") }
            if state.current.history != configuration.history { changed.append("history") }
            // These are still as they were at the start.
            state.current.targets = configuration.targets
            return changed
        }
    }
}
