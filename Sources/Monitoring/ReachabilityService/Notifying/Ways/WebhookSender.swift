import LinuxSupport
import NIOHTTP1
import ReachabilityRetry

/// Tells by a POST of JSON, each notification with an id that stays the same however often it is sent.
struct WebhookSender: NotificationSender {
    let name: String
    let web: WebSender
    /// Nil where nothing is signed.
    let signature: WebhookSignature?
    let writer: any NotificationWriting
    /// CLOCK_REALTIME, in seconds.
    var now: @Sendable () -> Int64 = { SystemClock.real.components.seconds }
    /// What was sent and may have been taken: it is sent again as it was, byte for byte.
    private let sent = Locked<(id: String, body: [UInt8])?>(nil)

    init(name: String, web: WebSender, signature: WebhookSignature?, writer: any NotificationWriting) {
        (self.name, self.web, self.signature, self.writer) = (name, web, signature, writer)
    }

    var host: String? { web.host }

    func send(_ notifications: [Notification]) async throws(DeliveryFailure) {
        for notification in notifications { try await send(notification) }
    }

    private func send(_ notification: Notification) async throws(DeliveryFailure) {
        let (id, time) = (notification.id, now())
        let earlier = sent.withLock { $0?.id == id ? $0?.body : nil }
        let body = earlier ?? writer.object(notification, for: name).bytes
        var headers = [
            (name: "Content-Type", value: "application/json"), ("Idempotency-Key", id), ("webhook-id", id),
            ("webhook-timestamp", String(time)),
        ]
        if let signature { headers += signature.headers(id: id, time: time, body: body) }
        do throws(DeliveryFailure) {
            try await web.send(.POST, headers, body)
            sent.withLock { $0 = nil }
        } catch {
            sent.withLock { $0 = error.failureStage == .neverSent && earlier == nil ? nil : (id, body) }
            throw error
        }
    }
}
