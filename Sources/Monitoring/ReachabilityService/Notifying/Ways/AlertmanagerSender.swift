import LinuxSupport
import NIOHTTP1

/// Tells an Alertmanager (API v2, `POST /api/v2/alerts`): again each minute while something lasts, and that it is over. What it has not
/// heard of for four minutes it takes to be over, so it may be away, or be started anew: it hears all that still matters.
struct AlertmanagerSender: NotificationSender {
    let web: WebSender
    let writer: any NotificationWriting

    /// How much further the end of an alert that lasts is put off each time.
    static let patience: Duration = .seconds(240)
    /// So many alerts go into one request.
    static let batch = 200

    init(web: WebSender, writer: any NotificationWriting) {
        (self.web, self.writer) = (web, writer)
    }

    var host: String? { web.host }
    var repetition: Duration? { .seconds(60) }

    /// The address of its interface, made of the one that is configured.
    static func address(_ url: String) -> String {
        var url = url
        while url.hasSuffix("/") { url.removeLast() }
        return url.hasSuffix("/api/v2/alerts") ? url : url + "/api/v2/alerts"
    }

    func send(_ notifications: [Notification]) async throws(DeliveryFailure) {
        var alerts = self.alerts(notifications)[...]
        while !alerts.isEmpty {
            let bodies = alerts.prefix(Self.batch).map { String(decoding: $0.bytes, as: UTF8.self) }
            let body = "[\(bodies.joined(separator: ","))]"
            try await web.send(.POST, [("Content-Type", "application/json")], Array(body.utf8))
            alerts = alerts.dropFirst(Self.batch)
        }
    }

    func alerts(_ notifications: [Notification]) -> [JSONObject] {
        writer.alerts(notifications, patience: Self.patience)
    }
}
