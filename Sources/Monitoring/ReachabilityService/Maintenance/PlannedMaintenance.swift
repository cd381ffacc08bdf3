import LinuxSupport
import NetworkReachability

/// Work that somebody has announced while the service runs, beside that of its configuration. It is once, and is forgotten when it is over.
package struct PlannedMaintenance: Hashable, Sendable {
    /// The name it goes by.
    package let id: String
    /// Of which targets, by name; nil for all.
    package let targets: Set<String>?
    /// When it begins by the wall clock, since 1970.
    package let start: Duration
    /// How long it takes, whatever clocks are set to meanwhile.
    package let length: Duration
    /// Who announced it.
    package let author: String

    /// So much may be announced at a time, for so long at most, and so long ahead.
    package static let countLimit = 100
    package static let longest = Duration.seconds(31 * 86400)
    package static let farthest = Duration.seconds(366 * 86400)

    package init(id: String, targets: Set<String>?, start: Duration, length: Duration, author: String) {
        (self.id, self.targets, self.start, self.length, self.author) = (id, targets, start, length, author)
    }

    /// When it ends, since 1970: that moment is not in it.
    package var end: Duration { start + length }

    var window: MaintenanceWindow { MaintenanceWindow(targets: targets, begin: .once(start), length: length) }

    /// Whether a text may name one: 1 to 64 letters, digits, points, hyphens and underscores.
    package static func isID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && !text.isPathStep
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

extension MonitoringService {
    /// What is announced and not over, by name.
    package var planned: [PlannedMaintenance] {
        let now = clock.real()
        return state.withLock { $0.planned.values.filter { $0.end > now } }.sorted { $0.id < $1.id }
    }

    /// Announces work, in place of what had that name. Time that was counted before stays as it is.
    ///
    /// - Returns: Whether there was nothing of that name; nil where too much is announced.
    package func plan(_ maintenance: PlannedMaintenance) -> Bool? {
        let (boot, real) = (clock.monitor.boot, clock.real())
        let isNew = Locked<Bool?>(nil)
        record { state in
            state.planned = state.planned.filter { $0.value.end > real }
            let known = state.planned[maintenance.id] != nil
            guard known || state.planned.count < PlannedMaintenance.countLimit else { return [] }
            state.planned[maintenance.id] = maintenance
            isNew.withLock { $0 = !known }
            return [state.books.note(.maintenancePlanned(maintenance), of: nil, now: state.line.instant(at: boot))]
        }
        followMaintenance()
        return isNew.withLock(\.self)
    }

    /// Calls work off, or ends it now.
    ///
    /// - Returns: Whether there was any of that name.
    package func cancelMaintenance(_ id: String) -> Bool {
        let (boot, real) = (clock.monitor.boot, clock.real())
        let wasKnown = Locked(false)
        record { state in
            guard let known = state.planned.removeValue(forKey: id) else { return [] }
            wasKnown.withLock { $0 = known.end > real }
            return [state.books.note(.maintenanceCancelled(id), of: nil, now: state.line.instant(at: boot))]
        }
        followMaintenance()
        return wasKnown.withLock(\.self)
    }
}
