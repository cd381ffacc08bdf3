import Foundation
import LinuxSupport
import MQTT
import NIOHTTP1
import NetworkLab
import ReachabilityFleet
import ReachabilityService
import Testing

@testable import ReachabilityFleetHub
@testable import ReachabilityServer

/// A hub with a store in memory, a simulated broker and a simulated clock.
final class HubWorld: Sendable {
    let store: HubStore
    let broker = PlayedBroker()
    let feed: HubFeed
    let writer: HubWriter
    let follower: BrokerFollower
    let access = Access()
    private let counts = HubCounts()
    let told = Locked<[NotifierStatus]>([])
    private let time: Locked<Duration>
    /// The hub's clock, since 1970.
    var clock: @Sendable () -> Duration { { [time] in time.withLock(\.self) } }
    var api: HubAPI { api(nil) }

    init(store known: HubStore? = nil) throws {
        store = try known ?? HubStore()
        let time = Locked(at(0))
        let clock: @Sendable () -> Duration = { time.withLock(\.self) }
        let feed = HubFeed(clock: clock)
        (self.time, self.feed) = (time, feed)
        writer = try HubWriter(store, run: "run", clock: clock)
        writer.addListener(counts.count)
        writer.addListener(feed.publish)
        let address = BrokerAddress(host: "127.0.0.1", port: 1883, isSecured: false)
        var options = HubOptions(broker: address, name: "hub")
        options.jitter = .zero
        // Attempts to connect do not time out.
        follower = BrokerFollower(options, broker: broker, writer: writer) { .zero }
    }

    /// Returns a hub with two sites. Two machines of `north` became silent together, and one of them has reported the
    /// reason. `south` has no fault.
    static func twoSites(north: [String] = ["d0", "d1", "d2"]) throws -> HubWorld {
        let world = try HubWorld()
        world.writer.brokerConnected()
        world.receive(north.enumerated().map { .online($1, "a", $0) })
        world.receive([
            .online("s", "a", 3, site: "south"), .will("d0", "a", 100), .will("d1", "a", 101), .online("d0", "b", 200),
            .event("d0", "b", 201, .outage(outage("o", 98, 190)), number: 7), .event("d0", "b", 202, .caughtUp),
        ])
        return world
    }

    /// Returns the API of the hub, with an optional reloader.
    func api(_ reloader: Reloader?) -> HubAPI {
        HubAPI(
            writer,
            store: store,
            follower: follower,
            feed: feed,
            counts: counts,
            version: "1.2.3",
            access: access,
            reloader: reloader,
            clock: { [time] in time.withLock(\.self) },
            notifiers: { [told] in told.withLock(\.self) }
        ) { WebStatistics() }
    }

    /// Connects the hub to the broker, which accepts.
    @discardableResult
    func connect() async throws -> PlayedBroker.Connection {
        try follower.begin()
        let isConnected = try await eventually { broker.connections.count == 1 }
        try #require(isConnected, "\(follower.state.withLock { ($0.link, $0.status) })")
        broker.connections[0].listener(.connected(sessionPresent: false))
        // The hub has published its state and subscribed.
        let connection = broker.connections[0]
        try #require(
            try await eventually {
                connection.calls.contains { if case .subscribe = $0 { true } else { false } }
            }
        )
        return connection
    }

    /// Sets the hub's clock, forwards or backwards.
    func setClock(_ moment: Duration) { time.withLock { $0 = moment } }

    /// Passes messages to the hub, and advances the clock to the last of them.
    func receive(_ messages: [Hub.Message]) {
        if let last = messages.last { time.withLock { $0 = max($0, last.time) } }
        _ = writer.take(messages)
        writer.flush()
    }

    func answer(
        _ target: String,
        _ method: HTTPMethod = .GET,
        _ headers: [(String, String)] = [],
        peer: WebRequest.Peer = .local(user: 0)
    ) throws -> WebAnswer {
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: HTTPHeaders(headers))
        return api.router.answer(to: try WebRequest(head, body: [], peer: peer))
    }

    func object(_ target: String) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(answer(target).body)) as? [String: Any] ?? [:]
    }

    func items(_ target: String) throws -> [[String: Any]] { try object(target)["items"] as? [[String: Any]] ?? [] }

    func text(_ target: String) throws -> String {
        String(decoding: try answer(target, .GET, [("Accept", "text/plain")]).body, as: UTF8.self)
    }
}

/// A broker that the test controls.
final class PlayedBroker: MessageBroker, Sendable {
    final class Connection: BrokerConnection, Sendable {
        enum Call: Hashable {
            case publish(BrokerMessage)
            case subscribe([String])
            case close, abandon
        }

        let options: BrokerOptions
        let listener: @Sendable (BrokerEvent) -> Void
        private let made = Locked<[Call]>([])

        init(_ options: BrokerOptions, _ listener: @escaping @Sendable (BrokerEvent) -> Void) {
            (self.options, self.listener) = (options, listener)
        }

        var calls: [Call] { made.withLock(\.self) }
        var published: [BrokerMessage] {
            calls.compactMap { if case .publish(let message) = $0 { message } else { nil } }
        }

        func publish(_ message: BrokerMessage) -> PublishToken {
            made.withLock { calls in
                calls.append(.publish(message))
                return PublishToken(UInt64(calls.count))
            }
        }

        func subscribe(_ filters: [String]) { made.withLock { $0.append(.subscribe(filters)) } }

        func close() {
            made.withLock { $0.append(.close) }
            listener(.ended(nil))
        }

        func abandon() { made.withLock { $0.append(.abandon) } }
    }

    private let made = Locked<[Connection]>([])

    var connections: [Connection] { made.withLock(\.self) }

    func connect(
        _ options: BrokerOptions,
        listener: @escaping @Sendable (BrokerEvent) -> Void
    ) -> any BrokerConnection {
        let connection = Connection(options, listener)
        made.withLock { $0.append(connection) }
        return connection
    }
}
