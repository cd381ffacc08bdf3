import Dispatch
import LinuxSupport
package import Logging
import NetworkReachability
import ReachabilityLedger
package import ReachabilityService
import SystemBus

/// The state of the targets as an object on the system bus (`listen.dbus`). Thread-safe.
package final class BusPublisher: Sendable {
    private struct State {
        var object: BusObject?
        var tables: [String: [String: BusValue]] = [:]
        /// The listener for the path of the first target, and its last path.
        var manager: NetworkReachabilityManager?
        var token: NetworkReachabilityToken?
        var path: NetworkPath?
        var listener: Cancellation?
        /// The targets that the next update publishes; nil for all.
        var changed: Set<String>?
        var isScheduled = false
    }

    private let service: MonitoringService
    private let version: String
    private let targetLimit: Int
    /// The queue of all changes of the state.
    private let queue = DispatchQueue(label: "reachability.bus")
    private let state = Locked(State())

    /// - Parameter targetLimit: The maximum number of published targets. Their table is far below the maximum size of a message.
    package init(
        _ service: MonitoringService,
        version: String,
        at address: String = BusObject.systemAddress,
        targetLimit: Int = 10_000,
        logger: Logger? = nil
    ) {
        (self.service, self.version, self.targetLimit) = (service, version, targetLimit)
        let listener = service.addListener { [weak self] events in
            let isGeneral = events.contains { $0.target == nil }
            self?.schedule(isGeneral ? nil : events.compactMap(\.target))
        }
        queue.sync {
            publishChanges()
            do throws(SystemError) {
                let object = try BusObject(Self.name, members: Self.members, properties(), at: address) {
                    logger?.warning("\($0)")
                }
                state.withLock { ($0.listener, $0.object) = (listener, object) }
            } catch {
                logger?.warning("cannot publish the state on the system bus: \(error)")
            }
        }
    }

    /// Publishes the state of all targets, for example after a change of the configuration.
    package func update() { schedule(nil) }

    /// Publishes the state of some targets soon; nil for all. Calls until then are merged, because an update reads all targets.
    private func schedule(_ names: [String]?) {
        let isFirst = state.withLock { state in
            defer { state.isScheduled = true }
            if let names { state.changed?.formUnion(names) } else { state.changed = nil }
            return !state.isScheduled
        }
        if isFirst { queue.async { [weak self] in self?.publishChanges() } }
    }

    /// Ends the connection to the bus.
    package func stop() {
        let ended = state.withLock { state in
            defer { state = State() }
            return state
        }
        ended.object?.stop()
    }

    // The following functions run on the queue.

    private func publishChanges() {
        let (names, known, followed) = state.withLock { state in
            defer { (state.changed, state.isScheduled) = ([], false) }
            return (state.changed, state.tables, state.manager)
        }
        let snapshot = service.snapshot
        var tables = names == nil ? [:] : known
        for name in names ?? [] where tables[name] != nil { tables[name] = snapshot.busTable(of: name) }
        let limit = min(targetLimit, snapshot.order.count)
        if tables.count < limit {
            for name in snapshot.order where tables[name] == nil && tables.count < limit {
                tables[name] = snapshot.busTable(of: name)
            }
        }
        state.withLock { $0.tables = tables }
        let manager = snapshot.order.first.flatMap { service.manager(of: $0) }
        if manager !== followed {
            let token = manager?.addPathListener(for: [.egress, .reason], onQueue: queue) { [weak self] path in
                self?.state.withLock { $0.path = path }
                self?.publish()
            }
            let old = state.withLock { state in
                defer { (state.manager, state.token, state.path) = (manager, token, nil) }
                return state.token
            }
            withExtendedLifetime(old) {}
        }
        publish()
    }

    private func publish() {
        state.withLock(\.object)?.publish(properties())
    }

    /// Returns the properties of the object.
    func properties() -> [String: BusValue] {
        let (tables, path) = state.withLock { ($0.tables, $0.path) }
        let snapshot = service.snapshot
        let first = snapshot.order.first ?? ""
        var properties = tables[first] ?? MonitoringService.Snapshot.emptyBusTable
        properties["Sentence"] = nil
        properties["Headline"] = .text(snapshot.headline.printable)
        properties["Target"] = .text(first)
        properties["Interface"] = .text(path?.interface?.name ?? "")
        properties["Gateway"] = .text(path?.gateway?.description ?? "")
        properties["Targets"] = .tables(tables)
        properties["Version"] = .text(version)
        return properties
    }
}

extension BusPublisher {
    private static let name = "net.reachability.Monitor1"

    /// The members of the interface. The D-Bus specification defines `EmitsChangedSignal`.
    private static let members: String =
        (["Status", "Party", "Cause", "Reason", "Interface", "Gateway", "Target", "Headline"].map { property($0, "s") }
        + [
            property("Since", "t"), property("Targets", "a{sa{sv}}", emits: "invalidates"),
            property("Version", "s", emits: "const"),
            #"<signal name="Changed"><arg name="targets" type="a{sa{sv}}"/></signal>"#,
        ]).joined(separator: "\n")

    private static func property(_ name: String, _ type: String, emits change: String = "true") -> String {
        """
        <property name="\(name)" type="\(type)" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="\(change)"/></property>
        """
    }
}

extension MonitoringService.Snapshot {
    /// The state of no target.
    fileprivate static let emptyBusTable: [String: BusValue] = [
        "Status": .text("unknown"), "Party": .text(""), "Cause": .text(""), "Reason": .text(""), "Since": .number(0),
    ]

    /// Returns the published state of a target; nil for an unknown target.
    fileprivate func busTable(of target: String) -> [String: BusValue]? {
        guard let current = accounting.accounts[target]?.ledger.current else { return nil }
        let state = current.state
        let status = state.isOutage ? "down" : state.isDegraded ? "degraded" : state.account.rawValue
        return [
            "Status": .text(status),
            "Party": .text(state.isOutage ? state.attribution.rawValue : ""),
            "Cause": .text(state.cause?.rawValue ?? ""),
            "Reason": .text(current.reason ?? ""),
            "Since": .number(UInt64(clamping: calendar.wall(at: current.start).nanoseconds / 1000)),
            "Sentence": .text(StateDescription.sentence(state, of: target).printable),
        ]
    }
}
