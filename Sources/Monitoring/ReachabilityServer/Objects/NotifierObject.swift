package import LinuxSupport
package import ReachabilityService

extension NotifierStatus {
    /// The JSON object in `/v1/status`.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("name", name)
        object.add("way", way)
        object.add("pending", pending)
        object.add("delivered", delivered)
        object.add("postponed", postponed)
        object.add("refused", refused)
        object.add("failure", failure)
        object.add("failureTime", failureTime.map { Timestamp(real: $0).text })
        return object
    }
}
