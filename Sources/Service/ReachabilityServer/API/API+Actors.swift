import LinuxPrimitives
import ReachabilityService

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
}

extension ActingProcess {
    var object: JSONObject {
        var object = JSONObject()
        object.add("pid", id)
        object.add("program", program)
        object.add("unit", unit)
        return object
    }

    /// For example `openvpn, pid 812, of openvpn@site.service`. A program chooses its name, so what would steer a terminal is escaped.
    var text: String { "\(program.printable), pid \(id)\(unit.map { ", of \($0.printable)" } ?? "")" }
}
