import Crypto
import LinuxSupport
import NIOHTTP1
import ReachabilityRetry
import ServerTrust

/// Sends each notification as a POST request with JSON and an id that is the same for each attempt.
struct WebhookSender: NotificationSender {
    let name: String
    let web: WebSender
    /// Nil for requests without a signature.
    let signature: WebhookSignature?
    let writer: any NotificationWriting
    /// CLOCK_REALTIME, in seconds.
    var now: @Sendable () -> Int64 = { SystemClock.real.components.seconds }
    /// The last body that the server may have processed. It is repeated without changes.
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

/// The signature of Standard Webhooks: HMAC-SHA256 of id, time and body.
///
/// Source: <https://github.com/standard-webhooks/standard-webhooks>, symmetric signatures (`v1`); RFC 2104.
struct WebhookSignature: Sendable {
    private let key: [UInt8]

    /// - Parameter secret: `whsec_` with base64, or at least 16 bytes. Nil for other values.
    init?(secret: [UInt8]) {
        let text = String(decoding: secret, as: UTF8.self)
        if text.hasPrefix(Self.prefix) {
            guard let bytes = Base64.decode(text.dropFirst(Self.prefix.count)) else { return nil }
            key = bytes
        } else {
            key = secret
        }
        guard key.count >= Self.shortest else { return nil }
    }

    static let prefix = "whsec_"
    static let shortest = 16

    /// Returns the header fields of a message.
    ///
    /// - Parameter time: The current time in seconds since 1970. Receivers refuse messages that are some minutes old.
    func headers(id: String, time: Int64, body: [UInt8]) -> [(name: String, value: String)] {
        let content = Array("\(id).\(time).".utf8) + body
        let code = HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: key))
        return [("webhook-signature", "v1,\(Base64.encode(Array(code)))")]
    }

    /// Reads a secret from a file. A name without a slash is a credential of systemd.
    static func read(_ file: String) throws(ChannelError) -> WebhookSignature {
        guard let path = CredentialFile.path(of: file) else { throw ChannelError(CredentialFile.missing(file)) }
        if let text = CredentialFile.exposure(of: path, remedy: "use another secret, here and at the receiver") {
            throw ChannelError(text)
        }
        var bytes: [UInt8]
        do { bytes = try InputFile.read(path, limit: 4096) } catch {
            throw ChannelError("\(path.printable) cannot be read: \(error)")
        }
        while let last = bytes.last, [0x0a, 0x0d, 0x20].contains(last) { bytes.removeLast() }
        guard let signature = WebhookSignature(secret: bytes) else {
            throw ChannelError(
                "\(path.printable) has no secret of \(shortest) bytes at least, or behind whsec_ no base64"
            )
        }
        return signature
    }
}

/// Sends alerts to an Alertmanager (API v2, `POST /api/v2/alerts`), each minute while an incident lasts, and the end. An alert that is not
/// repeated for four minutes ends, so an Alertmanager that restarts needs no state.
struct AlertmanagerSender: NotificationSender {
    let web: WebSender
    let writer: any NotificationWriting

    /// The time from now to the end of an alert that lasts.
    static let patience: Duration = .seconds(240)
    /// The maximum number of alerts in a request.
    static let batch = 200

    var host: String? { web.host }
    var repetition: Duration? { .seconds(60) }

    /// Returns the address of the API for a configured address.
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
