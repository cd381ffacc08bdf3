import LinuxSupport
package import ReachabilityService

extension API {
    /// Who is known by these keys, in this run and before: ids of outages, and of intervals inside.
    func actors(
        of keys: [String],
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> [String: ActingProcess] {
        var found: [String: ActingProcess] = [:]
        do { found = try history?.store?.actors(of: keys) ?? [:] } catch { throw Self.unreadable(error) }
        let memory = snapshot.books.actorsByKey
        for key in keys { found[key] = memory[key] ?? found[key] }
        return found
    }

    /// The same for notifications, which are sent without where the disk cannot be read.
    package func actors(of outages: [String]) -> [String: ActingProcess] {
        (try? actors(of: outages, service.snapshot)) ?? [:]
    }
}
