import LinuxSupport
import Netlink
package import NetworkReachability

/// One event of a recording, at a time of CLOCK_MONOTONIC.
package struct Record: Hashable, Sendable {
    /// The path of netlink messages, in the values of the option `epb_flags`.
    package enum Path: UInt32, Hashable, Sendable {
        /// Received by the event socket: inbound, multicast.
        case event = 0b01001
        /// Sent: outbound, unicast.
        case request = 0b00110
        /// A part of the reply to the request before it: inbound, unicast.
        case reply = 0b00101
    }

    package enum Content: Hashable, Sendable {
        case messages(Path, [UInt8])
        case note(Note)
    }

    package var time: Duration
    package var content: Content

    package init(_ content: Content, at time: Duration) {
        self.content = content
        self.time = time
    }

    package init(_ kind: Note.Kind, _ subject: String = "", _ value: String = "", at time: Duration) {
        self.init(.note(Note(kind, subject, value)), at: time)
    }

    package var note: Note? { if case .note(let note) = content { note } else { nil } }
}

/// An event that is not a netlink message.
package struct Note: Hashable, Sendable {
    /// The kinds of notes; `docs/recording-format.md` lists their subjects and values.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A setting of the recording. Settings precede everything but the first clock.
        case option
        /// From this record on, CLOCK_REALTIME and CLOCK_BOOTTIME have another offset from CLOCK_MONOTONIC.
        case clock

        // The beginnings of turns of the monitor's queue. Every record belongs to the turn before it.
        case start, events, timer, resolved, wake
        case namespaceChanged = "namespace-changed"
        case namesChanged = "names-changed"

        // Answers of the system to the monitor.
        case connect, listen, filter, current, hardware, peers, hosts, lookup, plan, watch

        /// The kernel dropped events (ENOBUFS).
        case loss
        /// The request before it failed.
        case failure
        /// The recording ended on demand or at its limit.
        case end

        var isTurn: Bool {
            switch self {
            case .start, .events, .timer, .resolved, .namespaceChanged, .wake, .namesChanged: true
            default: false
            }
        }
    }

    /// The value of an end at the limit.
    static let limit = "at its limit"

    package var kind: Kind
    package var subject: String
    package var value: String

    package init(_ kind: Kind, _ subject: String = "", _ value: String = "") {
        (self.kind, self.subject, self.value) = (kind, subject.printable, value.printable)
    }

    /// Returns the numbers in the value; nil if the value does not consist of `count` numbers.
    func numbers(_ count: Int) -> [Int64]? {
        let numbers = value.split(at: " ").compactMap { Int64($0) }
        return numbers.count == count && numbers.allSatisfy { $0 >= 0 } ? numbers : nil
    }
}

/// One moment on three clocks.
package struct RecordedMoment: Hashable, Sendable {
    /// Since 1970-01-01T00:00:00Z (CLOCK_REALTIME).
    package var real: Duration
    /// CLOCK_MONOTONIC.
    package var monotonic: Duration
    /// CLOCK_BOOTTIME.
    package var boot: Duration

    package init(real: Duration, monotonic: Duration, boot: Duration) {
        (self.real, self.monotonic, self.boot) = (real, monotonic, boot)
    }

    package static var now: RecordedMoment {
        RecordedMoment(real: SystemClock.real, monotonic: SystemClock.monotonic, boot: SystemClock.boot)
    }

    /// Returns the moment at another time of CLOCK_MONOTONIC, under the condition that no clock is set and the machine
    /// does not sleep.
    func moved(to time: Duration) -> RecordedMoment {
        RecordedMoment(real: real + (time - monotonic), monotonic: time, boot: boot + (time - monotonic))
    }

    var record: Record { Record(.clock, "", "\(real.nanoseconds) \(boot.nanoseconds)", at: monotonic) }

    /// Creates a moment from a note about the clocks; nil for any other record.
    init?(_ record: Record) {
        guard let note = record.note, note.kind == .clock, let numbers = note.numbers(2) else { return nil }
        self.init(real: .nanoseconds(numbers[0]), monotonic: record.time, boot: .nanoseconds(numbers[1]))
    }
}

