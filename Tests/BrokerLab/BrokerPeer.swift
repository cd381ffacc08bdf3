import LinuxSupport
package import MQTT
package import NetworkLab

/// A connection of a test, and its events.
package final class BrokerPeer: Sendable {
    private let events: Locked<[BrokerEvent]>
    package let connection: any BrokerConnection

    private init(_ connection: any BrokerConnection, _ events: Locked<[BrokerEvent]>) {
        (self.connection, self.events) = (connection, events)
    }

    /// Starts a connection without waiting for it.
    package static func begin(
        _ broker: any MessageBroker,
        _ options: BrokerOptions,
        in namespace: LabNamespace? = nil
    ) async throws -> BrokerPeer {
        let events = Locked<[BrokerEvent]>([])
        let connection = try await LabNamespace.perform(in: namespace) {
            broker.connect(options) { event in events.withLock { $0.append(event) } }
        }
        return BrokerPeer(connection, events)
    }

    /// Waits for a matching event. Removes it and all earlier events.
    @discardableResult
    package func wait<Value>(
        for what: String = "an event",
        within limit: Duration = .patience,
        _ take: (BrokerEvent) throws -> Value?
    ) async throws -> Value {
        var found: Value?
        _ = try await eventually(within: limit, every: .milliseconds(2)) {
            while let event = next() {
                found = try take(event)
                if found != nil { return true }
            }
            return false
        }
        guard let found else { throw LabError("\(what) did not arrive within \(limit)") }
        return found
    }

    package func connected() async throws -> Bool {
        try await wait(for: "the connection") { event in
            switch event {
            case .connected(let sessionPresent): sessionPresent
            case .ended(let error): throw LabError("not connected: \(error.map { "\($0)" } ?? "closed")")
            default: nil
            }
        }
    }

    package func published(_ token: PublishToken) async throws -> ReasonCode {
        try await wait(for: "the acknowledgement") { event in
            if case .published(token, let reason) = event { reason } else { nil }
        }
    }

    package func subscribe(_ filter: String) async throws {
        connection.subscribe([filter])
        try await wait(for: "the subscription") { $0 == .subscribed ? true : nil }
    }

    package func message(within limit: Duration = .patience) async throws -> BrokerMessage {
        try await wait(for: "a message", within: limit) { if case .message(let message) = $0 { message } else { nil } }
    }

    package func ended(within limit: Duration = .patience) async throws -> BrokerError? {
        let end: BrokerError?? = try await wait(for: "the end", within: limit) { event -> BrokerError?? in
            if case .ended(let error) = event { .some(error) } else { nil }
        }
        return end ?? nil
    }

    private func next() -> BrokerEvent? {
        events.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
