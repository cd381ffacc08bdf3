import LinuxPrimitives
import Netlink
import NetlinkRecording
import NetworkReachability

/// Takes out of a recording what tells whose network it is, and leaves what tells how it behaved. What is kept and what is
/// replaced is written in `docs/recording-format.md`.
package struct Redactor: Sendable {
    private let hash: SipHash
    private let permutation: AddressPermutation
    private let messages: MessageRedaction

    /// A redactor with a key that nobody knows.
    package init() {
        var chance = SystemRandomNumberGenerator()
        self.init(key: (chance.next(), chance.next()))
    }

    /// - Parameter key: with the same key the same becomes of the same.
    package init(key: (UInt64, UInt64)) {
        let hash = SipHash(key)
        let permutation = AddressPermutation(key: (key.0 ^ 1, key.1))
        self.hash = hash
        self.permutation = permutation
        messages = MessageRedaction(address: { permutation($0) }, hardware: { hash.replacement(forHardware: $0) })
    }

    /// The same recording, redacted.
    package func redacted(_ recording: Recording) -> Recording {
        var recording = recording
        recording.header = redacted(recording.header)
        recording.records = recording.records.map(redacted)
        return recording
    }

    package func redacted(_ header: RecordingHeader) -> RecordingHeader {
        var header = header
        header.hosts = header.hosts.map(name)
        header.addressesAtLarge = header.addressesAtLarge.map(name)
        header.namespace = header.namespace.map { "namespace-" + digits($0) }
        // What follows the numbers tells who built it.
        header.kernel = String(header.kernel.prefix { $0.isNumber || $0 == "." })
        header.isRedacted = true
        return header
    }

    package func redacted(_ record: Record) -> Record {
        var record = record
        switch record.content {
        case .message(let bytes, let port): record.content = .message(messages.redacted(bytes), port: port)
        case .asked(let question, let answer): record.content = redacted(question, answer)
        case .turn(.resolved(let number, let names)): record.content = .turn(.resolved(number, redacted(names)))
        case .lost, .turn, .end: break
        }
        return record
    }

    private func redacted(_ question: RecordedQuestion, _ answer: [UInt8]) -> Record.Content {
        var (question, answer) = (question, answer)
        switch question.subject {
        case .netlink:
            question.detail = messages.redacted(question.detail)
            answer = redacted(outcome: answer)
        case .connect, .listen, .filter:
            answer = redacted(outcome: answer)
        case .localAddresses, .resolve:
            question.detail = Array(name(String(decoding: question.detail, as: UTF8.self)).utf8)
            if question.subject == .localAddresses {
                var encoder = ByteEncoder()
                encoder.add((answer.decoded { try $0.addresses() } ?? []).map(redacted))
                answer = encoder.bytes
            }
        case .peers:
            let peers = answer.decoded { try $0.farEnds() } ?? nil
            var encoder = ByteEncoder()
            encoder.add(peers.map { $0.map(redacted) })
            answer = encoder.bytes
        case .isCurrent, .moreMessages, .activity, .hardware, .watchesNamespace, .watchesSleep, .watchesNames,
            .monotonic, .boot, .moment, .schedule, .soon:
            break
        }
        return .asked(question, answer: answer)
    }

    private func redacted(outcome answer: [UInt8]) -> [UInt8] {
        guard let outcome = answer.decoded({ try $0.outcome() }) else { return [] }
        var encoder = ByteEncoder()
        switch outcome {
        case .success(let bytes): encoder.add(.success(messages.redacted(bytes)))
        case .failure(let error):
            // What was tried may name a file.
            let attempt = error.attempt.contains("/") ? "open the network namespace" : error.attempt
            encoder.add(.failure(NetlinkError(attempt, error.cause, stage: error.stage)))
        }
        return encoder.bytes
    }

    private func redacted(_ names: RecordedNames) -> RecordedNames {
        switch names {
        case .addresses(let addresses): .addresses(addresses.map(redacted))
        case .noSuchName: .noSuchName
        case .unavailable: .unavailable("redacted")
        }
    }

    private func redacted(_ address: NameLookup.Address) -> NameLookup.Address {
        NameLookup.Address(permutation(address.address), zone: address.zone)
    }

    private func redacted(_ end: TunnelFarEnd) -> TunnelFarEnd {
        TunnelFarEnd(
            end.address.map { permutation($0) },
            accepting: end.accepted?.map { AddressPrefix(permutation($0.address), length: $0.length) },
            mark: end.mark
        )
    }

    /// What stands in for a host as somebody wrote it; an address stays one, with its zone.
    private func name(_ host: String) -> String {
        let parts = host.split(at: "%", maxSplits: 1)
        if let first = parts.first, let address = WireAddress(String(first)) {
            return ([permutation(address).description] + parts.dropFirst().map(String.init)).joined(separator: "%")
        }
        let name = host.lowercased()
        return name == "localhost" || name.hasSuffix(".localhost") ? host : "host-\(digits(name)).example"
    }

    private func digits(_ text: String) -> String {
        let digits = String(UInt32(truncatingIfNeeded: hash.hash(Array(text.utf8))), radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

extension SipHash {
    /// As many bytes, of the same scope and kind (the two lowest bits of the first); none and broadcast stay.
    fileprivate func replacement(forHardware address: [UInt8]) -> [UInt8] {
        guard address.contains(where: { $0 != 0 }), address.contains(where: { $0 != 0xff }) else { return address }
        var replacement: [UInt8] = []
        while replacement.count < address.count {
            let word = hash([UInt8(truncatingIfNeeded: replacement.count)] + address)
            replacement += (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
        replacement = Array(replacement.prefix(address.count))
        replacement[0] = replacement[0] & 0xfc | address[0] & 3
        return replacement
    }
}
