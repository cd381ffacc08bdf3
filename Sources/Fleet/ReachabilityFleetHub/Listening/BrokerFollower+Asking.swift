import Dispatch
import LinuxSupport
import MQTT
package import ReachabilityFleet

/// What the hub asks machines for.
extension BrokerFollower {
    /// So many are asked at a time, and when the next are.
    private static let askLimit = 200
    private static let askPause = Duration.milliseconds(100)
    /// A question that was not heard by then is not worth an answer: whoever comes later is asked when it comes.
    private static let askExpiry = Duration.seconds(60)

    /// Has a machine forgotten by the broker, too.
    ///
    /// - Parameter replay: What it is asked for then; nil where it is not there.
    package func forget(_ place: FleetPlace, asking replay: DeviceReplay?) {
        let connection = state.withLock(\.connection)
        let topic = FleetTopic.device(place, .state).description
        connection?.publish(BrokerMessage(topic: topic, payload: [], isRetained: true))
        if let replay { connection?.publish(Self.question(replay, to: place)) }
    }

    private static func question(_ replay: DeviceReplay, to place: FleetPlace) -> BrokerMessage {
        let topic = FleetTopic.device(place, .command).description
        return BrokerMessage(topic: topic, payload: DeviceCommand.replay(replay).bytes, expiry: askExpiry)
    }

    /// Asks machines that are behind to tell again.
    func heard(_ decisions: [Hub.Decision]) {
        let places = decisions.compactMap { if case .behind(let place) = $0 { place } else { nil } }
        guard !places.isEmpty else { return }
        queue.async { [self] in
            state.withLock { $0.owed.formUnion(places) }
            ask()
        }
    }

    private func ask() {
        let hub = keeper.hub
        let (connection, places) = state.withLock { state -> ((any BrokerConnection)?, [FleetPlace]) in
            guard state.status.isConnected else {
                // Who may be there is heard of again with the next connection.
                state.owed = []
                return (nil, [])
            }
            let now = SystemClock.monotonic
            guard now >= state.nextAsk else { return (nil, []) }
            let places = state.owed.sorted().prefix(Self.askLimit)
            state.owed.subtract(places)
            state.nextAsk = now + Self.askPause
            return (state.connection, Array(places))
        }
        for place in places {
            guard let replay = hub.replay(for: place) else { continue }
            connection?.publish(Self.question(replay, to: place))
        }
        let pause = state.withLock { $0.owed.isEmpty ? nil : $0.nextAsk - SystemClock.monotonic }
        guard let pause else { return }
        let timer = DispatchTimer.schedule(after: max(.zero, pause), on: queue) { [weak self] in self?.ask() }
        state.withLock { $0.askTimer = timer }
    }
}
