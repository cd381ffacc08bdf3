import LinuxSupport
import ReachabilityRetry
import ServerTrust

/// The settings of e-mail.
package struct MailSettings: Hashable, Sendable {
    package let recipients: [String]
    /// The address of the sender; nil for the default of the mail program.
    package var sender: String?
    /// The program that takes a message on its standard input, as sendmail(8) does.
    package var program = Self.standardProgram

    package static let standardProgram = "/usr/sbin/sendmail"

    package init(recipients: [String], sender: String? = nil, program: String = Self.standardProgram) {
        (self.recipients, self.sender, self.program) = (recipients, sender, program)
    }

    /// Returns a Boolean value that indicates whether a text is an address `NAME@HOST` that cannot be an option of the program.
    static func isAddress(_ text: String) -> Bool {
        let parts = text.split(at: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && text.utf8.count <= 254 && !text.hasPrefix("-")
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && !#"<>(),;:\""#.utf8.contains($0) }
    }
}

/// A function that runs a program with arguments and an input. It returns the exit status of a shell, and an error message; nil for success.
package typealias InputProgramRunner =
    @Sendable (_ path: String, _ arguments: [String], _ input: [UInt8], _ notifier: String)
    async -> (status: Int32, problem: String)?

/// A sender of e-mail through a local mail program. The program queues the message, so it needs no network.
struct MailSender: NotificationSender {
    let name: String
    let settings: MailSettings
    let writer: any NotificationWriting
    let run: InputProgramRunner

    func send(_ notifications: [Notification]) async throws(DeliveryFailure) {
        let envelope = settings.sender.map { ["-f", $0] } ?? []
        for notification in notifications {
            let arguments = ["-i"] + envelope + ["--"] + settings.recipients
            guard let failure = await run(settings.program, arguments, text(notification), name) else { continue }
            throw DeliveryFailure(failure.problem, Self.isTemporary(failure.status) ? .neverSent : nil)
        }
    }

    /// Returns a Boolean value that indicates whether another attempt may succeed: after a temporary failure (EX_TEMPFAIL of sysexits.h), a
    /// program that is missing or cannot be started (126 and 127), or one that was ended by a signal, also at its time limit (from 128).
    private static func isTemporary(_ status: Int32) -> Bool { status == 75 || status >= 126 }

    /// Returns the message (RFC 5322). The mail program adds the date.
    func text(_ notification: Notification) -> [UInt8] {
        let (message, incident) = (writer.message(notification), notification.incident.id)
        var fields = settings.sender.map { [("From", $0)] } ?? []
        fields += [
            // A line has at most 998 characters (RFC 5322, 2.1.1), so long fields are folded.
            ("To", settings.recipients.joined(separator: ",\n ")),
            ("Subject", message.title.encodedWords.joined(separator: "\n ")),
            ("Message-ID", "<\(notification.id)@reachability.invalid>"),
            // All messages about an incident form one thread.
            ("References", "<\(incident)@reachability.invalid>"),
            // Prevents automatic replies (RFC 3834).
            ("Auto-Submitted", "auto-generated"), ("MIME-Version", "1.0"),
            ("Content-Type", "text/plain; charset=utf-8"), ("Content-Transfer-Encoding", "base64"),
        ]
        let head = fields.map { "\($0): \($1)\n" }.joined()
        let body = Base64.encode(Array((message.text + "\n").utf8))
        // A line has at most 76 characters (RFC 2045, 6.8).
        let lines = stride(from: 0, to: body.utf8.count, by: 76).map { String(body.dropFirst($0).prefix(76)) + "\n" }
        return Array((head + "\n" + lines.joined()).utf8)
    }
}
