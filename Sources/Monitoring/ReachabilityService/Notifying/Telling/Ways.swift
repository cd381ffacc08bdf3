import LinuxSupport
import ReachabilityLedger
import ServerTrust

/// The senders that a configuration asks for.
struct Ways: Sendable {
    /// One for each recipient, under a key that stays the same over restarts.
    private(set) var senders: [(key: String, notifier: NotifierSettings, sender: any NotificationSender)] = []
    private(set) var heartbeat: WebSender?
    /// Whom it is about, and how they are told.
    private(set) var names: [(name: String, way: String)] = []

    /// - Throws: All that cannot be used, without addresses and secrets.
    init(
        _ configuration: ServiceConfiguration,
        _ writer: any NotificationWriting,
        _ environment: NotifyEnvironment,
        _ report: @escaping @Sendable (String) -> Void
    ) throws(ConfigurationProblems) {
        var problems: [ConfigurationProblem] = []
        func web(_ url: String, _ path: String, _ trust: ServerTrustManager) -> WebSender? {
            do { return try WebSender(url, trust: trust, timeLimit: environment.timeLimit) } catch {
                problems.append(ConfigurationProblem(path: path, text: "it is no address of HTTP: \(error.text)"))
                return nil
            }
        }
        func trust(_ policy: TrustPolicy?) -> ServerTrustManager {
            policy?.file.manager() ?? ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:])
        }
        for (index, notifier) in configuration.notifiers.enumerated() {
            let path = "notify[\(index + 1)]"
            names.append((notifier.name, notifier.way.name))
            let trust = trust(notifier.policy)
            switch notifier.way {
            case .webhook(let url, let file):
                var signature: WebhookSignature?
                do throws(SecretProblem) {
                    signature = try file.map { file throws(SecretProblem) in try WebhookSignature.read(file) }
                } catch {
                    problems.append(ConfigurationProblem(path: path + ".secret-file", text: error.text))
                }
                guard let web = web(url, path + ".webhook", trust) else { continue }
                let sender = WebhookSender(name: notifier.name, web: web, signature: signature, writer: writer)
                senders.append((notifier.name, notifier, sender))
            case .exec(let program, let limit):
                let sender = HookSender(
                    name: notifier.name,
                    path: program,
                    limit: limit,
                    writer: writer,
                    run: environment.hooks
                )
                senders.append((notifier.name, notifier, sender))
            case .alertmanager(let urls):
                for (number, url) in urls.enumerated() {
                    let address = AlertmanagerSender.address(url)
                    guard let web = web(address, path + ".alertmanager[\(number + 1)]", trust) else { continue }
                    // Each is told for itself; addresses may have secrets in them, so none is written down.
                    let key = "\(notifier.name) \(Outage.id(of: address, from: LedgerInstant(nanoseconds: 0)))"
                    senders.append((key, notifier, AlertmanagerSender(web: web, writer: writer)))
                }
            case .journal:
                let sender = JournalSender(
                    name: notifier.name,
                    writer: writer,
                    socket: environment.journalSocket,
                    report: report
                )
                senders.append((notifier.name, notifier, sender))
            }
        }
        if let settings = configuration.heartbeat {
            heartbeat = web(settings.url, "heartbeat.url", trust(settings.policy))
            names.append(("heartbeat", "heartbeat"))
        }
        if !problems.isEmpty { throw ConfigurationProblems(problems) }
    }
}
