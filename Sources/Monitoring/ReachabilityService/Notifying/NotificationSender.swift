import LinuxSupport
import Logging
import ReachabilityLedger
package import ReachabilityRetry
import ServerTrust

/// A sender of notifications through one channel.
package protocol NotificationSender: Sendable {
    /// The host that must be reachable; nil if the channel needs no network.
    var host: String? { get }
    /// The interval at which notifications of ongoing incidents are repeated; nil if they are not repeated.
    var repetition: Duration? { get }

    /// Makes one attempt to send notifications. It ends soon after its task is cancelled.
    ///
    /// - Parameter notifications: One notification, or all pending ones if the channel repeats them.
    func send(_ notifications: [Notification]) async throws(DeliveryFailure)
}

extension NotificationSender {
    package var host: String? { nil }
    package var repetition: Duration? { nil }
}

/// The reason why a delivery failed, or why a channel cannot be used.
package struct DeliveryFailure: RetryableError {
    /// A short description without addresses and secrets.
    package let text: String
    /// The stage at which the attempt failed; nil if the attempt must not be repeated.
    package let failureStage: FailureStage?

    package init(_ text: String, _ stage: FailureStage? = nil) {
        (self.text, failureStage) = (text, stage)
    }
}

/// The senders for the notifiers of a configuration.
struct Channels: Sendable {
    /// One sender per recipient. The key stays the same when the service restarts.
    private(set) var senders: [(key: String, notifier: NotifierSettings, sender: any NotificationSender)] = []
    private(set) var heartbeat: WebSender?
    /// The names and channels of all notifiers, and of the heartbeat.
    private(set) var names: [(name: String, channel: String)] = []

    init(
        _ configuration: ServiceConfiguration,
        _ writer: any NotificationWriting,
        _ environment: NotifyEnvironment,
        _ logger: Logger?
    ) throws(ConfigurationProblems) {
        var problems: [ConfigurationProblem] = []
        func web(_ url: String, _ path: String, _ policy: TrustPolicy?) -> WebSender? {
            let trust = policy?.file.manager() ?? ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:])
            do { return try WebSender(url, trust: trust, timeLimit: environment.timeLimit) } catch {
                problems.append(ConfigurationProblem(path: path, text: "not a valid HTTP URL: \(error.text)"))
                return nil
            }
        }
        for (index, notifier) in configuration.notifiers.enumerated() {
            let (path, name) = ("notify[\(index + 1)]", notifier.name)
            names.append((name, notifier.channel.name))
            switch notifier.channel {
            case .webhook(let settings):
                var (signature, token): (WebhookSignature?, String) = (nil, "")
                do throws(DeliveryFailure) {
                    signature = try settings.secretFile.map { file throws(DeliveryFailure) in try .read(file) }
                } catch {
                    problems.append(ConfigurationProblem(path: path + ".secret-file", text: error.text))
                }
                do throws(DeliveryFailure) {
                    if let file = settings.tokenFile { token = try SecretFile.token(file) }
                } catch {
                    problems.append(ConfigurationProblem(path: path + ".token-file", text: error.text))
                }
                guard let web = web(settings.url, path + ".webhook", notifier.policy) else { continue }
                let form = WebhookForm(settings: settings, token: token, writer: writer)
                senders.append((name, notifier, WebhookSender(name: name, web: web, form: form, signature: signature)))
            case .mail(let settings):
                let sender = MailSender(name: name, settings: settings, writer: writer, run: environment.programs)
                senders.append((name, notifier, sender))
            case .exec(let program, let limit):
                let sender = HookSender(name: name, path: program, limit: limit, writer: writer, run: environment.hooks)
                senders.append((name, notifier, sender))
            case .alertmanager(let urls):
                for (number, url) in urls.enumerated() {
                    let address = AlertmanagerSender.address(url)
                    guard let web = web(address, path + ".alertmanager[\(number + 1)]", notifier.policy) else {
                        continue
                    }
                    // Each Alertmanager has its own deliveries. The key has a hash of the URL, because a URL may contain a secret.
                    let key = "\(name) \(Outage.id(of: address, from: LedgerInstant(nanoseconds: 0)))"
                    senders.append((key, notifier, AlertmanagerSender(web: web, writer: writer)))
                }
            case .journal:
                let socket = environment.journalSocket
                let sender = JournalSender(name: name, writer: writer, logger: logger, socket: socket)
                senders.append((name, notifier, sender))
            }
        }
        if let settings = configuration.heartbeat {
            heartbeat = web(settings.url, "heartbeat.url", settings.policy)
            names.append(("heartbeat", "heartbeat"))
        }
        if !problems.isEmpty { throw ConfigurationProblems(problems) }
    }
}

