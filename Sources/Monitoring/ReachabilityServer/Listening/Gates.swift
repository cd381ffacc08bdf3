import LinuxSupport
package import Logging
import ReachabilityLedger
package import ReachabilityService

/// The gates of a service (`[[gate]]`). Each accepts TCP connections only while its target is up. Thread-safe.
///
/// Other monitors check a gate in place of the internet, and pause while it refuses connections.
package final class Gates: Sendable {
    private struct State {
        var gates: [GateSettings: GateSocket] = [:]
        /// The gates that should be open and are not. Each is reported once.
        var blocked: Set<GateSettings> = []
        var listener: Cancellation?
    }

    private let service: MonitoringService
    private let logger: Logger?
    private let state = Locked(State())

    package init(_ service: MonitoringService, logger: Logger? = nil) {
        (self.service, self.logger) = (service, logger)
        let listener = service.addListener { [weak self] _ in self?.update() }
        state.withLock { $0.listener = listener }
    }

    /// Binds the gates of a configuration that are new. The returned closure replaces the current gates.
    @Sendable package func prepare(
        _ configuration: ServiceConfiguration
    ) throws(ConfigurationProblems) -> @Sendable () -> Void {
        let known = state.withLock(\.gates)
        var gates: [GateSettings: GateSocket] = [:]
        var problems: [ConfigurationProblem] = []
        for (index, gate) in configuration.gates.enumerated() {
            let same = known.first { $0.key.endpoint == gate.endpoint }?.value
            do throws(SystemError) {
                if let same { gates[gate] = same } else { gates[gate] = try GateSocket(gate.endpoint) }
            } catch {
                let text = "cannot listen at \(gate.endpoint): \(error)"
                problems.append(ConfigurationProblem(path: "gate[\(index + 1)].listen", text: text))
            }
        }
        if !problems.isEmpty { throw ConfigurationProblems(problems) }
        return { [self, gates] in
            let old = state.withLock { state in
                defer { state.gates = gates }
                return state.gates
            }
            withExtendedLifetime(old) {}
            update()
        }
    }

    /// Opens the gates of targets that are up, and closes the others.
    private func update() {
        state.withLock { state in
            // Read under the lock, so that an older state is never applied after a newer one.
            let accounting = service.snapshot.accounting
            for (gate, socket) in state.gates {
                let current = accounting.accounts[gate.target]?.ledger.current.state
                let isUp = current?.attribution == .up
                if socket.setOpen(isUp) || !isUp {
                    state.blocked.remove(gate)
                } else if state.blocked.insert(gate).inserted {
                    logger?.warning("cannot listen at \(gate.endpoint): another process uses the address")
                }
            }
        }
    }

    /// Closes all gates.
    package func stop() {
        let ended = state.withLock { state in
            defer { state = State() }
            return state
        }
        withExtendedLifetime(ended) {}
    }
}
