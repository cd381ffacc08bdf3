#if Fleet
import LinuxSupport

/// Brokers by libmosquitto: a thread for each connection, which ends with it.
package struct MosquittoBroker: MessageBroker {
    package init() {}

    package func connect(
        _ options: BrokerOptions,
        listener: @escaping @Sendable (BrokerEvent) -> Void
    ) -> any BrokerConnection {
        let connection = MosquittoConnection()
        do {
            let wakeup = try ConnectionWakeup()
            connection.open(wakeup)
            try Thread.detach { MosquittoLoop(options, connection.inbox, wakeup, listener).run() }
        } catch {
            listener(.ended(BrokerError(options.address, .failed("no thread can be had for it: \(error)"))))
        }
        return connection
    }
}

/// What callers hold of a connection.
private struct MosquittoConnection: BrokerConnection {
    let inbox = ConnectionInbox()

    func open(_ wakeup: ConnectionWakeup) { inbox.open(wakeup) }

    func publish(_ message: BrokerMessage) -> PublishToken { inbox.add(message) }

    func subscribe(_ filters: [String]) { inbox.add(.subscribe(filters)) }

    func close() { inbox.add(.close) }

    func abandon() { inbox.add(.abandon) }
}
#endif
