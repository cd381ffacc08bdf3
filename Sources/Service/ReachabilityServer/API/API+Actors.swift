import LinuxPrimitives
package import ReachabilityService

extension API {
    /// Who began outages, in this run and before, where that can be told.
    func actors(
        of outages: [String],
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> [String: ActingProcess] {
        var found: [String: ActingProcess] = [:]
        do { found = try history?.store?.actors(of: outages) ?? [:] } catch { throw Self.unreadable(error) }
        for id in outages { found[id] = snapshot.books.actor(of: id) ?? found[id] }
        return found
    }

    /// The same for notifications, which are sent without where the disk cannot be read.
    package func actors(of outages: [String]) -> [String: ActingProcess] {
        (try? actors(of: outages, service.snapshot)) ?? [:]
    }
}