/// The settings of a recording.
package struct RecordingHeader: Hashable, Sendable {
    package var start: RecordedMoment
    /// Names and values. A name may occur several times.
    package var settings: [[String]]
    /// The name of the last setting.
    private static let last = "filter"

    /// Creates the settings of a new recording.
    ///
    /// - Parameters:
    ///   - hosts: The hosts as they were given. If empty, general reachability.
    ///   - namespace: The name of the network namespace; nil for the current one.
    ///   - version: The version of the command.
    package init(
        hosts: [String],
        namespace: String?,
        options: NetworkReachabilityOptions,
        version: String,
        start: RecordedMoment = .now
    ) {
        let release = TextFile.read("/proc/sys/kernel/osrelease") ?? ""
        self.start = start
        settings = [
            ["version", version], ["kernel", String(release.prefix { !$0.isNewline })],
            ["mark", "\(options.firewallMark)"], ["refresh", "\(options.nameRefreshInterval.nanoseconds)"],
        ]
        settings += options.addressesAtLarge.map { ["address", $0.description] } + hosts.map { ["host", $0] }
        if let namespace { settings.append(["namespace", namespace]) }
        settings.append([Self.last, "\(options.filtersRouteMessages)"])
    }

    /// Creates the settings from records. Nil if the records are not a clock and settings.
    init?(_ records: ArraySlice<Record>) {
        guard let first = records.first, let start = RecordedMoment(first) else { return nil }
        self.start = start
        settings = records.dropFirst().compactMap(\.note).map { [$0.subject, $0.value] }
        guard settings.last?.first == Self.last else { return nil }
    }

    var records: [Record] {
        [start.record] + settings.map { Record(.option, $0[0], $0[1], at: start.monotonic) }
    }

    /// Returns the values of a setting.
    subscript(name: String) -> [String] { settings.filter { $0[0] == name }.map { $0[1] } }

    package var hosts: [String] { self["host"] }
    package var namespace: String? { self["namespace"].first }

    /// The options of the monitor.
    package var options: NetworkReachabilityOptions {
        var options = NetworkReachabilityOptions()
        options.firewallMark = self["mark"].first.flatMap { UInt32($0) } ?? 0
        options.filtersRouteMessages = self[Self.last] == ["true"]
        options.addressesAtLarge = self["address"].compactMap { IPAddress($0) }
        if let refresh = self["refresh"].first.flatMap({ Int64($0) }) {
            options.nameRefreshInterval = .nanoseconds(refresh)
        }
        return options
    }
}

/// Encodes records as the blocks of a file.
package struct RecordingEncoder: Sendable {
    private(set) var clock: RecordedMoment

    package init(_ header: RecordingHeader) {
        clock = header.start
    }

    fileprivate init(start: RecordedMoment) {
        clock = start
    }

    /// Returns the beginning of the file.
    package static func head(_ header: RecordingHeader) -> [UInt8] {
        let system = "Linux " + (header["kernel"].first ?? "").printable
        let program = "reachability " + (header["version"].first ?? "").printable
        var encoder = RecordingEncoder(header)
        let beginning = CaptureBlock.section(system: system, program: program) + CaptureBlock.interface
        return header.records.reduce(into: beginning) { $0 += encoder.bytes(of: $1) }
    }

    /// Returns the block of the next record. A time before that of the previous record is replaced by the latter.
    package mutating func bytes(of record: Record) -> [UInt8] {
        clock = (RecordedMoment(record) ?? clock).moved(to: max(clock.monotonic, record.time))
        switch record.content {
        case .messages(let path, let bytes): return CaptureBlock.packet(path, bytes, at: clock.real)
        case .note(let note):
            let words = [note.kind.rawValue, note.subject, note.value].filter { !$0.isEmpty }
            return CaptureBlock.journal([
                ("__REALTIME_TIMESTAMP", "\(clock.real.nanoseconds / 1000)"), ("MESSAGE", words.joined(separator: " ")),
                ("MONOTONIC", "\(clock.monotonic.nanoseconds)"), ("KIND", note.kind.rawValue),
                ("SUBJECT", note.subject), ("VALUE", note.value),
            ])
        }
    }
}

/// A recording as read from a file, up to its end or to the first damaged record.
package struct Recording: Sendable {
    /// The reason why the rest of a file was not read.
    package struct Damage: Hashable, Sendable {
        /// The position of the damaged record, in bytes from the beginning of the file.
        package var offset: Int
        package var cause: String

        /// The cause for a file that ends after a complete record.
        static let early = "the recording was not finished"
    }

    /// The reason why a file is not a recording.
    package enum Failure: String, Error, Hashable, Sendable, CustomStringConvertible {
        case notARecording = "the file is not a recording"
        case otherByteOrder = "the file is from a machine with another byte order"
        case damagedHead = "the header is damaged"
        /// A file in the format before pcapng.
        case oldFormat = "the file is from an older version of this command; record again"

        package var description: String { rawValue }
    }

    package var header: RecordingHeader
    package var records: [Record] = []
    /// The damage; nil for a complete recording.
    package var damage: Damage?

    package init(_ bytes: [UInt8]) throws(Failure) {
        if bytes.starts(with: [0x89] + Array("NLREC".utf8)) { throw .oldFormat }
        guard bytes[...].number(at: 0, UInt32.self) == CaptureBlock.section else { throw .notARecording }
        if bytes[...].number(at: 8, UInt32.self) == CaptureBlock.byteOrder.byteSwapped { throw .otherByteOrder }
        var reader = RecordReader(bytes)
        damage = reader.read()
        let count = reader.records.dropFirst().prefix { $0.note?.kind == .option }.count + 1
        guard let header = RecordingHeader(reader.records.prefix(count)) else {
            throw reader.records.first.flatMap(RecordedMoment.init) == nil ? .notARecording : .damagedHead
        }
        self.header = header
        records = Array(reader.records.dropFirst(count))
    }

    /// A Boolean value that indicates whether the recording may have ended within a turn.
    var endsInTurn: Bool {
        damage.map { $0.cause != Damage.early } ?? (records.last?.note?.value == Note.limit)
    }

    /// The bytes of a file with the same content. A damaged recording becomes one that ends early.
    package var bytes: [UInt8] {
        var encoder = RecordingEncoder(header)
        return records.reduce(into: RecordingEncoder.head(header)) { $0 += encoder.bytes(of: $1) }
    }
}

