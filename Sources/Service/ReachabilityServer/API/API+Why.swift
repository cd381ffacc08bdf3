import LinuxPrimitives
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

extension API {
    /// Why a target is as it is, step by step, as the kernel says it at this moment, and what the last check found.
    func why(_ name: String) throws(Problem) -> Item {
        let snapshot = service.snapshot
        try checkTarget(name, snapshot)
        guard let record = service.explanation(of: name), let account = snapshot.books.accounts[name] else {
            throw Problem(.notFound, "\(name.printable) is not watched any more")
        }
        let current = account.ledger.current
        var object = JSONObject()
        object.add("schema", 1)
        object.add("target", name)
        object.add(current.state)
        object.add("reason", current.reason)
        object.add("since", snapshot.time(current.start))
        object.add("broken", record.steps.first { $0.state == "broken" }?.kind)
        object.add("evidence", snapshot.object(of: record, phase: "now"))
        object.add("kind", "why")
        let line = "\(snapshot.time(record.instant).text) \(name.printable): \(current.state)"
        return Item(key: name, object: object, text: line, report: ([line] + record.lines).joined(separator: "\n"))
    }
}
