import LinuxSupport

/// Writes into the journal of systemd by its own protocol, with fields to search by. Where there is none, standard error has it.
struct JournalSender: NotificationSender {
    let name: String
    let writer: any NotificationWriting
    /// Told of what the journal cannot be told.
    let report: @Sendable (String) -> Void
    var socket = Self.standardSocket

    static let standardSocket = "/run/systemd/journal/socket"

    init(
        name: String,
        writer: any NotificationWriting,
        socket: String = standardSocket,
        report: @escaping @Sendable (String) -> Void
    ) {
        (self.name, self.writer, self.socket, self.report) = (name, writer, socket, report)
    }

    func send(_ notifications: [Notification]) async throws(DeliveryFailure) {
        for notification in notifications {
            let entry = JournalEntry(notification, writer.fields(notification, for: name))
            do { try LocalSocket.send(datagram: entry.bytes, to: socket) } catch {
                report(writer.text(notification))
                throw DeliveryFailure("there is no journal (\(error)), so standard error has it", nil)
            }
        }
    }
}

/// An entry of the journal.
///
/// Source: systemd, "Native Journal Protocol" (https://systemd.io/JOURNAL_NATIVE_PROTOCOL).
struct JournalEntry {
    private(set) var bytes: [UInt8] = []

    /// A value has so many bytes at most: a datagram must hold the entry.
    static let longestValue = 16 << 10

    init(_ notification: Notification, _ fields: [(name: String, value: String)]) {
        let text = fields.first { $0.name == "TEXT" }?.value ?? ""
        add("MESSAGE", text)
        add("MESSAGE_ID", notification.event.messageID)
        // LOG_NOTICE for what is over, LOG_WARNING otherwise (syslog(3)).
        add("PRIORITY", notification.event == .ended ? "5" : "4")
        add("SYSLOG_IDENTIFIER", "reachability")
        for (name, value) in fields where name != "TEXT" && !value.isEmpty { add("REACHABILITY_" + name, value) }
    }

    /// A value with a line's end in it is written with its length, in 64 bits, little end first.
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
    /// What `journalctl MESSAGE_ID=...` finds it by; never changed.
    var messageID: String {
        switch self {
        case .began: "91537bf5a2884bf38bd342b09c63a694"
        case .refined: "5ce605e209d44d29a6c1e94056ba75e1"
        case .ended: "934fff3f385040d2a6df617e86eef4c0"
        case .digest: "a74231f6e6fd4ac3a83d6d2b34fbdb9b"
        }
    }
}
