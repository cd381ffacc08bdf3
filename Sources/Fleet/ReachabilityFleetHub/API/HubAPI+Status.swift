import LinuxSupport
import NIOHTTP1
import ReachabilityFleet
import ReachabilityServer
import ReachabilityService

extension HubAPI {
    /// Whether it hears the machines, and can write down what they say. 503 tells whoever looks after it that it does not.
    func readiness() -> WebAnswer {
        let (broker, fault) = (follower.status, keeper.fault)
        var object = JSONObject()
        object.add("schema", 1)
        let isReady = broker.isConnected && broker.problem == nil && fault == nil
        object.add("ready", isReady)
        object.add("broker", broker.object)
        object.add("history", fault?.text)
        object.add("kind", "readiness")
        var answer = WebAnswer.one(object).unstored
        if !isReady { answer.status = .serviceUnavailable }
        return answer
    }

    /// How all of it is, in numbers, with the incidents that last.
    func status() -> JSONObject {
        let (hub, now) = (keeper.hub, clock())
        let sites = HubSite.all(hub)
        var object = JSONObject()
        object.add("schema", 1)
        object.add("time", Timestamp(real: now))
        object.add("version", version)
        object.add("started", Timestamp(real: start))
        object.add("broker", follower.status.object)
        object.add("history", keeper.fault?.text)
        var counts = JSONObject()
        for standing in DevicePresence.Standing.allCases {
            counts.add(standing.rawValue, sites.reduce(0) { $0 + $1.count(standing) })
        }
        counts.add("unexplained", sites.reduce(0) { $0 + $1.unexplained })
        object.add("devices", counts)
        object.add("sites", sites.count)
        let open = hub.book.incidents.filter(\.isOpen)
        object.add("incidents", open.prefix(1000).map { IncidentSummary($0).object(at: now) })
        object.add("notifiers", notifiers().map(\.object))
        object.add("kind", "hubStatus")
        return object
    }
}

extension BrokerFollower.Status {
    fileprivate var object: JSONObject {
        var object = JSONObject()
        object.add("isConnected", isConnected)
        object.add("connections", connections)
        object.add("overruns", overruns)
        object.add("problem", problem)
        return object
    }
}
