import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ServerTrust

/// The form of the requests of a webhook. The services document the requests on the pages that the cases name.
package enum WebhookFormat: String, Hashable, Sendable, CaseIterable {
    /// The JSON object of this project.
    case json
    /// ntfy: https://docs.ntfy.sh/publish
    case ntfy
    /// Incoming webhooks of Slack, and those of Mattermost and Discord (with `/slack` appended) that accept the same:
    /// https://api.slack.com/messaging/webhooks
    case slack
    /// The Bot API of Telegram: https://core.telegram.org/bots/api#sendmessage
    case telegram
    /// The client-server API of Matrix: https://spec.matrix.org/latest/client-server-api/#sending-events-to-a-room
    case matrix
    /// Gotify: https://gotify.net/docs/pushmsg
    case gotify
    /// Pushover: https://pushover.net/api
    case pushover
    /// The Events API v2 of PagerDuty: https://developer.pagerduty.com/docs/events-api-v2-overview
    case pagerduty
    /// A body with placeholders.
    case template

    /// The server, if the service has only one; nil if the URL must be configured.
    package var usualURL: String? {
        switch self {
        case .telegram: "https://api.telegram.org"
        case .pushover: "https://api.pushover.net"
        case .pagerduty: "https://events.pagerduty.com"
        case .json, .ntfy, .slack, .matrix, .gotify, .template: nil
        }
    }

    /// Whether the key `token-file` is required, allowed (nil) or not allowed.
    package var needsToken: Bool? {
        switch self {
        case .telegram, .matrix, .gotify, .pushover, .pagerduty: true
        case .ntfy, .template: nil
        case .json, .slack: false
        }
    }

    /// The meaning of the key `to`; nil if the format has none.
    package var recipient: String? {
        switch self {
        case .telegram: "the id of a chat"
        case .matrix: "the id of a room"
        case .pushover: "the key of a user or a group"
        case .json, .ntfy, .slack, .gotify, .pagerduty, .template: nil
        }
    }
}

/// A request of a webhook.
struct WebhookRequest: Sendable {
    var method = HTTPMethod.POST
    /// The path to append to the configured URL.
    var path = ""
    var headers: [(name: String, value: String)]
    var body: [UInt8]

    init(
        _ method: HTTPMethod = .POST,
        path: String = "",
        _ headers: [(name: String, value: String)] = [],
        json body: JSONObject
    ) {
        (self.method, self.path, self.body) = (method, path, body.bytes)
        self.headers = [("Content-Type", "application/json")] + headers
    }

    init(_ headers: [(name: String, value: String)], body: String) {
        (self.headers, self.body) = (headers, Array(body.utf8))
    }
}

/// The requests that report a notification in a format.
struct WebhookForm: Sendable {
    let settings: WebhookSettings
    /// The content of the file of `token-file`; empty without one.
    let token: String
    let writer: any NotificationWriting

    /// The maximum numbers of characters that Telegram, Pushover and PagerDuty accept.
    private static let (telegramLimit, pushoverLimit, pagerDutyLimit) = (4096, 1024, 1024)
    private static let pushoverTitleLimit = 250

    /// Returns the requests of a notification, in the order in which they must be sent.
    func requests(_ notification: Notification, for notifier: String) -> [WebhookRequest] {
        let message = writer.message(notification)
        let isResolvedOrTest = notification.event == .ended || notification.event == .test
        var body = JSONObject()
        switch settings.format {
        case .json: return [WebhookRequest(json: writer.object(notification, for: notifier))]
        case .template:
            let fields = writer.fields(notification, for: notifier)
            var headers = settings.headers.map { (name: $0.name, value: $0.value.filled(fields, .text).encodedWord) }
            if !settings.namesContentType { headers.append(("Content-Type", settings.contentType)) }
            return [WebhookRequest(headers + bearer, body: (settings.body ?? "").filled(fields, settings.escaping))]
        case .ntfy:
            let tag =
                notification.event == .ended
                ? "white_check_mark" : isResolvedOrTest ? "speech_balloon" : "rotating_light"
            let headers = [
                (name: "Title", value: message.title.encodedWord), ("Priority", isResolvedOrTest ? "3" : "4"),
                ("Tags", tag),
            ]
            return [WebhookRequest(headers + bearer, body: message.text)]
        case .slack:
            // Slack treats these characters as markup.
            body.add("text", message.whole.markupEscaped)
            return [WebhookRequest(json: body)]
        case .telegram:
            body.add("chat_id", settings.recipient)
            body.add("text", String(message.whole.prefix(Self.telegramLimit)))
            return [WebhookRequest(path: "/bot\(token)/sendMessage", json: body)]
        case .matrix:
            body.add("msgtype", "m.text")
            body.add("body", message.whole)
            let (room, id) = ((settings.recipient ?? "").percentEncoded, notification.id.percentEncoded)
            // The server sends an event once for each transaction id.
            let path = "/_matrix/client/v3/rooms/\(room)/send/m.room.message/\(id)"
            return [WebhookRequest(.PUT, path: path, bearer, json: body)]
        case .gotify:
            body.add("title", message.title)
            body.add("message", message.text)
            body.add("priority", isResolvedOrTest ? 4 : 8)
            return [WebhookRequest(path: "/message", [("X-Gotify-Key", token)], json: body)]
        case .pushover:
            body.add("token", token)
            body.add("user", settings.recipient)
            body.add("title", String(message.title.prefix(Self.pushoverTitleLimit)))
            body.add("message", String(message.text.prefix(Self.pushoverLimit)))
            return [WebhookRequest(path: "/1/messages.json", json: body)]
        case .pagerduty:
            return pagerDutyActions(of: notification).map { action in
                WebhookRequest(path: "/v2/enqueue", json: pagerDutyEvent(action, notification, message))
            }
        }
    }