/// Decodes the blocks of a file.
private struct RecordReader {
    private var blocks: CaptureBlocks
    private(set) var records: [Record] = []
    private var encoder = RecordingEncoder(start: RecordedMoment(real: .zero, monotonic: .zero, boot: .zero))

    init(_ bytes: [UInt8]) {
        blocks = CaptureBlocks(bytes)
    }

    /// Reads all records. Returns the damage; nil if the recording is complete.
    mutating func read() -> Recording.Damage? {
        while records.last?.note?.kind != .end {
            let offset = blocks.offset
            do throws(CaptureFailure) {
                guard let block = try blocks.next() else {
                    return Recording.Damage(offset: offset, cause: Recording.Damage.early)
                }
                try take(block)
            } catch {
                return Recording.Damage(offset: offset, cause: error.rawValue)
            }
        }
        return nil
    }

    private mutating func take(_ block: CaptureBlocks.Block) throws(CaptureFailure) {
        let record: Record?
        switch block.code {
        case CaptureBlock.section where records.isEmpty: return
        case CaptureBlock.packet: record = packet(block.body)
        case CaptureBlock.journal: record = note(block.body)
        case _ where records.isEmpty && block.whole.elementsEqual(CaptureBlock.interface): return
        default: throw .unknownKind
        }
        guard let record, record.time >= encoder.clock.monotonic else { throw .malformed }
        // Equal blocks have equal checksums and contain no additional data.
        guard block.whole.elementsEqual(encoder.bytes(of: record)) else { throw .wrongChecksum }
        records.append(record)
    }

    private func packet(_ body: ArraySlice<UInt8>) -> Record? {
        guard let high = body.number(at: 4, UInt32.self), let low = body.number(at: 8, UInt32.self),
            let nanoseconds = Int64(exactly: UInt64(high) << 32 | UInt64(low)),
            let length = body.number(at: 12, UInt32.self).map(Int.init), length >= CaptureBlock.cookedHeader.count,
            let flags = body.number(at: 20 + (length + 3) & ~3 + 4, UInt32.self),
            let path = Record.Path(rawValue: flags)
        else { return nil }
        let messages = body.dropFirst(20).prefix(length).dropFirst(CaptureBlock.cookedHeader.count)
        let time = encoder.clock.monotonic + (.nanoseconds(nanoseconds) - encoder.clock.real)
        return Record(.messages(path, Array(messages)), at: time)
    }

    private func note(_ body: ArraySlice<UInt8>) -> Record? {
        var fields: [Substring: Substring] = [:]
        for line in String(decoding: body, as: UTF8.self).split(at: "\n") {
            let parts = line.split(at: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { fields[parts[0]] = parts[1] }
        }
        guard let kind = fields["KIND"].flatMap({ Note.Kind(rawValue: String($0)) }), let subject = fields["SUBJECT"],
            let value = fields["VALUE"], let time = fields["MONOTONIC"].flatMap({ Int64($0) })
        else { return nil }
        return Record(kind, String(subject), String(value), at: .nanoseconds(time))
    }
}

extension Record {
    /// The maximum size of a packet. The kernel sends at most 32 KiB at once, and Wireshark reads at most 256 KiB.
    private static let packetLimit = 64 << 10

    /// Returns a reply as packets of complete messages.
    static func packets(of reply: [UInt8]) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        for message in StoredMessages.split(reply) {
            let message = message + [UInt8](repeating: 0, count: -message.count & 3)
            if let last = packets.last, last.count + message.count <= packetLimit {
                packets[packets.count - 1] += message
            } else {
                packets.append(message)
            }
        }
        return packets
    }
}
