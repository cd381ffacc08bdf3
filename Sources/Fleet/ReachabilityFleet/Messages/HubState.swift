import LinuxSupport

/// The hub's own presence: a new session of it wants to be told how everybody is.
package struct HubState: Hashable, Sendable {
    package let session: String
    package let isOnline: Bool

    package init(session: String, isOnline: Bool) {
        (self.session, self.isOnline) = (session, isOnline)
    }

    private enum Word: String { case online, offline }

    package init(_ bytes: [UInt8]) throws(PayloadError) {
        let payload = try Payload(bytes)
        session = try payload.text("session", longest: 64)
        isOnline = try payload.word("state", Word.self) == .online
    }

    package var bytes: [UInt8] {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("session", session)
        object.add("state", (isOnline ? Word.online : .offline).rawValue)
        return object.bytes
    }
}