    /// An access token in the header (RFC 6750, 2.1).
    private var bearer: [(name: String, value: String)] {
        token.isEmpty ? [] : [("Authorization", "Bearer \(token)")]
    }

    /// Returns the actions of the events. A test leaves no open alert.
    private func pagerDutyActions(of notification: Notification) -> [String] {
        switch notification.event {
        case .began, .refined, .digest: ["trigger"]
        case .ended: ["resolve"]
        case .test: ["trigger", "resolve"]
        }
    }

    private func pagerDutyEvent(
        _ action: String,
        _ notification: Notification,
        _ message: PlainMessage
    ) -> JSONObject {
        let isWarning = notification.event == .test || notification.incident.state.attribution == .up
        let fields = Dictionary(writer.fields(notification, for: "")) { _, last in last }
        var details = JSONObject()
        details.add("text", message.text)
        for name in ["ATTRIBUTION", "CAUSE", "REASON", "START", "END", "TARGETS", "SITE"] {
            if let value = fields[name], !value.isEmpty { details.add(name.lowercased(), value) }
        }
        var payload = JSONObject()
        payload.add("summary", String(message.title.prefix(Self.pagerDutyLimit)))
        payload.add("source", fields["HOST"] ?? "")
        payload.add("severity", isWarning ? "warning" : "critical")
        payload.add("timestamp", fields["START"])
        payload.add("custom_details", details)
        var event = JSONObject()
        event.add("routing_key", token)
        event.add("event_action", action)
        event.add("dedup_key", notification.incident.id)
        event.add("payload", payload)
        return event
    }
}

/// The escaping of the values of placeholders in a template.
package enum TemplateEscaping: Hashable, Sendable {
    /// Inside a string of JSON.
    case json
    /// A value of `application/x-www-form-urlencoded`.
    case form
    /// Text of XML or HTML.
    case markup
    /// Unchanged.
    case text

    /// - Parameter contentType: The value of the field `Content-Type`.
    package init(contentType: String) {
        let type = contentType.lowercased().prefix { $0 != ";" }
        self =
            if type.contains("json") {
                .json
            } else if type.contains("x-www-form-urlencoded") {
                .form
            } else if type.contains("xml") || type.contains("html") {
                .markup
            } else {
                .text
            }
    }

    fileprivate func escaped(_ text: String) -> String {
        switch self {
        case .json:
            var object = JSONObject()
            object.add("", text)
            return String(object.description.dropFirst(#"{"":""#.count).dropLast(2))
        case .form: return text.percentEncoded
        case .markup: return text.markupEscaped.replacing(scalars: "\"", with: "&quot;")
        case .text: return text
        }
    }
}

extension String {
    /// The names in braces, such as `title` in `{title}`. Braces around other text than lower-case letters and underscores are no placeholder.
    package var placeholders: [String] { pieces.compactMap(\.field) }

    /// Returns the text with the values of its placeholders.
    func filled(_ fields: [(name: String, value: String)], _ escaping: TemplateEscaping) -> String {
        pieces.map { piece in
            guard let name = piece.field, let field = fields.first(where: { $0.name.lowercased() == name }) else {
                return piece.text
            }
            return escaping.escaped(field.value)
        }.joined()
    }

    /// The placeholders and the texts between them.
    private var pieces: [(text: String, field: String?)] {
        var pieces: [(String, String?)] = []
        for (index, part) in utf8.split(separator: UInt8(ascii: "{"), omittingEmptySubsequences: false).enumerated() {
            let text = String(decoding: part, as: UTF8.self)
            let name = text.utf8.prefix { (0x61...0x7a).contains($0) || $0 == 0x5f }
            if index > 0, !name.isEmpty, text.utf8.dropFirst(name.count).first == UInt8(ascii: "}") {
                let field = String(decoding: name, as: UTF8.self)
                pieces.append(("{\(field)}", field))
                pieces.append((String(decoding: text.utf8.dropFirst(name.count + 1), as: UTF8.self), nil))
            } else {
                pieces.append((index > 0 ? "{" + text : text, nil))
            }
        }
        return pieces
    }

    /// The text with the characters escaped that are markup in XML, HTML and Slack.
    fileprivate var markupEscaped: String {
        replacing(scalars: "&", with: "&amp;").replacing(scalars: "<", with: "&lt;")
            .replacing(scalars: ">", with: "&gt;")
    }

    /// The text as a value of a header field: unchanged if it is printable ASCII, otherwise as encoded words (RFC 2047).
    var encodedWord: String { encodedWords.joined(separator: " ") }

    /// The encoded words of the text, or the text itself if it is printable ASCII.
    var encodedWords: [String] {
        if utf8.allSatisfy({ (0x20..<0x7f).contains($0) }), !utf8.starts(with: "=?".utf8) { return [self] }
        // An encoded word has at most 75 characters, 45 bytes in base64.
        var words: [String] = []
        var rest = unicodeScalars[...]
        while !rest.isEmpty {
            var (end, count) = (rest.startIndex, 0)
            while end < rest.endIndex, count + UTF8.width(rest[end]) <= 45 {
                count += UTF8.width(rest[end])
                end = rest.index(after: end)
            }
            words.append("=?UTF-8?B?\(Base64.encode(Array(String(rest[..<end]).utf8)))?=")
            rest = rest[end...]
        }
        return words
    }
}
