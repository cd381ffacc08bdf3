import Crypto
import LinuxSupport
import NIOHTTP1
import ReachabilityRetry
import ServerTrust

/// A sender of notifications as HTTP requests. The id in the header is the same for each attempt.
struct WebhookSender: NotificationSender {
    let name: String
    let web: WebSender
    let form: WebhookForm
    /// The signature of the requests; nil for requests without a signature.
    let signature: WebhookSignature?
    /// Returns CLOCK_REALTIME, in seconds.
    var now: @Sendable () -> Int64 = { SystemClock.real.components.seconds }
    /// The requests of the last attempt that the server may have processed. A retry sends the same requests.
    private let sent = Locked<(id: String, requests: [WebhookRequest])?>(nil)

    init(name: String, web: WebSender, form: WebhookForm, signature: WebhookSignature?) {
        (self.name, self.web, self.form, self.signature) = (name, web, form, signature)
    }

    var host: String? { web.host }

    func send(_ notifications: [Notification]) async throws(DeliveryFailure) {
        for notification in notifications { try await send(notification) }
    }

    private func send(_ notification: Notification) async throws(DeliveryFailure) {
        let (id, time) = (notification.id, now())
        let earlier = sent.withLock { $0?.id == id ? $0?.requests : nil }
        let requests = earlier ?? form.requests(notification, for: name)
        do throws(DeliveryFailure) {
            for request in requests {
                var headers = request.headers
                if form.settings.isSigned {
                    headers += [("Idempotency-Key", id), ("webhook-id", id), ("webhook-timestamp", String(time))]
                    if let signature { headers += signature.headers(id: id, time: time, body: request.body) }
                }
                try await web.send(request.method, headers, request.body, path: request.path)
            }
            sent.withLock { $0 = nil }
        } catch {
            sent.withLock { $0 = error.failureStage == .neverSent && earlier == nil ? nil : (id, requests) }
            throw error
        }
    }
}

/// The signature of Standard Webhooks: the HMAC-SHA256 of id, time and body.
///
/// Source: <https://github.com/standard-webhooks/standard-webhooks>, symmetric signatures (`v1`); RFC 2104.
struct WebhookSignature: Sendable {
    private let key: [UInt8]

    /// Creates a signature with a secret. The result is nil if the secret has fewer than 16 bytes or is not valid base64.
    ///
    /// - Parameter secret: The prefix `whsec_` with base64, or plain bytes.
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

    /// The prefix of a secret in base64.
    static let prefix = "whsec_"
    /// The minimum length of a secret, in bytes.
    static let shortest = 16

    /// Returns the header fields of a message.
    ///
    /// - Parameter time: The current time in seconds since 1970. Receivers reject messages that are some minutes old.
    func headers(id: String, time: Int64, body: [UInt8]) -> [(name: String, value: String)] {
        let content = Array("\(id).\(time).".utf8) + body
        let code = HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: key))
        return [("webhook-signature", "v1,\(Base64.encode(Array(code)))")]
    }

    /// Reads the secret from a file.
    static func read(_ file: String) throws(DeliveryFailure) -> WebhookSignature {
        let (path, bytes) = try SecretFile.read(file)
        guard let signature = WebhookSignature(secret: bytes) else {
            throw DeliveryFailure(
                "\(path.printable) does not contain a secret of at least \(shortest) bytes, or base64 after whsec_"
            )
        }
        return signature
    }
}

/// A file with a secret. A name without a slash is a systemd credential.
package enum SecretFile {
    /// Returns the path and the content without spaces and line ends at its end.
    ///
    /// - Throws: ``DeliveryFailure`` if the file cannot be read, or all users of this machine have a permission for it.
    static func read(_ file: String) throws(DeliveryFailure) -> (path: String, bytes: [UInt8]) {
        guard let path = CredentialFile.path(of: file) else { throw DeliveryFailure(CredentialFile.missing(file)) }
        if let text = CredentialFile.exposure(of: path, remedy: "replace the secret, also at the receiver") {
            throw DeliveryFailure(text)
        }
        var bytes: [UInt8]
        do { bytes = try InputFile.read(path, limit: 4096) } catch {
            throw DeliveryFailure("cannot read \(path.printable): \(error)")
        }
        while let last = bytes.last, [0x0a, 0x0d, 0x20].contains(last) { bytes.removeLast() }
        return (path, bytes)
    }

    /// Returns a secret that is a line of text.
    static func text(_ file: String) throws(DeliveryFailure) -> String {
        let (path, bytes) = try read(file)
        guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty,
            text.unicodeScalars.allSatisfy(\.isPrintable)
        else {
            throw DeliveryFailure("\(path.printable) does not contain one line of printable characters")
        }
        return text
    }

    /// Returns the token in a file: printable ASCII without spaces.
    ///
    /// - Parameter length: The minimum number of characters.
    package static func token(_ file: String, atLeast length: Int = 1) throws(DeliveryFailure) -> String {
        let (path, bytes) = try read(file)
        guard bytes.isEmpty || bytes.count >= length else {
            throw DeliveryFailure(
                "the token in \(path.printable) is shorter than \(length) characters; create one with `openssl rand -hex 16`"
            )
        }
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21..<0x7f).contains($0) }) else {
            throw DeliveryFailure("\(path.printable) does not contain a token: printable ASCII without spaces")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ServiceConfiguration {
    /// Reads the files with secrets that the configuration names, and discards the secrets.
    ///
    /// - Returns: The files that this user may not read, such as systemd credentials.
    /// - Throws: ``ConfigurationProblems`` for the other files that cannot be used.
    package func checkSecrets() throws(ConfigurationProblems) -> [String] {
        var (hidden, problems): ([String], [ConfigurationProblem]) = ([], [])
        func check(_ file: String?, _ path: String, _ read: (String) throws(DeliveryFailure) -> Void) {
            guard let file else { return }
            guard CredentialFile.isReadable(file) else { return hidden.append(file) }
            do throws(DeliveryFailure) { try read(file) } catch {
                problems.append(ConfigurationProblem(path: path, text: error.text))
            }
        }
        func token(_ file: String) throws(DeliveryFailure) { _ = try SecretFile.token(file) }
        for (index, notifier) in notifiers.enumerated() {
            guard case .webhook(let settings) = notifier.channel else { continue }
            check(settings.secretFile, "notify[\(index + 1)].secret-file") { file throws(DeliveryFailure) in
                _ = try WebhookSignature.read(file)
            }
            check(settings.tokenFile, "notify[\(index + 1)].token-file", token)
        }
        for (index, target) in targets.enumerated() {
            check(target.push?.tokenFile, "target[\(index + 1)].push.token-file", token)
        }
        if !problems.isEmpty { throw ConfigurationProblems(problems) }
        return hidden
    }
}

/// A sender of alerts to an Alertmanager (API v2, `POST /api/v2/alerts`).
///
/// Alerts are sent each minute while an incident is ongoing, and once at its end. An alert that is not repeated for four minutes is
/// resolved. Therefore an Alertmanager needs no state when it restarts.
struct AlertmanagerSender: NotificationSender {
    let web: WebSender
    let writer: any NotificationWriting

    /// The time from now to the `endsAt` of a firing alert.
    static let lifetime: Duration = .seconds(240)
    /// The maximum number of alerts in a request.
    static let batch = 200

    var host: String? { web.host }
    var repetition: Duration? { .seconds(60) }

    /// Returns the URL of the API for a configured URL.
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
        writer.alerts(notifications, lifetime: Self.lifetime)
    }
}
