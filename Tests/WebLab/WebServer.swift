import LinuxSupport
import NIOSSL
package import NetworkLab

/// A ``ScriptedServer`` for the checks, whose behaviour may be changed while it runs. It serves one request per connection.
package final class WebServer: Sendable {
    private struct State {
        var behaviour: WebBehaviour
        var clockOffset = Duration.zero
    }

    package let port: UInt16
    private let state: Locked<State>
    private let server: ScriptedServer

    /// - Parameters:
    ///   - namespace: The network namespace of the listening sockets; nil for that of the process.
    ///   - addresses: Numeric, of either family; by default all that the namespace has and will have.
    ///   - port: 0 for one that the kernel selects.
    ///   - identity: The certificates of the server; nil for no TLS.
    package init(
        in namespace: LabNamespace? = nil,
        at addresses: [String] = ["0.0.0.0", "::"],
        port: UInt16 = 0,
        identity: WebIdentity? = nil,
        _ behaviour: WebBehaviour = .anchor
    ) async throws {
        let state = Locked(State(behaviour: behaviour))
        self.state = state
        let context = try identity?.context()
        server = try await LabThread.detached {
            try .perConnection(
                in: namespace,
                at: addresses,
                port: Int(port),
                coder: TLSCoder.layer(context),
                script: { Self.serve($0, state) }
            )
        }
        self.port = UInt16(server.port)
    }

    private static func serve(_ connection: ScriptedConnection, _ state: Locked<State>) {
        switch state.withLock({ $0.behaviour }) {
        case .silentConnection: return connection.stream.waitForEnd()
        case .closedConnection: return connection.stream.close()
        case .bytes:
            guard !connection.receive().isEmpty else { return }
            answer("", on: connection, state)
        default:
            guard let request = connection.nextRequest() else { return }
            answer(request.head, on: connection, state)
        }
    }

    private static func answer(_ request: String, on connection: ScriptedConnection, _ state: Locked<State>) {
        let (behaviour, offset) = state.withLock { ($0.behaviour, $0.clockOffset) }
        if connection.perform(behaviour.reply(to: request, date: WebDate.text(SystemClock.real + offset))) {
            connection.waitForEnd()
        }
    }

    /// Changes the behaviour for new connections and for later requests.
    package func behave(_ behaviour: WebBehaviour) {
        state.withLock { $0.behaviour = behaviour }
    }

    /// Sets the difference between the server's `Date` and the system's clock.
    package func setClock(ahead offset: Duration) {
        state.withLock { $0.clockOffset = offset }
    }

    /// The number of connections so far.
    package var connections: Int { server.connections }

    /// The number of open connections.
    package var openConnections: Int { server.openConnections }

    /// The text from each client that has sent any, without TLS: one request, or the beginning of one.
    package var requests: [String] { server.visits.map(\.received).filter { !$0.isEmpty } }

    /// Closes the port and all connections.
    package func close() async {
        server.stop()
    }
}
