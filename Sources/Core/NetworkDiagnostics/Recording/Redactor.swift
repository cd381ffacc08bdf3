package import LinuxSupport
import Netlink

/// Replaces the data in a recording that identifies a network, and keeps its behaviour. `docs/recording-format.md`
/// lists what is kept.
package struct Redactor: Sendable {
    private let hash: SipHash
    private let permutation: AddressPermutation
    private let messages: MessageRedaction

    /// Creates a redactor with a random key that is not stored.
    package init() {
        var random = SystemRandomNumberGenerator()
        self.init(key: (random.next(), random.next()))
    }

    /// Creates a redactor with a key.
    ///
    /// - Parameter key: The key. Equal keys and equal input give equal output.
    package init(key: (UInt64, UInt64)) {
        let hash = SipHash(key)
        let permutation = AddressPermutation(key: (key.0 ^ 1, key.1))
        (self.hash, self.permutation) = (hash, permutation)
        messages = MessageRedaction(address: { permutation($0) }, hardware: { hash.replacement(forHardware: $0) })
    }

    package func redacted(_ recording: Recording) -> Recording {
        var recording = recording
        recording.header = redacted(recording.header)
        recording.records = recording.records.map(redacted)
        return recording
    }

    package func redacted(_ header: RecordingHeader) -> RecordingHeader {
        var header = header
        header.settings =
            [["redacted", "true"]]
            + header.settings.map { setting in
                switch setting[0] {
                case "host", "address": [setting[0], name(setting[1])]
                case "namespace": [setting[0], "namespace-" + digits(setting[1])]
                // The part after the numbers may identify the builder of the kernel.
                case "kernel": [setting[0], String(setting[1].prefix { $0.isNumber || $0 == "." })]
                default: setting
                }
            }
        return header
    }

    package func redacted(_ record: Record) -> Record {
        var record = record
        switch record.content {
        case .messages(let path, let bytes): record.content = .messages(path, messages.redacted(bytes))
        case .note(let note): record.content = .note(redacted(note))
        }
        return record
    }

    private func redacted(_ note: Note) -> Note {
        switch note.kind {
        case .connect, .listen, .filter, .failure:
            guard let error = NetlinkError(recorded: note.value) else { return Note(note.kind) }
            // The attempt may contain the name of a file.
            let attempt = error.attempt.contains("/") ? "open the network namespace" : error.attempt
            return Note(note.kind, "", NetlinkError(attempt, error.cause, stage: error.stage).recorded)
        case .lookup: return Note(.lookup, name(note.subject), note.value)
        case .hosts:
            return Note(.hosts, name(note.subject), redacted([NameLookup.Address](recorded: note.value) ?? []).recorded)
        case .resolved:
            let result = Result(recorded: note.value).map(redacted).mapError { error in
                error.isDenial ? error : NameLookup.Failure.unavailable("redacted")
            }
            return Note(.resolved, note.subject, result.recorded)
        case .peers:
            let peers = [TunnelFarEnd](recorded: note.value)?.map(redacted)
            return Note(.peers, note.subject, peers?.recorded ?? TunnelFarEnd.unknown)
        default: return note
        }
    }

    private func redacted(_ addresses: [NameLookup.Address]) -> [NameLookup.Address] {
        addresses.map { NameLookup.Address(permutation($0.address), zone: $0.zone) }
    }

    private func redacted(_ end: TunnelFarEnd) -> TunnelFarEnd {
        TunnelFarEnd(
            end.address.map { permutation($0) },
            accepting: end.accepted?.map { AddressPrefix(permutation($0.address), length: $0.length) },
            mark: end.mark
        )
    }

    /// Returns the replacement of a host. An address is replaced by an address with the same zone.
    private func name(_ host: String) -> String {
        let parts = host.split(at: "%", maxSplits: 1)
        if let first = parts.first, let address = WireAddress(String(first)) {
            return ([permutation(address).description] + parts.dropFirst().map(String.init)).joined(separator: "%")
        }
        let name = host.lowercased()
        return name == "localhost" || name.hasSuffix(".localhost") ? host : "host-\(digits(name)).example"
    }

    private func digits(_ text: String) -> String {
        UInt32(truncatingIfNeeded: hash.hash(Array(text.utf8))).hexadecimal
    }
}

