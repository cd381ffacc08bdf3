internal import CNetworkLab
import LinuxPrimitives
import NIOCore
import NIOPosix
import NIOSSL
package import NetworkLab

/// A web server inside a lab namespace, whose behaviour may be changed while it runs. It keeps what it receives.
///
/// Its work is done by the event loops of the process, which are in no lab namespace: only its listening sockets are.
package final class WebServer: Sendable {
    private struct State {
        var behaviour: WebBehaviour
        var clockOffset = Duration.zero
        var connections = 0
        var requests: [String] = []
        var visitors: [ObjectIdentifier: any Channel] = [:]
    }

    /// At which it listens.
    package let port: UInt16
    private let state: Locked<State>
    private let listeners: [any Channel]

    /// - Parameters:
    ///   - namespace: Where it listens; nil for the namespace of the process.
    ///   - addresses: Numeric, of either family; by default all that the namespace has and will have.
    ///   - port: 0 for one that the kernel chooses.
    ///   - identity: What it shows; nil for no TLS.
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
        let (sockets, number) = try await LabNamespace.perform(in: namespace) {
            try Self.listen(at: addresses, port: port)
        }
        self.port = number
        let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try Self.serve(channel, state, context) }
            }
        var listeners: [any Channel] = []
        for socket in sockets { listeners.append(try await bootstrap.withBoundSocket(socket).get()) }
        self.listeners = listeners
    }

    private static func listen(at addresses: [String], port: UInt16) throws -> (sockets: [CInt], port: UInt16) {
        var port = port
        var sockets: [CInt] = []
        for address in addresses {
            let socket = try check("listening at \(address) port \(port)", lab_socket_at(address, port, 1))
            sockets.append(socket)
            // What the kernel chose for the first is meant for all.
            port = UInt16(try check("getsockname", lab_bound_port(socket)))
        }
        return (sockets, port)
    }

    private static func serve(_ channel: any Channel, _ state: Locked<State>, _ context: NIOSSLContext?) throws {
        let behaviour = state.withLock { state in
            state.connections += 1
            state.visitors[ObjectIdentifier(channel)] = channel
            return state.behaviour
        }
        channel.closeFuture.whenComplete { _ in
            _ = state.withLock { $0.visitors.removeValue(forKey: ObjectIdentifier(channel)) }
        }
        let pipeline = channel.pipeline.syncOperations
        switch behaviour {
        case .silentConnection: return
        case .closedConnection: return try pipeline.addHandler(Farewell())
        default: break
        }
        if let context { try pipeline.addHandler(NIOSSLServerHandler(context: context)) }
        try pipeline.addHandler(
            WebVisit(waitsForRequest: behaviour.readsRequests) { request in
                let (behaviour, offset) = state.withLock { state in
                    state.requests.append(request)
                    return (state.behaviour, state.clockOffset)
                }
                return behaviour.reply(to: request, date: WebDate.text(SystemClock.real + offset))
            }
        )
    }

    /// What it does from now on, with new connections and with requests to come.
    package func behave(_ behaviour: WebBehaviour) {
        state.withLock { $0.behaviour = behaviour }
    }

    /// By how much its clock goes before ours, as its `Date` shows.
    package func setClock(ahead offset: Duration) {
        state.withLock { $0.clockOffset = offset }
    }

    /// How many connections were made so far.
    package var connections: Int { state.withLock { $0.connections } }

    /// How many are open.
    package var openConnections: Int { state.withLock { $0.visitors.count } }

    /// What was received, each whole: heads of requests, without TLS.
    package var requests: [String] { state.withLock { $0.requests } }

    /// Ends it, with all of its connections.
    package func close() async {
        for listener in listeners { try? await listener.close() }
        for visitor in state.withLock({ Array($0.visitors.values) }) { visitor.close(promise: nil) }
    }
}
