package import LinuxSupport

/// Writes notifications, for each way as it takes them. What strangers wrote is made safe to show.
package protocol NotificationWriting: Sendable {
    /// What a webhook is sent.
    func object(_ notification: Notification, for notifier: String) -> JSONObject

    /// One sentence for people.
    func text(_ notification: Notification) -> String

    /// Everything of it as names and values, for hooks and the journal. What is not known is empty.
    func fields(_ notification: Notification, for notifier: String) -> [(name: String, value: String)]

    /// What an Alertmanager is told, in this order: what lasts comes last, for the same labels may end and begin again.
    ///
    /// - Parameter patience: So far from now is the end of what lasts.
    func alerts(_ notifications: [Notification], patience: Duration) -> [JSONObject]
}

extension NotificationWriting {
    /// The kernel gives no program a longer variable than four times this (MAX_ARG_STRLEN, `execve(2)`).
    private static var longestValue: Int { 32 << 10 }
    /// So many names stand in a sentence.
    private static var namesLimit: Int { 3 }

    /// Names, a line for each, as many as a variable holds.
    package func lines(_ names: some Sequence<String>) -> String {
        var text = ""
        for name in names.lazy.map(\.printable) {
            if text.utf8.count + name.utf8.count >= Self.longestValue { break }
            text += text.isEmpty ? name : "\n" + name
        }
        return text
    }

    /// The first of some names, and how many more there are.
    ///
    /// - Parameter count: Of all.
    package func few(_ names: [String], of count: Int) -> String {
        let first = names.prefix(Self.namesLimit)
        let rest = count - first.count
        return first.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
}
