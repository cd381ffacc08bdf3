/// Which events of a machine's log were taken: those that come again are dropped. They come in the order of the log, and all again from
/// what was acknowledged last.
package struct EventLog: Hashable, Sendable {
    /// So many runs of the machine's service are remembered.
    static let epochs = 4

    /// The last of each run, the latest run last.
    package private(set) var newest: [EventPosition] = []

    package init() {}

    package init(_ newest: [EventPosition]) {
        self.newest = Array(newest.suffix(Self.epochs))
    }

    package func has(_ position: EventPosition) -> Bool {
        newest.contains { $0.epoch == position.epoch && $0.number >= position.number }
    }

    package mutating func add(_ position: EventPosition) {
        newest.removeAll { $0.epoch == position.epoch }
        newest.append(position)
        if newest.count > Self.epochs { newest.removeFirst() }
    }
}