/// Replaces addresses one for one. Two addresses have the same number of leading bits in common as before, so routes
/// match the same destinations. Special ranges are kept.
///
/// A keyed hash of the bits before each bit determines whether it is flipped, as in Crypto-PAn (Xu, Fan, Ammar and
/// Moon, 2002). Bits that lead to a special range are never flipped, so an address outside a range stays outside.
package struct AddressPermutation: Sendable {
    /// Special ranges, and the number of leading bits that are kept of an address in them.
    private static let special: [(prefix: AddressPrefix, kept: Int)] = [
        // This host, loopback, broadcast and the multicast groups of a link are kept whole.
        ("0.0.0.0", 8, 32), ("127.0.0.0", 8, 32), ("224.0.0.0", 24, 32), ("255.255.255.255", 32, 32),
        // Private use, carriers, link-local, tests, documentation, multicast, reserved.
        ("10.0.0.0", 8, 8), ("172.16.0.0", 12, 12), ("192.168.0.0", 16, 16), ("100.64.0.0", 10, 10),
        ("169.254.0.0", 16, 16), ("198.18.0.0", 15, 15), ("192.0.2.0", 24, 24), ("198.51.100.0", 24, 24),
        ("203.0.113.0", 24, 24), ("224.0.0.0", 4, 4), ("240.0.0.0", 4, 4),
        ("::", 127, 128), ("ff02::", 112, 128), ("::ffff:0:0", 96, 96), ("64:ff9b::", 96, 96), ("2000::", 3, 3),
        ("2001:db8::", 32, 32), ("2002::", 16, 16), ("fc00::", 8, 8), ("fd00::", 8, 8), ("fe80::", 10, 64),
        ("ff02::1:ff00:0", 104, 104), ("ff00::", 8, 16),
    ].map { address, length, kept in
        let family: AddressFamily = address.contains(":") ? .ipv6 : .ipv4
        return (AddressPrefix(WireAddress(address) ?? WireAddress(family: family, bits: 0), length: length), kept)
    }

    private let hash: SipHash
    /// Recent results, because few addresses occur many times.
    private let known: Locked<[WireAddress: WireAddress]> = Locked([:])
    private static let knownLimit = 4096

    package init(key: (UInt64, UInt64)) {
        hash = SipHash(key)
    }

    package func callAsFunction(_ address: WireAddress) -> WireAddress {
        if let known = known.withLock({ $0[address] }) { return known }
        let other = replacement(for: address)
        known.withLock { known in
            if known.count >= Self.knownLimit { known.removeAll() }
            known[address] = other
        }
        return other
    }

    private func replacement(for address: WireAddress) -> WireAddress {
        let width = address.family.bitCount
        var first = 0
        for (prefix, kept) in Self.special where prefix.family == address.family {
            first = max(
                first,
                prefix.contains(address) ? kept : prefix.commonLength(with: AddressPrefix(host: address)) + 1
            )
        }
        var bits = address.bits
        for position in first..<max(first, width) {
            let before = AddressPrefix(address, length: position).address
            let flips = hash.hash([address.family.rawValue, UInt8(position)] + before.bytes) & 1 == 1
            if flips { bits ^= 1 << UInt128(width - 1 - position) }
        }
        return WireAddress(family: address.family, bits: bits)
    }
}

/// A keyed hash of 64 bits that does not reveal its key: SipHash-2-4 (Aumasson and Bernstein, 2012).
struct SipHash: Sendable {
    private let key: (UInt64, UInt64)

    init(_ key: (UInt64, UInt64)) {
        self.key = key
    }

    func hash(_ bytes: [UInt8]) -> UInt64 {
        let text: [UInt64] = [
            0x736f_6d65_7073_6575, 0x646f_7261_6e64_6f6d, 0x6c79_6765_6e65_7261, 0x7465_6462_7974_6573,
        ]
        var v = [text[0] ^ key.0, text[1] ^ key.1, text[2] ^ key.0, text[3] ^ key.1]
        func mix(_ rounds: Int) {
            for _ in 0..<rounds {
                v[0] &+= v[1]
                v[1] = v[1].rotated(13) ^ v[0]
                v[0] = v[0].rotated(32)
                v[2] &+= v[3]
                v[3] = v[3].rotated(16) ^ v[2]
                v[0] &+= v[3]
                v[3] = v[3].rotated(21) ^ v[0]
                v[2] &+= v[1]
                v[1] = v[1].rotated(17) ^ v[2]
                v[2] = v[2].rotated(32)
            }
        }
        for start in stride(from: 0, through: bytes.count, by: 8) {
            let part = bytes[start..<min(bytes.count, start + 8)]
            var word = part.reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            if part.count < 8 { word |= UInt64(bytes.count & 0xff) << 56 }
            v[3] ^= word
            mix(2)
            v[0] ^= word
        }
        v[2] ^= 0xff
        mix(4)
        return v[0] ^ v[1] ^ v[2] ^ v[3]
    }

    /// Returns a link-layer address with the same two lowest bits of the first byte (multicast and local
    /// administration). Zeros and the broadcast address are kept.
    fileprivate func replacement(forHardware address: [UInt8]) -> [UInt8] {
        guard address.contains(where: { $0 != 0 }), address.contains(where: { $0 != 0xff }) else { return address }
        var bytes: [UInt8] = []
        while bytes.count < address.count {
            let word = hash([UInt8(truncatingIfNeeded: bytes.count)] + address)
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
        bytes[0] = bytes[0] & 0xfc | address[0] & 3
        return Array(bytes.prefix(address.count))
    }
}

extension UInt64 {
    fileprivate func rotated(_ count: UInt64) -> UInt64 { self << count | self >> (64 - count) }
}