/// A function that runs a program, or all programs in a directory, with environment variables. It returns the first error message; nil
/// for success.
package typealias HookRunner =
    @Sendable (_ path: String, _ limit: Duration, _ notifier: String, _ variables: [(name: String, value: String)])
    async -> String?

/// A sender that runs programs once for each notification. A failed run is not repeated.
struct HookSender: NotificationSender {
    let name: String
    let path: String
    /// The timeout of each program.
    let limit: Duration
    let writer: any NotificationWriting
    let run: HookRunner

    func send(_ notifications: [Notification]) async throws(DeliveryFailure) {
        for notification in notifications {
            let variables = writer.fields(notification, for: name).map { name, value in
                // An environment variable cannot contain a zero byte.
                ("REACHABILITY_" + name, value.utf8.contains(0) ? value.printable : value)
            }
            if let problem = await run(path, limit, name, variables) { throw DeliveryFailure(problem) }
        }
    }
}

/// A sender that writes structured entries to the systemd journal with its native protocol. Without a journal, the text is logged.
struct JournalSender: NotificationSender {
    let name: String
    let writer: any NotificationWriting
    let logger: Logger?
    let socket: String

    static let standardSocket = "/run/systemd/journal/socket"

    func send(_ notifications: [Notification]) async throws(DeliveryFailure) {
        for notification in notifications {
            let entry = JournalEntry(notification, writer.fields(notification, for: name))
            do { try LocalSocket.send(datagram: entry.bytes, to: socket) } catch {
                logger?.warning("\(writer.text(notification))")
                throw DeliveryFailure("cannot write to the journal: \(error); the text was logged instead")
            }
        }
    }
}

/// An entry of the journal.
///
/// Source: systemd, "Native Journal Protocol" (https://systemd.io/JOURNAL_NATIVE_PROTOCOL).
struct JournalEntry {
    private(set) var bytes: [UInt8] = []

    /// The maximum length of a value, in bytes. The whole entry must fit into a datagram.
    static let longestValue = 16 << 10

    init(_ notification: Notification, _ fields: [(name: String, value: String)]) {
        let text = fields.first { $0.name == "TEXT" }?.value ?? ""
        add("MESSAGE", text)
        add("MESSAGE_ID", notification.event.messageID)
        // LOG_NOTICE for the end, LOG_WARNING otherwise (syslog(3)).
        add("PRIORITY", notification.event == .ended ? "5" : "4")
        add("SYSLOG_IDENTIFIER", "reachability")
        for (name, value) in fields where name != "TEXT" && !value.isEmpty { add("REACHABILITY_" + name, value) }
    }

    /// Adds a field. If the value contains a line feed, its length precedes it as a 64-bit little-endian number.
    private mutating func add(_ name: String, _ value: String) {
        let value = Array(value.utf8.prefix(Self.longestValue))
        bytes += name.utf8
        if value.contains(0x0a) {
            bytes.append(0x0a)
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: UInt64(value.count) >> shift))
            }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value
        bytes.append(0x0a)
    }
}

extension Notification.Event {
    /// The message ID for `journalctl MESSAGE_ID=...`. It never changes.
    var messageID: String {
        switch self {
        case .began: "91537bf5a2884bf38bd342b09c63a694"
        case .refined: "5ce605e209d44d29a6c1e94056ba75e1"
        case .ended: "934fff3f385040d2a6df617e86eef4c0"
        case .digest: "a74231f6e6fd4ac3a83d6d2b34fbdb9b"
        case .test: "0d1f6a4b5c1e4f0c9a3d7e2b86f45c19"
        }
    }
}
